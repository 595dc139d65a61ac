"""One bad record costs itself: it is left out, counted and named with its line; the rest is read."""

import json
import os
import threading

import pytest

from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems, Source

GOOD = [f"sentence number {n}" for n in range(3)]


def read_all(path, **options):
    problems = Problems()
    return [example.text for example in read(Source(str(path), **options), problems)], problems


def file_of(tmp_path, name, lines):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (r'{"text": "half \ud83d of it"}', "half a character (a lone surrogate)"),
        ('{"text": ' + "[" * 100_000 + "]" * 100_000 + "}", "not JSON (nested too deeply)"),
        ('{"text": "a", "id": ' + "9" * 5_000 + "}", "not JSON (a number with too many digits)"),
    ],
    ids=["surrogate", "nesting", "digits"],
)
def test_a_bad_json_record_is_left_out_with_its_line(tmp_path, bad, reason):
    good = [json.dumps({"text": text}) for text in GOOD]
    found, problems = read_all(file_of(tmp_path, "a.jsonl", [good[0], bad, *good[1:]]))
    assert found == GOOD
    assert (problems.count, problems.first) == (1, [f"a.jsonl line 2: {reason}"])


def test_half_a_character_in_a_kept_column_is_a_bad_record(tmp_path):
    path = file_of(tmp_path, "a.jsonl", ['{"text": "a", "label": "x"}', r'{"text": "b", "label": "\udc00"}'])
    found, problems = read_all(path, keep=("label",))
    assert found == ["a"] and problems.count == 1


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_field_beyond_the_limit_is_left_out_with_its_line(tmp_path, ending):
    path = file_of(tmp_path, f"a.{ending}", ["text", GOOD[0], "x" * 131_073, *GOOD[1:]])
    found, problems = read_all(path)
    assert found == GOOD
    assert problems.first == [f"a.{ending} line 3: a field has more than 131,072 characters"]


@pytest.mark.parametrize("after", [GOOD[1:], ['"quoted, and closed"', *GOOD[1:]], ["y" * 1_000] * 200])
def test_an_unclosed_quote_costs_its_own_line(tmp_path, after):
    path = file_of(tmp_path, "a.csv", ["text", GOOD[0], '"never closed', *after])
    found, problems = read_all(path)
    assert found == [GOOD[0], *(line.strip('"') for line in after)]
    assert problems.first == ["a.csv line 3: a quote is not closed"]


def test_an_unclosed_quote_does_not_swallow_columns(tmp_path):
    path = file_of(tmp_path, "a.csv", ["text,label", "a,1", '"b,2', 'c,"3"', "d,4"])
    found, problems = read_all(path)
    assert found == ["a", "c", "d"]
    assert problems.first == ["a.csv line 3: a quote is not closed"]


def test_a_quoted_field_keeps_its_line_breaks(tmp_path):
    path = file_of(tmp_path, "a.csv", ["text,label", '"one', 'two",1', "three,2"])
    found, problems = read_all(path)
    assert found == ["one\ntwo", "three"] and problems.count == 0


def test_numbers_of_thousands_of_digits_are_bad_lines_of_a_treebank(tmp_path):
    def word(number, head):
        return f"{number}\tword\tword\tX\t_\t_\t{head}\troot\t_\t_"

    lines = [word("9" * 5_000, 0), "", word(1, "9" * 5_000), "", word(1, 0)]
    found, problems = read_all(file_of(tmp_path, "a.conllu", lines), format="treebank")
    assert found == ["word"]
    assert [text.split(":")[0] for text in problems.first] == ["a.conllu line 1", "a.conllu line 3"]
    assert all(len(text) < 400 for text in problems.first)


def test_numbers_of_thousands_of_digits_are_bad_brackets_of_coreference(tmp_path):
    lines = ["#begin", f"d 0 0 Ann NNP ({'9' * 5_000})", "d 0 1 she PRP -", "#end"]
    found, problems = read_all(file_of(tmp_path, "a.conll", lines), format="conll")
    assert found == ["Ann she"] and problems.count == 1


def test_a_utf_16_file_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one line\nand another\n", "utf-16")
    with pytest.raises(ValueError, match=r"a.txt is UTF-16, not UTF-8; save it as UTF-8"):
        list(read(Source(str(path))))


def test_a_latin_1_file_says_which_byte_is_not_utf_8(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("Café\n".encode("latin-1"))
    found, problems = read_all(path)
    assert found == []
    assert problems.first == ["a.txt line 1: not UTF-8 (line 1, byte 4: 0xe9)"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_column_names_that_are_not_utf_8_end_the_reading(tmp_path, name):
    path = tmp_path / name
    path.write_bytes("text,prénom\none,two\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not UTF-8 \(line 1, byte 8: 0xe9\); save it as UTF-8"):
        read_all(path)


# -- pipes -----------------------------------------------------------------------------------------------------


def test_a_fifo_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("one\ntwo\n",))
    writer.start()
    found, _ = read_all(path)
    writer.join()
    assert found == ["one", "two"] and Source(str(path)).once


def test_a_process_substitution_is_read():
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n")
    os.close(writing)
    found, _ = read_all(f"/dev/fd/{reading}")
    os.close(reading)
    assert found == ["one", "two"]


# -- WikiText --------------------------------------------------------------------------------------------------


def test_wikitext_joins_are_undone_and_headings_left_out(tmp_path):
    lines = [" = Title = ", " ", " A well @-@ known 1 @,@ 000 kg , 0 @.@ 7 in . ", " = = Part = = ", " a = b "]
    found, problems = read_all(file_of(tmp_path, "a.txt", lines))
    assert found == ["A well-known 1,000 kg , 0.7 in .", "a = b"]
    assert (problems.headings, problems.count) == (2, 0)


def test_rows_of_a_dataset_of_wikitext_are_undone_as_well(tmp_path):
    rows = [{"text": " = Title = \n"}, {"text": " a well @-@ known <unk> and <unk> \n"}]
    found, problems = read_all(file_of(tmp_path, "a.jsonl", map(json.dumps, rows)))
    assert found == [" a well-known <unk> and <unk> \n"]
    assert (problems.headings, problems.unknown) == (1, 2)


def test_the_shared_wikitext_has_no_artefact_left(corpora):
    for name in ("wiki.valid.tokens", "wiki.test-first-half.raw"):
        found, problems = read_all(corpora / "wikitext2" / name)
        assert not any("@-@" in text or "@,@" in text or "@.@" in text for text in found)
        assert not any(text.startswith("= ") for text in found)
        assert problems.headings > 100
