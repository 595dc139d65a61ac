"""Shares of weight, contributions and worth by class of line, against loops over every line."""

import numpy as np
import pytest

import regard
from regard.corpus.batches import window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.worth.reduce import CLASSES
from regard.studies.worth.study import WorthStudy
from tests.tiny import tiny_llama

TEXTS = 6


@pytest.fixture(scope="module")
def llama(bytelevel):
    return tiny_llama(bytelevel)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("worth") / "texts.txt"
    path.write_text("the cat sat.\na dog, a cat!\nit went to it\nthe mat\na cat? a mat\non the store\n", "utf-8")
    return path


def word_at(tokens, place):
    """The run of letters that a token, which is one, stands in."""
    letters = [token.text.strip().isalnum() for token in tokens]
    first = last = place
    while first > 0 and letters[first] and letters[first - 1]:
        first -= 1
    while last + 1 < len(tokens) and letters[last] and letters[last + 1]:
        last += 1
    return "".join(token.text for token in tokens[first : last + 1]).lower() if letters[place] else ""


def by_hand(trace, layer):
    """(H, classes) shares of weight, contribution and worth, line by line, and which classes there are."""
    site = trace.site(layer)
    tokens, n = trace.tokens, site.keys
    found = {name: np.zeros((site.heads, len(CLASSES))) for name in ("weight", "contribution", "worth")}
    there = np.zeros(len(CLASSES), bool)
    for i in range(n):
        if not np.abs(site.g[:, i]).any():
            continue
        for j in range(i + 1):
            text = tokens[j].text.strip()
            if j == 0:
                name = "resting place"
            elif i - j in (0, 1):
                name = ("itself", "previous token")[i - j]
            else:
                name = "punctuation" if text and not text.isalnum() else "other"
            if name == "other" and word_at(tokens, i) and word_at(tokens, i) == word_at(tokens, j):
                name = "same word"
            number = CLASSES.index(name)
            there[number] = True
            for head in range(site.heads):
                weight = site.attention(head)[i, j]
                found["weight"][head, number] += weight
                found["contribution"][head, number] += weight * site.norms[head, j]
                found["worth"][head, number] += abs(weight * (site.g[head, i] @ site.v[site.group(head), j]))
    return {name: table / table.sum(-1, keepdims=True) for name, table in found.items()}, there


def test_shares_are_those_of_every_line_that_can_reach_the_last_word(llama, lines):
    result = regard.study.worth(llama, lines)
    traces = [
        llama.trace(one.text, worth={"position": len(llama._engine.encode(one.text).ids) - 2, "check": 0})
        for one in read(Source(str(lines)))
    ]
    for layer in (0, 1):
        found = [by_hand(trace, layer) for trace in traces]
        inputs = np.sum([there for _, there in found], axis=0)
        for quantity in ("weight", "contribution", "worth"):
            total = np.sum([shares[quantity] * there for shares, there in found], axis=0)
            expected = np.where(inputs, total / np.maximum(inputs, 1), np.nan)  # (H, classes)
            table = result.table
            mine = table[(table["quantity"] == quantity) & (table["layer"] == layer)]["value"].to_numpy()
            np.testing.assert_allclose(mine, expected.ravel(), atol=1e-5, err_msg=f"{layer} {quantity}")


def test_the_report_says_what_rests_and_what_of_it_counts(llama, lines):
    result = regard.study.worth(llama, lines)
    assert (
        result.findings[0].startswith("Resting places get ")
        and "of the worth; with the worth of random lines" in result.findings[0]
    )
    layers = result.tables["By layer"]
    sums = layers[layers["quantity"] == "worth of equal weights"].groupby("layer")["value"].sum()
    assert set(layers["quantity"]) == {"weight", "contribution", "worth", "worth of equal weights"} and len(sums) == 2
    assert list(result.drawers) == ["decoder-resting"]


def test_the_numbers_do_not_depend_on_batches(llama, lines):
    window = window_of(0, list(read(Source(str(lines)))), encoder_of(llama), long="truncate")
    items = [item for batch in window.batches for item in batch]
    together, one_by_one = Sums(), Sums()
    WorthStudy().update(llama, items, together)
    for item in items:
        WorthStudy().update(llama, [item], one_by_one)
    assert len(items) == TEXTS and together.arrays.keys() == one_by_one.arrays.keys()
    for name, array in together.arrays.items():
        np.testing.assert_allclose(array, one_by_one.arrays[name], atol=1e-12)


def test_texts_that_cannot_be_judged_are_refused_with_the_way_out(bert, lines):
    with pytest.raises(ValueError, match="one sentence has nothing to be similar to; give it a second"):
        regard.study.worth(bert, lines)
