"""The sweep over all families: each in its turn, in processes that end with the classes they have imported.

Enters: nothing. Leaves: a `Record` for every model type of transformers that the sweep tries.
"""

from __future__ import annotations

import gc
import pickle
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from tests.fidelity.compare import record
from tests.fidelity.known import RARE, REPEATED, UNTRIED
from tests.fidelity.records import Record
from tests.processes import Forked

ALL = [name for name in MODEL_MAPPING_NAMES if name not in UNTRIED]
TESTED = [name for name in ALL if name not in RARE or name in REPEATED]


def sweep(names: Sequence[str] = ALL, processes: int = 2) -> dict[str, Record]:
    """Records by model type."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(number) for number in range(processes)]
        running = [Forked(_sweep, names[number::processes], file) for number, file in enumerate(files)]
        for one in running:
            said = one.communicate()
            if one.returncode:
                raise RuntimeError("".join(said))
        found = {name: made for file in files for name, made in pickle.loads(file.read_bytes()).items()}
    return {name: found[name] for name in names}


def _sweep(names: Sequence[str], file: Path) -> None:
    _quiet()
    file.write_bytes(pickle.dumps({name: record(name) for name in names}))


def _quiet() -> None:
    gc.set_threshold(20_000)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.utils.auto_docstring = _undocumented


def _undocumented(thing: Any = None, **_: Any) -> Any:
    """In place of what writes the docstrings of every class that is imported, which takes longer than to run it."""
    return (lambda given: given) if thing is None else thing
