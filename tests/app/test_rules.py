"""Rules over HTTP: heads that follow one on a text or over a study's corpus, and rules saved as patterns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import regard
from regard.patterns.following import follow
from regard.patterns.rules import parse_rule
from regard.views.wire import header_of

TEXT = "the cat sat on the mat . i went to the store and the dog sat at the store ."


@pytest.fixture
def kept(serve):
    """A server with the trace of a text, its id, and the server's parts."""
    client, parts = serve()
    made = client.post("/api/traces", json={"text": TEXT})
    assert made.status_code == 200
    return client, made.headers["x-regard-trace"], parts


def test_heads_of_a_text_are_those_of_python(kept, tiny):
    client, name, _ = kept
    answer = client.post(f"/api/traces/{name}/rule", json={"rule": "offset = -1"})
    assert answer.status_code == 200
    expected = follow(regard.load(str(tiny)).trace(TEXT, attribution=True), parse_rule("offset = -1"))
    assert answer.json() == json.loads(json.dumps(expected.record)) and len(answer.json()["heads"]) == 6


@pytest.mark.parametrize(
    ("rule", "status", "words"),
    [
        ("offset = ", 422, "cannot be read at 9: expected a whole number such as -1"),
        ("", 422, "the rule is empty"),
        ("x" * 1001, 413, "at most 1,000"),
        (7, 400, "rule must be a text"),
        ("query ~ /(/", 422, "a regular expression"),
        ("(" * 60, 422, "at most 50 brackets"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said_with_its_place(kept, rule, status, words):
    client, name, _ = kept
    answer = client.post(f"/api/traces/{name}/rule", json={"rule": rule})
    assert (answer.status_code, words in answer.json()["message"]) == (status, True), answer.json()
    if rule == "offset = ":
        assert answer.json()["message"].splitlines()[1:] == ["  offset =", "          ^"]


def test_a_regular_expression_that_never_ends_is_stopped(kept):
    client, name, _ = kept
    client.post("/api/traces", json={"text": "a" * 40 + "b"})
    answer = client.post(f"/api/traces/{name}/rule", json={"rule": "key ~ /^(a|a?)+$/ or query ~ /^(h|h?)+e$/"})
    assert answer.status_code in (200, 422)


def test_a_tree_is_missed_in_a_sentence(kept):
    client, name, _ = kept
    found = client.post(f"/api/traces/{name}/rule", json={"rule": "key is NOUN"}).json()
    assert found["heads"] == [] and found["missing"]["encoder"]["code"] == "no_tree"


def test_a_saved_rule_is_in_the_next_report(kept):
    client, name, _ = kept
    assert client.get("/api/rules").json() == {"file": Path(client.get("/api/rules").json()["file"]).name, "rules": []}
    before = header_of(client.get(f"/api/traces/{name}/report").content)
    saved = client.post("/api/rules", json={"name": "two back", "rule": "offset = -2"})
    assert saved.status_code == 201 and saved.json()["rules"][0]["rule"] == "offset = -2"
    after = header_of(client.get(f"/api/traces/{name}/report").content)
    assert "two back" not in before["sites"][0]["measures"] and "two back" in after["sites"][0]["measures"]
    assert client.delete("/api/rules/two back").json()["rules"] == []
    assert client.delete("/api/rules/two back").status_code == 404
    for wrong in ({"name": "<b>", "rule": "offset = 1"}, {"name": "x", "rule": "offset"}, {"rule": "offset = 1"}):
        assert client.post("/api/rules", json=wrong).status_code == 422
    again = header_of(client.get(f"/api/traces/{name}/report").content)
    assert "two back" not in again["sites"][0]["measures"]


def test_over_the_corpus_of_a_study(serve, tmp_path, tiny):
    folder = tmp_path / "studies"
    folder.mkdir()
    lines = "\n".join(TEXT[n:] for n in range(0, 40, 4))
    (folder / "lines.txt").write_text(lines)
    model = regard.load(str(tiny))
    regard.study.tokens(model, folder / "lines.txt", output=folder / "mine")
    meta = folder / "mine" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"model": str(tiny)}))
    client, _ = serve(studies=folder)
    found = client.post("/api/studies/mine/rule", json={"rule": "offset = -1"})
    assert found.status_code == 200, found.text
    table = regard.find("offset = -1", folder / "lines.txt", model).table
    assert [one["lift"] for one in found.json()["heads"]] == pytest.approx(table["lift"].tolist(), abs=1e-6)
    assert found.json()["inputs"] == 10 and found.json()["examples"]
    assert client.post("/api/studies/mine/rule", json={"rule": "offset = x"}).status_code == 422
    assert client.post("/api/studies/other/rule", json={"rule": "offset = 1"}).status_code == 404
    assert client.post("/api/studies/..%2Fmine/rule", json={"rule": "offset = 1"}).status_code == 404
    (folder / "lines.txt").rename(tmp_path / "lines.txt")
    gone = client.post("/api/studies/mine/rule", json={"rule": "offset = -1"})
    assert gone.status_code == 422 and "run: regard find 'offset = -1' CORPUS -m " in gone.json()["message"]
    (folder / "lines.txt").symlink_to(tmp_path / "lines.txt")  # nothing outside is read, not even through a link
    assert client.post("/api/studies/mine/rule", json={"rule": "offset = -1"}).status_code == 422
