"""What test_processes starts: a process that has all loaded, forks a run, kills it, and does so again."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

import regard
from regard.corpus import engine
from regard.models.load import load
from regard.studies.base import Pass
from tests.studies.conftest import figures_left_out


def states(folder):
    return {path.name: path.stat().st_ino for path in folder.glob("checkpoint*")}


def killed_run(model, corpus, output, wait):
    """Fork a run that goes on where the last one ended, and kill it some time after it has saved."""
    before = states(output)
    child = os.fork()
    if not child:
        regard.study.heads(model, corpus, output=output, resume=True)
        os._exit(0)
    while states(output) == before:
        time.sleep(0.001)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    if os.WIFEXITED(os.waitpid(child, 0)[1]):
        sys.exit("the run was done before it was killed")


def kill(name, corpus, folder, kills):
    """A run that nobody disturbs, and one that is killed again and again."""
    torch.set_num_threads(1)
    Pass.window, engine._EVERY = 16, 0  # many checkpoints
    model, chooser, output = load(name), random.Random(0), Path(folder) / "killed"
    with figures_left_out():
        regard.study.heads(model, corpus, output=Path(folder) / "undisturbed")
        output.mkdir()
        for _ in range(kills):
            killed_run(model, corpus, output, chooser.uniform(0, 0.01))
        regard.study.heads(model, corpus, output=output, resume=True)
