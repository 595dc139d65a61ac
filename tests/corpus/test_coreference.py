"""Texts with coreference: each format read as it is meant, and what is wrong in a file said with its line."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from regard.corpus.readers.coreference import corpus_of, document_of, windows
from regard.corpus.readers.mentions import Traits, head_word, traits_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems, Source

DATA = Path(__file__).resolve().parents[1] / "data" / "coreference"
GAP = (DATA / "gap-mine.tsv").read_text().splitlines()


def documents(*names, problems=None, **options):
    source = corpus_of([str(DATA / name) for name in names], **options)
    return [document_of(example) for example in read(source, problems)]


def mentions(document):
    """(words, head word, type, cluster) of each mention."""
    return [
        (" ".join(document.words[m.start : m.end]), document.words[m.head], m.type, m.cluster)
        for m in document.mentions
    ]


# -- formats ---------------------------------------------------------------------------------------------------


def test_a_novel_with_an_empty_last_column():
    problems = Problems()
    (document,) = documents("novel.conll", problems=problems)
    assert problems.count == 0
    assert mentions(document) == [
        ("The old captain of the ship", "captain", "nominal", 0),
        ("the ship", "ship", "nominal", 1),
        ("the inn", "inn", "nominal", 2),
        ("he", "he", "pronoun", 0),
        ("his", "his", "pronoun", 0),
        ("his sister , a tall woman", "sister", "nominal", 3),
        ("Sister", "Sister", "nominal", 3),  # a capital at the start of a sentence, and the word is there without
        ("Anna", "Anna", "proper", 4),
        ("him", "him", "pronoun", 0),
        ("The captain", "captain", "nominal", 0),
    ]
    assert document.starts == (0, 11, 21, 27) and not document.pronouns and document.side is None
    assert [document.text[start:end] for start, end in document.spans] == list(document.words)


def test_news_with_tags_and_spaces_between_columns():
    (document,) = documents("news.v4_gold_conll")
    assert mentions(document) == [
        ("Anna", "Anna", "proper", 1),
        ("Smith Ltd", "Ltd", "proper", 2),
        ("the boss", "boss", "nominal", 3),
        ("she", "she", "pronoun", 1),
        ("her", "her", "pronoun", 3),
        ("her plan", "plan", "nominal", 4),
    ]


def test_gap_has_a_pronoun_and_two_names():
    one, two, three = documents("gap-mine.tsv")
    assert mentions(one) == [
        ("she", "she", "pronoun", 0),
        ("Anna Chatfield-Lane", "Chatfield-Lane", "proper", 0),
        ("Maria", "Maria", "proper", 2),
    ]
    assert one.pronouns and one.words[-5:] == ("at", "Maria", "'s", "dog", ".")
    assert mentions(two)[0] == ("his", "his", "pronoun", 0)
    assert len({cluster for *_, cluster in mentions(three)}) == 3  # the pronoun means neither


def test_a_pronoun_inside_a_word_is_cut_out_of_it(tmp_path):
    path, text = tmp_path / "one.tsv", "Ann told Eve of a his-and-hers sale."
    row = ["x", text, "his", str(text.index("his")), "Ann", "0", "TRUE", "Eve", str(text.index("Eve")), "FALSE", ""]
    path.write_text("\n".join([GAP[0], "\t".join(row)]))
    (document,) = (document_of(example) for example in read(corpus_of([str(path)])))
    assert mentions(document)[0] == ("his", "his", "pronoun", 0) and "-and-hers" in document.words


def test_winobias_has_the_other_occupation_as_a_candidate():
    one, two, three = documents("pro_stereotyped_type1.txt.dev")
    assert mentions(one)[:2] == [("The farmer", "farmer", "nominal", 0), ("he", "he", "pronoun", 0)]
    assert [head for _, head, _, cluster in mentions(one) if cluster] == ["nurse"]
    assert [head for _, head, _, cluster in mentions(two) if cluster] == ["farmer"]
    assert [head for _, head, _, cluster in mentions(three) if cluster] == ["tailor"]  # not the baker after the pronoun
    assert one.text == "The farmer thanked the nurse because he was ill." and one.side == "pro"


def test_winobias_sentences_made_from_the_same_words_share_a_number():
    pro, anti = documents("pro_stereotyped_type1.txt.dev"), documents("anti_stereotyped_type1.txt.dev")
    assert [document.side for document in anti] == ["anti"] * 3
    assert [document.kin for document in pro] == [document.kin for document in anti]
    one, two, three = (document.kin for document in pro)
    assert one == two != three  # the farmer and the nurse, twice


def test_winobias_as_conll_has_the_same_candidates():
    one, two = documents("wino_pro_stereotype.v4_auto_conll")
    assert (one.side, two.side) == ("pro", "pro") and one.kin == two.kin and one.pronouns
    assert sorted(head for _, head, _, _ in mentions(one)) == ["farmer", "he", "nurse"]


def test_several_files_are_one_corpus():
    both = documents("pro_stereotyped_type1.txt.dev", "anti_stereotyped_type1.txt.dev")
    assert Counter(document.side for document in both) == {"pro": 3, "anti": 3}
    names = [str(DATA / f"{side}_stereotyped_type1.txt.dev") for side in ("pro", "anti")]
    source = corpus_of(names)
    assert source.name == "pro_stereotyped_type1.txt.dev and 1 more" and source.format == "winobias"
    assert [example.number for example in read(source)] == list(range(6))


def test_a_folder_is_all_its_files(tmp_path):
    for name in ("b.conll", "a.conll"):
        (tmp_path / name).write_text((DATA / "novel.conll").read_text().replace("inn\t", f"{name}\t"))
    found = [document_of(example).name for example in read(corpus_of([str(tmp_path)]))]
    assert found == ["a.conll part 0", "b.conll part 0"]


def test_a_document_survives_being_sent_as_json():
    for example in read(corpus_of([str(DATA / "novel.conll")])):
        sent = Example(**json.loads(json.dumps(asdict(example))))
        assert document_of(sent) == document_of(example)


# -- windows ---------------------------------------------------------------------------------------------------


def test_windows_are_whole_sentences_that_fit():
    (document,) = documents("novel.conll")
    parts = list(windows(document, lambda text: len(text.split()), 16))
    assert [len(part.words) for part in parts] == [11, 16, 5]
    for part in parts:
        assert [part.text[start:end] for start, end in part.spans] == list(part.words)
    assert mentions(parts[1]) == mentions(document)[3:9] and mentions(parts[2]) == mentions(document)[9:]
    assert parts[1].starts == (0, 10)


def test_a_sentence_longer_than_a_window_stands_alone():
    (document,) = documents("novel.conll")
    assert [len(part.words) for part in windows(document, lambda text: len(text.split()), 3)] == [11, 10, 6, 5]


# -- head words and traits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "head"),
    [
        ("the captain", "captain"),
        ("the captain of the ship", "captain"),
        ("a tall , thin man", "man"),
        ("Mr. Long , the baker", "Long"),
        ("a room , which was dark", "room"),
        ("the man that came", "man"),
        ("that man", "man"),
        ("the sailor 's wife", "wife"),
        ("the sailor 's", "sailor"),
        ("one of them", "one"),
        ("Chatham , England", "Chatham"),
        ("the King (", "King"),
        ("she", "she"),
    ],
)
def test_the_head_word_stands_before_what_modifies_it(said, head):
    words = said.split()
    assert words[head_word(words, 0, len(words))] == head


@pytest.mark.parametrize(
    ("said", "traits"),
    [
        ("she", Traits(3, "f", "s")),
        ("Us", Traits(1, None, "p")),
        ("Mrs. Long", Traits(3, "f", "s")),
        ("the boys", Traits(3, "m", "p")),
        ("Anna and Peter", Traits(3, None, "p")),
        ("the glass", Traits(3, None, "s")),
        ("Mr. James", Traits(3, "m", "s")),
    ],
)
def test_traits_are_what_words_tell(said, traits, tmp_path):
    words = said.split()
    cells = ["(0", *[""] * (len(words) - 2), "0)"] if len(words) > 1 else ["(0)"]
    rows = [
        "\t".join(["d", "0", str(n), word, "_", cell]) for n, (word, cell) in enumerate(zip(words, cells, strict=True))
    ]
    path = tmp_path / "one.conll"
    path.write_text("\n".join(rows))
    (document,) = (document_of(example) for example in read(Source(str(path), format="conll")))
    assert traits_of(document.words, document.mentions[0]) == traits


def test_what_is_not_known_agrees_with_anything():
    assert Traits(3, None, "s").agree(Traits(3, "f", None)) and not Traits(3, "m", "s").agree(Traits(3, "f", "s"))


# -- bad input -------------------------------------------------------------------------------------------------


def changed(column, value):
    header, row = GAP[0].split("\t"), GAP[1].split("\t")
    row[header.index(column)] = value
    return "\n".join([GAP[0], "\t".join(row), GAP[2]])


@pytest.mark.parametrize(
    ("name", "text", "kept", "reason"),
    [
        (
            "x.tsv",
            changed("Pronoun-offset", "34"),
            1,
            "line 2: Pronoun 'she' is not at offset 34 of the text, ' sh' is",
        ),
        (
            "x.tsv",
            changed("A-offset", "900"),
            1,
            "line 2: A 'Anna Chatfield-Lane' is not at offset 900 of the text, ''",
        ),
        ("x.tsv", changed("B-offset", "-3"), 1, "line 2: B-offset is '-3', not a number"),
        ("x.tsv", changed("A-coref", "yes"), 1, "line 2: A-coref is 'yes', not TRUE or FALSE"),
        ("x.tsv", f"{GAP[0]}\nshort\trow\n{GAP[1]}", 1, "line 2: 2 columns where the first line has 11"),
        ("x.conll", "d\t0\t0\tcat\t_\t3)\nd\t0\t1\tsat\t_\t\n", 1, "line 1: '3)' closes a mention that was not opened"),
        ("x.conll", "d\t0\t0\tcat\t_\t(3\n", 1, "the end of x.conll: a mention of cluster 3 is still open"),
        ("x.conll", "d\t0\t0\tcat\t_\tNP\n", 1, "line 1: 'NP' in the last column is not a coreference bracket"),
        ("x.conll", "d\t0\t0\tcat\t_\t(3)\ncat sat\n", 1, "line 2: 2 columns; CoNLL-2012 has the word in the fourth"),
        ("x.txt", "1 [the cook] saw [him.\n", 0, "line 1: the brackets do not match"),
        ("x.txt", "1 the cook] saw [him].\n", 0, "line 1: the brackets do not match"),
        ("x.txt", "1 [the cook] saw him.\n", 0, "line 1: fewer than two mentions in"),
        ("x.txt", "[the cook] saw [him].\n", 0, "line 1: not a number and a sentence"),
    ],
)
def test_what_cannot_be_read_is_counted_with_its_reason(name, text, kept, reason, tmp_path):
    path, problems = tmp_path / name, Problems()
    path.write_text(text)
    assert len(list(read(corpus_of([str(path)]), problems))) == kept
    assert problems.count == 1 and reason in problems.first[0]
    with pytest.raises(ValueError, match=r"line 1|line 2|the end of"):
        list(read(corpus_of([str(path)]), Problems(strict=True)))


def test_a_table_that_is_not_gap_is_refused(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("text\tpair\none\ttwo\n")
    with pytest.raises(ValueError, match="no column 'ID'; GAP files begin with the line ID Text Pronoun"):
        list(read(corpus_of([str(path)])))


def test_files_of_several_formats_are_refused(tmp_path):
    with pytest.raises(ValueError, match="different formats"):
        corpus_of([str(DATA / "novel.conll"), str(DATA / "gap-mine.tsv")])
    with pytest.raises(FileNotFoundError, match="no files in"):
        corpus_of([str(tmp_path)])


# -- the real corpora --------------------------------------------------------------------------------------------


@pytest.mark.corpora
def test_the_real_corpora_are_read_to_the_last_line(corpora):
    problems = Problems()
    gap = list(read(corpus_of([str(corpora / "gap" / "gap-development.tsv")]), problems))
    litbank = list(read(corpus_of([str(corpora / "litbank" / "conll")]), problems))
    assert len(gap) == 2000 and len(litbank) == 25 and problems.count == 0
    texts = [corpora / "winobias" / f"{side}_stereotyped_type{n}.txt.dev" for side in ("pro", "anti") for n in (1, 2)]
    wino = [document_of(example) for example in read(corpus_of(list(map(str, texts))), problems)]
    assert len(wino) == 4 * 396 and problems.count == 0
    assert {sum(m.type != "pronoun" for m in document.mentions) for document in wino} == {2}
    kin = Counter(document.kin for document in wino)
    assert set(kin.values()) == {4} and len(kin) == 2 * 198
