"""Every address answers what docs/reference/app.md says, over HTTP, with the default model.

Long on purpose: its tests share one server that loads a real model; in a second file it would start again.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

import regard
from regard import Trace
from regard.ablation.effects import effect
from regard.app.examples import EXAMPLES
from regard.models.means import NAME, SENTENCES
from regard.trace.heads import MODES
from regard.views import decode, header_of
from regard.views.report import Report, report_of
from regard.views.walk import walk

from ..conftest import ARTICLE, need

pytestmark = pytest.mark.models
ROOT = Path(__file__).resolve().parents[2]


def ask(client: httpx.Client, path: str = "/api/traces", **body) -> httpx.Response:
    return client.post(path, json={"text": ARTICLE[0], "pair": ARTICLE[1], **body})


@pytest.fixture(scope="module")
def traced(client) -> httpx.Response:
    return ask(client)


def of(traced: httpx.Response, rest: str) -> str:
    return f"/api/traces/{traced.headers['x-regard-trace']}/{rest}"


def test_the_page_holds_no_script_of_its_own_and_allows_none_from_elsewhere(client):
    page = client.get("/")
    assert page.status_code == 200 and 'id="regard" data-app' in page.text
    assert re.findall(r"<script[^>]*>(.*?)</script>", page.text, re.S) == [""]
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy


def test_the_bundle_is_served_once(client):
    script = client.get("/static/app.js")
    assert script.headers["content-type"].startswith("text/javascript")
    again = client.get("/static/app.js", headers={"If-None-Match": script.headers["etag"]})
    assert again.status_code == 304 and not again.content
    assert client.get("/static/app.py").status_code == 404


def test_health_and_state(client):
    assert client.get("/healthz").json()["status"] == "ok"
    state = client.get("/api/state").json()
    assert state["default"] == "all-MiniLM-L6-v2" and state["download"] is False
    known = {model["name"]: model for model in state["models"]}
    assert {"all-MiniLM-L6-v2", "translator"} <= set(known)
    assert state["sentences"] == len(SENTENCES)
    assert client.get("/api/models").json()["models"][0]["name"] == "all-MiniLM-L6-v2"


def test_a_trace_is_the_models_own(client, traced, minilm):
    assert traced.headers["content-type"] == "application/octet-stream" and traced.headers["x-regard-whole"] == "1"
    there, here = decode(traced.content), minilm.trace(*ARTICLE)
    assert [token.text for token in there.tokens] == [token.text for token in here.tokens]
    np.testing.assert_allclose(there.attention(3), here.attention(3), atol=1e-6)
    ready = {model["name"]: model for model in client.get("/api/models").json()["models"]}["all-MiniLM-L6-v2"]
    assert ready["state"] == "ready" and ready["about"]["kinds"] == ["encoder"] and ready["about"]["walk"]
    assert tuple(ready["about"]["modes"]) == MODES


def test_what_is_open_first_can_be_asked_for(client):
    header = header_of(ask(client, open={"view": "matrix", "layer": 2, "heads": [5]}).content)
    assert header["selection"] == {"view": "matrix", "kind": "encoder", "layer": 2, "part": 0, "heads": [5]}


def test_the_report_comes_without_weights(client, traced, minilm):
    header = header_of(client.get(of(traced, "report")).content)
    known = report_of(minilm.trace(*ARTICLE), True)
    assert known is not None and header["cautions"] == known.cautions
    assert all("q" not in site and "maps" not in site for site in header["sites"])
    assert header["sites"][0]["patterns"][2][0]["name"] == "previous token"
    best = known.clearest(1)[0]
    assert (header["selection"]["layer"], header["selection"]["heads"]) == (best.layer, [best.head])


def test_one_layer_of_a_trace(client, traced):
    whole, part = decode(traced.content), decode(client.get(of(traced, "layers/encoder/4")).content)
    assert [site.layer for site in part.sites] == [4]
    np.testing.assert_array_equal(part.attention(4), whole.attention(4))
    assert client.get(of(traced, "layers/encoder/6")).json()["error"] == "missing"
    assert client.get(of(traced, "layers/cross/0")).status_code == 404


def test_the_trace_and_the_page_can_be_taken_away(client, traced, tmp_path):
    file = tmp_path / "trace.safetensors"
    answer = client.get(of(traced, "file"))
    file.write_bytes(answer.content)
    assert "attachment" in answer.headers["content-disposition"]
    np.testing.assert_array_equal(Trace.load(file).attention(1), decode(traced.content).attention(1))
    page = client.get(of(traced, "page?view=matrix&layer=1&heads=0,3"))
    assert page.headers["content-type"].startswith("text/html") and "attachment" in page.headers["content-disposition"]
    assert "sandbox" in page.headers["content-security-policy"] and "<!doctype html>" in page.text[:20]


def test_heads_are_switched_off(client, minilm):
    off = {"heads": [{"layer": 0, "head": 2}, {"layer": 1, "head": 8, "kind": "encoder"}], "mode": "zero"}
    made = decode(ask(client, ablate=off).content)
    assert made.facts["ablated"] == [{"heads": ["0.2", "1.8"], "mode": "zero"}]
    here = minilm.trace(*ARTICLE, ablate=["0.2", "1.8"])
    np.testing.assert_allclose(made.attention(5), here.attention(5), atol=1e-6)
    record = ask(client, "/api/ablate", heads=off["heads"]).json()
    there = effect(minilm, *ARTICLE, heads=["0.2", "1.8"])
    assert record["about"] == "hidden states" and record["modes"] == ["zero", "uniform", "mean"]
    assert record["rows"][1]["after"] == pytest.approx(there.rows[1].after, abs=1e-5)


def test_lines_are_cut(client, minilm):
    edges = [{"layer": 3, "head": 2, "query": 2, "key": [4, 5]}, {"layer": 1, "head": None, "query": None, "key": 0}]
    record = ask(client, "/api/cut", edges=edges, controls=3).json()
    here = minilm.cut(*ARTICLE, edges=[(3, 2, 2, [4, 5]), (1, None, None, 0)], controls=3)
    assert record["sentence"] == here.sentence and record["lines"] == here.lines > 12
    assert record["change"]["unit"] == "similarity"
    assert record["change"]["after"] == pytest.approx(here.change.after, abs=1e-5) != record["change"]["before"]
    assert record["control"]["count"] == 3 and len(record["said"]) == 3


def test_lines_are_judged_and_later_checked(client, minilm):
    answer = ask(client, worth={"how": "zero"})
    made = decode(answer.content)
    here = minilm.trace(*ARTICLE, worth={"how": "zero", "check": 0})
    np.testing.assert_allclose(made.worth(4, how="zero"), here.worth(4, how="zero"), atol=1e-6)
    assert made.facts["worth"]["check"] is None
    checked = ask(client, of(answer, "worth"), worth={"how": "zero", "check": 8}).json()
    assert checked["check"]["edges"] == 8 and checked["coded"][0]["code"].startswith("worth_")
    again = header_of(client.get(of(answer, "layers/encoder/0")).content)
    assert again["facts"]["worth"] == checked
    other = client.post(of(answer, "worth"), json={"text": "Another.", "worth": {"how": "mask", "check": 8}})
    assert other.json() == checked  # of the text that was traced, whatever is sent
    assert client.post(of(ask(client), "worth"), json={"worth": True}).status_code == 400
    drawn = client.get(of(answer, "figure?view=matrix&layer=1&heads=8&worth=1"))
    assert drawn.status_code == 200 and "agrees with exact cuts" in drawn.text
    unjudged = client.get(of(ask(client), "page?worth=1"))
    assert unjudged.status_code == 422 and "worth=True" in unjudged.json()["message"]
    assert client.post("/api/traces", json={"text": "Hello!", "worth": True}).json()["code"] == "no_outcome"


def test_lines_of_an_ablated_model_are_checked_on_the_ablated_model(client, minilm):
    off = {"heads": [{"layer": 2, "head": 9}], "mode": "zero"}
    answer = ask(client, ablate=off, worth=True)
    checked = client.post(of(answer, "worth"), json={"worth": {"check": 8}}).json()
    here = minilm.trace(*ARTICLE, ablate=["2.9"], worth={"check": 8}).facts["worth"]
    whole = minilm.trace(*ARTICLE, worth={"check": 8}).facts["worth"]
    assert checked["value"] == pytest.approx(here["value"], abs=1e-5) != pytest.approx(whole["value"], abs=1e-5)
    assert checked["check"]["spearman"] == pytest.approx(here["check"]["spearman"], abs=1e-3)


def test_positions_that_are_named_many_times_are_cut_once_and_soon(client):
    many = [{"layer": 0, "head": 0, "query": [4] * 4096, "key": [0] * 4096}]
    record = ask(client, "/api/cut", edges=many, controls=0).json()
    assert record["lines"] == 1
    spread = [{"layer": 0, "query": list(range(5000)), "key": [n]} for n in range(2)]
    assert ask(client, "/api/cut", edges=spread).status_code == 413


@pytest.mark.parametrize(
    ("model", "head"),
    [
        ("all-MiniLM-L6-v2", {"layer": 0, "head": 2}),
        ("translator", {"kind": "cross", "layer": 2, "head": 4}),
    ],
)
def test_mode_mean_is_over_the_sentences_that_come_with_regard(client, model, head):
    off = {"heads": [head], "mode": "mean"}
    made = decode(client.post("/api/traces", json={"text": ARTICLE[0], "model": model, "ablate": off}).content)
    assert [one["reference"] for one in made.facts["ablated"]] == [NAME]
    here = regard.load(model).trace(ARTICLE[0], ablate=[tuple(head.values())], mode="mean")
    for kind in here.kinds:
        last = here.layers(kind)[-1]
        np.testing.assert_allclose(made.attention(last, kind=kind), here.attention(last, kind=kind), atol=1e-5)


def test_a_model_without_value_vectors_offers_no_uniform_attention(client):
    asked = {"text": "Hello!", "model": "translator"}
    assert client.post("/api/traces", json=asked).status_code == 200
    known = {model["name"]: model for model in client.get("/api/models").json()["models"]}
    assert known["translator"]["about"]["modes"] == ["zero", "mean"]
    assert known["translator"]["about"]["cuts"] == ["mask", "zero"]  # its q, k and v are seen by watching torch
    edge = {"kind": "cross", "layer": 1, "head": 2, "query": 0, "key": 0}
    cut = client.post("/api/cut", json={**asked, "edges": [edge], "controls": 0})
    assert cut.status_code == 200 and cut.json()["change"]["before"] != cut.json()["change"]["after"]
    off = {"heads": [{"kind": "encoder", "layer": 0, "head": 1}], "mode": "uniform"}
    assert client.post("/api/traces", json={**asked, "ablate": off}).status_code == 422


def test_a_walk_through_the_translator(client):
    answer = client.post("/api/walk", json={"text": "Hello, how are you?"})
    header = header_of(answer.content)
    assert header["facts"]["said"] == walk("Hello, how are you?").said and header["walk"]["layer"] == 0
    page = client.get(of(answer, "page?view=walk"))
    assert page.status_code == 200


@pytest.mark.parametrize(("format", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_a_figure_of_a_trace(client, format, start):
    answer = client.post("/api/traces", json={"text": "Hello there!"})
    figure = client.get(of(answer, f"figure?view=matrix&layer=1&heads=8&format={format}&width=page"))
    assert figure.status_code == 200 and figure.content.startswith(start)
    assert f'filename="figure.{format}"' in figure.headers["content-disposition"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("view=walk", 400),
        ("format=exe", 400),
        ("width=1e9", 400),
        ("threshold=nan", 400),
        ("query=-1&view=neurons", 400),
        ("query=99999&view=neurons", 422),
        ("layer=99", 422),
        ("heads=99&layer=0", 422),
        ("heads=" + ",".join(["0"] * 65), 413),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_in_a_sentence(client, query, status):
    answer = client.post("/api/traces", json={"text": "Hello there!"})
    said = client.get(of(answer, f"figure?{query}"))
    assert said.status_code == status and len(said.json()["message"]) > 10


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({}, 400, "bad"),
        ({"text": 3}, 400, "bad"),
        ({"text": "a", "open": []}, 400, "bad"),
        ({"text": "a", "open": {"view": "nothing"}}, 400, "bad"),
        ({"text": "a", "ablate": {"heads": [{"layer": True, "head": 0}]}}, 400, "bad"),
        ({"text": "a", "generate": 0}, 400, "bad"),
        ({"text": "a", "edges": [{"head": 0}]}, 400, "bad"),
        ({"text": "a", "edges": [{"layer": 0, "query": ["a"]}]}, 400, "bad"),
        ({"text": "a", "edges": [{"layer": 0}] * 257}, 413, "large"),
        ({"text": "a", "worth": {"how": "gently"}}, 400, "bad"),
        ({"text": "a", "worth": []}, 400, "bad"),
        ({"text": " "}, 422, "input"),
        ({"text": "a", "target": "b"}, 422, "input"),
        ({"text": "a", "open": {"layer": 99}}, 422, "input"),
        ({"text": "a", "ablate": {"heads": [{"layer": 99, "head": 0}]}}, 422, "input"),
        ({"text": "a", "ablate": {"heads": [{"layer": 0, "head": 0}], "mode": "gently"}}, 422, "input"),
        ({"text": "a " * 600}, 422, "input"),
        ({"text": "a" * 100_001}, 413, "large"),
        ({"text": "a", "model": "someone/unknown"}, 403, "refused"),
        ({"text": "a", "model": "../../etc"}, 403, "refused"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_sentence(client, body, status, word):
    answer = client.post("/api/traces", json=body)
    said = answer.json()
    assert (answer.status_code, said["error"]) == (status, word)
    assert set(said) - {"code", "values"} == {"error", "message"}
    assert len(said["message"]) > 10 and "Traceback" not in said["message"]


def test_a_text_that_could_be_cut_says_so_in_a_code(client):
    said = client.post("/api/traces", json={"text": "a " * 600}).json()
    assert (said["code"], said["values"]["limit"]) == ("long", 512) and said["values"]["tokens"] > 600
    target = client.post("/api/traces", json={"text": "a", "target": "b"}).json()
    assert "code" not in target


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"a"', b"\xff\xfe", b"[" * 100_000, b'{"text": "\\ud800"}'])
def test_bodies_that_are_no_objects(client, body):
    answer = client.post("/api/traces", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and answer.json()["error"] == "bad"


def test_other_refusals_have_the_same_shape(client):
    assert client.get("/api/traces").json()["error"] == "method"
    assert client.get("/api/nothing").json()["error"] == "missing"
    assert client.get("/api/traces/unknown/report").json()["error"] == "missing"
    assert client.post("/api/traces", content="text=a").json()["error"] == "media"
    assert client.post("/api/models", json={"name": "someone/unknown"}).json()["error"] == "refused"
    assert ask(client, "/api/ablate").json()["error"] == "bad"
    assert ask(client, "/api/cut").json()["error"] == "bad"


def row(trace: Trace, text: str, kind: str, layer: int, head: int, occurrence: int = 0) -> str:
    """What a token looks at most."""
    site = trace.site(layer, kind=kind)
    queries, keys = trace.side(site.query_side).texts, trace.side(site.key_side).texts
    at = [i for i, one in enumerate(queries) if one.strip() == text][occurrence]
    return keys[int(trace.attention(layer, head, kind=kind)[at].argmax())]


def loaded(client: httpx.Client, name: str) -> None:
    """Wait for a model, which takes its time on a busy machine."""
    need(name in {one["model"] for one in client.get("/api/state").json()["examples"]}, f"{name} is not installed")
    while client.post("/api/models", json={"name": name}).status_code != 200:
        time.sleep(0.2)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_the_examples_show_what_they_say(client, example):
    loaded(client, example["model"])
    answer = client.post("/api/traces", json={key: example[key] for key in ("text", "pair", "model", "target", "open")})
    trace, place = decode(answer.content), example["open"]
    where = (place["kind"], place["layer"], place["heads"][0])
    if example["id"] == "same-word":
        assert [row(trace, word, *where, n) for word in ("cat", "on") for n in (0, 1)] == ["cat", "cat", "on", "on"]
    elif example["id"] == "pronoun":
        assert row(trace, "it", *where) == "animal"
        other = decode(ask(client, text=example["text"].replace("tired", "wide"), pair=None).content)
        weights = [one.attention(3, 1)[one.side().texts.index("it"), 2] for one in (trace, other)]
        assert weights[1] < weights[0] / 2
    elif example["id"] == "induction":
        assert row(trace, "dog", *where, 1) == " lay"
    elif example["id"] == "word-order":
        assert [row(trace, word, *where) for word in ("la", "casa")] == ["house", "red"]
    else:
        header = header_of(client.get(of(answer, "report")).content)
        site = next(site for site in header["sites"] if (site["kind"], site["layer"]) == where[:2])
        if example["id"] == "resting":
            assert site["rest"][where[2]]["share"] > 0.8 and site["rest"][where[2]]["place"] == "[CLS]"
        else:
            name = {"previous": "previous token", "next": "next token"}[example["id"]]
            assert site["patterns"][where[2]][0]["name"] == name
    assert set(example["look"]) == {"en", "zh"}


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "SmolLM2-135M-Instruct"])
def test_the_example_that_opens_is_about_the_head_of_the_first_card(client, name):
    loaded(client, name)
    example = next(one for one in client.get("/api/state").json()["examples"] if one["model"] == name)
    answer = client.post("/api/traces", json={key: example[key] for key in ("text", "pair", "model", "target", "open")})
    header = header_of(client.get(of(answer, "report")).content)
    heads = {
        (site["kind"], site["layer"], site.get("part", 0), head): {"patterns": site["patterns"][at], "rest": rest}
        for site in header["sites"]
        for at, (head, rest) in enumerate(zip(site["heads"], site["rest"], strict=True))
    }
    (first,) = Report(heads).clearest(1)
    assert (first.kind, first.layer, [first.head]) == tuple(example["open"][key] for key in ("kind", "layer", "heads"))
    card = heads[first.kind, first.layer, 0, first.head]
    assert card["rest"]["share"] < 0.5  # its map shows what the card says


@pytest.mark.parametrize("family", ["encoder", "decoder", "encoder-decoder"])
def test_each_family_of_models_has_a_sentence_to_open_on(client, family):
    found = [one for one in client.get("/api/state").json()["examples"] if one["family"] == family]
    assert len(found) == 1 and found[0]["model"] is None and set(found[0]["look"]) == {"en", "zh"}


def test_the_log_is_json_without_what_people_type(client):
    ask(client, text="zebras whisper")
    lines = [json.loads(line) for line in Path(client.headers["x-log"]).read_text().splitlines()]
    requests = [line for line in lines if line["event"] == "request" and line["path"] == "/api/traces"]
    assert requests[-1]["status"] == 200 and requests[-1]["milliseconds"] > 0
    assert not any("zebras" in json.dumps(line) for line in lines)


def test_the_contract_names_every_address(client):
    from regard.app.server import application
    from regard.app.settings import AppSettings

    text = (ROOT / "docs" / "reference" / "app.md").read_text()
    made = application(AppSettings())
    for route in made.routes:
        path = re.sub(r":\w+", "", route.path).replace("{path}", "{name}/{file}")
        wanted = "/static/app.js" if path == "/static/{name}" else path
        assert any(f"`{method} {wanted}" in text for method in route.methods), path
    made.state.parts.worker.close()
    for name in vars(made.state.parts.limits):
        assert f'"{name}"' in text
