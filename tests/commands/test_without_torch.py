"""What needs no model does not import torch: half of the first minute would be waiting for it."""

import re
import subprocess
import sys
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.processes import spawned


def imported(log: str) -> set[str]:
    """The packages in a log of `-X importtime`."""
    return {name.split(".")[0] for name in re.findall(r"\| +(\S+)$", log, re.MULTILINE)}


def run(*arguments: str, code: int = 0) -> set[str]:
    """The packages that a fresh Python imports."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, timeout=240)
    assert done.returncode == code, done.stderr[-2000:]
    return imported(done.stderr)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--help",), 0),
        (("models",), 0),
        (("find", "offset = = 1", "corpus.txt"), 2),  # a rule that cannot be read is told before a model is loaded
    ],
    ids=["help", "models", "find"],
)
def test_a_command_that_needs_no_model_does_not_import_torch(arguments, code):
    found = run("-m", "regard", *arguments, code=code)
    assert "regard" in found and not found & {"torch", "transformers"}


def test_a_saved_trace_becomes_a_page_without_torch(bert, tmp_path):
    trace, page = bert.trace("the cat", "a dog").save(tmp_path / "trace.safetensors"), tmp_path / "page.html"
    code = "import sys, regard; regard.Trace.load(sys.argv[1]).save_html(sys.argv[2])"
    found = run("-c", code, str(trace), str(page))
    assert page.exists() and "numpy" in found
    assert not found & {"torch", "transformers", "pandas", "matplotlib"}


def test_the_app_sends_its_page_without_torch(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "regard", "serve", "--port", "0", "--no-browser"]
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        child = spawned(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            address = re.search(r"http://\S+", child.stdout.readline())
            assert address, "the server printed no address"
            browser = build_opener(HTTPCookieProcessor())  # the token becomes a cookie
            assert b"<html" in browser.open(address[0], timeout=60).read()
        finally:
            child.terminate()
            child.communicate(timeout=60)
    found = imported((tmp_path / "log").read_text("utf-8"))
    assert "uvicorn" in found and not found & {"torch", "transformers"}
