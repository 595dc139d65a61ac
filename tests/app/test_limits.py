"""Busy, superseded, too large, too slow, too many: each is said, and nothing else breaks."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
import torch

from regard.ablation.evidence import answer_evidence
from regard.app import memory
from regard.app.memory import estimate
from regard.app.weighing import weight_of
from regard.views import decode
from tests.tiny import saved

TEXT = {"text": "the cat sat on the mat"}


def post(client: httpx.Client, who: str | None = None, path: str = "/api/traces", **body) -> httpx.Response:
    headers = {} if who is None else {"X-Regard-Client": who}
    return client.post(path, json={**TEXT, **body}, headers=headers)


@pytest.fixture
def held():
    """Hold a server's worker until the test lets go."""
    go = threading.Event()

    def hold(parts) -> threading.Event:
        begun = threading.Event()
        parts.worker.submit(lambda _: (begun.set(), go.wait(30)))
        assert begun.wait(20)
        return go

    yield hold
    go.set()


def wait_for(fact, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_full_queue_says_busy_and_goes_on(serve, held):
    client, parts = serve(limits={"queue": 2})
    assert post(client).status_code == 200
    go = held(parts)
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(post, client) for _ in range(2)]
        wait_for(lambda: parts.worker.waiting == 2)
        refused = post(client)
        assert refused.status_code == 503 and refused.json()["error"] == "busy"
        assert refused.headers["retry-after"] == "1"
        assert client.get("/healthz").json()["waiting"] == 2  # what needs no model is answered all the time
        go.set()
        assert [one.result(20).status_code for one in waiting] == [200, 200]


def test_typing_on_supersedes_the_same_client_and_no_other(serve, held):
    client, parts = serve()
    post(client)
    go = held(parts)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(post, client, "tab1.a", text="the cat")
        wait_for(lambda: parts.worker.waiting == 1)
        other = pool.submit(post, client, "tab1.b", text="the dog")
        wait_for(lambda: parts.worker.waiting == 2)
        second = pool.submit(post, client, "tab1.a", text="the mat")
        told = first.result(20)  # at once, before the worker is free
        assert told.status_code == 409 and told.json()["error"] == "superseded"
        go.set()
        texts = [[t.text for t in decode(one.result(20).content).tokens][2] for one in (other, second)]
    assert texts == ["dog", "mat"]


def test_a_client_that_goes_away_leaves_the_queue(serve, held):
    client, parts = serve()
    post(client)
    held(parts)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/api/traces", json=TEXT, timeout=0.3)
    wait_for(lambda: parts.worker.waiting == 0)


def test_an_answer_that_takes_too_long_is_given_up(serve, held):
    client, parts = serve(limits={"seconds": 5.0})
    assert post(client).status_code == 200
    parts.limits = type(parts.limits)(seconds=0.3)
    held(parts)
    late = post(client)
    assert late.status_code == 504 and late.json()["error"] == "slow" and parts.worker.waiting == 0


def test_only_the_last_traces_are_kept(serve):
    client, parts = serve(limits={"traces": 2})
    names = [post(client).headers["x-regard-trace"] for _ in range(3)]
    assert client.get(f"/api/traces/{names[0]}/report").json()["error"] == "missing"
    assert client.get(f"/api/traces/{names[1]}/report").status_code == 200
    post(client)  # the one that was asked for last stays
    assert client.get(f"/api/traces/{names[1]}/report").status_code == 200
    assert len(parts.shelf) == 2 and parts.shelf.bytes > 0


def test_traces_kept_stay_within_their_memory(serve):
    client, parts = serve(limits={"memory": 40_000})
    for _ in range(6):
        post(client)
    assert 1 <= len(parts.shelf) < 6 and parts.shelf.bytes <= 40_000


def test_walks_are_counted_with_the_weights_they_hold(serve):
    client, parts = serve()
    name = post(client, path="/api/walk", model=parts.models.default).headers["x-regard-trace"]
    walk = parts.shelf.get(name).walk
    assert walk is not None
    own = sum(array.nbytes for array in walk.arrays.values())
    assert own < parts.shelf.bytes < 5 * own  # the rest is the trace


def test_walks_kept_stay_within_their_memory(serve):
    client, parts = serve()
    post(client, path="/api/walk", model=parts.models.default)
    one = parts.shelf.bytes
    client, parts = serve(limits={"memory": int(3.5 * one)})
    for _ in range(8):
        post(client, path="/api/walk", model=parts.models.default)
    assert len(parts.shelf) == 3


def test_what_is_found_out_about_a_trace_counts_too(serve):
    client, parts = serve()
    name = post(client).headers["x-regard-trace"]
    before = parts.shelf.bytes
    assert client.get(f"/api/traces/{name}/report").status_code == 200
    assert len(parts.shelf) == 1 and parts.shelf.bytes > before


def test_a_part_of_an_array_keeps_the_whole_of_it():
    whole = np.zeros(100_000, np.float32)
    tensor = torch.zeros(100_000)
    assert 4e5 < weight_of({"a": whole[:10], "b": whole[5:]}) < 4.1e5
    assert 4e5 < weight_of([tensor[:10].numpy(), tensor[5:].numpy()]) < 4.1e5


def test_tokens_have_a_limit(serve):
    client, _ = serve(limits={"tokens": 8})
    refused = post(client, text="the cat sat on the mat .")
    assert refused.status_code == 413 and "9 tokens" in refused.json()["message"]


def test_memory_is_looked_at_before_the_model_runs(serve, monkeypatch, bert):
    client, parts = serve()
    post(client)
    ran = []
    model = parts.models.arriving(None).result(20)
    monkeypatch.setattr(memory, "available", lambda: 1000)
    monkeypatch.setattr(model, "trace", lambda *_, **__: ran.append(1))
    refused = post(client)
    assert refused.status_code == 413 and "GB" in refused.json()["message"] and not ran
    assert estimate(bert, 2000) == 1000 * estimate(bert, 2)


def test_the_estimate_is_of_the_size_of_the_trace(serve, minilm):
    from regard.app.shelf import KeptTrace

    kept = KeptTrace(minilm.trace("The cat sat on the mat. " * 40)).bytes
    assert kept < estimate(minilm, 282) < 5 * kept


def test_predictions_count_where_they_are_made_at_every_position(llama):
    config, layers = llama.config, len(llama.layout())
    kept = 3 * config.hidden_size * layers + 12 * config.hidden_size
    assert estimate(llama, 64) == 4 * 64 * kept
    backward = kept + 24 * config.hidden_size * layers + config.vocab_size
    assert estimate(llama, 64, backward=True) == 4 * 64 * backward


def test_what_cuts_and_splits_keep_counts_as_well(bert):
    plain = estimate(bert, 64)
    heads, layers = 3, 2
    assert estimate(bert, 64, maps=True) - plain == 4 * layers * heads * 64 * 64
    cut = [estimate(bert, tokens, cut=True) - estimate(bert, tokens) for tokens in (64, 128)]
    assert cut[1] == 4 * cut[0] >= 4 * heads * 64 * 64  # masks and maps grow with the square
    assert estimate(bert, 64, backward=True) > plain


def test_scores_are_split_for_short_texts(serve):
    client, _ = serve(limits={"split": 7})
    asked = {"text": "the cat sat on the mat", "head": {"layer": 1, "head": 2}, "query": 3}
    refused = client.post("/api/why", json=asked)
    assert refused.status_code == 413 and refused.json()["code"] == "long_here"
    assert refused.json()["values"] == {"tokens": 8, "limit": 7}
    answer = client.post("/api/why", json={**asked, "text": "the cat sat", "count": 2}).json()
    assert answer["key"]["agreement"] is None and len(answer["query"]["components"]) == 2
    assert answer["key"]["rest"]["count"] == 6 and answer["error"] < 1e-4
    assert answer["chain"][0] | {"layer": 1, "head": 2, "query": 3} == answer["chain"][0]
    assert client.post("/api/why", json={**asked, "text": "the cat sat", "check": True}).json()["key"]["agreement"]
    for wrong in ({"query": None}, {"head": None}, {"head": {"layer": 1}}, {"query": -1}, {"check": "yes"}):
        assert client.post("/api/why", json={**asked, **wrong}).status_code == 400
    for absent in ({"query": 90}, {"key": 90}, {"head": {"layer": 9, "head": 0}}):
        assert client.post("/api/why", json={**asked, "text": "the cat sat", **absent}).status_code == 422


def test_what_a_head_writes_is_asked_of_decoders(serve, llama, tmp_path):
    client, _ = serve(models=(str(saved(llama, tmp_path / "llama")),), limits={"split": 8})
    asked = {"text": "ab cab", "head": {"layer": 1, "head": 2}, "position": 3, "count": 2}
    answer = client.post("/api/writes", json=asked).json()
    assert [len(answer[name]) for name in ("promoted", "demoted", "components")] == [2, 2, 2]
    assert answer["position"] == 3 and answer["error"] < 1e-4 and answer["sources"][0]["promoted"][0]["logit"]
    assert client.post("/api/writes", json={**asked, "text": "ab cab cab"}).json()["code"] == "long_here"
    assert client.post("/api/writes", json={**asked, "head": None}).status_code == 400
    assert client.post("/api/writes", json={**asked, "position": 70}).status_code == 422
    client, _ = serve()
    refused = client.post("/api/writes", json={**asked, "text": "the cat sat"})
    assert refused.status_code == 422 and refused.json()["code"] == "writes_none"


def test_which_words_predict_which_is_asked_of_short_texts(serve):
    client, _ = serve(limits={"predictive": 7})
    refused = post(client, predictive=True)
    assert refused.status_code == 413 and refused.json()["code"] == "long_predictive"
    assert refused.json()["values"] == {"tokens": 8, "limit": 7}
    answer = post(client, text="the cat sat", predictive=True)
    report = client.get(f"/api/traces/{answer.headers['x-regard-trace']}/report")
    assert b"no language-model head" in report.content  # n/a, with the reason


def test_the_next_word_over_the_layers_is_asked_of_decoders(serve, llama, tmp_path):
    client, _ = serve(models=(str(saved(llama, tmp_path / "llama")),))
    asked = {"text": "ab cab", "position": 3, "count": 2}
    answer = client.post("/api/lens", json=asked).json()
    found = llama.lens("ab cab", 3, top=2)
    assert [row["layers"] for row in answer["rows"]] == [0, 1, 2] and answer["leads"] == found.leads
    assert [word["id"] for row in answer["rows"] for word in row["words"]] == [
        word.id for row in found.rows for word in row.words
    ]
    assert client.post("/api/lens", json={**asked, "position": 70}).status_code == 422
    client, _ = serve()
    refused = client.post("/api/lens", json={**asked, "text": "the cat sat"})
    assert refused.status_code == 422 and refused.json()["code"] == "lens_none"


def test_where_an_answer_came_from_is_asked_of_decoders(serve, llama, tmp_path):
    client, _ = serve(models=(str(saved(llama, tmp_path / "llama")),), limits={"tokens": 40})
    asked = {"text": "The cat sat. A dog ran!", "target": "cab"}
    answer = client.post("/api/evidence", json=asked).json()
    found = answer_evidence(llama, asked["text"], "cab")
    assert [one["text"] for one in answer["sentences"]] == ["The cat sat.", "A dog ran!"], answer
    for name in ("attention", "contribution", "worth"):
        expected = [getattr(one, name) for one in found.sentences]
        np.testing.assert_allclose([one[name] for one in answer["sentences"]], expected, rtol=1e-4, atol=1e-6)
    assert answer["notes"] and answer["coded"][0]["code"].startswith("evidence_")
    own = client.post("/api/evidence", json={**asked, "target": None}).json()
    assert len(own["tokens"]) == 1  # without an answer: what comes next
    assert client.post("/api/evidence", json={**asked, "text": "ab " * 15}).json()["code"] == "long_here"
    client, _ = serve()
    refused = client.post("/api/evidence", json={"text": "the cat sat"})
    assert refused.status_code == 422 and "does not continue a text" in refused.json()["message"]
