"""SQL over a study's folder: its tables by name, and nothing but reading, within bounds."""

import json
from pathlib import Path

import pandas as pd
import pytest

from regard.base.errors import MissingFileError, OutOfRangeError, UserError
from regard.studies import query as module
from regard.studies.query import query

RESULT = pd.DataFrame({"layer": [0, 0, 1], "head": [0, 1, 0], "rests": [0.25, 0.5, None], "tokens": [["a"], [], ["b"]]})


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "it's [out]"
    place.mkdir()
    RESULT.to_parquet(place / "result.parquet")
    pd.DataFrame({"type": ["bag of words"]}).to_parquet(place / "head-types.parquet")
    return place


def test_every_table_is_asked_by_its_name(folder):
    found = query(folder, "select layer, avg(rests) as rests from result group by layer order by layer")
    assert found.to_dict() == {"layer": [0, 1], "rests": [0.375, None]}
    assert query(folder, "from head_types").to_pandas()["type"].tolist() == ["bag of words"]


def test_without_a_question_the_columns_are_listed(folder):
    found = query(folder).to_dict()
    assert found["table"] == ["result"] * 4 + ["head_types"]
    assert found["column"] == ["layer", "head", "rests", "tokens", "type"]
    assert found["type"][0] == "BIGINT" and found["type"][3] == "VARCHAR[]"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select * from heads", "Table with name heads does not exist); there is head_types, result"),
        ("select lift from result", 'Referenced column "lift" not found'),
        ("selec layer", "syntax error"),
        ("select layer, from where", "cannot be answered"),
        ("select 1; select 2", "a question is one SELECT"),
        ("copy result to 'stolen.csv'", "a question is one SELECT"),
        ("create table x as select 1", "a question is one SELECT"),
        ("attach 'other.db'", "a question is one SELECT"),
        ("set memory_limit = '9GB'", "a question is one SELECT"),
        ("select * from read_text('/etc/hostname')", "disabled by configuration"),
        ("select * from glob('/*')", "disabled by configuration"),
        ("select list(range) from range(1000000000)", "needs more than 1GB; ask for less"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_sentence(folder, sql, said):
    with pytest.raises(UserError) as caught:
        query(folder, sql)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_other_tables_of_the_machine_cannot_be_read(folder, tmp_path):
    RESULT.to_parquet(tmp_path / "secret.parquet")
    with pytest.raises(UserError, match="disabled by configuration"):
        query(folder, f"select * from '{tmp_path / 'secret.parquet'}'")
    frame = RESULT  # a variable of the program is no table
    with pytest.raises(UserError, match="does not exist"):
        query(folder, "select * from frame")
    assert len(frame) == 3


def test_a_long_question_is_ended(folder):
    with pytest.raises(UserError, match=r"took more than 0\.2 seconds"):
        query(folder, "select count(*) from range(100000000000) a, range(1000) b", seconds=0.2)


def test_rows_are_bounded_and_it_is_said(folder):
    found = query(folder, "select * from range(50)", rows=7)
    assert found.more and found.to_dict() == {"range": list(range(7))}
    assert not query(folder, "select * from range(7)", rows=7).more
    with pytest.raises(OutOfRangeError):
        query(folder, "select 1", rows=0)


def test_columns_of_one_name_are_all_there(folder):
    assert query(folder, "select 1 as x, 2 as x").to_dict() == {"x": [1], "x_1": [2]}


def test_a_folder_without_tables_and_a_broken_one_are_named(tmp_path):
    with pytest.raises(MissingFileError, match="has no tables"):
        query(tmp_path, "select 1")
    Path(tmp_path / "result.parquet").write_text("no table")
    with pytest.raises(UserError, match=r"result\.parquet is no Parquet file"):
        query(tmp_path, "select 1")


def test_the_command_prints_a_table_or_json(folder, command):
    shown = command("query", str(folder), "select layer, rests from result order by all")
    assert shown.returncode == 0 and "n/a" in shown.stdout and "0.25" in shown.stdout
    records = json.loads(command("query", str(folder), "select layer, rests from result", "--json").stdout)
    assert records[0] == {"layer": 0, "rests": 0.25} and records[2]["rests"] is None
    assert "first 1 rows" in command("query", str(folder), "from result", "--rows", "1").stdout
    refused = command("query", str(folder), "drop table result")
    assert refused.returncode == 2 and "one SELECT" in refused.stderr


def test_nothing_is_left_beside_the_tables(folder):
    query(folder, "select * from result")
    assert sorted(path.name for path in folder.iterdir()) == ["head-types.parquet", "result.parquet"]
    assert module.SECONDS == 60
