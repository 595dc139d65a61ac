"""Rules over HTTP: heads that follow one on a text or over a study's corpus, and rules saved as patterns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import regard
from regard import Trace
from regard.app.shelf import KeptTrace
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
    client, _, parts = kept
    entry = KeptTrace(Trace.from_maps(np.full((1, 1, 2, 2), 0.5), ["a" * 5_000 + "!", "c"]))
    parts.shelf.put(entry)
    answer = client.post(f"/api/traces/{entry.id}/rule", json={"rule": "key ~ /(a|a?)+$/"})
    assert answer.status_code == 422 and "takes more than 1 s" in answer.json()["message"], answer.json()


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


def test_visitors_of_a_shared_server_change_no_rules(serve):
    client, _ = serve(names=("shared.example",))
    refused = client.post("/api/rules", json={"name": "two back", "rule": "offset = -2"})
    assert (refused.status_code, refused.json()["code"]) == (403, "shared_rules")
    assert client.delete("/api/rules/two back").status_code == 403
    assert client.get("/api/rules").json()["rules"] == []
    client, _ = serve(names=("shared.example",), save_rules=True)
    assert client.post("/api/rules", json={"name": "two back", "rule": "offset = -2"}).status_code == 201


def test_rules_that_cannot_be_kept_are_refused_in_a_sentence(kept, tmp_path, monkeypatch):
    client = kept[0]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REGARD_RULES", str(tmp_path / "file" / "rules.json"))
    refused = client.post("/api/rules", json={"name": "two back", "rule": "offset = -2"})
    assert refused.status_code == 422 and "name another file in REGARD_RULES" in refused.json()["message"]


def test_a_study_that_is_the_served_folder_and_one_without_a_model(serve, tmp_path, tiny):
    folder = tmp_path / "studies"
    folder.mkdir()
    (folder / "lines.txt").write_text("\n".join(TEXT[n:] for n in range(0, 40, 4)))
    regard.study.tokens(regard.load(str(tiny)), folder / "lines.txt", output=folder)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"model": str(tiny)}))
    client, _ = serve(studies=folder)
    found = client.post("/api/studies/studies/rule", json={"rule": "offset = -1"})
    assert found.status_code == 200 and found.json()["inputs"] == 10, found.text
    (record,) = client.get("/api/studies").json()["studies"]
    assert record["name"] == "studies" and record["chart"]["top"] == meta["chart"]["top"]
    trees = client.post("/api/studies/studies/rule", json={"rule": "key is NOUN"})
    assert trees.status_code == 422 and "cannot answer key is NOUN" in trees.json()["message"]
    del meta["model"]
    (folder / "meta.json").write_text(json.dumps(meta))
    refused = client.post("/api/studies/studies/rule", json={"rule": "offset = -1"})
    assert (refused.status_code, refused.json()["code"]) == (422, "study_model")


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
