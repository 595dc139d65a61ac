"""Kinds of words, and heads that look at the same ones whatever the query is."""

import numpy as np
import pytest

from regard import Trace
from regard.patterns.definitions import STRIPES, WORDS
from regard.trace.places import places_of
from regard.trace.tokens import Side, Token

COMMON = (2, 7, 13, 18)
SIDE = Side("text", tuple(Token(f"w{n}", n, word=n, common=n in COMMON) for n in range(24)))


def found_for(maps, *, causal=False, side=SIDE):
    made = Trace.from_maps(maps[None, None], side.texts, causal=causal)
    return Trace(dict.fromkeys(made.sides, side), made.sites).patterns()


def nearest():
    """Each query looks at the common word that is nearest to it."""
    near = [min(COMMON, key=lambda place: abs(place - n)) for n in range(24)]
    return np.eye(24)[near]


@pytest.mark.parametrize("causal", [False, True])
def test_a_head_that_looks_at_frequent_words_whichever_token_looks_is_named_for_that_alone(causal):
    weights = np.where(np.isin(np.arange(24), COMMON), 1.0, 0.01) * (np.tri(24) if causal else np.ones((24, 24)))
    found = found_for(weights / weights.sum(axis=-1, keepdims=True), causal=causal)
    assert {f.pattern for f in found} == {STRIPES}
    assert found.measured[0].stays["frequent words"][0] == pytest.approx(1, abs=1e-6)
    assert "is on frequent words" in found[0].sentence and "1.00 of that stays" in found[0].sentence


def test_a_head_that_looks_at_its_own_common_word_is_no_stripe():
    found = found_for(nearest())
    assert "frequent words" in {f.pattern for f in found} and STRIPES not in {f.pattern for f in found}
    assert found.measured[0].stays["frequent words"][0] == pytest.approx(0, abs=1e-6)


def test_two_words_of_a_kind_are_too_few_for_a_name():
    side = Side("text", tuple(Token(f"w{n}", n, word=n, common=n in COMMON[:2]) for n in range(24)))
    maps = np.tile(np.isin(np.arange(24), COMMON[:2]) / 2, (24, 1))
    found = found_for(maps, side=side)
    assert found.measured[0].awake["frequent words"].lift[0] == pytest.approx(1)
    assert not {STRIPES, "frequent words"} & {f.pattern for f in found}


def test_long_texts_are_exchanged_in_blocks_too(monkeypatch):
    maps = np.random.default_rng(0).dirichlet(np.full(24, 0.3), size=24)
    whole = found_for(maps).measured[0].stays["frequent words"]
    monkeypatch.setattr("regard.patterns.rows._BLOCK", 24 * 30 * 5)
    np.testing.assert_allclose(found_for(maps).measured[0].stays["frequent words"], whole, rtol=1e-6)


def test_kinds_of_words_are_read_from_their_texts():
    texts = ["The", "24", "straw", "##berries", "of", "Bob", ",", "B2", "[SEP]"]
    words = [0, 1, 2, 2, 3, 4, 5, 6, None]
    special = [text == "[SEP]" for text in texts]
    tokens = (
        Token(text, n, word=word, special=mark, common=text in ("The", "of"))
        for n, (text, word, mark) in enumerate(zip(texts, words, special, strict=True))
    )
    places = places_of(Side("text", tuple(tokens)), {})
    assert np.flatnonzero(places.common).tolist() == [0, 4]
    assert np.flatnonzero(places.capitalised).tolist() == [0, 5, 7]
    assert np.flatnonzero(places.numbers).tolist() == [1, 7]
    assert np.flatnonzero(places.later_pieces).tolist() == [3]


def test_kinds_that_a_text_does_not_have_are_missing_with_a_reason():
    side = Side("text", tuple(Token(f"w{chr(97 + n)}", n, word=n) for n in range(12)))
    found = found_for(np.full((12, 12), 1 / 12), side=side)
    assert set(WORDS) <= set(found.missing)
    assert str(found.missing["numbers"]) == "no word has a digit, or nearly all have one"


@pytest.mark.models
def test_a_tokenizer_knows_frequent_words_and_an_early_layer_looks_at_them_whichever_token_looks(smollm, minilm):
    for model in (smollm, minilm):
        side = model.trace("He saw the cat sit on the mat of a neighbour in Zanzibar").side()
        common = {side.texts[n].strip().lower() for n in np.flatnonzero(places_of(side, {}).common)}
        assert common - {"he"} == {"the", "on", "of", "a", "in"}  # as the first word SmolLM2 has it in another form
    text = (
        "The lighthouse on the northern cape of the island was built in 1822 by a family of engineers from Aberdeen. "
        "Its lamp burned whale oil until the harbour company learned to make gas from coal; electric light came late "
        "to the coast, where the keeper of the tower and his family lived without neighbours for most of the year. "
        "Storms in the winter of 1871 broke the windows, flooded the stores and drowned the cattle of the farm, but "
        "the lamp had to burn in the night, and the keeper walked to the village for glass."
    )
    found = smollm.trace(text).patterns()
    striped = {f.layer for f in found if f.pattern == STRIPES and "on frequent words" in f.sentence}
    assert len(striped & set(range(3, 10))) >= 4
