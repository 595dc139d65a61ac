"""A long run needs no more memory than a short one.

Enters: a module. Leaves: nothing; while the block lasts, no kernel is kept for each shape of batch.

oneDNN compiles a kernel for every shape it meets and keeps up to 1,024 of them. Batches of a corpus have hundreds of
shapes, and what is kept lies between freed blocks that can no longer be joined: the heap grows with the corpus, though
little of it is in use. In float32 torch takes only GELU from oneDNN, and its own is as fast. In half precision and on
ARM, products come from there too, so there it stays on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

onednn = torch.backends.mkldnn  # its name in torch


@contextmanager
def steady(module: torch.nn.Module) -> Iterator[None]:
    """Keep memory level while a module runs batches of many shapes."""
    before = onednn.enabled
    onednn.enabled = before and _needed(module)  # type: ignore[assignment]
    try:
        yield
    finally:
        onednn.enabled = before


def _needed(module: torch.nn.Module) -> bool:
    """Whether a module's products, too, come from oneDNN."""
    parameter = next(module.parameters(), torch.empty(0))
    return parameter.dtype != torch.float32 or bool(onednn.is_acl_available())  # type: ignore[no-untyped-call]
