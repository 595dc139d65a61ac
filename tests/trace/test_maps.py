"""Maps made elsewhere: the words of their tokens, and whether they are those of a causal model."""

import numpy as np
import pytest

from regard.bertviz import _trace as of_bertviz
from regard.trace.places import places_of
from regard.trace.trace import Trace
from tests.tiny import tiny_mpnet

CAUSAL = np.tri(6) / np.tri(6).sum(axis=-1, keepdims=True)
TO_FIRST = np.eye(6)[[0] * 6]


def even(count):
    return np.full((1, 1, count, count), 1 / count)


def words(trace):
    return [text.strip() for text in trace.words().side().texts]


@pytest.mark.parametrize(
    "tokens",
    [
        ["[CLS]", "fresh", "straw", "##berries", ".", "[SEP]"],
        ["<s>", "Ġfresh", "Ġstraw", "berries", ".", "</s>"],
        ["<s>", "▁fresh", "▁straw", "berries", ".", "</s>"],
        ["<|endoftext|>", "fresh", " straw", "berries", ".", "<|endoftext|>"],
        ["<|startoftext|>", "fresh</w>", "straw", "berries</w>", ".</w>", "<|endoftext|>"],
    ],
)
def test_pieces_are_put_together_by_the_marks_of_tokenizers(tokens):
    assert words(Trace.from_maps(even(6), tokens))[1:-1] == ["fresh", "strawberries", "."]


def test_a_word_is_the_same_with_a_mark_and_without():
    places = places_of(Trace.from_maps(even(3), ["the", "Ġcat", "Ġthe"]).side(), {})
    assert places.words[0] == places.words[2]


def test_without_marks_each_token_is_a_word():
    assert words(Trace.from_maps(even(3), ["straw", "berries", "."])) == ["straw", "berries", "."]


def test_pieces_of_one_word_are_its_pieces():
    trace = Trace.from_maps(even(6), ["[CLS]", "fresh", "straw", "##berries", ".", "[SEP]"])
    assert places_of(trace.side(), {}).pieces.tolist() == [-1, 1, 2, 2, 3, -1]


def test_a_tokenizer_tells_words_and_special_tokens(wordpiece, bert):
    own = bert.trace("fresh strawberries .")
    pieces = wordpiece.convert_ids_to_tokens([token.id for token in own.tokens])
    trace = Trace.from_maps(own.attention(0)[None], pieces, tokenizer=wordpiece)
    for name in ("text", "id", "word", "special"):
        assert [getattr(t, name) for t in trace.tokens] == [getattr(t, name) for t in own.tokens]


def test_a_tokenizer_tells_parts_of_characters(bytelevel):
    ids = bytelevel("世界 b")["input_ids"]
    pieces = bytelevel.convert_ids_to_tokens(ids)
    trace = Trace.from_maps(even(len(ids)), pieces, tokenizer=bytelevel)
    assert trace.side().texts == ["世", "世₂", "世₃", "界", "界₂", "界₃", " ", "b"]
    assert words(trace) == ["世", "界", "", "b"]


def test_tokens_that_a_tokenizer_does_not_know_are_refused(wordpiece):
    with pytest.raises(ValueError, match="does not know the token 'zebra'; pass tokens as"):
        Trace.from_maps(even(2), ["the", "zebra"], tokenizer=wordpiece)


def causal_of(*maps, **options):
    trace = Trace.from_maps(np.stack(maps)[None], list("abcdef"), **options)
    return trace.site(0, kind=trace.kinds[0]).mask.causal


def test_an_encoder_whose_heads_rest_on_cls_is_not_causal():
    assert not causal_of(TO_FIRST)
    found = Trace.from_maps(TO_FIRST[None, None], ["[CLS]", *"bcde", "[SEP]"]).patterns()
    assert "next token" not in found.missing
    assert found.measured[0].readings["delimiter"].chance[0] == pytest.approx(2 / 6)


def test_maps_that_look_at_every_earlier_key_are_causal():
    assert causal_of(TO_FIRST, CAUSAL)


def test_maps_of_a_decoder_are_causal_unless_one_looks_ahead():
    assert causal_of(TO_FIRST, kind="decoder")
    assert not causal_of(TO_FIRST, CAUSAL.T, kind="decoder")


def test_who_made_the_maps_may_say_whether_they_are_causal():
    assert causal_of(TO_FIRST, causal=True)
    assert not causal_of(CAUSAL, causal=False)
    with pytest.raises(ValueError, match="attend to later tokens"):
        causal_of(CAUSAL.T, causal=True)


def test_of_an_encoder_and_a_decoder_the_decoder_is_causal():
    maps = {"encoder": CAUSAL.T[None, None], "decoder": TO_FIRST[None, None], "cross": TO_FIRST[None, None]}
    trace = Trace.from_maps(maps, {"encoder": list("abcdef"), "decoder": list("uvwxyz")}, causal=True)
    assert [trace.site(0, kind=kind).mask.causal for kind in trace.kinds] == [False, True, False]


def test_the_maps_of_a_causal_model_and_of_an_encoder_are_told_apart(gpt2, bert):
    for model, causal in ((gpt2, True), (bert, False)):
        own = model.trace("the cat sat")
        maps = [own.attention(layer) for layer in own.layers()]
        assert Trace.from_maps(maps, own.side().texts).site(0).mask.causal is causal


def test_an_encoder_captured_as_maps_is_not_causal(wordpiece):
    assert not tiny_mpnet(wordpiece).trace("the cat sat").site(0).mask.causal


def test_maps_from_bertviz_have_words():
    trace = of_bertviz(even(3), ["Ġstraw", "berries", "."], None, True, {}, {})
    assert words(trace) == ["strawberries", "."]
