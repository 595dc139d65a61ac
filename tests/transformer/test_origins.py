"""Where patterns come from in the default model; docs/explanation/where-patterns-come-from.md says these sentences."""

import numpy as np
import pytest

from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.patterns import neurons_of
from tests.conftest import ARTICLE

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def trace(minilm):
    return minilm.trace(*ARTICLE, attribution=True)


def words(trace):
    return [i for i, token in enumerate(trace.side().tokens) if not token.special]


def previous(trace):
    return [(i, i - 1) for i in words(trace) if i - 1 in words(trace)]


def test_the_previous_token_head_looks_at_the_previous_token(trace):
    weights = trace.attention(0, 2)
    assert np.mean([weights[pair] for pair in previous(trace)]) > 0.98


def test_position_makes_the_previous_token_head(trace):
    site = trace.site(0)
    parts = site.attribution(2)  # (P, P, queries, keys)
    parts = parts - parts.mean(-1, keepdims=True)
    found = np.mean([parts[:, :, i, j] for i, j in previous(trace)], axis=0)
    place = site.parts.index("position")
    assert found[place, place] / found.sum() > 0.9


@pytest.fixture(scope="module")
def traces(minilm, corpora):
    source = Source(str(corpora / "ud_english_ewt" / "en_ewt-ud-dev.conllu"), limit=100)
    return [minilm.trace(example.text, truncate=True, attribution=True) for example in read(source)]


@pytest.mark.corpora
def test_all_neurons_make_the_previous_token_head_and_position_does_it(traces):
    found = neurons_of(traces, 0, 2)
    assert found.pattern == "previous token"
    assert found.makers.value == pytest.approx(27.6, abs=0.2)
    assert found.few.value == pytest.approx(0.20, abs=0.01)
    assert [number for number, _ in found.shares[:4]] == [29, 26, 27, 23]
    assert found.parts["position × position"].value == pytest.approx(25.4, abs=0.3)
    assert found.above.value == pytest.approx(25.8, abs=0.3)


@pytest.mark.corpora
@pytest.mark.parametrize(("layer", "head"), [(4, 5), (2, 9), (2, 7), (2, 4), (1, 11), (1, 10)])
def test_the_delimiter_heads_look_at_cls_and_rest_on_fewer_neurons(traces, layer, head):
    found = neurons_of(traces, layer, head, "[CLS]")
    neighbours = neurons_of(traces, 1, 8, "next token")
    assert 0.68 < found.weight.value < 0.81
    assert 9.7 < found.makers.value < 15.7
    assert found.few.low > neighbours.few.high > 0.27
    assert 10 < found.participation.value < 16  # not fewer than in random vectors: 13


@pytest.mark.corpora
def test_no_head_gives_sep_much(traces):
    mass = np.mean([[trace.attention(layer)[:, 1:-1, -1].mean(1) for layer in range(6)] for trace in traces], axis=0)
    assert np.unravel_index(mass.argmax(), mass.shape) == (3, 11)
    assert mass.max() < 0.11


def test_in_the_two_sentences_of_the_article_two_heads_look_at_sep(trace):
    special = [i for i, text in enumerate(trace.side().texts) if text == "[SEP]"]
    mass = {
        (layer, head): trace.attention(layer, head)[np.ix_(words(trace), special)].sum(1).mean()
        for layer in trace.layers()
        for head in range(12)
    }
    assert set(sorted(mass, key=mass.get)[-2:]) == {(0, 0), (0, 5)}
    assert max(mass.values()) < 0.5
