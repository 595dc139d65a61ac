"""One word that carries a "same word" score is named, with the score without it."""

from collections import defaultdict

import numpy as np
import pytest

import regard
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.atlas.carriers import BUCKETS, bucket_of, spelled
from regard.studies.atlas.study import Atlas

LINES = [
    "the cat sat on the mat and the cat went home",
    "a dog and a cat and a bird went to the store",
    "paris is large and paris is old",
    "zork was red and zork was blue and zork was green",
    "he said that zork is not what zork was",
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("carriers") / "lines.txt"
    path.write_text("\n".join(LINES), "utf-8")
    return path


@pytest.fixture(scope="module")
def sums(minilm, written):
    return run_local(Atlas(), minilm, Run(Source(str(written)))).sums


def by_hand(model, layer, head):
    """{word: (mass, rows, chance)} of the pattern "same word", from traces and loops."""
    found = defaultdict(lambda: np.zeros(3))
    for line in LINES:
        trace = model.trace(line)
        tokens = trace.sides["text"].tokens
        owner = [None if token.special else token.word for token in tokens]
        texts = line.split()
        attention = trace.sites[layer].attention(head).astype(np.float64)
        for query, word in enumerate(owner):
            if word is None:
                continue
            targets = [k for k, other in enumerate(owner) if other is not None and texts[other] == texts[word]]
            chance = len(targets) / len(tokens)
            if texts.count(texts[word]) < 2 or chance >= 0.5:
                continue
            found[texts[word]] += [attention[query, targets].sum(), 1, chance]
    return found


@pytest.mark.parametrize(("layer", "head"), [(2, 9), (0, 0), (5, 11)])
def test_masses_rows_and_chances_by_word_are_those_of_the_definition(minilm, sums, layer, head):
    expected = by_hand(minilm, layer, head)
    assert len({bucket_of(word) for word in expected}) == len(expected)  # no two share a bucket here
    mass = sums[f"encoder/{layer}/carried_mass"][0, :, head]
    known = sums[f"encoder/{layer}/carried_rows"][0]
    for word, numbers in expected.items():
        bucket = bucket_of(word)
        np.testing.assert_allclose([mass[bucket], *known[bucket]], numbers, rtol=1e-4)
        assert spelled(sums, bucket) == repr(word)
    assert np.count_nonzero(known[:, 0]) == len(expected)


def test_the_caution_names_the_word_and_the_score_without_it(minilm, written):
    result = regard.study.atlas(minilm, written)
    best = result.table[result.table["measure"] == "same word"].sort_values("value").iloc[-1]
    words = by_hand(minilm, best["layer"], best["head"])
    gained = {word: mass - chance for word, (mass, _, chance) in words.items()}
    total, room = sum(gained.values()), sum(rows - chance for _, rows, chance in words.values())
    without = {
        word: (total - gained[word]) / (room - rows + chance)
        for word, (_, rows, chance) in words.items()
        if gained[word] > 0.02 * total
    }
    top = min(without, key=without.get)
    head = f"encoder head {best['layer']}.{best['head']}"
    assert (
        f"same word, {head}: {100 * gained[top] / total:.0f}% of its lift of {best['value']:.2f} comes from one word, "
        f"{top!r}; without it the lift is {without[top]:.2f}."
    ) in result.cautions


def test_a_word_is_spelled_while_it_has_most_rows_of_its_bucket():
    bucket = bucket_of("naïve")
    other = next(text for text in map(str, range(10_000)) if bucket_of(text) == bucket)

    def rows(text, count):
        bits = np.unpackbits(np.frombuffer(text.encode().ljust(24, b"\0"), np.uint8))
        array = np.zeros((BUCKETS, 193))
        array[bucket] = count * np.concatenate([[1], bits])
        return Sums({"carried/words": array})

    assert spelled(rows(other, 3).plus(rows("naïve", 4)), bucket) == "'naïve'"
    assert spelled(rows("naïve", 4).plus(rows(other, 3)), bucket) == "'naïve'"


def test_wikitext_no_longer_owes_its_same_word_score_to_unknown_words(minilm, corpora):
    path = corpora / "wikitext2" / "wiki.valid.tokens"
    result = regard.study.atlas(minilm, path, unit="sentence", limit=60)
    assert not any("'unk'" in text or "'<unk>'" in text for text in result.cautions)
    assert any("words are <unk>, which stands for many words and counts as none" in text for text in result.cautions)
