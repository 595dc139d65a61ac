"""The Ray engine gives the local engine's numbers, also when a worker dies."""

import json
import pickle
import random
import re
import subprocess
from dataclasses import asdict
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from transformers import ViTConfig, ViTImageProcessorPil, ViTModel

from regard.base.errors import UserError
from regard.corpus.engine import Run, run_local
from regard.corpus.ray import RayEngine
from regard.corpus.readers.source import Source
from regard.models.fingerprint import weights_digest
from regard.models.load import load
from regard.studies.atlas.study import Atlas
from regard.studies.change.study import Change
from regard.studies.controls import CONTROL, random_model, shuffled_model
from regard.studies.heads.study import Heads
from regard.studies.result import _slug
from tests.conftest import need
from tests.processes import warm_python
from tests.studies.planted import write_planted
from tests.studies.ray_run import (
    TOKENS,
    Mentions,
    Pictures,
    Trees,
    Worth,
    controlled,
    curved,
    of_mentions,
    of_treebank,
    of_worth,
)
from tests.tiny import saved

pytestmark = [pytest.mark.ray, pytest.mark.timeout(1800)]  # a busy machine takes its time to start a cluster


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    return write_planted(tmp_path_factory.mktemp("trees") / "planted.conllu", 40)


@pytest.fixture(scope="module")
def gap(tmp_path_factory):
    """Pronouns and two nouns that they may mean, in the format of GAP."""
    names = "ID Text Pronoun Pronoun-offset A A-offset A-coref B B-offset B-coref URL".split()
    chooser, rows = random.Random(0), [names]
    for number in range(40):
        one, other = chooser.sample(["cat", "dog", "mat", "store"], 2)
        text = f"the {one} {chooser.choice(['sat', 'went'])} to the {other} , it went on ."
        first = chooser.random() < 0.5
        at = [text.index(f" {word} ") + 1 for word in ("it", one, other)]
        rows.append([f"g{number}", text, "it", at[0], one, at[1], first, other, at[2], not first, "-"])
    path = tmp_path_factory.mktemp("gap") / "gap.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def gpt2_folder(gpt2, tmp_path_factory):
    return saved(gpt2, tmp_path_factory.mktemp("model") / "tiny-gpt2")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A tiny ViT with its processor, and a folder of pictures in two sizes."""
    folder = tmp_path_factory.mktemp("pictures")
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    ViTModel(ViTConfig(image_size=48, patch_size=8, **sizes)).save_pretrained(folder / "vit")
    ViTImageProcessorPil(size={"height": 48, "width": 48}).save_pretrained(folder / "vit")
    (folder / "photos").mkdir()
    draw = np.random.default_rng(0)
    for number in range(10):
        pixels = draw.integers(0, 255, (40 + 8 * (number % 2), 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "photos" / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def on_ray(bert_folder, gpt2_folder, long_corpus, treebank, gap, pictures, tmp_path_factory):
    """A folder of sums from a process of its own: a cluster leaves processes and warnings behind."""
    need(find_spec("ray") is not None, "Ray is not installed")
    output = tmp_path_factory.mktemp("ray")
    given = map(str, (bert_folder, gpt2_folder, long_corpus, treebank, gap, pictures, output))
    command = [*warm_python(), "-m", "tests.studies.ray_run", *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return output


def same(local, path):
    with safe_open(path, framework="numpy") as file:
        tally, arrays = json.loads(file.metadata()["tally"]), {n: file.get_tensor(n) for n in file.keys()}  # noqa: SIM118
    assert asdict(local.tally) == tally
    assert set(local.sums.arrays) == set(arrays)
    for name, array in local.sums.arrays.items():
        np.testing.assert_allclose(arrays[name], array, rtol=1e-6, atol=1e-6, err_msg=name)


def test_two_workers_give_the_local_sums(on_ray, bert_folder, long_corpus):
    model = load(str(bert_folder))
    same(run_local(Change(other=model), model, Run(Source(str(long_corpus)))), on_ray / "change")


def test_two_workers_find_the_same_grammar(on_ray, bert_folder, treebank):
    local = run_local(Trees(), load(str(bert_folder)), of_treebank(treebank))
    assert local.windows == 3 and local.tally.inputs == 40
    same(local, on_ray / "syntax")


def test_two_workers_find_the_same_antecedents(on_ray, bert_folder, gap):
    local = run_local(Mentions(pieces=32), load(str(bert_folder)), of_mentions(gap))
    assert local.windows == 3 and local.tally.examples == 40
    same(local, on_ray / "coref")


def test_two_workers_find_the_same_worth(on_ray, gpt2_folder, long_corpus):
    local = run_local(Worth(), load(str(gpt2_folder)), of_worth(long_corpus))
    assert local.windows == 3 and local.tally.examples == 24
    same(local, on_ray / "worth")


def test_two_workers_read_a_folder_of_pictures_alike(on_ray, pictures):
    local = run_local(Pictures(), load(str(pictures / "vit")), Run(Source(str(pictures / "photos"))))
    assert local.windows == 3 and local.tally.examples == 10
    same(local, on_ray / "pictures")


def same_tables(result, folder):
    found = {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}
    pd.testing.assert_frame_equal(found.pop("result"), result.table, rtol=1e-6, atol=1e-6)
    for title, table in {**result.tables, **result.files}.items():
        pd.testing.assert_frame_equal(found.pop(_slug(title)), table, rtol=1e-6, atol=1e-6, obj=title)
    assert not found


def test_controls_run_on_the_workers_and_give_the_local_numbers(on_ray, bert_folder, long_corpus):
    local = controlled(str(bert_folder), long_corpus)
    assert CONTROL in local.tables and local.meta["control_seeds"] == 1
    same_tables(local, on_ray / "controlled")


def test_a_second_pass_runs_on_the_workers_and_gives_the_local_numbers(on_ray, gpt2_folder, long_corpus):
    local = curved(str(gpt2_folder), long_corpus)
    assert {"importance", "ablation", "random"} <= set(local.tables["Heads removed together"]["order"])
    same_tables(local, on_ray / "curved")


@pytest.mark.parametrize("make", [random_model, shuffled_model])
def test_a_control_goes_to_a_worker_as_its_seed(make, bert_folder, bert):
    control = make(load(str(bert_folder)), 7)
    sent = pickle.dumps(control._engine.origin)
    assert len(sent) < 10_000  # no weights
    assert weights_digest(pickle.loads(sent)().module) == weights_digest(control.module)
    assert make(bert, 7)._engine.origin is None  # nothing to load


def test_a_killed_worker_loses_and_doubles_nothing(on_ray, bert_folder, long_corpus):
    assert (on_ray / "died").exists()
    same(run_local(Heads(TOKENS), load(str(bert_folder)), Run(Source(str(long_corpus)))), on_ray / "heads")


def test_workers_name_the_example_whose_attention_is_not_finite(on_ray):
    assert re.match(r"example \d+ \(counted from 0\): encoder layer 0 head 0: ", (on_ray / "trouble").read_text())


def test_a_model_that_workers_cannot_load_is_refused(bert, corpus):
    with pytest.raises(ValueError, match="not as an object"):
        RayEngine()(Atlas(), bert, Run(Source(str(corpus))))


def test_a_machine_too_busy_to_start_ray_is_said_with_the_way_out(bert_folder, corpus, monkeypatch):
    need(find_spec("ray") is not None, "Ray is not installed")
    import ray

    def late(**options):
        raise Exception("The current node timed out during startup. This could happen because ...")

    monkeypatch.setattr(ray, "init", late)  # the words of Ray 2.60 when a start takes longer than 30 seconds
    with pytest.raises(UserError, match="less busy, name a cluster that runs with --address, or use the local engine"):
        RayEngine()(Atlas(), load(str(bert_folder)), Run(Source(str(corpus))))


def test_heads_that_are_off_here_would_be_on_in_the_workers(bert_folder, corpus):
    model, other = load(str(bert_folder)), load(str(bert_folder))
    run = Run(Source(str(corpus)))
    with model.ablate("1.0"), pytest.raises(UserError, match=r"switched off in this process.*use the local engine"):
        RayEngine()(Atlas(), model, run)
    with other.ablate("1.0"), pytest.raises(UserError, match="switched off in this process"):
        RayEngine()(Change(other=other), model, run)
