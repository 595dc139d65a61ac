"""Copying: whether a head writes the words it reads.

Enters: a decoder. Leaves: `CopyingMaps`, which score what the heads of a layer would write of each token's value.

A head's output reaches the words through W_O, norms and the map to words. With norms frozen that is one matrix per
head up to a positive factor, so the order of the words it writes does not depend on the text around. The score of a
value is 1 - 2 r, where r is the share of a sample of the vocabulary that it promotes more than its own token: 1 if the
token is promoted most, 0 in the middle, -1 if it is suppressed most. A word that is promoted as much, to a thousandth
of how far the words are apart, counts in part: half where it is equal. So float noise does not move a score by whole
places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

from regard.base.errors import UserError
from regard.capture.alone import alone
from regard.capture.frozen import HEADS, FrozenRun, frozen_run
from regard.models.writes import SplitLogits

if TYPE_CHECKING:
    from regard.models.engine import Engine

SAMPLE = 512  # words among which a token is ranked
TIE = 1e-3  # of the words' spread: closer than this, two words are in part equal
_TEXT = "a b c d"
_known: WeakKeyDictionary[torch.nn.Module, tuple[int, CopyingMaps | None]] = WeakKeyDictionary()


class CopyingMaps:
    """For each (kind, layer), (H, e, d) from a head's output to what the map to words reads."""

    def __init__(self, maps: dict[tuple[str, int], torch.Tensor], words: torch.Tensor) -> None:
        self.maps, self.words = maps, words  # words: (V, d)
        chosen = torch.randperm(len(words), generator=torch.Generator().manual_seed(0))[:SAMPLE]
        sample = words[chosen.to(words.device)].float()  # (S, d)
        self.sampled = {place: one @ sample.T for place, one in maps.items()}  # (H, e, S)
        self.spread = {place: torch.stack([torch.cov(head) for head in one]) for place, one in self.sampled.items()}

    def scores(self, kind: str, layer: int, values: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """(B, H, K) copying scores of values (B, H, K, e) of tokens (B, K)."""
        place = (kind, layer)
        batch, _, keys, _ = values.shape
        values = values.float().transpose(0, 1).flatten(1, 2)  # (H, B K, e)
        different, which = torch.unique(ids, return_inverse=True)
        back = torch.einsum("ud,hed->hue", self.words[different].float(), self.maps[place])
        own = back[:, which.flatten()].mul_(values).sum(-1, keepdim=True)
        variance = (values @ self.spread[place]).mul_(values).sum(-1, keepdim=True)
        width = TIE * variance.clamp(min=torch.finfo(values.dtype).tiny).sqrt()
        others = values @ self.sampled[place]  # (H, B K, S)
        scores = -others.sub_(own).div_(width).clamp_(-1, 1).mean(-1)
        return scores.view(len(scores), batch, keys).transpose(0, 1)


def copying_maps(engine: Engine) -> CopyingMaps | None:
    """The maps of a model's heads, made once; None if it is no decoder with one linear map to words."""
    if engine.is_encoder_decoder or not engine.can_generate or engine.tokenizer is None:
        return None
    version = sum(parameter._version for parameter in engine.module.parameters())
    held = _known.get(engine.module)
    if held is None or held[0] != version:
        try:
            held = (version, _made(engine))
        except UserError:  # it cannot be split: its heads have no such score
            held = (version, None)
        _known[engine.module] = held
    return held[1]


def _made(engine: Engine) -> CopyingMaps | None:
    module: Any = engine.module
    inputs, _ = engine.collate([engine.encode(_TEXT)])
    with alone(module), torch.enable_grad():
        run = frozen_run(module, engine.ready(inputs), engine.plan(), engine.places())
        if run.last is None or run.unembedded is None:
            return None
        SplitLogits(engine, run, -1, engine.run(inputs).logits[0, -1])  # refused unless everything adds up
        maps = {
            leaf.place[:2]: _map_of(run, index)
            for index, leaf in enumerate(run.leaves)
            if leaf.kind == HEADS and leaf.place is not None
        }
    return CopyingMaps(maps, module.get_output_embeddings().weight.detach())


def _map_of(run: FrozenRun, index: int) -> torch.Tensor:
    """(H, e, d) what one unit of each dimension of the heads' outputs adds to the last state, at the last position."""
    assert run.last is not None
    state, value = run.last[0, -1], run.leaves[index].value
    weights = torch.zeros_like(state, requires_grad=True)
    (gradient,) = torch.autograd.grad(state, value, weights, create_graph=True)
    here = gradient[0, -1].flatten()  # (H e,)
    units = torch.eye(len(here), device=here.device, dtype=here.dtype)
    (found,) = torch.autograd.grad(here, weights, units, is_grads_batched=True, retain_graph=True)
    return found.reshape(*value.shape[2:], -1).float()
