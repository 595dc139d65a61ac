"""Runs that are stopped, killed or beside each other end with the same bytes, or are refused."""

import shlex
import signal

import pytest

import regard
from regard.studies.folder import LOCK
from tests.processes import Forked
from tests.studies.conftest import write_corpus
from tests.studies.killing import kill
from tests.studies.test_resume import begun

pytestmark = pytest.mark.usefixtures("small_windows")


def tables(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.fixture(scope="module")
def undisturbed(bert_folder, three_windows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    regard.study.atlas(bert_folder, three_windows, output=folder)
    return tables(folder)


@pytest.fixture
def arguments(bert_folder, three_windows, tmp_path):
    return ["study", "atlas", str(three_windows), "-m", str(bert_folder), "-o", str(tmp_path)]


def test_of_two_runs_in_one_folder_the_second_is_refused(arguments, bert_folder, three_windows, undisturbed, tmp_path):
    child = begun(arguments, tmp_path)
    with pytest.raises(
        ValueError, match=rf"another run is writing to .*process {child.pid} on .* since .*remove .*{LOCK}"
    ):
        regard.study.atlas(bert_folder, three_windows, output=tmp_path, resume=True)
    _, said = child.communicate(timeout=240)
    assert child.returncode == 0, said
    assert tables(tmp_path) == undisturbed
    assert not (tmp_path / LOCK).exists()


def test_sigterm_saves_as_ctrl_c_does(arguments, bert_folder, three_windows, undisturbed, tmp_path):
    child = begun(arguments, tmp_path)
    child.send_signal(signal.SIGTERM)
    _, said = child.communicate(timeout=240)
    assert child.returncode == 143, said
    command = shlex.split(said.splitlines()[-1])
    assert command == ["regard", *arguments, "--resume"]
    regard.study.atlas(bert_folder, three_windows, output=tmp_path, resume=True)
    assert tables(tmp_path) == undisturbed


def test_a_run_that_is_killed_ten_times_ends_with_the_same_bytes(bert_folder, tmp_path):
    corpus = write_corpus(tmp_path / "long.txt", 30 * 16)
    process = Forked(kill, str(bert_folder), corpus, tmp_path, 10)
    _, said = process.communicate(timeout=400)
    assert process.returncode == 0, said
    assert tables(tmp_path / "killed") == tables(tmp_path / "undisturbed")
    left = {path.name for path in (tmp_path / "killed").iterdir()}
    assert left == {path.name for path in (tmp_path / "undisturbed").iterdir()}
