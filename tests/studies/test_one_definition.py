"""The atlas of one example says of every head what the trace of that example says: one definition of each measure.

Maps that Hypothesis makes go both ways as they are; maps of real models are captured by each way itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from regard.capture import Layer
from regard.capture.naming import NamedOperation
from regard.capture.operation import Operation
from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.corpus.sums import Sums
from regard.measures.types import TYPES
from regard.patterns import findings
from regard.patterns.definitions import BAG, PATTERNS
from regard.studies.atlas import names
from regard.studies.atlas.names import AWAKE_SHARE, awake_table
from regard.studies.atlas.study import Atlas
from regard.studies.atlas.table import atlas_table
from regard.studies.base import Batch
from regard.trace.trace import Trace
from tests.conftest import ARTICLE
from tests.tiny import enlarged, tiny_bert, tiny_llama

CLOSE = {"rtol": 1e-6, "atol": 1e-6}
TEXTS = {
    "one sentence": ("the cat sat on the mat , unbeliev it sat on the store .", None),
    "two sentences": ("the cat sat on the mat , the strawberries !", "a dog sat on the mat , it bought strawberries ."),
    "short second": ("the cat sat on the mat , it sat .", "a dog"),
}


@dataclass(eq=False)
class GivenLayer(Layer):
    """A layer whose maps (1, H, Q, K) are given."""

    maps: torch.Tensor

    def attention(self) -> torch.Tensor:
        return self.maps


def text_for(kind, causal):
    """A causal model reads one text, here of as many bytes as it takes."""
    text, pair = TEXTS[kind]
    return (f"{text} {pair or ''}"[:60], None) if causal else (text, pair)


def item(model, text, pair):
    example = Example(0, text, pair)
    return Item(0, model._engine.encode(text, pair), example)


def real_maps(model, text, pair):
    """(L, H, n, n) maps of a model, as a study sees them; what a trace keeps gives the same but for rounding."""
    found, batch = [], Batch(model, [item(model, text, pair)])
    model._engine.stream(batch.inputs, batch.book, lambda layer: found.append(layer.attention()[0].clone()))
    return torch.stack(found).numpy()


def atlas_of_maps(model, text, pair, maps, causal):
    """The same for maps (L, H, n, n) in place of the model's own."""
    batch, sums = Batch(model, [item(model, text, pair)]), Sums()
    taker = Atlas().taker(batch)
    for layer, attention in enumerate(torch.from_numpy(maps)):
        empty = torch.zeros(1, *attention.shape[:2], 1)
        operation = Operation(f"layer.{layer}", None, q=empty, k=empty, causal=causal)
        named = NamedOperation(operation, "decoder" if causal else "encoder", layer, 0)
        taker(GivenLayer(named, "none", attention[None]))
    taker.finish()
    batch.pour(sums)
    return sums


def trace_of_maps(model, text, pair, maps, causal):
    """A trace of the text with these maps, as `Trace.from_maps` makes its sites; it knows related words."""
    whole = model.trace(text, pair)
    made = Trace.from_maps(maps, whole.side().texts, kind="decoder" if causal else "encoder", causal=causal)
    sides = {name: whole.side() for name in made.sides}
    return Trace(sides, made.sites, dict(whole.facts))


def check_both(model, text, pair, maps, causal):
    """The names that were compared."""
    return check_same(trace_of_maps(model, text, pair, maps, causal), atlas_of_maps(model, text, pair, maps, causal))


def check_same(trace, sums):
    """Every measure and pattern of every head, and what the heads are called."""
    awake = awake_table(sums)
    table, when_awake = (
        dict(iter(made.sort_values("head", kind="stable").groupby(["kind", "layer", "measure"])))
        for made in (atlas_table(sums), awake)
    )
    compared = set()
    for site in trace.patterns().measured:
        heads = len(site.heads)
        for name in (*(pattern.name for pattern in PATTERNS), BAG):
            reading, place = site.readings.get(name), (site.kind, site.layer, name)
            if reading is None or not reading.rows.any():
                assert place not in table or (table[place]["rows"] == 0).all(), name
                continue
            mine = table[place]
            assert list(mine["rows"]) == list(reading.rows), name
            for column, value in (("mass", reading.mass), ("chance", reading.chance), ("value", reading.lift)):
                np.testing.assert_allclose(mine[column], value, **CLOSE, err_msg=f"{name}: {column}")
            np.testing.assert_allclose(mine["argmax"], reading.argmax, **CLOSE, err_msg=name)
            compared.add(name)
        for name, level in site.levels.items():
            if name == "sink":  # maps that are given have no sink; what they lack to 1 is rounding
                continue
            mine = table[site.kind, site.layer, name]
            np.testing.assert_allclose(mine["value"], level.value, **CLOSE, err_msg=name)
            np.testing.assert_allclose(mine["chance"], level.chance, **CLOSE, err_msg=name)
        compared |= check_awake(site, when_awake)
        types = np.full((heads, len(TYPES)), np.nan) if site.types is None else site.types
        place = f"{site.kind}/{site.layer}"
        shares, typed = (sums.whole(f"{place}/{name}") for name in ("types", "typed"))
        np.testing.assert_array_equal(typed, ~np.isnan(types).any(axis=-1))
        np.testing.assert_allclose(shares, np.nan_to_num(types), **CLOSE, err_msg="types")
    check_same_names(trace, awake)
    return compared


def check_awake(site, table):
    """What the heads of a site do when awake; the names that were compared."""
    level = table[site.kind, site.layer, AWAKE_SHARE]["value"]
    np.testing.assert_allclose(1 - level, site.rest, **CLOSE)
    compared = set()
    for (kind, layer, name), mine in table.items():
        if (kind, layer) != (site.kind, site.layer) or name == AWAKE_SHARE:
            continue
        reading = site.awake.get(name)
        if reading is None or not reading.rows.any():
            assert (mine["rows"] == 0).all(), name
            continue
        assert list(mine["rows"]) == list(reading.rows), name
        np.testing.assert_allclose(mine["awake"], reading.awake, **CLOSE, err_msg=name)
        for column, value in (("share", reading.share), ("chance", reading.chance)):  # shares of the awake attention
            sums = [np.nan_to_num(some) * reading.awake for some in (mine[column], value)]
            np.testing.assert_allclose(*sums, **CLOSE, err_msg=f"{name}: {column}")
        some = reading.awake >= 1  # a lift of next to nothing is rounding
        np.testing.assert_allclose(mine["value"][some], reading.lift[some], **CLOSE, err_msg=name)
        if name in site.stays:
            told = [np.nan_to_num(values) * reading.awake for values in (mine["stays"], site.stays[name])]
            np.testing.assert_allclose(*told, rtol=1e-5, atol=1e-5, err_msg=f"{name}: stays")
            compared.add(f"{name} stay")
        compared.add(name)
    return compared


def check_same_names(trace, awake):
    """One example has no interval, so nobody asks whether a name would hold on other rows; scores are rounded."""
    with mock.patch.object(names, "EQUIVALENTS", 0):
        named = names.named_heads(awake.assign(low=awake["value"]))
    over_corpus = named.set_index(["kind", "layer", "head", "measure"])["value"]
    always = {
        "FEWEST": 0,
        "FEWEST_ROWS": 0,
        "FEWEST_WORDS": 0,
        "_sure": lambda mass, *_: np.ones(len(mass), bool),
        "beyond_one_offset": lambda _, hit, *__: np.ones(len(hit), bool),
    }
    with mock.patch.multiple(findings, **always):
        found = {(f.kind, f.layer, f.head, f.pattern): f.score for f in trace.patterns()}
    assert found == pytest.approx(dict(over_corpus), abs=1e-4)


@st.composite
def one_map(draw, n, causal):
    """(n, n): noise of some sharpness (without it columns tie, and rounding decides which three are the strongest),
    drawn to one diagonal; some rows rest on the last key (causal: the first)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = draw(st.sampled_from([0.3, 1.0, 4.0, 30.0])) * rng.standard_normal((n, n))
    offset = draw(st.sampled_from([None, -2, -1, 0, 1]))
    if offset is not None:
        scores += 6 * np.eye(n, k=offset)
    resting = rng.random(n) < draw(st.sampled_from([0.0, 0.3, 0.9]))
    scores[resting, 0 if causal else -1] += draw(st.sampled_from([3.0, 10.0, 16.0, 80.0]))
    scores[~np.tri(n, dtype=bool) & causal] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def models(wordpiece, bytelevel):
    """Attention far from uniform; both tokenizers."""
    return {False: enlarged(tiny_bert(wordpiece)), True: enlarged(tiny_llama(bytelevel), 3)}


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", TEXTS)
@settings(max_examples=15, deadline=None, derandomize=True, phases=[Phase.generate])
@given(data=st.data())
def test_the_atlas_of_any_maps_is_what_their_trace_says(models, causal, kind, data):
    model, (text, pair) = models[causal], text_for(kind, causal)
    n = len(model._engine.encode(text, pair).ids)
    maps = np.stack([data.draw(one_map(n, causal)) for _ in range(3)])[None].astype(np.float32)
    check_both(model, text, pair, maps, causal)


def test_a_head_that_rests_on_the_separator_is_no_better_a_bag_of_words_for_it(models):
    model, (text, pair) = models[False], TEXTS["two sentences"]
    segments = np.array([-1 if t.special else t.segment for t in model.trace(text, pair).side().tokens])
    own = (segments[:, None] == segments[None, :]) & (segments >= 0)[None, :]
    maps = own / np.maximum(own.sum(axis=-1, keepdims=True), 1)
    resting = (np.arange(len(segments)) % 3 == 0) | (segments < 0)
    maps[resting] = 0.0
    maps[resting, 1], maps[resting, -1] = 1e-6, 1 - 1e-6
    maps = maps[None, None].astype(np.float32)
    trace, sums = trace_of_maps(model, text, pair, maps, False), atlas_of_maps(model, text, pair, maps, False)
    assert BAG in check_same(trace, sums)
    reading = trace.patterns().measured[0].readings[BAG]
    by_mass_alone = (reading.mass - reading.chance) / (1 - reading.chance)  # all that counts is even
    np.testing.assert_allclose(reading.lift, by_mass_alone, atol=0.01)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("causal", [False, True])
def test_the_atlas_of_a_tiny_model_is_what_its_trace_says(models, causal, kind):
    text, pair = text_for(kind, causal)
    assert len(check_both(models[causal], text, pair, real_maps(models[causal], text, pair), causal)) >= 6


@pytest.mark.models
@pytest.mark.parametrize("pair", [None, ARTICLE[1]])
def test_the_atlas_of_a_real_model_is_what_its_trace_says(minilm, pair):
    compared = check_both(minilm, ARTICLE[0], pair, real_maps(minilm, ARTICLE[0], pair), False)
    words = {"frequent words", "frequent words stay"}
    assert pair is None or {BAG, "same word in the other sentence", "delimiter", "next token", *words} <= compared


@pytest.mark.models
def test_the_atlas_of_a_decoder_says_what_stays_as_its_trace_does(smollm):
    text = "In 1969 the crew of Apollo 11 landed on the Moon, and Armstrong walked on it; Collins stayed in orbit."
    compared = check_both(smollm, text, None, real_maps(smollm, text, None), True)
    kinds = {"frequent words", "capitalised words", "numbers"}
    assert kinds | {f"{name} stay" for name in kinds} <= compared
