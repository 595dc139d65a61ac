"""Readers: every format, streaming, and lines that are wrong."""

import gzip
import io
import json
from importlib import import_module

import pytest

from regard.corpus.batches import Tally, window_of, windows_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems, Source
from regard.models.prepare import Encoded
from regard.trace.tokens import Side, Token


def examples(path, problems=None, **options):
    return list(read(Source(str(path), **options), problems))


def texts(path, **options):
    return [example.text for example in examples(path, **options)]


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_a_line_is_an_example_and_empty_ones_are_not(tmp_path):
    assert texts(write(tmp_path, "a.txt", "one\n\n  two  \n")) == ["one", "two"]


def test_a_paragraph_joins_wrapped_lines(tmp_path):
    assert texts(write(tmp_path, "a.txt", "one\ntwo\n\nthree\n"), unit="paragraph") == ["one two", "three"]


def test_sentences_end_at_their_marks(tmp_path):
    path = write(tmp_path, "a.txt", 'He left. "Why?" she said. It was 3.14 then , Mr .\n')
    assert texts(path, unit="sentence") == ["He left.", '"Why?" she said.', "It was 3.14 then , Mr ."]


def test_gzip_is_read_as_it_streams(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert texts(path) == ["one", "two"]


def test_standard_input_is_a_corpus(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert texts("-") == ["one", "two"]


def test_columns_are_found_by_their_usual_names(tmp_path):
    rows = [{"premise": "a", "hypothesis": "b", "label": 1}, {"premise": "c", "hypothesis": "d", "label": 0}]
    path = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    found = examples(path, keep=("label",))
    assert [(e.text, e.pair, e.fields["label"]) for e in found] == [("a", "b", 1), ("c", "d", 0)]


def test_a_table_without_names_has_numbered_columns(tmp_path):
    path = write(tmp_path, "a.tsv", "hello\thola\nbye\tadiós\n")
    assert texts(path) == ["hello", "bye"]
    assert texts(path, text="1") == ["hola", "adiós"]


def test_tsv_has_no_quoting_and_csv_has(tmp_path):
    assert texts(write(tmp_path, "a.tsv", 'text\tn\nsay "hi\t1\n')) == ['say "hi']
    assert texts(write(tmp_path, "a.csv", 'text,n\n"one, two",1\n')) == ["one, two"]


def test_a_treebank_gives_its_sentences(tmp_path):
    rows = ["# text = Don't go", "1-2\tDon't" + "\t_" * 8, "1\tDo" + "\t_" * 8, "2\tn't" + "\t_" * 8]
    text = "\n".join([*rows, "3\tgo" + "\t_" * 8, "3.1\tgone" + "\t_" * 8, "", "1\tYes" + "\t_" * 8, ""])
    assert texts(write(tmp_path, "a.conllu", text)) == ["Don't go", "Yes"]


def test_limit_and_sample_choose_examples_that_keep_their_numbers(tmp_path):
    path = write(tmp_path, "a.txt", "\n".join(f"line {i}" for i in range(100)))
    assert len(examples(path, limit=7)) == 7
    sample = examples(path, sample=10, seed=1)
    assert [e.number for e in sample] == sorted(e.number for e in sample)
    assert [e.text for e in sample] == [f"line {e.number}" for e in sample]
    assert sample == examples(path, sample=10, seed=1)
    assert sample != examples(path, sample=10, seed=2)


def test_bad_lines_are_counted_with_their_numbers_and_the_rest_is_read(tmp_path):
    problems = Problems()
    path = write(tmp_path, "a.jsonl", '{"text": "a"}\nnot json\n[1]\n{"text": ""}\n{"text": "b"}\n')
    assert [e.text for e in examples(path, problems)] == ["a", "b"]
    assert problems.count == 3
    assert problems.first[0].startswith("a.jsonl line 2: not JSON")


def test_rows_of_another_width_are_problems(tmp_path):
    problems = Problems()
    path = write(tmp_path, "a.tsv", "text\tlabel\na\t1\nb\nc\t0\n")
    assert [e.text for e in examples(path, problems)] == ["a", "c"]
    assert problems.first == ["a.tsv line 3: 1 columns where the first line has 2"]


@pytest.mark.parametrize("options", [{}, {"text": "text"}])
def test_a_later_record_without_its_column_is_a_problem(tmp_path, options):
    problems = Problems()
    path = write(tmp_path, "a.jsonl", '{"text": "a"}\n{"label": 1}\n{"text": "b"}\n')
    assert [e.text for e in examples(path, problems, **options)] == ["a", "b"]
    assert problems.count == 1
    assert problems.first[0].startswith("a.jsonl line 2: has no column")
    with pytest.raises(ValueError, match=r"line 2: has no column"):
        examples(path, Problems(strict=True), **options)


def test_strict_reading_stops_at_the_first_bad_line(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"text": "a"}\nnot json\n')
    with pytest.raises(ValueError, match=r"a\.jsonl line 2: not JSON"):
        list(read(Source(str(path)), Problems(strict=True)))


def test_bytes_that_are_no_text_are_a_problem(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\xff\xfe\ntwo\n")
    problems = Problems()
    assert [e.text for e in examples(path, problems)] == ["one", "two"]
    assert "line 2: not UTF-8" in problems.first[0]


def test_a_cut_gzip_file_is_one_sentence(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\n" * 1000)[:-12])
    with pytest.raises(OSError, match="could not be read to its end"):
        texts(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "body"}, "no column 'body'; its columns are text, label"),
        ({"keep": ("mark",)}, "no column 'mark'"),
        ({"unit": "page"}, "no unit 'page'; choose from line, paragraph, sentence"),
        ({"format": "xml"}, "no format 'xml'"),
    ],
)
def test_wrong_choices_list_the_right_ones(tmp_path, options, message):
    path = write(tmp_path, "a.jsonl", '{"text": "a", "label": 1}\n')
    with pytest.raises(ValueError, match=message):
        examples(path, **options)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        texts(tmp_path / "nothing.txt")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        texts(tmp_path)


# -- windows and batches ---------------------------------------------------------------------------------------


def encode(example, truncate, limit=8):
    """One token a letter, at most eight."""
    assert truncate
    ids = [ord(letter) for letter in example.text]
    tokens = tuple(Token(chr(i), i, n, n + 1) for n, i in enumerate(ids[:limit]))
    return Encoded(ids[:limit], None, Side("text", tokens), None, max(0, len(ids) - limit))


def made(*texts, long="truncate", tokens=16):
    return window_of(0, [Example(i, t) for i, t in enumerate(texts)], encode, long=long, tokens=tokens)


def test_batches_hold_similar_lengths_up_to_their_budget():
    window = made("aaaa", "b", "cc", "dddd", "e", "ffffff")
    assert [[i.number for i in batch] for batch in window.batches] == [[1, 4, 2, 0], [3, 5]]
    assert window.tally == Tally(examples=6, inputs=6, tokens=18, clusters=6)


def test_long_examples_are_truncated_split_or_skipped_and_counted():
    assert made("a" * 20).tally == Tally(1, 1, 8, truncated=1, clusters=1)
    assert made("a" * 20, long="skip").tally == Tally(1, 0, 0, skipped=1)
    split = made("abcdefghijklmnopqrst", long="split")
    assert split.tally == Tally(1, 3, 20, split=1, clusters=1)
    pieces = sorted("".join(map(chr, item.encoded.ids)) for batch in split.batches for item in batch)
    assert pieces == ["abcdefgh", "ijklmnop", "qrst"]
    with pytest.raises(ValueError, match="truncate, split, skip, not 'fold'"):
        made("a", long="fold")


def test_windows_hold_consecutive_examples():
    every = list(windows_of([Example(i, "x") for i in range(10)], size=4))
    assert [(index, len(some)) for index, some in every] == [(0, 4), (1, 4), (2, 2)]


@pytest.fixture
def rows():
    return [{"premise": f"A dog runs {n} times.", "hypothesis": "It moves.", "label": n} for n in range(5)]


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    library = import_module("datasets")  # in the extra of that name
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return library


def test_a_dataset_that_was_saved_to_disk_is_read(datasets, rows, tmp_path):
    both = datasets.DatasetDict(
        {"train": datasets.Dataset.from_list(rows), "dev": datasets.Dataset.from_list(rows[:2])}
    )
    both.save_to_disk(tmp_path / "both")
    assert len(list(read(Source(str(tmp_path / "both"), format="dataset")))) == 5
    found = list(read(Source(str(tmp_path / "both"), format="dataset", split="dev", keep=("label",))))
    assert [(e.text, e.pair, dict(e.fields)) for e in found] == [
        ("A dog runs 0 times.", "It moves.", {"label": 0}),
        ("A dog runs 1 times.", "It moves.", {"label": 1}),
    ]
    with pytest.raises(ValueError, match=r"no split 'test'; it has train, dev"):
        list(read(Source(str(tmp_path / "both"), format="dataset", split="test")))


def test_a_folder_of_data_files_is_streamed(datasets, rows, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "train.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    found = list(read(Source(str(tmp_path / "files"), format="dataset", limit=3)))
    assert [e.text for e in found] == [row["premise"] for row in rows[:3]]


def test_a_dataset_that_is_not_there_is_said_in_a_sentence(datasets, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"no-such-dataset cannot be read: .*check its name"):
        list(read(Source("no-such-dataset", format="dataset")))
