"""Heads are called after what they do, not after what that happens to reach as well."""

import json
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from regard import Trace
from regard.patterns.cautions import warnings_for
from regard.patterns.definitions import BAG, NAMES, OF_TRACES, PATTERNS
from regard.patterns.entries import ALSO, CAUTIONS, SIMPLER, TARGETS_OF
from regard.patterns.levels import LEVELS
from regard.patterns.naming import own_name
from regard.studies.atlas.names import AWAKE_COLUMNS, named_heads
from regard.trace.tokens import Side, Token

PIECES = "other pieces of the word"
TOKENS = [("un", 0), ("##bel", 0), ("##iev", 0), ("able", 1), ("straw", 2), ("##berries", 2), ("sat", 3), ("on", 4)]
TOKENS += [("re", 5), ("##turn", 5), ("##ed", 5), ("home", 6)]


def names_of(maps):
    side = Side("encoder", tuple(Token(text, word=word) for text, word in TOKENS))
    return {f.pattern for f in Trace({"encoder": side}, Trace.from_maps(maps[None, None], side.texts).sites).patterns()}


def neighbours(offset):
    rows = np.arange(len(TOKENS))
    return np.eye(len(TOKENS))[np.clip(rows + offset, 0, len(TOKENS) - 1)]


@pytest.mark.parametrize(("offset", "name"), [(-1, "previous token"), (1, "next token")])
def test_a_head_of_neighbours_is_not_a_head_of_pieces(offset, name):
    assert names_of(neighbours(offset)) == {name}


def test_a_head_of_pieces_is_one():
    words = np.array([word for _, word in TOKENS])
    maps = (words[:, None] == words[None, :]) & ~np.eye(len(words), dtype=bool)
    maps = np.where(maps.any(-1, keepdims=True), maps, np.eye(len(words)))  # words of one piece look at themselves
    assert PIECES in names_of(maps / maps.sum(-1, keepdims=True))


def lifts(**given):
    return lambda name: np.array(given.get(name.replace(" ", "_"), [0.0, 0.0]))


def test_what_an_entry_says_of_other_patterns_is_of_patterns_that_there_are():
    known = {pattern.name for pattern in OF_TRACES} | {BAG}
    for named in (SIMPLER, TARGETS_OF):
        assert set(named) <= set(NAMES) and {one for others in named.values() for one in others} <= known - set(ALSO)
    assert set(ALSO) <= set(NAMES) and set(ALSO.values()) <= known - set(NAMES)
    assert not set(SIMPLER) & set(TARGETS_OF)


@pytest.mark.parametrize("name", CAUTIONS)
def test_a_caution_that_an_entry_names_is_said_of_its_heads(name):
    codes = [one.code for one in warnings_for([SimpleNamespace(pattern=name, layer=0)], inputs=1)]
    assert CAUTIONS[name] in codes and len(codes) == len(set(codes))


def test_every_measure_that_a_page_sorts_heads_by_has_a_name_in_both_languages():
    stored = json.loads(files("regard.patterns").joinpath("patterns.json").read_text("utf-8"))["measures"]
    shown = {entry["name"]: (entry.get("en", entry["name"]), entry["zh"]) for entry in stored}
    of_pages = [level.name for level in LEVELS]
    of_pages += [f"{level.name} of uniform" for level in LEVELS if level.uniform is not None]
    assert sorted(shown) == sorted(of_pages)
    for english, chinese in shown.values():
        assert english.isascii() and any("\u4e00" <= letter <= "\u9fff" for letter in chinese)


def test_neighbours_explain_related_words_and_the_token_itself_explains_the_same_word():
    related = lifts(related_word=[0.5, 0.5], previous_token=[0.6, 0.1])
    assert own_name("related word", related).tolist() == [False, True]
    frequent = lifts(related_word=[0.4, 0.4], frequent_words=[0.5, 0.3])
    assert own_name("related word", frequent).tolist() == [False, True]
    same = {"same word": [0.9, 0.9], "same word, elsewhere": [0.1, 0.3]}
    assert own_name("same word", lambda name: np.array(same[name])).tolist() == [False, True]
    near = lifts(tokens_just_before=[0.6, 0.6], previous_token=[0.4, 0.1])
    assert own_name("tokens just before", near).tolist() == [False, True]
    assert own_name("induction", lifts()).tolist() == [True, True]


def test_over_a_corpus_the_same_rule_holds():
    values = {
        0: {"previous token": 0.9, "next token": 0.0, PIECES: 0.6, "same word": 0.0, "same word, elsewhere": np.nan},
        1: {"previous token": 0.2, "next token": 0.1, PIECES: 0.6, "same word": 0.5, "same word, elsewhere": 0.4},
    }
    rows = [
        dict.fromkeys(AWAKE_COLUMNS, 0.0)
        | {
            "kind": "encoder",
            "layer": 0,
            "head": head,
            "measure": name,
            "value": value,
            "low": value - 0.1,
            "awake": 50.0,
            "rows": 100,
        }
        for head, numbers in values.items()
        for name, value in numbers.items()
    ]
    named = named_heads(pd.DataFrame(with_the_rest(rows), columns=list(AWAKE_COLUMNS)))
    found = list(zip(named["head"], named["measure"], strict=True))
    assert found == [(0, "previous token"), (1, PIECES), (1, "same word")]


def parallel_pair(rng):
    """Two sentences built alike: some words of the second are those of the first, at the same places."""
    length = int(rng.integers(8, 13))
    first = [f"w{n}" for n in rng.permutation(30)[:length]]
    second = [word if rng.random() < 0.8 else f"v{n}" for n, word in enumerate(first)]
    return ["[CLS]", *first, "[SEP]", *second, "[SEP]"], length


def offset_head(count, offset):
    """Every token looks so far ahead; where there is nothing, at itself."""
    rows = np.arange(count)
    keys = rows + offset
    return np.eye(count)[np.where((keys >= 0) & (keys < count), keys, rows)]


def test_heads_of_one_offset_are_not_named_after_equal_words_in_parallel_sentences():
    rng = np.random.default_rng(0)
    named = heads = 0
    for _ in range(60):
        texts, length = parallel_pair(rng)
        step = length + 1  # from a word to its like
        offsets = (step, -step, int(rng.integers(2, step)), -int(rng.integers(2, step)))
        maps = np.stack([offset_head(len(texts), offset) for offset in offsets])
        found = Trace.from_maps(maps[None], texts).patterns()
        named += len({f.head for f in found if f.pattern.startswith("same word")})
        heads += len(maps)
    assert named <= 0.02 * heads


def test_a_head_of_equal_words_is_named_in_parallel_sentences():
    texts, _ = parallel_pair(np.random.default_rng(1))
    same = np.array([[a == b and i != j for j, b in enumerate(texts)] for i, a in enumerate(texts)], float)
    same[[text == "[SEP]" for text in texts]] = 0
    maps = np.where(same.any(-1, keepdims=True), same, np.eye(len(texts)))
    assert "same word" in {f.pattern for f in Trace.from_maps(maps[None, None], texts).patterns()}


def with_the_rest(rows):
    """Every other pattern, of which the heads show nothing."""
    there = {row["measure"] for row in rows}
    blank = [row | {"measure": p.name, "value": 0.0} for p in PATTERNS if p.name not in there for row in rows[::5]]
    return [*rows, *blank]
