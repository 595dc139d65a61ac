"""The real server: as `regard serve` starts it in a process of its own, and on tiny models in a thread."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from regard.app.connections import Connection
from regard.app.run import listen, server_of
from regard.app.server import App, application
from regard.app.settings import AppSettings, Limits
from tests.app.entering import entered
from tests.processes import Forked, command_line
from tests.tiny import saved, tiny_llama

TIMEOUT = 240


def serve_quietly(*arguments: str) -> None:
    """`regard` whose standard error nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    command_line(*arguments)


@contextmanager
def started(*options: str) -> Iterator[tuple[str, Forked]]:
    """`regard serve` as people start it; its address, with the token, is on standard output."""
    process = Forked(serve_quietly, "serve", "--no-browser", "--port", "0", *options)
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "the server printed no address"
        yield found[0], process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="session")
def client(tmp_path_factory) -> Iterator[httpx.Client]:
    """The default model behind `regard serve`."""
    log = tmp_path_factory.mktemp("log") / "server.jsonl"
    with started("--log", str(log)) as (address, _), entered(address) as made:
        made.headers["x-log"] = str(log)  # where the tests find it
        yield made


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, bert) -> Path:
    """A folder with a tiny BERT."""
    return saved(bert, tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def long_llama(tmp_path_factory, bytelevel) -> Path:
    """A folder with a small Llama that reads 4,096 tokens; a byte is a token."""
    sizes = {"hidden_size": 256, "num_hidden_layers": 4, "intermediate_size": 64, "max_position_embeddings": 4096}
    folder = saved(tiny_llama(bytelevel, **sizes), tmp_path_factory.mktemp("models") / "long")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"model_max_length": 4096}))
    return folder


@contextmanager
def hosted(*, connection: type[Connection] = Connection, **settings: Any) -> Iterator[tuple[str, App]]:
    """The app in a thread of this process, which has imported all that takes time: its address, and its parts."""
    socket = listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    made = application(AppSettings(port=port, **settings))
    server = server_of(made, connection)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}", made.state.parts
    finally:
        server.should_exit = True
        thread.join(20)
        socket.close()
        for loading in [one for one in threading.enumerate() if one.name == "regard-loading"]:
            loading.join()  # models that a test makes meanwhile would lack their tied weights


Serve = Callable[..., tuple[httpx.Client, App]]


@pytest.fixture
def serve(tiny) -> Iterator[Serve]:
    """Start servers in threads, on the tiny model unless another is given; they end with the test."""
    with ExitStack() as ends:

        def start(*, limits: dict[str, Any] | None = None, **settings: Any) -> tuple[httpx.Client, App]:
            given = {"models": (str(tiny),), "limits": Limits(**(limits or {})), **settings}
            address, parts = ends.enter_context(hosted(**given))
            return ends.enter_context(httpx.Client(base_url=address, timeout=TIMEOUT)), parts

        yield start
