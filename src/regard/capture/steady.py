"""Keep a long run from needing more memory than a short one.

Enters: a module. Leaves: nothing; while the block lasts, no kernel is cached per batch shape.

oneDNN compiles a kernel for every shape it meets and keeps up to 1,024 of them. Batches of a corpus have hundreds of
shapes, and the cached kernels lie between freed blocks that can no longer be joined: the heap grows with the corpus,
though little of it is in use. For a BERT in float32, torch takes only GELU from oneDNN, and its own is about as fast
(41 s against 40 over 3,000 sentences). Convolutions, half precision and ARM take their products from oneDNN: there it
stays on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.nn.modules.conv import _ConvNd

onednn = torch.backends.mkldnn  # its name in torch


@contextmanager
def steady(module: torch.nn.Module) -> Iterator[None]:
    """Keep memory level while a module runs batches of many shapes."""
    before = onednn.enabled
    onednn.enabled = before and _needs_onednn(module)  # type: ignore[assignment]
    try:
        yield
    finally:
        onednn.enabled = before


def _needs_onednn(module: torch.nn.Module) -> bool:
    """Whether a module's matrix products come from oneDNN, too."""
    dtypes = {parameter.dtype for parameter in module.parameters()}
    convolves = any(isinstance(part, _ConvNd) for part in module.modules())
    return convolves or not dtypes <= {torch.float32} or bool(onednn.is_acl_available())  # type: ignore[no-untyped-call]
