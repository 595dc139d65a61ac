"""Heads that look at related words are named for it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    T5Config,
    T5ForConditionalGeneration,
)

from regard import Trace
from regard.patterns import warnings_for
from regard.trace.tokens import Side, Token
from tests.models.related_words import ACROSS, HERE, UNKNOWN, planted, words_of

CATS = ("the cat sat on the dog . a dog sat on a cat .", "the dog sat on the cat . a cat sat on the dog .")


def with_maps(trace, maps):
    """The tokens of a trace with the one head of a map."""
    side = replace(trace.side(), name="encoder")
    return Trace({"encoder": side}, Trace.from_maps(maps[None, None], side.texts).sites)


def looking(trace, across=False):
    """One head that looks at related words and, where there are none, at the first token."""
    side = trace.side()
    maps = np.zeros((len(side), len(side)))
    pairs = words_of(side)
    for (i, one), (j, other) in product(enumerate(side.tokens), repeat=2):
        maps[i, j] = {one.text, other.text} in pairs and (one.segment != other.segment or not across)
    maps[maps.sum(-1) == 0, 0] = 1
    return with_maps(trace, maps / maps.sum(-1, keepdims=True))


def test_a_head_that_looks_at_related_words_is_named_for_it(relating):
    trace = relating.trace(*CATS)
    (finding,) = looking(trace).patterns().strongest(HERE)
    assert finding.score == pytest.approx(1)
    assert finding.hits == finding.rows >= 3
    start = f"attends to other words, related by embedding, in {finding.rows} of {finding.rows} rows: "
    assert finding.sentence.startswith(start + "1.00 of its awake attention, chance 0.")
    texts = [token.text for token in trace.tokens]
    assert all(texts[query] != texts[key] for query, key, _ in finding.evidence)


def test_a_finding_of_related_words_comes_with_what_they_are(relating):
    found = looking(relating.trace(*CATS)).patterns()
    assert any("close in the model's own input embedding" in sentence for sentence in warnings_for(found))
    assert not any("close in the model's own input embedding" in sentence for sentence in warnings_for([]))


def test_related_words_of_the_other_sentence_are_told_apart(relating):
    trace = relating.trace(*CATS)
    names = {finding.pattern for finding in looking(trace, across=True).patterns()}
    assert ACROSS in names
    assert looking(trace, across=True).patterns().strongest(ACROSS)[0].score == pytest.approx(1)


def test_the_same_word_and_the_token_itself_are_no_related_words(relating):
    trace = relating.trace("the cat sat on the dog . the cat sat on the dog .")
    reading = with_maps(trace, np.eye(len(trace.tokens))).patterns().measured[0].readings[HERE]
    assert reading.rows[0] > 0
    assert reading.mass[0] == 0


def test_a_causal_model_is_asked_of_the_words_before(many):
    config = GPT2Config(vocab_size=len(many), n_embd=24, n_layer=1, n_head=3, n_positions=64)
    torch.manual_seed(0)
    trace = planted(many, GPT2LMHeadModel(config)).trace("sat on the cat and a dog .")
    found = trace.patterns()
    assert HERE not in found.missing
    pairs = [sorted(pair) for pair in trace.side().related.tolist()]
    # a row counts where a related word came before and less than half of what it sees is related
    after = {late: sum(other == late for _, other in pairs) for _, late in pairs}
    assert found.measured[0].readings[HERE].rows[0] == sum(count / (late + 1) < 0.5 for late, count in after.items())


def test_a_causal_head_that_rests_on_the_first_word_is_not_named_for_it():
    texts = "cat sat dog on dog the dog a dog and more".split()
    side = Side(
        "encoder", tuple(Token(text, word=n) for n, text in enumerate(texts)), related=np.array([[0, 2], [2, 5]])
    )
    maps = np.eye(11)[np.zeros(11, int)]
    found = Trace({"encoder": side}, Trace.from_maps(maps[None, None], texts, causal=True).sites).patterns()
    assert found.strongest("always rests", 1)[0].score == 1
    assert found.measured[0].readings[HERE].rows[0] == 3  # the, which follows two dogs, and the dogs after it
    assert found.measured[0].readings[HERE].mass[0] == 0


def test_maps_made_elsewhere_do_not_know_related_words():
    found = Trace.from_maps(np.full((1, 1, 8, 8), 1 / 8), list("abcdefgh")).patterns()
    assert found.missing[HERE] == UNKNOWN


def test_one_sentence_or_no_related_words_have_reasons(relating):
    one = relating.trace("the cat sat .").patterns()
    assert one.missing[ACROSS] == "there is only one sentence; pass a second one"
    alone = relating.trace("cat", "sky").patterns()
    assert alone.missing[HERE] == "no two words are related by embedding, or half of all are"
    assert "in the other sentence" in alone.missing[ACROSS]


def test_cross_attention_is_not_asked_and_a_shared_embedding_reads_both_sides(many):
    config = T5Config(
        vocab_size=len(many), d_model=24, d_kv=8, d_ff=32, num_layers=1, num_heads=3, decoder_start_token_id=0
    )
    torch.manual_seed(0)
    trace = planted(many, T5ForConditionalGeneration(config)).trace("the cat sat", target="a cat , a dog")
    assert {"cat", "dog"} in words_of(trace.side("decoder"))
    cross = next(site for site in trace.patterns().measured if site.kind == "cross")
    assert cross.missing[HERE] == "queries and keys are positions in different texts"
