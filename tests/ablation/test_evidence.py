"""Evidence: the scores of sentences equal those of a full eager pass, and what people can do wrong is said."""

import json
from copy import deepcopy

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import regard
from regard.ablation.evidence import answer_evidence, evidence
from regard.base.errors import UserError
from regard.capture.tiers import attention_set
from regard.cli import app
from regard.corpus.readers.prose import sentence_spans
from regard.models.answering import ReadPrompt, encode_answer
from regard.models.conversation import conversation_of, lay_out
from regard.studies.evidence_page import evidence_page
from tests.ablation.cut_by_hand import MADE, sharpened
from tests.models.talkers import WRAPPED
from tests.tiny import enlarged, saved, tiny_bert, tiny_llama

PROMPT = "The cat sat. A dog ran! Hens"
ANSWER = "lay"


@pytest.fixture(scope="module")
def decoder(request, bytelevel):
    def of(name):
        return MADE[name](bytelevel) if name in MADE else sharpened(request.getfixturevalue(name), name)

    return of


@pytest.fixture(scope="module")
def chatting(bytelevel):
    """A model whose template puts what the system says into the first message of the user."""
    tokenizer = deepcopy(bytelevel)
    tokenizer.model_max_length, tokenizer.chat_template = 512, WRAPPED
    return enlarged(tiny_llama(tokenizer, max_position_embeddings=512), 12)


def by_hand(model, prompt, answer):
    """(heads, keys) attention and worth of the answer's rows, from eager maps of the whole text and their gradients."""
    row = encode_answer(model._engine, prompt, answer)
    ids = torch.tensor([row.ids])
    start = row.side.segments[1].start
    with torch.enable_grad(), attention_set(model.module, "eager"):
        output = model.module(input_ids=ids, output_attentions=True, use_cache=False)
        logs = output.logits[0].float().log_softmax(-1)
        value = sum(logs[place - 1, row.ids[place]] for place in range(start, len(row.ids)))
        gradients = torch.autograd.grad(value, output.attentions)
    rows = slice(start - 1, len(row.ids) - 1)
    weights = torch.stack([maps[0, :, rows, :-1].detach() for maps in output.attentions])  # (L, H, n, K)
    worth = weights * torch.stack([part[0, :, rows, :-1] for part in gradients])
    first = (torch.cumsum(weights > 0, -1) == 1) & (weights > 0)
    assert not any(token.border for token in row.side.tokens)
    free = (~first).float()
    flat = [(values * free).sum(2).flatten(0, 1).numpy() for values in (weights, worth)]
    return row, float(value.detach()), *flat


@pytest.mark.parametrize("name", ["gpt2", "llama", *MADE])
def test_scores_are_those_of_a_full_eager_pass(decoder, name):
    model = decoder(name)
    row, value, weights, worth = by_hand(model, PROMPT, ANSWER)
    found = evidence(model, PROMPT, ANSWER, check=False)
    assert sum(found.logs) == pytest.approx(value, abs=1e-4)
    spans = sentence_spans(PROMPT)
    assert [PROMPT[start:end] for start, end in spans] == ["The cat sat.", "A dog ran!", "Hens"]
    ends = np.array([token.end - 1 for token in row.side.tokens[: row.side.segments[0].end]])
    inside = [np.flatnonzero((ends >= start) & (ends < end)) for start, end in spans]
    share = np.array([weights[:, places].sum() for places in inside])
    np.testing.assert_allclose([one.attention for one in found.sentences], share / share.sum(), atol=1e-5)
    real = [worth[:, places].sum() for places in inside]
    np.testing.assert_allclose([one.worth for one in found.sentences], real, atol=1e-5 * max(1, np.abs(worth).max()))
    for one, places in zip(found.sentences, inside, strict=True):
        best = worth[:, places].sum(1).max()
        if best > 1e-6:  # a window may not reach a sentence
            assert one.heads[0].worth == pytest.approx(best, abs=1e-5 * max(1, abs(best)))


def test_contributions_are_those_of_a_trace(decoder):
    model = decoder("llama")
    row = encode_answer(model._engine, PROMPT, ANSWER)
    (trace,) = model._engine.trace_rows([row], [None])
    rows = slice(row.side.segments[1].start - 1, len(row.ids) - 1)
    total = 0
    for site in trace.sites:
        for head in range(site.heads):
            arriving = trace.contributions(site.layer, head)[rows]
            total = total + (arriving / arriving.sum(-1, keepdims=True))[:, 1:].sum(0)
    ends = [token.end - 1 for token in row.side.tokens]
    sums = np.array(
        [sum(total[n - 1] for n in range(1, rows.start + 1) if a <= ends[n] < b) for a, b in sentence_spans(PROMPT)]
    )
    found = evidence(model, PROMPT, ANSWER, check=False)
    np.testing.assert_allclose([one.contribution for one in found.sentences], sums / sums.sum(), atol=1e-5)


def test_chosen_heads_alone_count(decoder):
    model = decoder("llama")
    found = evidence(model, PROMPT, ANSWER, heads="1.2", check=False)
    whole = evidence(model, PROMPT, ANSWER, check=False)
    assert found.heads == ("1.2",)
    assert {head.name for one in found.sentences for head in one.heads} <= {"1.2"}
    spread = [one.attention for one in found.sentences]
    assert spread != [one.attention for one in whole.sentences]
    assert sum(spread) == pytest.approx(1)


def test_the_check_cuts_sentences_for_real(decoder):
    """A sentence's cut equals the full model run with these weights removed from the answer's rows."""
    model = decoder("llama")
    found = evidence(model, PROMPT, ANSWER)
    assert found.check["sentences"] == 3
    assert found.check["spearman"] is not None
    assert found.notes[0].code in ("evidence_agrees", "evidence_unreliable")


def test_a_prompt_is_not_changed_by_its_answers(decoder):
    model = decoder("llama")
    read = ReadPrompt(model._engine, encode_answer(model._engine, PROMPT, ANSWER))
    first = read.value()
    assert read.answer().logs.sum().item() == pytest.approx(first, abs=1e-5)
    assert read.value() == first


def test_without_an_answer_the_model_answers(decoder):
    model = decoder("gpt2")
    found = evidence(model, PROMPT, generate=3, check=False)
    generated = model.trace(PROMPT, generate=3).sides["text"]
    start = generated.segments[1].start
    assert list(found.tokens) == [token.text for token in generated.tokens[start:] if not token.special]


def test_a_question_is_not_among_the_sentences(decoder):
    found = evidence(decoder("llama"), "The cat sat. A dog ran.", "yes", question="Who sat?", check=False)
    assert [one.text for one in found.sentences] == ["The cat sat.", "A dog ran."]
    assert sum(one.chance for one in found.sentences) == pytest.approx(1)


def test_chat_puts_the_prompt_into_the_template(decoder):
    model = decoder("llama")
    model = regard.load((model.module, model.tokenizer))
    model.tokenizer.chat_template = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}{% endfor %} [it] "
    try:
        found = evidence(model, "The cat sat.", "yes", chat=True, check=False)
        assert [one.text for one in found.sentences] == ["The cat sat."]
        assert "".join("The cat sat."[token.start : token.end] for token in found.tint).strip() == "The cat sat."
    finally:
        model.tokenizer.chat_template = None
    with pytest.raises(UserError, match="no chat template"):
        evidence(model, "The cat sat.", "yes", chat=True)


def test_what_cannot_be_asked_is_said(decoder, bytelevel):
    model = decoder("llama")
    for given, words in (
        ({"prompt": " "}, "prompt is empty"),
        ({"prompt": "The cat.", "answer": " "}, "answer is empty"),
        ({"prompt": "The cat.", "answer": "a" * 100}, "at most 64"),
    ):
        with pytest.raises(UserError, match=words):
            evidence(model, **given)
    with pytest.raises(UserError, match="causal language model"):
        evidence(tiny_bert(bytelevel), "The cat.", "a")
    with pytest.raises(UserError, match="choose from"):
        evidence(model, "The cat.", "a", check=False).ranked("size")


def test_the_page_escapes_and_shows_every_character(decoder):
    prompt = "A <b>cat</b> sat. It & I\nran."
    found = evidence(decoder("llama"), prompt, "on", check=False)
    page = evidence_page(found)
    assert "<b>cat</b>" not in page
    assert "".join(prompt[token.start : token.end] for token in found.tint).replace(" ", "") == prompt.replace(
        " ", ""
    ).replace("\n", "")
    assert page.count('<p class="worth">') == page.count('<p class="attention">') == 1


def test_sentences_end_at_marks_lines_and_in_chinese():
    text = "One is. Two 3.5 is!  Three\nFour。五六。“七”！八"
    assert [text[a:b] for a, b in sentence_spans(text)] == [
        "One is.", "Two 3.5 is!", "Three", "Four。", "五六。", "“七”！", "八",
    ]  # fmt: skip


def test_the_command_prints_a_table_and_writes_a_page(decoder, tmp_path):
    folder = saved(decoder("llama"), tmp_path / "model")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(PROMPT)
    page = tmp_path / "page.html"
    given = ["evidence", str(prompt), "--answer", "lay", "-m", str(folder)]
    printed = CliRunner().invoke(app, [*given, "-o", str(page)], catch_exceptions=False)
    assert "The cat sat." in printed.stdout
    assert "<!doctype html>" in page.read_text()
    record = json.loads(CliRunner().invoke(app, [*given, "--json", "--no-check"], catch_exceptions=False).stdout)
    assert record["answer"] == "lay"
    assert len(record["sentences"]) == 3


def test_the_answer_of_a_trace_has_the_evidence_of_its_prompt(decoder):
    model = decoder("llama")
    whole = evidence(model, PROMPT, "lay")
    ids = model.tokenizer(" lay", add_special_tokens=False)["input_ids"]
    found = answer_evidence(model, PROMPT, ids)
    assert found.as_record() == whole.as_record()
    own = answer_evidence(model, PROMPT, generate=3, check=False)
    assert own.as_record() == evidence(model, PROMPT, generate=3, check=False).as_record()


def test_messages_are_searched_and_what_the_template_writes_is_not(chatting):
    said = [
        {"role": "system", "content": "Be kind. "},
        {"role": "user", "content": "A cat sat. A dog ran!"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Who ran?"},
    ]
    found = answer_evidence(chatting, conversation_of([*said, {"role": "assistant", "content": "A dog."}]))
    assert found.prompt == "Be kind.\n\nA cat sat. A dog ran!\n\nYes.\n\nWho ran?"
    assert found.answer == "A dog."
    texts = [one.text for one in found.sentences]
    assert texts == ["Be kind.", "A cat sat.", "A dog ran!", "Yes.", "Who ran?"]
    assert [found.prompt[one.start : one.end] for one in found.sentences] == texts
    tinted = [found.prompt[one.start : one.end] for one in found.tint]
    assert "".join("".join(tinted).split()) == "".join(found.prompt.split())  # every letter of them, and no other
    assert sum(one.attention for one in found.sentences) == pytest.approx(1)
    row = chatting._engine.encode(conversation_of([*said, {"role": "assistant", "content": "A dog."}]))
    (trace,) = chatting._engine.trace_rows([row], [None])
    start = row.side.segments[-1].start
    maps = sum(trace.attention(site.layer, head) for site in trace.sites for head in range(site.heads))
    rows = maps[start - 1 : start - 1 + len(found.tokens)].sum(0)
    written = lay_out(chatting.tokenizer, conversation_of(said)).prompt
    shares, done = [], 0
    for text in texts:
        done = written.index(text, done)
        inside = [n for n, t in enumerate(row.side.tokens[:start]) if t.end and done < t.end <= done + len(text)]
        shares.append(rows[inside].sum())
    np.testing.assert_allclose([one.attention for one in found.sentences], shares / np.sum(shares), atol=1e-5)


def test_a_conversation_without_an_answer_gets_one(chatting):
    found = answer_evidence(chatting, conversation_of([{"role": "user", "content": "A cat sat. A dog ran!"}]))
    assert [one.text for one in found.sentences] == ["A cat sat.", "A dog ran!"] and found.answer
