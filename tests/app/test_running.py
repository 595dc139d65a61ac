"""Studies that the page starts: one at a time, within limits, and a folder appears only when it is complete."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from regard.app import running

LINES = "the cat sat on the mat\nthe dog ran to the park\n" * 6
WORDS = ((1, "the", 2), (2, "cat", 3), (3, "sat", 0))
ASKED = {"study": "tokens", "text": LINES, "limit": 12, "control": False}


@pytest.fixture
def folder(tmp_path) -> Path:
    place = tmp_path / "studies"
    place.mkdir()
    return place


def state(client):
    return client.get("/api/studies").json()["running"]


def ended(client, seconds: float = 60.0):
    """The study when it runs no more."""
    end = time.monotonic() + seconds
    while (found := state(client))["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_study_becomes_a_report_that_is_listed_under_a_name_of_the_server(serve, folder):
    client, _ = serve(studies=folder)
    begun = client.post("/api/studies", json={**ASKED, "file": "../../my <corpus>.txt", "control": True})
    assert begun.status_code == 202 and begun.json()["state"] == "running"
    found = ended(client)
    assert (found["state"], found["message"]) == ("done", "")
    assert (found["done"], found["total"]) == (60, 60)  # itself, three draws, shuffled: five passes
    (listed,) = client.get("/api/studies").json()["studies"]
    assert left(folder) == [listed["name"]] == [found["name"]] and listed["name"].startswith("tokens-tiny-")
    assert (listed["study"], listed["corpus"], listed["inputs"]) == ("tokens", "my-corpus.txt", 12)
    assert "checkpoint" not in " ".join(listed["files"])
    assert "regard study tokens my-corpus.txt" in client.get(listed["report"]).text
    assert folder.parent.joinpath("my <corpus>.txt").exists() is False


REFUSED = [
    ({"study": "nothing"}, 400, "study must be one of atlas, heads, tokens"),
    ({"study": "change"}, 400, "study must be one of"),
    ({"text": " \n"}, 422, "has no text"),
    ({"text": "x" * 2001}, 413, "the text has 2,001 characters; a study here takes at most 2,000"),
    ({"limit": 51}, 413, "takes 1 to 50 examples"),
    ({"limit": -1}, 413, "takes 1 to 50 examples"),
    ({"study": "syntax"}, 422, "needs dependency trees, which plain text does not have: give it a treebank in CoNLL-U"),
    ({"study": "probe", "file": "a.conllu"}, 422, "needs dependency trees"),
    ({"study": "coref"}, 422, "needs marked coreference, which plain text does not have: give it a GAP file"),
    ({"model": "not/listed"}, 403, "not/listed"),
]


def test_what_a_server_does_not_take_is_refused_in_a_sentence(serve, folder):
    client, _ = serve(studies=folder, limits={"corpus": 2000, "examples": 50})
    for change, status, words in REFUSED:
        answer = client.post("/api/studies", json={**ASKED, **change})
        assert (answer.status_code, words in answer.json()["message"]) == (status, True), (change, answer.text)
    assert state(client) is None and left(folder) == []


def test_without_a_folder_nothing_is_run(serve):
    client, _ = serve()
    answer = client.post("/api/studies", json=ASKED)
    assert (answer.status_code, answer.json()["code"]) == (403, "study_folder")


def test_other_sites_can_neither_start_nor_cancel(serve, folder):
    client, _ = serve(studies=folder, token="s3cret-token")
    foreign = {"Authorization": "Bearer s3cret-token", "Origin": "http://elsewhere.example"}
    for headers, status in (({}, 401), (foreign, 403)):
        assert client.post("/api/studies", json=ASKED, headers=headers).status_code == status
        assert client.delete("/api/studies/running", headers=headers).status_code == status


@pytest.fixture
def held(monkeypatch):
    """Hold studies before their last step until the test lets go."""
    go, begun, placed = threading.Event(), threading.Event(), running._progress

    def progress(run, corpus, check):
        made = placed(run, corpus, check)

        def step(done):
            begun.set()
            while not go.is_set():
                check()
                time.sleep(0.01)
            made["step"](done)

        return {"step": step}

    monkeypatch.setattr(running, "_progress", progress)
    yield begun, go
    go.set()


def test_one_study_at_a_time_and_cancelling_leaves_nothing_but_what_is_finished(serve, folder, held):
    begun, go = held
    client, _ = serve(studies=folder)
    finished = folder / "earlier"
    finished.mkdir()
    (finished / "meta.json").write_text(json.dumps({"study": "atlas"}))
    client.post("/api/studies", json=ASKED)
    assert begun.wait(60)
    second = client.post("/api/studies", json=ASKED)
    assert (second.status_code, second.json()["code"]) == (503, "study_busy")
    assert client.post("/api/traces", json={"text": "the cat sat"}).status_code == 200  # the model serves others, too
    listed = client.get("/api/studies").json()["studies"]
    assert [one["name"] for one in listed] == ["earlier"]  # what is not finished is not listed
    assert client.delete("/api/studies/running").status_code == 200
    assert ended(client)["state"] == "cancelled"
    assert left(folder) == ["earlier"]
    go.set()
    assert client.post("/api/studies", json=ASKED).status_code == 202  # and the next one runs
    found = ended(client)
    client.delete("/api/studies/running")
    assert state(client)["state"] == "done" and left(folder) == ["earlier", found["name"]]


def test_a_study_stops_when_its_time_is_over(serve, folder, held):
    client, _ = serve(studies=folder, limits={"study_seconds": 3.0})
    client.post("/api/studies", json=ASKED)
    found = ended(client)
    assert (found["state"], found["code"]) == ("failed", "study_slow") and "0.05 minutes" in found["message"]
    assert left(folder) == []


def test_a_server_that_stops_leaves_no_half_of_a_study(serve, folder, held):
    begun, _ = held
    client, parts = serve(studies=folder)
    client.post("/api/studies", json=ASKED)
    assert begun.wait(60)
    parts.runner.close()
    assert left(folder) == [] and parts.runner.record["state"] == "cancelled"
    assert client.post("/api/studies", json=ASKED).status_code == 503


def test_what_a_killed_server_left_is_removed_unless_it_is_in_use(serve, folder):
    dead, used = folder / ".running-dead", folder / ".running-used"
    (dead / "result").mkdir(parents=True)
    (dead / "result" / "meta.json").write_text("{}")
    client, _ = serve(studies=folder)
    with running.held(used):
        assert client.get("/api/studies").json()["studies"] == []
        client.post("/api/studies", json=ASKED)
        assert ended(client)["state"] == "done"
        assert not dead.exists() and used.exists()


def test_a_study_that_fails_says_why(serve, folder):
    client, _ = serve(studies=folder)
    client.post("/api/studies", json={**ASKED, "file": "table.jsonl", "text": "no object\n"})
    found = ended(client)
    assert found["state"] == "failed" and "table.jsonl has no examples to study" in found["message"]
    assert left(folder) == []


def test_trees_are_recognised_by_their_columns(serve, folder):
    client, _ = serve(studies=folder)
    tree = "".join(f"{n}\t{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for n, word, head in WORDS) + "\n"
    client.post("/api/studies", json={**ASKED, "study": "syntax", "text": tree * 3})
    found = ended(client)
    assert (found["state"], found["corpus"]) == ("done", "pasted-text.conllu")
