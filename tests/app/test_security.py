"""What strangers cannot do: other sites, other names, other folders, other people."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import httpx
import pytest

from regard.app.guard import is_loopback
from regard.app.run import address_of, listen
from regard.app.settings import AppSettings
from regard.views import header_of

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def studies(tmp_path) -> Path:
    folder = tmp_path / "studies"
    study = folder / "atlas"
    study.mkdir(parents=True)
    (study / "report.html").write_text("<!doctype html><script>parent.document</script>")
    (study / "meta.json").write_text(json.dumps({"study": "atlas", "model": SCRIPT, "tally": {"inputs": 7}}))
    (study / "result.parquet").write_bytes(b"PAR1")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "report.html").write_text("hidden")
    (tmp_path / "secret.html").write_text("secret")
    (tmp_path / "studies-other").mkdir()
    (tmp_path / "studies-other" / "report.html").write_text("secret")
    return folder


def raw(client: httpx.Client, path: str) -> bytes:
    """The answer to a path as it is; httpx would tidy it."""
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=20) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: line.recv(65536), b""))


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.7", "", "[::1", "user@evil"]
)
def test_other_names_are_refused(serve, host):
    client, _ = serve()
    answer = client.get("/api/state", headers={"Host": host})
    assert answer.status_code == 403 and answer.json()["error"] == "host"


def test_our_own_names_are_not(serve):
    client, _ = serve()
    for host in ("localhost:1", "127.0.0.1", "[::1]:8765", "LOCALHOST"):
        assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "http://[::1"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_other_sites_are_refused(serve, headers):
    client, _ = serve()
    for answer in (
        client.get("/api/state", headers=headers),
        client.post("/api/traces", json={"text": "the cat"}, headers=headers),
    ):
        assert answer.status_code == 403 and answer.json()["error"] == "origin"
        assert "access-control-allow-origin" not in answer.headers


def test_our_own_page_may_ask_and_others_may_link_to_it(serve):
    client, _ = serve()
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/traces", json={"text": "the cat"}, headers=own).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status_code == 200


def test_every_answer_carries_its_headers(serve, studies):
    client, _ = serve(studies=studies)
    for path in ("/", "/healthz", "/api/state", "/nothing", "/static/app.js", "/studies/atlas/report.html"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_token_is_asked_for(serve, host):
    client, _ = serve(host=host, token="s3cret-token")
    refused = client.get("/")
    assert refused.status_code == 401 and refused.json()["error"] == "token"
    assert client.get("/?token=wrong").status_code == 401
    assert client.get("/api/state", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/healthz").status_code == 200
    entered = client.get("/?token=s3cret-token&x=1")
    assert entered.status_code == 303 and entered.headers["location"] == "/?x=1"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "samesite=lax" in cookie.lower()
    assert client.get("/api/state").status_code == 200  # by its cookie
    client.cookies.clear()
    assert client.get("/api/state", headers={"Authorization": "Bearer s3cret-token"}).status_code == 200
    assert b"location: /evil.example/\r\n" in raw(client, "//evil.example/?token=s3cret-token")


def test_reports_and_models_are_behind_the_token(serve, studies):
    client, _ = serve(token="s3cret-token", studies=studies)
    for path in ("/api/state", "/api/models", "/api/studies", "/studies/atlas/report.html", "/static/app.js"):
        assert client.get(path).json()["error"] == "token", path
    for path in ("/api/models", "/api/traces", "/api/walk", "/api/ablate"):
        assert client.post(path, json={"name": "translator", "text": "a"}).status_code == 401, path


def test_who_comes_without_the_token_is_told_in_a_page(serve):
    client, _ = serve(token="s3cret-token")
    answer = client.get("/", headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 401 and "open the address that the server printed" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_the_ticket_of_the_browser_is_good_for_one_time(serve):
    client, _ = serve(token="s3cret-token", ticket="once")
    first, second = client.get("/?token=once"), httpx.get(client.base_url.join("/?token=once"))
    assert first.status_code == 303 and "once" not in first.headers["set-cookie"]
    assert second.status_code == 401
    assert client.get("/api/state").status_code == 200


def test_bound_elsewhere_names_are_still_checked(serve):
    client, _ = serve(host="0.0.0.0", token="t", names=("box.example",))
    ask = lambda host: client.get("/healthz", headers={"Host": host}).status_code  # noqa: E731
    assert [ask("evil.example"), ask("box.example:8765"), ask("192.168.1.7"), ask(socket.gethostname())] == [
        403,
        200,
        200,
        200,
    ]


def test_the_address_carries_the_token():
    assert all(is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.7", "box"))
    assert address_of(AppSettings(host="::1", port=5)) == "http://[::1]:5/"
    assert address_of(AppSettings(host="10.1.1.1", port=5, token="t")) == "http://10.1.1.1:5/?token=t"


def test_a_port_that_is_taken_is_said_and_without_a_wish_the_next_is_taken():
    with listen("127.0.0.1", 0) as taken, pytest.raises(OSError, match="is taken"):
        listen("127.0.0.1", taken.getsockname()[1])
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]


TRAVERSALS = [
    "../secret.html",
    "..%2fsecret.html",
    "%2e%2e/secret.html",
    "%2e%2e%2fsecret.html",
    "..%5csecret.html",
    "atlas/../../secret.html",
    "atlas/..%2f..%2fsecret.html",
    "%252e%252e/secret.html",
    "../studies-other/report.html",
    "..%2fstudies-other/report.html",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "atlas/report.html%00.png",
    ".hidden/report.html",
    "atlas",
    "atlas/",
    "",
    "a" * 5000,
    "link/secret.html",
    "file.html",
    "atlas/linked.html",
    "round",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_nothing_outside_the_folder_is_read(serve, studies, path):
    (studies / "link").symlink_to(studies.parent)
    (studies / "file.html").symlink_to(studies.parent / "secret.html")
    (studies / "atlas" / "linked.html").symlink_to("../../secret.html")
    (studies / "round").symlink_to(studies / "round")
    client, _ = serve(studies=studies)
    answer = raw(client, f"/studies/{path}")
    assert answer.startswith(b"HTTP/1.1 404") and b"secret" not in answer and b"root:" not in answer


def test_studies_are_listed_and_their_files_run_in_a_box_of_their_own(serve, studies):
    (studies / "<b>odd & name").mkdir()
    (studies / "<b>odd & name" / "report.html").write_text("odd")
    (studies / "broken").mkdir()
    (studies / "broken" / "meta.json").write_text("{")
    client, _ = serve(studies=studies)
    listed = client.get("/api/studies").json()
    assert listed["folder"] == "studies"
    found = {study["name"]: study for study in listed["studies"]}
    assert set(found) == {"atlas", "<b>odd & name", "broken"}
    assert found["atlas"]["inputs"] == 7 and found["atlas"]["model"] == SCRIPT and found["broken"]["report"] is None
    assert client.get(found["<b>odd & name"]["report"]).text == "odd"
    report = client.get(found["atlas"]["report"])
    policy = report.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy and "allow-same-origin" not in policy and "'self'" in policy
    data = client.get("/studies/atlas/result.parquet")
    assert "attachment" in data.headers["content-disposition"]
    assert data.headers["content-type"] == "application/octet-stream"


def test_without_a_folder_there_are_no_studies(serve):
    client, _ = serve()
    listed = client.get("/api/studies").json()
    assert (listed["folder"], listed["studies"], listed["running"]) == (None, [], None)
    assert client.get("/studies/atlas/report.html").status_code == 404


def test_scripts_in_texts_and_names_stay_text(serve):
    client, _ = serve()
    answer = client.post("/api/traces", json={"text": f"the {SCRIPT} cat", "pair": "</script>"})
    assert answer.headers["content-type"] == "application/octet-stream"
    assert header_of(answer.content)["sides"][0]["text"]
    page = client.get(f"/api/traces/{answer.headers['x-regard-trace']}/page").text
    assert SCRIPT not in page and page.count("<script>") == 1
    refused = client.post("/api/models", json={"name": SCRIPT})
    assert refused.headers["content-type"] == "application/json" and SCRIPT in refused.json()["message"]
    assert client.post("/api/models", json={"name": "a\nb"}).status_code == 422


def test_huge_bodies_are_refused_before_they_are_sent(serve):
    client, _ = serve()
    head = "POST /api/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=10) as line:
        line.sendall(f"{head}Content-Length: 10000000000\r\n\r\n".encode())
        assert line.recv(65536).startswith(b"HTTP/1.1 413")


def test_endless_bodies_without_a_length_are_cut(serve):
    client, _ = serve()
    sent = 0

    def chunks():
        nonlocal sent
        while sent < 200_000_000:
            sent += 65536
            yield b"a" * 65536

    try:
        answer = client.post("/api/traces", content=chunks(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
    except (httpx.WriteError, httpx.ReadError):  # the server has hung up while we were sending
        pass
    assert sent < 20_000_000
    assert client.get("/healthz").status_code == 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_the_studies_does_not_hang(serve, studies):
    os.mkfifo(studies / "atlas" / "pipe.html")
    client, _ = serve(studies=studies)
    done = threading.Event()
    threading.Thread(target=lambda: (client.get("/studies/atlas/pipe.html"), done.set())).start()
    assert done.wait(10)


def test_no_websocket(serve):
    client, _ = serve()
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "a", "Sec-WebSocket-Version": "13"}
    assert client.get("/api/state", headers=headers).status_code in (200, 400, 404, 426)
