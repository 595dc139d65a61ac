"""Greedy and beam decoding, with and without the cache, and how traces of it look."""

import itertools

import numpy as np
import pytest
import torch

import regard
from regard.transformer.decoding import beam, greedy


def test_the_cache_changes_no_word(tiny):
    source = torch.randint(4, 40, (5, 9))
    real = torch.ones(5, 9)
    real[2:, 6:] = 0
    assert torch.equal(greedy(tiny, source, real, 20), greedy(tiny, source, real, 20, use_cache=False))


def test_a_cached_step_gives_the_logits_of_the_whole_pass(tiny):
    from regard.transformer.decoding import _Steps

    source, target = torch.randint(4, 40, (2, 6)), torch.randint(4, 40, (2, 5))
    steps = _Steps(tiny, source, None, use_cache=True)
    with torch.no_grad():
        cached = [steps(target[:, : i + 1]) for i in range(5)]
        whole = tiny(source, target)
    whole[..., [0, 2]] = -torch.inf
    torch.testing.assert_close(torch.stack(cached, 1), whole.log_softmax(-1), atol=1e-5, rtol=0)


def test_one_beam_is_greedy_decoding(tiny):
    source = torch.randint(4, 40, (3, 6))
    for row in range(3):
        found = beam(tiny, source[row : row + 1], None, 8, beams=1)[0].tolist()
        expected = greedy(tiny, source[row : row + 1], None, 8)[0].tolist()
        assert found == expected


def test_wide_beams_find_the_best_sentence_of_all(tiny):
    torch.manual_seed(1)
    source = torch.randint(4, 40, (1, 5))
    vocabulary = [token for token in range(40) if token not in (0, 2)]

    def score(words):
        target = torch.tensor([[2, *words]])
        with torch.no_grad():
            logits = tiny(source, target[:, :-1])
        logits[..., [0, 2]] = -torch.inf
        total = logits.log_softmax(-1)[0, range(len(words)), list(words)].sum().item()
        return total / ((5 + len(words)) / 6) ** 0.6

    ended = [(3,), *((word, 3) for word in vocabulary if word != 3)]
    expected = max(ended, key=score)
    found = beam(tiny, source, None, 2, beams=40)[0].tolist()
    assert found == [2, *expected]


def test_generation_stops_at_the_limit(tiny):
    made = tiny.generate(torch.randint(4, 40, (1, 5)), max_new_tokens=7)
    assert made.shape[1] <= 7


@pytest.mark.parametrize("fused", [True, False])
def test_a_trace_of_the_translator_has_all_three_kinds_of_attention(speaking, pieces, fused):
    model = speaking
    if not fused:
        from dataclasses import replace

        from regard.transformer.model import Translator

        model = Translator(replace(speaking.config, fused=False)).eval()
        model.load_state_dict(speaking.state_dict())
    trace = regard.load((model, pieces)).trace("hello, how are you?", target="hola, ¿cómo estás?")
    assert trace.kinds == ("encoder", "decoder", "cross")
    assert [trace.layers(kind) for kind in trace.kinds] == [(0, 1)] * 3
    assert trace.attention(1, 2, kind="cross").shape == (len(trace.sides["decoder"]), len(trace.sides["encoder"]))
    upper = np.triu(trace.attention(0, 0, kind="decoder"), 1)
    assert not upper.any()


def test_the_traced_maps_are_the_softmax_the_model_computed(speaking, pieces):
    trace = regard.load((speaking, pieces)).trace("the cat sat", target="el gato")
    ids = torch.tensor([[token.id for token in trace.sides["encoder"].tokens]])
    layer = speaking.encoder.layers[0]
    with torch.no_grad():
        x = layer.self_norm.norm(speaking.source(ids))
        q, k = (
            layer.self_attention.split(layer.self_attention.query(x)),
            layer.self_attention.split(layer.self_attention.key(x)),
        )
        expected = (q @ k.transpose(-2, -1) / 8**0.5).softmax(-1)[0]
    for head in range(3):
        np.testing.assert_allclose(trace.attention(0, head, kind="encoder"), expected[head].numpy(), atol=1e-5)


def test_the_traced_decoder_map_is_a_causal_softmax_in_every_row(speaking, pieces):
    trace = regard.load((speaking, pieces)).trace("the cat sat", target="el gato se sentó")
    site = trace.site(0, kind="decoder")
    scores = site.q[1] @ site.k[1].T * site.scale
    expected = np.exp(np.where(np.tri(len(scores)) > 0, scores, -np.inf))
    np.testing.assert_allclose(
        trace.attention(0, 1, kind="decoder"), expected / expected.sum(1, keepdims=True), atol=1e-5
    )


def test_a_translator_without_a_target_is_traced_on_what_it_says(speaking, pieces):
    trace = regard.load((speaking, pieces)).trace("the cat")
    assert trace.sides["decoder"].texts[0] == "<s>"


def test_words_outside_the_vocabulary_become_pieces_or_unknown(pieces):
    assert pieces.tokenize("hat")[-1].endswith("</w>")
    assert "<unk>" in pieces.tokenize("日")


def test_beams_must_be_at_least_one(tiny):
    with pytest.raises(ValueError, match="number of beams must be at least 1, not 0"):
        beam(tiny, torch.tensor([[4]]), None, 3, beams=0)


def test_more_tokens_than_positions_are_refused(tiny):
    with pytest.raises(ValueError, match="there are 25 tokens but the model has 24 positions"):
        tiny(torch.ones(1, 25, dtype=torch.long), torch.ones(1, 2, dtype=torch.long))


def test_permutations_of_words_without_positions_permute_the_encoder(tiny):
    words = torch.tensor([[4, 9, 17, 25]])
    order = next(itertools.islice(itertools.permutations(range(4)), 9, None))
    table = tiny.source.position.clone()
    try:
        tiny.source.position.zero_()
        with torch.no_grad():
            straight, mixed = tiny.encode(words, None), tiny.encode(words[:, list(order)], None)
    finally:
        tiny.source.position.copy_(table)
    torch.testing.assert_close(straight[:, list(order)], mixed, atol=1e-5, rtol=0)
