"""The page of tables names every file and column that studies write; write_tables.py beside this writes it."""

import os
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import regard
from regard.studies.registry import STUDIES
from tests.tiny import tiny_bert

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "tables.md"
MARK = "<!-- tables -->"
ELSEWHERE = {"alignment", "coref", "probe", "retrieval", "ablation"}  # need sounds, labels or long texts
NAMES = [name for name in STUDIES if name not in ELSEWHERE]


@pytest.fixture(scope="module")
def folders(bert, gpt2, wordpiece, corpus, store, tmp_path_factory):
    """What studies write about a tiny model."""
    place = tmp_path_factory.mktemp("tables")
    asked = {
        "change": lambda **options: regard.study.change(bert, tiny_bert(wordpiece, seed=1), corpus, **options),
        "syntax": lambda **options: regard.study.syntax(bert, store, least=1, **options),
        "sinks": lambda **options: regard.study.sinks(gpt2, corpus, **options),
        "worth": lambda **options: regard.study.worth(gpt2, corpus, limit=6, **options),
        "deletion": lambda **options: regard.study.deletion(bert, corpus, limit=6, **options),
    }
    for name in NAMES:
        run = asked.get(name, lambda name=name, **options: getattr(regard.study, name)(bert, corpus, **options))
        run(output=place / name)
    return place


KINDS = {"int64": "integer", "double": "number", "bool": "yes or no", "null": "empty here"}


def kind_of(field):
    written = str(field.type).removeprefix("large_")
    return "list" if written.startswith("list") else "text" if written == "string" else KINDS[written]


def section(name, folder):
    """The tables of a study, and their columns with types."""
    lines = [f"### {name}", "", "| table | columns |", "|---|---|"]
    for path in sorted(folder.glob("*.parquet"), key=lambda path: (path.stem != "result", path.stem)):
        schema = parquet.read_schema(path)
        columns = ", ".join(f"`{field.name}` {kind_of(field)}" for field in schema)
        lines.append(f"| `{path.stem.replace('-', '_')}` | {columns} |")
    return "\n".join(lines)


@pytest.mark.slow
def test_the_page_names_every_table_and_column(folders):
    written = "\n\n".join(section(name, folders / name) for name in NAMES)
    head, _, body = PAGE.read_text("utf-8").partition(MARK)
    if os.environ.get("REGARD_WRITE_TABLES"):
        PAGE.write_text(f"{head}{MARK}\n\n{written}\n", "utf-8")
    else:
        assert body.strip() == written, "run python -m tests.studies.write_tables"
