"""Bad requests: every address, with whatever a confused or hostile client may send.

    python -m tests.app.fuzz ADDRESS [COUNT]

Whatever comes, the answer is no 5xx but the announced "busy", comes in time, and says what is wrong in one shape.
"""

from __future__ import annotations

import random
import socket
import string
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from tests.app.entering import entered

SECONDS = 30  # an answer that takes longer is a hang
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]
GETS = [
    "/", "/healthz", "/static/app.js", "/static/{junk}", "/api/state", "/api/models", "/api/studies",
    "/api/studies/running",
    "/studies/{junk}", "/studies/{junk}/{junk}", "/api/traces/{id}/report", "/api/traces/{id}/file",
    "/api/traces/{id}/page?view={junk}&layer={junk}&heads={junk}", "/api/traces/{id}/layers/{kind}/{number}",
    "/api/traces/{id}/layers/{junk}/{junk}", "/api/traces/{junk}/report", "/{junk}",
]  # fmt: skip
POSTS = [
    "/api/traces",
    "/api/ablate",
    "/api/says",
    "/api/why",
    "/api/writes",
    "/api/lens",
    "/api/evidence",
    "/api/walk",
    "/api/models",
    "/api/studies",
]
FIELDS = (
    "text pair model target generate truncate ablate open heads mode position count layer name study limit control "
    "head query key check"
).split()
ODD = [
    None, True, False, 0, -1, 1, 2**31, 2**70, 1e308, -0.5, "", " ", "\n", "\x00", "\u202e", "👩‍👩‍👧",
    "a\u0301", "الكلمة", "中文",
    "<script>alert(1)</script>", "../../etc/passwd", "%2e%2e", "' OR 1=1", "a" * 3000, "the " * 300, "[MASK]", "[PAD]",
    [], {}, [[]], [None], {"": None}, [{}], [{"layer": 0, "head": 0}], [{"layer": 10**9, "head": -1}], {"heads": 3},
    {"heads": [{"layer": 0, "head": 1}], "mode": "uniform"}, {"heads": [{"layer": 0, "head": 1}], "mode": "x"},
    {"heads": [{"layer": 0, "head": 1}], "mode": "mean"},
    {"view": "atlas"}, {"view": 3}, {"layer": 1}, {"layer": -1, "heads": [0]}, {"heads": [99]}, {"kind": "cross"},
]  # fmt: skip
GOOD: dict[str, Any] = {
    "text": "the cat sat on the mat", "pair": "the dog", "truncate": True, "layer": 0, "count": 3, "position": 1,
    "heads": [{"layer": 0, "head": 1}], "open": {"view": "matrix", "layer": 0}, "mode": "zero",
}  # fmt: skip


@dataclass
class Outcome:
    """What the requests came to."""

    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def fuzz(address: str, count: int, seed: int = 0) -> Outcome:
    """Send `count` requests and look at each answer."""
    chance, outcome = random.Random(seed), Outcome()
    with entered(address, SECONDS) as client:
        known = [_first(client)]
        for number in range(count):
            if chance.random() < 0.05:
                _raw(address, chance, outcome, number)
                continue
            request = _request(client, chance, known)
            try:
                answer = client.send(request)
            except (httpx.WriteError, httpx.ReadError):  # refused and hung up while the body was still being sent
                outcome.statuses[413] += 1
                continue
            except httpx.HTTPError as error:
                outcome.faults.append(f"{number}: {request.method} {request.url}: {error!r}")
                continue
            _judge(answer, outcome, number)
            if answer.headers.get("x-regard-trace"):
                known = [*known[-9:], answer.headers["x-regard-trace"]]
    return outcome


def _first(client: httpx.Client) -> str:
    """A trace to ask about, once the model is here."""
    while (answer := client.post("/api/traces", json={"text": "the cat sat"}, timeout=300)).status_code == 504:
        pass
    return answer.headers["x-regard-trace"]


def _request(client: httpx.Client, chance: random.Random, known: list[str]) -> httpx.Request:
    headers = _headers(chance)
    if chance.random() < 0.5:
        path = chance.choice(POSTS)
        if chance.random() < 0.15:
            content = chance.choice(
                [b"", b"{", b"[" * 5000, b"null", b"\xff", _junk(chance).encode(), b"0" * 1_200_000]
            )
            return client.build_request("POST", path, content=content, headers=headers)
        body = {name: GOOD[name] for name in GOOD if chance.random() < 0.7}
        for name in chance.sample(FIELDS, chance.randint(0, 3)):
            body[name] = chance.choice(ODD) if chance.random() < 0.7 else _junk(chance)
        return client.build_request("POST", path, json=body, headers=headers)
    path = chance.choice(GETS)
    while "{" in path:
        path = path.replace("{junk}", quote(_junk(chance), safe=chance.choice(["", "/", "./%"])), 1)
        path = path.replace("{id}", chance.choice(known)).replace("{kind}", chance.choice(["encoder", "cross", "x"]))
        path = path.replace("{number}", str(chance.choice([0, 1, 5, -1, 10**30, 1.5])))
    method = "GET" if chance.random() < 0.8 else chance.choice(METHODS)
    return client.build_request(method, path.replace("\x00", "%00"), headers=headers)


def _headers(chance: random.Random) -> dict[str, str]:
    headers = {"Content-Type": "application/json"} if chance.random() < 0.9 else {}
    odd = {
        "X-Regard-Client": chance.choice(["tab", "a b", "x" * 100, "", "tab.b"]),
        "Origin": chance.choice(["null", "http://evil.example", "http://[", "%"]),
        "Host": chance.choice(["evil.example", "", "localhost:99999999", "[::1", "127.0.0.1"]),
        "Cookie": chance.choice(["regard-8765=a", "=;=;", "a" * 2000, '"']),
        "Authorization": chance.choice(["Bearer", "Bearer x", "Basic a"]),
        "Range": chance.choice(["bytes=0-1", "bytes=5-1", "bytes=-", "x"]),
        "If-None-Match": "*",
        "Accept-Encoding": chance.choice(["gzip", "*", ";;"]),
        "Sec-Fetch-Site": chance.choice(["same-origin", "cross-site", "?"]),
    }
    for name in chance.sample(sorted(odd), chance.choice([0, 0, 0, 1, 2])):
        headers[name] = odd[name]
    return headers


def _junk(chance: random.Random) -> str:
    alphabet = chance.choice(
        [string.printable, "./\\%2e\x00~", "äß中文👩🏽‍🚀\u200b\u202e\ufeff", "0123456789-.", string.ascii_letters]
    )
    return "".join(chance.choice(alphabet) for _ in range(chance.choice([0, 1, 3, 20, 200])))


def _judge(answer: httpx.Response, outcome: Outcome, number: int) -> None:
    outcome.statuses[answer.status_code] += 1
    said = f"{number}: {answer.request.method} {answer.request.url} -> {answer.status_code} {answer.content[:200]!r}"
    if answer.status_code >= 500 and not (answer.status_code == 503 and answer.json()["error"] == "busy"):
        outcome.faults.append(said)
    elif answer.status_code >= 400 and answer.request.method != "HEAD":
        try:
            shape = set(answer.json())
        except ValueError:
            shape = set()
        if shape - {"code", "values"} != {"error", "message"}:
            outcome.faults.append(said)


def _raw(address: str, chance: random.Random, outcome: Outcome, number: int) -> None:
    """What is hardly HTTP: the server answers 400, or hangs up."""
    line = chance.choice(
        [
            "GET / HTTP/9.9",
            "GET",
            "POST /api/traces HTTP/1.1",
            "\x00\x01",
            "GET /\x7f HTTP/1.1",
            "GET " + "/a" * 40_000 + " HTTP/1.1",
        ]
    )
    header = chance.choice(
        ["Host: localhost", "Host: a\r\nHost: b", "Content-Length: -1", "Content-Length: x", "X" * 70_000, ""]
    )
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 80), timeout=SECONDS) as raw:
        try:
            raw.sendall(f"{line}\r\n{header}\r\nConnection: close\r\n\r\n".encode("latin-1"))
            raw.shutdown(socket.SHUT_WR)
            answer = raw.recv(4096)
        except TimeoutError:
            outcome.faults.append(f"{number}: no answer to {line[:60]!r}")
            return
        except OSError:  # it has hung up already
            answer = b""
    status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
    outcome.statuses[status] += 1
    if status >= 500:
        outcome.faults.append(f"{number}: {line[:60]!r} {header[:60]!r} -> {answer[:200]!r}")


if __name__ == "__main__":
    found = fuzz(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
    print(dict(sorted(found.statuses.items())), f"{len(found.faults)} faults", *found.faults[:20], sep="\n")  # noqa: T201
    sys.exit(bool(found.faults))
