"""Which cross heads link words of a translation: references, maps between words and error rates by hand."""

import itertools
from collections import Counter

import numpy as np
import pytest

import regard
from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems, Source
from regard.studies.alignment import lexicon
from regard.studies.alignment.links import Judged, Reference, reference
from regard.studies.alignment.translated import pairs_of

PAIRS = [
    ("The cat sleeps.", "El gato duerme.", "0-0 1-1 2-2"),
    ("I have a red car.", "Tengo un coche rojo.", "0-0 1-0 2-1 3-3 4-2"),
    ("She is not here.", "Ella no está aquí.", "0-0 1-2 2-1 3-3"),
    ("We like the old house.", "Nos gusta la casa vieja.", "0-0 1-1 2-2 3-4 4-3"),
    ("Tom eats bread.", "Tom come pan.", "0-0 1-1 2-2"),
    ("I want a black dog.", "Quiero un perro negro.", "0-0 1-0 2-1 3-3 4-2"),
    ("He drinks water.", "Él bebe agua.", "0-0 1-1 2-2"),
    ("The white house is big.", "La casa blanca es grande.", "0-0 1-2 2-1 3-3 4-4"),
]


@pytest.fixture(scope="module")
def model():
    return regard.load("translator")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translated")
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other, _ in PAIRS))
    (folder / "gold.txt").write_text("".join(f"{links}\n" for *_, links in PAIRS))
    (folder / "words.tsv").write_text("house\tcasa\nwater\tagua\nred\trojo\nCat\tgato\nhere\taquí\n")
    return folder


def by_hand(trace, source, target, head, *, shift):
    """Which source word each target word looks at most, from a trace: rows averaged, columns summed."""
    maps = trace.attention(*head, kind="cross")
    reads = next(side for name, side in trace.sides.items() if name != "decoder")

    def groups(side, text):
        ends = np.cumsum([len(word) + 1 for word in text.split()])
        tokens = [(place, token) for place, token in enumerate(side.tokens) if not token.special]
        return [[p for p, t in tokens if end - len(word) - 1 < t.end <= end - 1]
                for word, end in zip(text.split(), ends, strict=True)]  # fmt: skip

    keys = groups(reads, source)
    return [
        int(np.argmax([np.mean([maps[p - shift, key].sum() for p in rows]) for key in keys]))
        for rows in groups(trace.sides["decoder"], target)
    ]


def test_error_rates_are_those_of_the_traces(model, corpus):
    """A single head, chosen on one half and tested on the other, in plain numpy from traces."""
    result = regard.study.alignment(model, corpus / "pairs.tsv", gold=corpus / "gold.txt")
    layers = max(site.layer for site in model.trace("a", target="b").sites if site.kind == "cross") + 1
    heads = list(itertools.product(range(layers), range(model.config.heads)))
    gold = [{tuple(map(int, link.split("-"))) for link in links.split()} for *_, links in PAIRS]
    traces = [model.trace(one, target=other) for one, other, _ in PAIRS]
    for way, shift in (("best single head", 1), ("best single head, a row late", 0)):
        right = np.array([[sum((i, j) in links for j, i in enumerate(by_hand(trace, one, other, head, shift=shift)))
                           for (one, other, _), links, trace in zip(PAIRS, gold, traces, strict=True)]
                          for head in heads])  # fmt: skip
        words = np.array([len(other.split()) for _, other, _ in PAIRS])
        best = [int(np.argmax(right[:, half::2].sum(axis=1) / words[half::2].sum())) for half in (0, 1)]
        found = sum(right[best[half], 1 - half :: 2].sum() for half in (0, 1))
        row = result.table.set_index("way").loc[way]
        assert row["words"] == words.sum()
        assert row["precision"] == pytest.approx(found / words.sum())
        assert row["recall"] == pytest.approx(found / sum(map(len, gold)))
        assert row["error rate"] == pytest.approx(1 - 2 * found / (words.sum() + sum(map(len, gold))))
    rates = result.table.set_index("way")["error rate"]
    assert rates["chosen heads"] < rates["best single head, a row late"]  # the row of a token chooses the next one


def test_sets_of_heads_share_a_mean_map_and_the_diagonal_needs_no_model(model, corpus):
    examples = list(read(Source(str(corpus / "pairs.tsv"), format="translations")))
    encode = encoder_of(model)
    items = [Item(one.number, encode(one, True), one) for one in examples]
    pair = next(
        pair for pair in pairs_of(model, items, reference("gold", str(corpus / "gold.txt"), "")) if pair.number == 1
    )
    maps = np.concatenate(pair.shifted)
    best = maps[[3, 8, 11]].mean(axis=0).argmax(axis=1)
    expected = [(int(i), j) not in pair.judged.links for j, i in enumerate(best)]
    np.testing.assert_array_equal(pair.misses([[3, 8, 11]])[0], expected)
    # five words to four: 0.5/4, 1.5/4, 2.5/4, 3.5/4 of five are 0, 1, 3, 4
    np.testing.assert_array_equal(pair.diagonal, [(i, j) not in pair.judged.links for j, i in enumerate([0, 1, 3, 4])])


def test_a_dictionary_judges_the_words_it_knows(corpus):
    known = reference("dictionary", str(corpus / "words.tsv"), "")
    assert known.judged("The cat sleeps.".split(), "El gato duerme.".split(), 1) == Judged(frozenset({(1, 1)}), [1])
    assert known.judged("Tom eats bread.".split(), "Tom come pan.".split(), 5) is None


def brute(pairs, rounds):
    """IBM's first model in plain Python: t(target | source)."""
    table = Counter({(one, other): 1.0 for sides in pairs for one in sides[0] for other in sides[1]})
    for _ in range(rounds):
        counts, totals = Counter(), Counter()
        for given, written in pairs:
            for other in written:
                norm = sum(table[one, other] for one in given)
                for one in given:
                    counts[one, other] += table[one, other] / norm
                    totals[one] += table[one, other] / norm
        table = Counter({cell: value / totals[cell[0]] for cell, value in counts.items()})
    return table


def test_the_learned_dictionary_is_ibms_first_model():
    rng = np.random.default_rng(0)
    words = {"a": "x", "b": "y", "c": "z", "d": "w"}
    pairs = []
    for _ in range(40):
        source = list(rng.choice(list(words), 3))  # words may come twice
        target = [words[one] for one in source] + list(rng.choice(["q", "x", "v"], 1))
        pairs.append((source, target))
    there, back = brute(pairs, lexicon.ROUNDS), brute([(t, s) for s, t in pairs], lexicon.ROUNDS)
    both = Counter(cell for s, t in pairs for cell in set(itertools.product(s, t)))
    expected = {
        cell for cell in there
        if min(there[cell], back[cell[::-1]]) >= lexicon.SURE and both[cell] >= lexicon.OFTEN
    }  # fmt: skip
    found = {(one, other) for one, others in lexicon.learned(pairs).items() for other in others}
    assert found == expected >= set(words.items())
    assert lexicon.learned([]) == {}


def test_pairs_of_the_corpus_teach_nothing(corpus):
    with pytest.raises(UserError, match="gives no pairs of words"):
        reference("parallel", str(corpus / "pairs.tsv"), str(corpus / "pairs.tsv"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "say which words belong together: --gold, --dictionary or --parallel"),
        ({"gold": "gold.txt", "dictionary": "words.tsv"}, "links come from one place"),
        ({"gold": "words.tsv"}, "not in Pharaoh format"),
        ({"dictionary": "gold.txt"}, "is not `word TAB word`"),
        ({"gold": "nowhere.txt"}, "there is no file"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(model, corpus, given, message):
    with pytest.raises(UserError, match=message):
        regard.study.alignment(model, corpus / "pairs.tsv", **{name: corpus / file for name, file in given.items()})


def test_links_to_words_that_are_not_there_are_refused():
    known = Reference("gold", "gold.txt", lines={1: frozenset({(5, 0)})})
    with pytest.raises(UserError, match=r"line 1 of gold\.txt links words that its sentences do not have"):
        known.judged(["a"], ["b"], 1)


def test_a_model_that_does_not_translate_says_so(bert, corpus):
    with pytest.raises(UserError, match="does not translate"):
        regard.study.alignment(bert, corpus / "pairs.tsv", gold=corpus / "gold.txt")


def test_bad_lines_are_counted_and_lines_keep_their_numbers(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\nonly one\n\nc\td\tmore\n")
    problems = Problems()
    found = list(read(Source(str(path), format="translations"), problems))
    assert [(one.text, one.pair, one.fields["line"]) for one in found] == [("a", "b", 1), ("c", "d", 4)]
    assert problems.count == 1 and "line 2: not `source TAB target`" in problems.first[0]
