"""The report of a study in a browser: its atlas draws, from a file and from the server, and reaches nothing else."""

from __future__ import annotations

import math
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import uvicorn

import regard
from regard import Trace
from regard.app.run import listen
from regard.app.server import application
from regard.app.settings import AppSettings
from regard.studies.result import Result

PROBE = """<script>
let reached = []
try { reached.push(parent === window ? "" : parent.document.title) } catch { reached.push("no parent") }
try { localStorage.seen = 1; reached.push("storage") } catch { reached.push("no storage") }
fetch("/api/state").then(() => reached.push("server")).catch(() => reached.push("no server"))
</script></body>"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    trace = Trace.from_maps(np.full((2, 3, 4, 4), 1 / 4), ["a", "b", "<b>c", "d"])
    result = Result("atlas", "Atlas", pd.DataFrame({"head": [0]}), {}, example=trace)
    folder = tmp_path / "studies" / "one"
    folder.mkdir(parents=True)
    (folder / "report.html").write_text(result.report().replace("</body>", PROBE), "utf-8")
    return folder / "report.html"


def atlas_of(page: Any) -> Any:
    frame = page.frame_locator("iframe[title=atlas]")
    frame.locator("canvas").first.wait_for()
    return frame


def test_the_atlas_draws_in_a_report_on_disk(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    assert "could not be drawn" not in atlas_of(page).locator("body").inner_text()
    page.close()


def test_the_numbers_beside_the_atlas_are_those_of_the_corpus(browser: Any, bert: regard.Model, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat on the mat .\na dog went to the store .\ni bought fresh straw ##berries !\n")
    table = regard.study.atlas(bert, corpus, output=tmp_path / "out").table
    page = browser.new_page()
    page.goto((tmp_path / "out" / "report.html").as_uri())
    inspector = atlas_of(page).locator(".inspector")
    layer, head = map(int, re.findall(r"\d+", inspector.locator("h2").inner_text()))
    row = table[(table.layer == layer) & (table["head"] == head) & (table.measure == "entropy")].iloc[0]
    inspector.locator(".missing summary").click()
    places = float(re.search(r"about ([\d.]+) places", inspector.inner_text())[1])
    assert places == pytest.approx(math.exp(row.value), rel=0.06)  # two digits
    page.close()


def test_a_report_from_the_server_draws_and_reaches_nothing(browser: Any, report: Path) -> None:
    socket = listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    settings = AppSettings(port=port, studies=report.parents[1], models=("nothing",))
    server = uvicorn.Server(uvicorn.Config(application(settings), log_config=None, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    page = browser.new_page()
    try:
        page.goto(f"http://127.0.0.1:{port}/studies/one/report.html")
        assert "could not be drawn" not in atlas_of(page).locator("body").inner_text()
        page.wait_for_function("reached.length === 3")
        assert page.evaluate("reached.slice(1)") == ["no storage", "no server"]
        page.goto(f"http://127.0.0.1:{port}/static/app.css")
        page.evaluate("""() => {
            const frame = document.createElement("iframe")
            frame.src = "/studies/one/report.html"
            document.body.append(frame)
        }""")
        inner = page.frame_locator("iframe").locator("h1")
        inner.wait_for()
        framed = next(frame for frame in page.frames if frame.url.endswith("report.html"))
        assert framed.evaluate("reached[0]") == "no parent"
    finally:
        page.close()
        server.should_exit = True
        thread.join(20)
        socket.close()
