"""Clients that say half of something, or nothing, or do not listen: they are let go, and others are answered."""

from __future__ import annotations

import socket
import tempfile
import threading
from pathlib import Path

import httpx
import pytest

from regard.app import exports as export_files
from regard.app.connections import Connection

from .test_limits import post, wait_for

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def quick(**limits: float) -> type[Connection]:
    """Connections with limits that a test can wait for."""
    return type("Quick", (Connection,), limits)


def connected(client: httpx.Client, sent: bytes = b"", **options: int) -> socket.socket:
    made = socket.socket()
    made.settimeout(30)
    for name, value in options.items():
        made.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    made.connect((client.base_url.host, client.base_url.port))
    made.sendall(sent)
    return made


def is_answered(line: socket.socket) -> bool:
    """Whether the server says that it is well, in full."""
    said = b""
    while not said.endswith(b"}"):
        said += line.recv(4096)
    return said.startswith(b"HTTP/1.1 200")


def is_closed(line: socket.socket) -> bool:
    """Whether the server hangs up without a word, within the socket's time."""
    try:
        return line.recv(4096) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "sent", [b"", b"GET", HEAD, HEAD + b"X-Long: " + b"a" * 5000], ids=["none", "word", "line", "more"]
)
def test_headers_that_never_end_are_closed(serve, sent):
    client, _ = serve(connection=quick(REQUEST=0.5))
    with connected(client, sent) as line:
        assert is_closed(line)


def test_headers_that_come_in_drops_are_closed(serve):
    client, _ = serve(connection=quick(REQUEST=0.5))
    with connected(client, HEAD) as line:
        done = threading.Event()

        def drip() -> None:
            while not done.wait(0.1):
                try:
                    line.sendall(b"X: y\r\n")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        assert is_closed(line)
        done.set()
        dripping.join(20)


def test_a_second_request_that_never_ends_is_closed(serve):
    client, _ = serve(connection=quick(REQUEST=0.5))
    with connected(client, HEAD + b"\r\n") as line:
        assert is_answered(line)
        line.sendall(HEAD)
        assert is_closed(line)


def test_a_connection_between_two_requests_and_a_slow_answer_stay(serve):
    client, parts = serve(connection=quick(REQUEST=0.3))
    post(client)
    parts.worker.submit(lambda _: threading.Event().wait(1.0))  # longer than headers may take
    assert post(client).status_code == 200
    with connected(client, HEAD + b"\r\n") as line:
        assert is_answered(line)
        assert not threading.Event().wait(1.0)
        line.sendall(HEAD + b"\r\n")
        assert is_answered(line)


def test_half_open_connections_do_not_silence_the_server(serve):
    client, _ = serve(connection=quick(MOST=20))
    lines = [connected(client, HEAD) for _ in range(100)]
    try:
        for _ in range(3):
            assert httpx.get(client.base_url.join("/healthz"), timeout=30).status_code == 200
        assert is_closed(lines[0])  # who has been silent longest goes first
    finally:
        for line in lines:
            line.close()


def test_bodies_that_never_end_do_not_silence_the_server(serve):
    client, _ = serve(connection=quick(MOST=20))
    place = f"Host: 127.0.0.1:{client.base_url.port}\r\nContent-Type: application/json\r\nContent-Length: 100"
    lines = [connected(client, f"POST /api/traces HTTP/1.1\r\n{place}\r\n\r\n{{".encode()) for _ in range(60)]
    try:
        for _ in range(3):
            assert httpx.get(client.base_url.join("/healthz"), timeout=30).status_code == 200
        assert is_closed(lines[0])
    finally:
        for line in lines:
            line.close()


@pytest.fixture
def exports(tmp_path, monkeypatch) -> Path:
    """The folder that exports are made in."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_an_export_that_is_cancelled_while_it_is_made_leaves_no_file(serve, exports, monkeypatch):
    client, parts = serve()
    name = post(client).headers["x-regard-trace"]
    begun, go = threading.Event(), threading.Event()
    save = export_files.save_html

    def slowly(*given, **named):
        begun.set()
        go.wait(30)
        return save(*given, **named)

    monkeypatch.setattr(export_files, "save_html", slowly)
    with pytest.raises(httpx.ReadTimeout):
        client.get(f"/api/traces/{name}/page", timeout=0.5)
    assert begun.wait(20) and list(exports.iterdir())
    go.set()
    parts.worker.submit(lambda _: None).future.result(20)  # it is over
    wait_for(lambda: not list(exports.iterdir()))


@pytest.mark.parametrize("goes", [True, False], ids=["hangs up", "stops reading"])
def test_an_export_that_nobody_takes_leaves_no_file(serve, long_llama, exports, goes):
    client, _ = serve(models=(str(long_llama),), connection=quick(READING=0.5))
    name = post(client, text="the cat sat on the mat " * 150).headers["x-regard-trace"]
    asked = f"GET /api/traces/{name}/file HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with connected(client, asked, SO_RCVBUF=4096) as line:
        assert line.recv(1000).startswith(b"HTTP/1.1 200") and list(exports.iterdir())
        if goes:
            line.close()
        wait_for(lambda: not list(exports.iterdir()))
    assert client.get("/healthz").status_code == 200
