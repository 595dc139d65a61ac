"""Treebanks: words, ranges, empty nodes, places in the text, and everything that can be broken."""

import gzip
import json
from dataclasses import asdict

import pytest

from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems, Source
from regard.corpus.readers.treebank import tree_of
from tests.corpus.trees import read_trees


def row(number, form, head="_", relation="_", upos="X", misc="_"):
    return f"{number}\t{form}\t{form.lower()}\t{upos}\t_\t_\t{head}\t{relation}\t_\t{misc}"


DON_T_GO = [
    "# sent_id = a-1",
    "# text = Don't go!",
    row("1-2", "Don't"),
    row(1, "Do", 3, "aux"),
    row(2, "n't", 3, "advmod"),
    row(3, "go", 0, "root", upos="VERB", misc="SpaceAfter=No"),
    row("3.1", "gone"),
    row(4, "!", 3, "punct"),
]


def treebank(tmp_path, *sentences, name="a.conllu"):
    path = tmp_path / name
    path.write_text("\n".join(line for lines in sentences for line in [*lines, ""]) + "\n", "utf-8")
    return path


def trees(path, problems=None, **options):
    return list(read_trees(Source(str(path), **options), problems))


def broken(tmp_path, *lines):
    """The problem of a sentence that stands between two good ones."""
    problems = Problems()
    found = trees(treebank(tmp_path, [row(1, "Yes", 0, "root")], lines, [row(1, "No", 0, "root")]), problems)
    assert [(s.number, s.text) for s in found] == [(0, "Yes"), (1, "No")]
    assert problems.count == 1
    return problems.first[0]


def test_ranges_and_empty_nodes_are_no_words(tmp_path):
    (sentence,) = trees(treebank(tmp_path, DON_T_GO))
    assert (sentence.number, sentence.id, sentence.text) == (0, "a-1", "Don't go!")
    assert [word.form for word in sentence.words] == ["Do", "n't", "go", "!"]
    assert [word.head for word in sentence.words] == [2, 2, -1, 2]
    assert [word.relation for word in sentence.words] == ["aux", "advmod", "root", "punct"]
    assert sentence.words[2].upos == "VERB"


def test_words_of_a_range_share_its_surface_by_their_lengths(tmp_path):
    (sentence,) = trees(treebank(tmp_path, DON_T_GO))
    assert sentence.spans == [(0, 2), (2, 5), (6, 8), (8, 9)]


def test_words_whose_lengths_do_not_add_up_have_the_whole_surface(tmp_path):
    lines = [row("1-2", "du"), row(1, "de", 3, "case"), row(2, "le", 3, "det"), row(3, "pain", 0, "root")]
    (sentence,) = trees(treebank(tmp_path, ["# text = du pain", *lines]))
    assert sentence.spans == [(0, 2), (0, 2), (3, 7)]


def test_without_a_text_surfaces_are_joined_where_no_space_is_forbidden(tmp_path):
    (sentence,) = trees(treebank(tmp_path, DON_T_GO[2:]))
    assert sentence.text == "Don't go!"
    assert sentence.spans == [(0, 2), (2, 5), (6, 8), (8, 9)]


def test_words_are_found_in_text_without_spaces_and_with_many(tmp_path):
    chinese = ["# text = 我爱北京", row(1, "我", 2, "nsubj"), row(2, "爱", 0, "root"), row(3, "北京", 2, "obj")]
    spaced = ["# text = I  like\u00a0it", row(1, "I", 2, "nsubj"), row(2, "like", 0, "root"), row(3, "it", 2, "obj")]
    first, second = trees(treebank(tmp_path, chinese, spaced))
    assert first.spans == [(0, 1), (1, 2), (2, 4)]
    assert second.spans == [(0, 1), (3, 7), (8, 10)]


def test_gzip_limit_and_sample_work_as_for_other_corpora(tmp_path):
    sentences = [[row(1, f"w{n}", 0, "root")] for n in range(9)]
    path = treebank(tmp_path, *sentences)
    packed = tmp_path / "a.conllu.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert trees(packed) == trees(path)
    assert [s.number for s in trees(path, limit=3)] == [0, 1, 2]
    assert [s.text for s in trees(path, sample=3)] == [f"w{s.number}" for s in trees(path, sample=3)]


def test_an_example_carries_its_tree_through_json(tmp_path):
    path = treebank(tmp_path, DON_T_GO)
    (example,) = read(Source(str(path), format="treebank"))
    sent = Example(**json.loads(json.dumps(asdict(example))))
    assert tree_of(sent) == tree_of(example) == trees(path)[0]


def test_text_needs_no_heads_but_trees_do(tmp_path):
    path = treebank(tmp_path, [row(1, "Hello"), row(2, "you")])
    assert [example.text for example in read(Source(str(path)))] == ["Hello you"]
    problems = Problems()
    assert trees(path, problems) == []
    assert problems.first == ["a.conllu line 1: the head '_' is not a word number"]


GO = row(1, "Go", 0, "root")


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        ([GO, "2\tnow\t_"], 4, "3 columns instead of CoNLL-U's 10"),
        ([GO, row(3, "now", 1, "advmod")], 4, "word 3 where word 2 was expected"),
        ([GO, row("x", "now", 1, "advmod")], 4, "'x' is not a word number"),
        ([GO, row(2, "", 1, "advmod")], 4, "the word is empty"),
        ([GO, row(2, "now", "one", "advmod")], 4, "the head 'one' is not a word number"),
        ([GO, row(2, "now", -1, "advmod")], 4, "the head '-1' is not a word number"),
        ([GO, row(2, "now", 9, "advmod")], 4, "the head 9 is beyond the sentence's 2 words"),
        ([GO, row(2, "now", 1, "_")], 4, "the relation is missing"),
        ([GO, row(2, "now", 2, "advmod")], 4, "word 2 is its own head"),
        ([GO, row(2, "now", 0, "root")], 4, "a second root; a tree has one"),
        ([row(1, "a", 2, "x"), row(2, "b", 1, "x")], 3, "no word of the sentence is its root"),
        ([GO, row(2, "a", 3, "x"), row(3, "b", 2, "x")], 4, "a cycle: word 2 is its own ancestor"),
        (["# text = Go there", GO, row(2, "now", 1, "x")], 5, "the word 'now' is not where the text has 'there'"),
        ([row("2-3", "Gone"), GO, row(2, "now", 1, "x")], 3, "the range 2-3 does not begin at the next word, 1"),
        ([GO, row("2-4", "nowhere"), row(2, "now", 1, "x")], 4, "the range ends at word 4 of 2"),
    ],
)
def test_a_broken_sentence_is_a_problem_with_line_and_reason_and_the_next_is_read(tmp_path, lines, line, reason):
    assert broken(tmp_path, *lines) == f"a.conllu line {line}: {reason}"


def test_strictness_stops_at_the_broken_line(tmp_path):
    path = treebank(tmp_path, DON_T_GO, [row(1, "Go", 2, "root")])
    with pytest.raises(ValueError, match=r"a\.conllu line 10: the head 2 is beyond the sentence's 1 words"):
        trees(path, Problems(strict=True))
