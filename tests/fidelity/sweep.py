"""The sweep over all families: each in its turn, on two processes.

Enters: nothing. Leaves: a `Record` for every model type of transformers that the sweep tries.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from tests.fidelity.compare import record
from tests.fidelity.known import RARE, REPEATED, UNTRIED
from tests.fidelity.records import Record
from tests.processes import warm

ALL = [name for name in MODEL_MAPPING_NAMES if name not in UNTRIED]
TESTED = [name for name in ALL if name not in RARE or name in REPEATED]


def sweep(names: Sequence[str] = ALL, workers: int = 2) -> dict[str, Record]:
    """Records by model type."""
    with ProcessPoolExecutor(workers, mp_context=warm(), initializer=_quiet) as pool:
        return dict(zip(names, pool.map(record, names, chunksize=8), strict=True))


def _quiet() -> None:
    gc.freeze()  # what is imported stays
    gc.set_threshold(20_000)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.utils.auto_docstring = _undocumented


def _undocumented(thing: Any = None, **_: Any) -> Any:
    """In place of what writes the docstrings of every class that is imported, which takes longer than to run it."""
    return (lambda given: given) if thing is None else thing
