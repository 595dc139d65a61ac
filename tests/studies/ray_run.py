"""What test_ray starts: studies on a Ray cluster of its own, their sums written to files.

python -m tests.studies.ray_run MODEL CAUSAL CORPUS TREEBANK GAP PICTURES OUTPUT
"""

import json
import os
import random
import signal
import sys
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from unittest.mock import patch

import torch
from safetensors.numpy import save_file

from regard import study
from regard.base.errors import UserError
from regard.corpus import ray as ray_engine
from regard.corpus.engine import Run
from regard.corpus.ray import RayEngine
from regard.corpus.readers.coreference import corpus_of
from regard.corpus.readers.source import Source
from regard.models.load import load
from regard.studies.ablation.curve import Curve
from regard.studies.ablation.study import AblationMap
from regard.studies.atlas.study import Atlas
from regard.studies.base import MapStudy
from regard.studies.change.study import Change
from regard.studies.coref.study import Coref
from regard.studies.heads.study import Heads
from regard.studies.result import Result
from regard.studies.syntax.study import Syntax
from regard.studies.worth.study import WorthStudy
from tests.tiny import saved

TOKENS = (5, 6, 7, 8, 9)  # counted one by one
VICTIM = random.Random(21).randrange(600)


class Dying(Heads):
    """Portraits, which keep rows beside their sums, whose worker dies once, at an example drawn by lot."""

    def __init__(self, tokens, *, flag, **more):
        super().__init__(tokens, **more)
        self.flag = flag

    @property
    def arguments(self):
        return {**super().arguments, "flag": self.flag}

    def update(self, model, items, sums):
        super().update(model, items, sums)
        if any(item.number == VICTIM for item in items) and not Path(self.flag).exists():
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Trees(Syntax):
    """Several windows of a small treebank."""

    window = 16


class Mentions(Coref):
    """Several windows of few documents."""

    window = 16


class Pictures(Atlas):
    """Several windows of few pictures."""

    name = "pictures"
    window = 4


def of_worth(path):
    """Few texts: each is judged by a backward pass of its own."""
    return Run(Source(str(path), limit=24))


class Worth(WorthStudy):
    """Several windows of few texts."""

    window = 8


def of_treebank(path):
    return Run(Source(str(path), format="treebank"), long="skip")


def of_mentions(path):
    return Run(corpus_of([str(path)]))


def broken(model, folder):
    """The model with NaN for the word "dog", as one that workers can load."""
    words = model.module.embeddings.word_embeddings.weight
    with torch.no_grad():
        words[model.tokenizer.convert_tokens_to_ids("dog")] = torch.nan
    return load(str(saved(model, folder)))


def start(tries=8):
    """A cluster of two workers; Ray gives up after 30 seconds, and leaves what it began."""
    import psutil
    import ray

    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - or workers wait for every other test
    for left in reversed(range(tries)):
        try:
            ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        except Exception as error:  # Ray raises no narrower one
            if not left or "timed out during startup" not in str(error):
                raise
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):  # it has ended with the others
                    process.kill()  # or the next try has half a cluster beside it
            ray.shutdown()
        else:
            return


def refuse(*given):
    raise AssertionError("the driver ran a batch itself")


def controlled(folder, corpus, **options):
    """A study with its controls."""
    return study.tokens(folder, corpus, control=True, control_seeds=1, **options)


def curved(folder, corpus, **options):
    """A study with a second pass, and an atlas for it."""
    return study.ablation(folder, corpus, task="causal-lm", modes=["mean"], curve=True, limit=70, **options)


def tables_alone():
    """Saves no figures: they are the same whatever engine ran, and take longer than to run it."""
    save = Result.save

    def saved_without(result, folder):
        return save(replace(result, drawers={}, pages={}, arrays={}, example=None), folder)

    return patch.object(Result, "save", saved_without)


def lent(engine):
    """In place of an engine of their own, what studies get: every worker imports torch."""

    def made(**options):
        assert RayEngine(**options).workers == engine.workers
        return nullcontext(engine)

    return patch.object(ray_engine, "RayEngine", made)


if __name__ == "__main__":
    folder, causal, corpus, treebank, gap, pictures, output = sys.argv[1:]
    start()
    with RayEngine() as engine:
        with lent(engine), patch.object(MapStudy, "update", refuse), patch.object(AblationMap, "update", refuse):
            with tables_alone():
                controlled(folder, corpus, engine="ray", workers=2, output=f"{output}/controlled")
            with tables_alone(), patch.object(Curve, "update", refuse):
                curved(causal, corpus, engine="ray", workers=2, output=f"{output}/curved")
        model = load(folder)
        texts = Run(Source(corpus))
        runs = (
            (Change(other=model), texts),  # carries a second model to its workers
            (Dying(TOKENS, flag=f"{output}/died"), texts),  # loses a worker
            (Trees(), of_treebank(treebank)),
            (Mentions(pieces=32), of_mentions(gap)),
            (Worth(), of_worth(corpus), load(causal)),
            (Pictures(), Run(Source(f"{pictures}/photos")), load(f"{pictures}/vit")),
        )
        for asked, run, *other in runs:
            found = engine(asked, *(other or [model]), run)
            save_file(found.sums.arrays, f"{output}/{asked.name}", {"tally": json.dumps(asdict(found.tally))})
        try:
            engine(Atlas(), broken(model, Path(output) / "model"), texts)
        except UserError as error:
            Path(output, "trouble").write_text(str(error))
