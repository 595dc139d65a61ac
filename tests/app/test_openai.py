"""The OpenAI interface, asked by the real `openai` client over HTTP.

Long on purpose: its tests share one server with a loaded model; in a second file it would start again.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import httpx
import numpy as np
import pytest

import regard
from regard.app.answers import Answers, KeptAnswer
from regard.app.problems import Problem
from regard.app.settings import Limits
from regard.models.conversation import contents_in, conversation_of, lay_out
from regard.views import decode
from tests.capture.own_maps import own_maps
from tests.models.talkers import CHAT, NAMED
from tests.models.test_conversation import stepped
from tests.tiny import enlarged, saved, tiny_llama

from .conftest import hosted

TOKEN = "a-token-for-tests"


@pytest.fixture
def openai():
    """The client's package, whose import takes seconds."""
    import openai

    return openai


@pytest.fixture(scope="module")
def folder(tmp_path_factory, bytelevel) -> Path:
    """A tiny chat model."""
    tokenizer = deepcopy(bytelevel)
    tokenizer.model_max_length, tokenizer.chat_template = 512, NAMED
    model = enlarged(tiny_llama(tokenizer, max_position_embeddings=512, num_hidden_layers=3), 12)
    return saved(model, tmp_path_factory.mktemp("models") / "talker")


@pytest.fixture(scope="module")
def served(folder):
    """Its server: the address, and the parts."""
    with hosted(models=(str(folder),), openai=True, token=TOKEN) as (address, parts):
        yield address, parts


@pytest.fixture
def client(openai, served):
    with openai.OpenAI(base_url=f"{served[0]}/v1", api_key=TOKEN, max_retries=0) as made:
        yield made


@pytest.fixture
def page(served):
    """The page's own requests."""
    with httpx.Client(base_url=served[0], headers={"Authorization": f"Bearer {TOKEN}"}, timeout=240) as made:
        yield made


def written(tokens) -> str:
    """The text of tokens, each character once."""
    return "".join(token.text if token.adds is None else token.adds for token in tokens if not token.special)


def test_the_models_that_answer_are_listed(client, folder):
    assert [one.id for one in client.models.list()] == [str(folder)]


def test_an_answer_is_the_models_own(client, folder):
    said = client.chat.completions.create(model=str(folder), messages=CHAT, max_tokens=12, temperature=0)
    trace = regard.load(str(folder)).trace(messages=CHAT, generate=12)
    answer = [token for token in trace.tokens if token.segment == 3]
    assert said.choices[0].message.content == written(answer)
    assert said.choices[0].finish_reason == ("stop" if answer[-1].special else "length")
    assert said.usage.completion_tokens == len(answer)
    assert said.usage.prompt_tokens == len(trace.tokens) - len(answer)


def test_a_stream_has_the_same_text_and_the_link_with_its_end(client, folder):
    asked = {"model": str(folder), "messages": CHAT, "max_tokens": 30, "temperature": 1.0, "seed": 4}
    whole = client.chat.completions.create(**asked)
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    assert (
        "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == whole.choices[0].message.content
    )
    assert len(chunks) > 10 and chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    assert chunks[-2].model_extra["regard"].startswith("http://127.0.0.1:") and chunks[-1].usage == whole.usage


def test_a_text_is_completed(client, folder):
    said = client.completions.create(model=str(folder), prompt="the cat", max_tokens=8, temperature=0)
    trace = regard.load(str(folder)).trace("the cat", generate=8)
    assert said.choices[0].text == written([token for token in trace.tokens if token.segment == 1])
    chunks = list(
        client.completions.create(model=str(folder), prompt="the cat", max_tokens=8, temperature=0, stream=True)
    )
    assert "".join(one.choices[0].text for one in chunks) == said.choices[0].text


def test_the_link_leads_to_the_maps_that_generation_had(client, page, folder):
    said = client.chat.completions.create(model=str(folder), messages=CHAT, max_tokens=20, temperature=1.0, seed=2)
    link = said.model_extra["regard"]
    question = page.get(f"/api/answers/{link.partition('#answer=')[2]}").json()
    assert question["messages"] == CHAT and question["model"] == str(folder)
    shown = decode(page.post("/api/traces", json=question).content)
    model = regard.load(str(folder))
    ids = [token.id for token in model.trace(messages=CHAT).tokens] + question["target"]
    assert len(ids) == len(shown.tokens)
    module = model.module
    import torch

    eager = own_maps(module, input_ids=torch.tensor([ids]))["attentions"]
    cached = stepped(module, ids, len(question["target"]))
    for layer in shown.layers():
        np.testing.assert_allclose(shown.attention(layer), eager[layer][0], atol=1e-5)
        np.testing.assert_allclose(shown.attention(layer), cached[layer], atol=1e-5)


def test_serving_traces_nothing(client, served, folder):
    before = len(served[1].shelf)
    client.chat.completions.create(model=str(folder), messages=CHAT, max_tokens=2)
    assert len(served[1].shelf) == before


def test_fifty_clients_at_once_each_get_their_own_answer(openai, served, folder):
    model = regard.load(str(folder))
    texts = [f"number {n} of the cats" for n in range(50)]

    def expected(text: str) -> str:
        prompt = model._engine.prompt(text, 10)
        return model._engine.speak(prompt, 10).text

    def ask(text: str) -> tuple[str, str]:
        with openai.OpenAI(base_url=f"{served[0]}/v1", api_key=TOKEN, max_retries=0, timeout=240) as own:
            stream = own.completions.create(model=str(folder), prompt=text, max_tokens=10, temperature=0, stream=True)
            chunks = list(stream)
        return "".join(one.choices[0].text for one in chunks), chunks[-1].model_extra["regard"].partition("=")[2]

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(ask, texts))
    assert [text for text, _ in found] == [expected(text) for text in texts]
    assert len({text for text, _ in found}) > 5  # or mixed-up answers could not be told apart
    kept = [served[1].answers.get(name) for _, name in found]
    assert [one.text for one in kept] == texts


def test_more_than_the_limit_at_once_are_refused_and_told_to_come_again(folder):
    with hosted(models=(str(folder),), openai=True, limits=Limits(clients=2)) as (address, _):

        def ask(_: int) -> int:
            body = {"messages": CHAT, "max_tokens": 200, "temperature": 1.0}
            return httpx.post(f"{address}/v1/chat/completions", json=body, timeout=240).status_code

        ask(0)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ask, range(8)))
    assert set(found) == {200, 503} and found.count(200) >= 3


def test_a_client_that_goes_away_stops_its_answer(served, folder):
    body = {"model": str(folder), "messages": CHAT, "max_tokens": 400, "temperature": 1.5, "stream": True}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    address, parts = served
    before = len(parts.answers)
    with httpx.stream("POST", f"{address}/v1/chat/completions", json=body, headers=headers, timeout=240) as answer:
        next(answer.iter_lines())
    said = httpx.post(f"{address}/v1/completions", json={"prompt": "a", "max_tokens": 1}, headers=headers, timeout=240)
    assert said.status_code == 200 and len(parts.answers) == before + 1  # of the second alone


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"messages": []}, "BadRequestError", "no messages"),
        ({"messages": CHAT, "max_tokens": 10**6}, "BadRequestError", "max_tokens must be between"),
        ({"messages": CHAT, "temperature": 3}, "BadRequestError", "temperature must be a number"),
        ({"messages": CHAT, "n": 2}, "BadRequestError", "n must be 1"),
        ({"messages": CHAT, "tools": [{"type": "function"}]}, "BadRequestError", "role tool"),
        ({"messages": [{"role": "user", "content": "a" * 600}]}, "BadRequestError", "at most"),
        ({"messages": CHAT, "model": "nobody"}, "NotFoundError", "there is no model nobody"),
        ({"messages": [{"role": "system", "content": "a"}, *CHAT]}, "BadRequestError", "no system here"),
    ],
)
def test_what_is_wrong_is_said_as_the_api_does(openai, client, folder, given, error, said):
    with pytest.raises(getattr(openai, error), match=said) as found:
        client.chat.completions.create(**{"model": str(folder), **given})
    assert {"message", "type", "code", "param"} <= found.value.body.keys()


def test_a_prompt_that_is_too_long_has_the_code_of_the_api(openai, client, folder):
    with pytest.raises(openai.BadRequestError) as found:
        client.completions.create(model=str(folder), prompt="a" * 600)
    assert found.value.code == "context_length_exceeded"


def test_without_the_key_nobody_is_answered(openai, served):
    with openai.OpenAI(base_url=f"{served[0]}/v1", api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError) as found:
            stranger.models.list()
        assert found.value.code == "invalid_api_key"
    answers = httpx.get(f"{served[0]}/api/answers/x")
    assert answers.status_code == 401


def test_other_sites_and_other_names_are_refused_in_the_format_of_the_api(served):
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "https://elsewhere.example"}
    said = httpx.get(f"{served[0]}/v1/models", headers=headers)
    assert said.status_code == 403 and said.json()["error"]["message"] == "requests from other sites are refused"


def test_without_the_option_there_is_no_such_address(serve):
    client, _ = serve()
    assert client.get("/v1/models").status_code == 404


def test_an_address_that_is_not_there_is_said_in_the_same_format(served):
    said = httpx.get(f"{served[0]}/v1/embeddings", headers={"Authorization": f"Bearer {TOKEN}"})
    assert said.status_code == 404 and said.json()["error"]["type"] == "invalid_request_error"


def test_ids_cannot_be_guessed_and_answers_are_forgotten():
    kept = [KeptAnswer("m", "a" * 1000, (1, 2), "b") for _ in range(4)]
    assert len({one.id for one in kept}) == 4 and all(len(one.id) >= 22 for one in kept)  # 128 bits
    by_count, by_bytes, by_time = Answers(2, 10**6, 60), Answers(9, 2500, 60), Answers(9, 10**6, 0)
    for answers in (by_count, by_bytes, by_time):
        for one in kept:
            answers.put(one)
    assert by_count.get(kept[3].id) == kept[3] and len(by_count) == 2 and len(by_bytes) < 4
    for answers, name in ((by_count, kept[0].id), (by_count, "guess"), (by_time, kept[3].id)):
        with pytest.raises(Problem, match="no longer kept"):
            answers.get(name)


# -- the chat of the page ------------------------------------------------------------------------------------


def told(page, **more):
    with page.stream("POST", "/api/chat", json={"messages": CHAT, "max_tokens": 12, **more}) as answer:
        assert answer.status_code == 200
        return [json.loads(line) for line in answer.iter_lines()]


def test_the_chat_tells_tokens_as_they_come_and_what_they_looked_at(page, folder):
    *tokens, end = told(page, temperature=1.0, seed=1)
    assert [one["id"] for one in tokens] == end["ids"] and end["end"] in ("stop", "length")
    trace = regard.load(str(folder)).trace(messages=CHAT, target=end["ids"])
    layers = trace.layers()[-1:]  # the last third of three
    borders = np.array([token.border for token in trace.tokens])
    contents = contents_in(lay_out(regard.load(str(folder)).tokenizer, conversation_of(CHAT)), CHAT)
    spoken_at = {place for there in contents for place in there}
    said = [not spoken_at.isdisjoint(range(token.start or 0, token.end or 0)) for token in trace.tokens]
    template = np.arange(len(said)) < end["prompt"]
    template &= ~np.array(said)
    for number, one in enumerate(tokens):
        row = np.mean(
            [trace.attention(layer, queries=end["prompt"] + number - 1) for layer in layers], axis=(0, 1)
        ).ravel()
        first, row[0] = row[0], 0
        aside = borders | template
        closed = row[aside].sum()
        row[aside] = 0
        assert one["looks"], "nothing was looked at"
        for position, text, weight, place in one["looks"]:
            assert weight == pytest.approx(row[position], abs=1e-5)
            assert position >= end["prompt"] or text == trace.tokens[position].text
            if place is not None and position < end["prompt"]:  # where it was said
                turn, start, stop = place
                assert CHAT[turn]["content"][start:stop].strip() == text.strip("␣ ")
            elif place is not None:
                spoken = "".join(token["text"] for token in tokens)
                assert place[0] == len(CHAT) and spoken[place[1] : place[2]] == tokens[position - end["prompt"]]["text"]
        assert one["looks"][0][2] == pytest.approx(row.max(), abs=1e-5)
        shares = {"prompt": row[: end["prompt"]].sum(), "answer": row[end["prompt"] :].sum()}
        assert one["shares"] == pytest.approx({**shares, "first": first, "template": closed}, abs=1e-5)
        assert sum(one["shares"].values()) == pytest.approx(1, abs=1e-5)
    assert {place[0] for one in tokens for *_, place in one["looks"] if place} >= {0, len(CHAT)}


def test_a_model_whose_attention_is_not_seen_as_it_runs_chats_without_looks(bytelevel, tmp_path):
    """GPT-J has maps for its outputs alone."""
    from transformers import GPTJConfig, GPTJForCausalLM

    config = GPTJConfig(vocab_size=len(bytelevel), n_positions=512, n_embd=16, n_layer=2, n_head=2, rotary_dim=4)
    config.bos_token_id = config.eos_token_id = None
    model = regard.load((GPTJForCausalLM(config).eval(), deepcopy(bytelevel)))
    assert model._engine.plan().tier == "maps"
    folder = str(saved(model, tmp_path / "gptj"))
    with hosted(models=(folder,)) as (address, _), httpx.Client(base_url=address, timeout=240) as page:
        *tokens, end = told(page)
    assert end["end"] == "length" and len(tokens) == 12
    assert all(one["shares"] is None and one["looks"] == [] for one in tokens)


def test_what_is_wrong_with_a_chat_has_its_status(page):
    assert page.post("/api/chat", json={}).status_code == 400
    assert page.post("/api/chat", json={"messages": [{"role": "user", "content": "a" * 600}]}).status_code == 422


def test_conversations_are_asked_about_like_texts(page, folder):
    end = told(page)[-1]
    question = {"messages": CHAT, "target": end["ids"]}
    shown = decode(page.post("/api/traces", json=question).content)
    assert [one.name for one in shown.segments] == ["user", "assistant", "user 2", "answer"]
    ablated = page.post("/api/ablate", json={**question, "heads": [{"layer": 1, "head": 0}]}).json()
    assert ablated["position"] == end["prompt"] - 1
    why = page.post("/api/why", json={**question, "head": {"layer": 1, "head": 0}, "query": end["prompt"]})
    assert why.status_code == 200
    says = page.post("/api/says", json=question).json()
    assert says["position"] == end["prompt"] - 1 and says["rows"]
