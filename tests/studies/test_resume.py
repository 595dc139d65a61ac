"""Runs that are killed, stopped, or meet a full disk: nothing is lost and nothing counts twice."""

import os
import shlex
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors import SafetensorError

import regard
from regard.corpus import engine
from regard.corpus.checkpoint import load_checkpoint
from regard.corpus.readers.source import Source
from regard.studies.atlas import study as atlas_study
from regard.studies.atlas.study import Atlas
from regard.studies.folder import CHECKPOINT
from tests.processes import Forked, command_line
from tests.studies.conftest import SMALL

pytestmark = pytest.mark.usefixtures("small_windows")


def slow(*arguments):
    """The command line, saving after every window and then resting, so that the test can act between two windows."""
    torch.set_num_threads(1)
    Atlas.window, engine._EVERY, save = SMALL, 0, engine.save_checkpoint
    engine.save_checkpoint = lambda *rest: (save(*rest), time.sleep(0.7))
    command_line(*arguments)


def begun(arguments, folder):
    """A real process that has just saved its first checkpoint."""
    child = Forked(slow, *arguments)
    end = time.monotonic() + 120
    while not (folder / CHECKPOINT).exists():
        assert child.poll() is None and time.monotonic() < end, child.communicate()
        time.sleep(0.01)
    return child


def table(folder):
    return pd.read_parquet(folder / "result.parquet")


@pytest.fixture(scope="module")
def undisturbed(bert_folder, three_windows):
    return regard.study.atlas(bert_folder, three_windows).table


def test_a_killed_run_resumes_to_the_same_table(bert_folder, three_windows, undisturbed, tmp_path):
    arguments = ["study", "atlas", str(three_windows), "-m", str(bert_folder), "-o", str(tmp_path)]
    child = begun(arguments, tmp_path)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert not (tmp_path / "result.parquet").exists()
    done = []
    regard.study.atlas(
        bert_folder, three_windows, output=tmp_path, resume=True, report=lambda tally, _: done.append(tally.examples)
    )
    assert done[0] > SMALL  # the first windows were not run again
    pd.testing.assert_frame_equal(table(tmp_path), undisturbed)
    assert not (tmp_path / CHECKPOINT).exists()


def test_ctrl_c_saves_and_prints_the_command_to_go_on_with(bert_folder, three_windows, undisturbed, tmp_path, command):
    arguments = ["study", "atlas", str(three_windows), "-m", str(bert_folder), "-o", str(tmp_path)]
    child = begun(arguments, tmp_path)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=240)
    assert child.returncode == 130, said
    typed = shlex.split(said.splitlines()[-1])
    assert typed == ["regard", *arguments, "--resume"]
    assert command(*typed[1:]).returncode == 0
    pd.testing.assert_frame_equal(table(tmp_path), undisturbed)


@pytest.fixture
def stopped(bert, three_windows, tmp_path, monkeypatch):
    """A folder with the checkpoint of a run that was interrupted after its first window."""

    def interrupt(tally, seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regard.study.atlas(bert, three_windows, output=tmp_path, report=interrupt)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "options", "difference"),
    [
        ("gpt2", {}, "model class was 'BertModel' and is now 'GPT2LMHeadModel'"),
        ("bert", {"seed": 1}, "settings seed was 0 and is now 1"),
        ("bert", {"limit": 30}, "corpus limit was None and is now 30"),
        ("bert", {"long": "skip"}, "long was 'truncate' and is now 'skip'"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(stopped, three_windows, model, options, difference, request):
    with pytest.raises(ValueError, match=difference):
        regard.study.atlas(request.getfixturevalue(model), three_windows, output=stopped, resume=True, **options)


def test_the_checkpoint_of_a_version_with_other_patterns_is_refused(stopped, bert, three_windows, monkeypatch):
    monkeypatch.setattr(atlas_study, "PATTERNS", atlas_study.PATTERNS[:-1])
    with pytest.raises(
        ValueError, match=r"to a different run: settings patterns was \['previous token', .* and is now"
    ):
        regard.study.atlas(bert, three_windows, output=stopped, resume=True)


def test_a_damaged_checkpoint_is_refused(stopped, bert, three_windows):
    (stopped / CHECKPOINT).write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="damaged"):
        regard.study.atlas(bert, three_windows, output=stopped, resume=True)


def test_a_full_disk_leaves_the_old_checkpoint_valid(stopped, bert, three_windows, monkeypatch):
    before = (stopped / CHECKPOINT).read_bytes()

    def full(arrays, path, metadata):
        Path(path).write_bytes(b"half")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(OSError, match=r"No space left.*still valid"):
        regard.study.atlas(bert, three_windows, output=stopped, resume=True)
    assert (stopped / CHECKPOINT).read_bytes() == before
    assert [path.name for path in stopped.iterdir()] == [CHECKPOINT]


def test_a_failure_after_the_last_window_keeps_the_sums(bert, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("regard.studies.result.Result.save", lambda self, folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        regard.study.atlas(bert, corpus, output=tmp_path)
    study = regard.studies.atlas.study.Atlas()
    run = engine.Run(Source(str(corpus)))
    assert load_checkpoint(tmp_path / CHECKPOINT, engine.identity(study, bert, run)).tally.examples == 24
