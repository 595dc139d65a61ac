"""The attention-only probe of Clark et al. (2019): choose the head of every word from the attention of all heads.

Enters: features and trees. Leaves: scores (UAS, punctuation excluded) of

    p(i is head of j)  proportional to  exp sum_k  w_k A^k_ij + u_k A^k_ji

with two weights per head of attention. ROOT is one more candidate: the attention between a word and the special tokens,
with separate factors for the opening one and the others, under the same weights, plus a constant. A word is not a
candidate for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from regard.corpus.readers.treebank import ROOT
from regard.corpus.sums import Array
from regard.studies.probe.batches import Patience, batches_of, shuffled
from regard.studies.probe.features import SPECIAL, Features
from regard.studies.probe.pairs import FURTHEST
from regard.studies.probe.scores import ProbeScores, by_sentence
from regard.studies.probe.trees import LOST, Control, Tree

UAS = "selection/UAS"
_RATE = 0.02
_NOTHING = -100  # the target of a word that is not learned from

OFFSETS = [offset for offset in range(-FURTHEST, FURTHEST + 1) if offset]

Maps = Callable[[Tree], Array]  # (n + 2, n + 2, heads)
Guess = Callable[[Tree], Array]  # (n,) heads


class Selector(torch.nn.Module):
    """Scores of every candidate head of every word."""

    scale: torch.Tensor

    def __init__(self, scale: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("scale", scale)  # (heads,) spread of each head's attention, so that weights are comparable
        self.weights = torch.nn.Parameter(torch.zeros(len(scale), 2))  # w (head to dependent), u (dependent to head)
        self.special = torch.nn.Parameter(torch.ones(SPECIAL))
        self.constant = torch.nn.Parameter(torch.zeros(()))

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """(B, n + 2, n + 2, heads) maps to (B, n, 1 + n) scores of ROOT and of the words."""
        sums = (maps / self.scale) @ self.weights  # (B, N, N, 2)
        score = sums[..., 0].transpose(1, 2) + sums[..., 1]  # (B, j, i): A_ij under w, A_ji under u
        words = maps.shape[1] - SPECIAL
        root = score[:, :words, words:] @ self.special + self.constant  # (B, n)
        itself = torch.eye(words, dtype=torch.bool, device=maps.device)
        among = score[:, :words, :words].masked_fill(itself, -torch.inf)
        return torch.cat([root[..., None], among], dim=-1)


def reader(features: Features) -> Maps:
    """The attention of all heads over a sentence."""
    return lambda tree: features.attention.get(tree.number)


def distance_maps(tree: Tree) -> Array:
    """Features that encode only distance: (n + 2, n + 2, 2 * FURTHEST + 1), one column per offset."""
    words = len(tree)
    offset = np.clip(np.arange(words)[None, :] - np.arange(words)[:, None], -FURTHEST, FURTHEST)
    found = np.zeros((words + SPECIAL, words + SPECIAL, 2 * FURTHEST + 1), np.float32)
    found[:words, :words] = np.eye(2 * FURTHEST + 1, dtype=np.float32)[offset + FURTHEST]
    return found


@dataclass(eq=False)
class SelectionProbe:
    """Trains and scores the probe: on `training` sentences, stopped by `development` ones, tested on `test` ones."""

    training: Sequence[Tree]
    development: Sequence[Tree]
    test: Sequence[Tree]
    scores: ProbeScores
    epochs: int = 10
    seed: int = 0
    report: Callable[[str], None] = lambda what: None

    def model(self, features: Features) -> None:
        """The probe on a model, its baselines, and both on the control task."""
        attention = reader(features)
        fitted = self._trial("model", attention)
        self.scores.note("selection/weights", (fitted.weights.detach() / fitted.scale[:, None]).numpy())
        self.scores.note("selection/heads", np.array(features.heads))
        self._trial("distance", distance_maps)
        self._majority("majority", {offset: partial(_beside, offset) for offset in OFFSETS})
        control = Control(self.training, self.seed)
        self._trial("control task", attention, control.of)
        self._trial("control task, distance", distance_maps, control.of)
        self._majority("control task, majority", _PLACES, control.of)

    def weights(self, of: str, features: Features) -> None:
        """The probe on the same shape with untrained weights."""
        self._trial(of, reader(features))

    def _trial(self, of: str, maps: Maps, task: Callable[[Tree], Tree] = lambda tree: tree) -> Selector:
        self.report(f"the head of every word: {of}")
        training, development = ([task(tree) for tree in some] for some in (self.training, self.development))
        fitted = fit(training, development, maps, epochs=self.epochs, seed=self.seed)
        owners, right = [], []
        for place, tree in enumerate(task(tree) for tree in self.test):
            with torch.no_grad():
                chosen = fitted(_padded([tree], maps))[0].argmax(-1).numpy() - 1  # ROOT is -1
            right.append(_right(tree, lambda tree, chosen=chosen: chosen))  # type: ignore[misc]
            owners.append(np.full(len(right[-1]), place))
        self._note(of, np.concatenate(owners), np.concatenate(right))
        return fitted

    def _majority(
        self, of: str, guesses: Mapping[Any, Guess], task: Callable[[Tree], Tree] = lambda tree: tree
    ) -> None:
        """Always the guess that is right most often in training."""
        training, test = ([task(tree) for tree in some] for some in (self.training, self.test))
        best = max(guesses, key=lambda name: sum(int(_right(tree, guesses[name]).sum()) for tree in training))
        right = [_right(tree, guesses[best]) for tree in test]
        owners = np.repeat(np.arange(len(test)), [len(some) for some in right])
        self._note(of, owners, np.concatenate(right))

    def _note(self, of: str, owners: Array, right: Array) -> None:
        clusters = [tree.drawn_with for tree in self.test]
        self.scores.add(f"{UAS}/{of}", clusters, *by_sentence(owners, right, len(self.test)))


def fit(training: Sequence[Tree], development: Sequence[Tree], maps: Maps, *, epochs: int, seed: int) -> Selector:
    """Adam on the cross entropy of the heads; keeps the epoch that is best on the development sentences."""
    selector = Selector(_spread(training, maps))
    optimizer = torch.optim.Adam(selector.parameters(), lr=_RATE)
    batches, held = batches_of(training), batches_of(development)
    patience, best = Patience(), {name: value.clone() for name, value in selector.state_dict().items()}
    for epoch in range(epochs):
        for batch in shuffled(batches, seed, epoch):
            optimizer.zero_grad()
            loss, _ = _loss(selector, batch, maps)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            parts = [(float(loss) * count, count) for loss, count in (_loss(selector, batch, maps) for batch in held)]
        if patience.better(sum(loss for loss, _ in parts) / max(1, sum(count for _, count in parts))):
            best = {name: value.clone() for name, value in selector.state_dict().items()}
        elif patience.over:
            break
        else:
            optimizer.param_groups[0]["lr"] *= 0.1
    selector.load_state_dict(best)
    return selector


def _loss(selector: Selector, batch: Sequence[Tree], maps: Maps) -> tuple[torch.Tensor, int]:
    """The mean loss over words, and their number; punctuation and words whose head is lost are left out."""
    scores = selector(_padded(batch, maps))  # (B, n, 1 + n)
    target = np.full(scores.shape[:2], _NOTHING, np.int64)
    for row, tree in enumerate(batch):
        scores[row, :, 1 + len(tree) :] = -torch.inf
        target[row, : len(tree)] = np.where(~tree.punctuation & (tree.heads != LOST), tree.heads - ROOT, _NOTHING)
    count = int((target != _NOTHING).sum())
    wanted = torch.from_numpy(target).flatten()
    summed = torch.nn.functional.cross_entropy(scores.flatten(0, 1), wanted, ignore_index=_NOTHING, reduction="sum")
    return summed / max(1, count), count


def _padded(batch: Sequence[Tree], maps: Maps) -> torch.Tensor:
    """(B, n + 2, n + 2, heads): words from the start, special tokens at the end, nothing between."""
    read = [maps(tree) for tree in batch]
    places = max(len(tree) for tree in batch) + SPECIAL
    found = np.zeros((len(batch), places, places, read[0].shape[-1]), np.float32)
    for row, (tree, array) in enumerate(zip(batch, read, strict=True)):
        where = np.r_[: len(tree), places - SPECIAL : places]
        found[row, where[:, None], where[None, :]] = array
    return torch.from_numpy(found)


def _spread(trees: Sequence[Tree], maps: Maps) -> torch.Tensor:
    """(heads,) standard deviation of each head's attention between words."""
    total: Array | float = 0.0
    squares: Array | float = 0.0
    count = 0
    for tree in trees:
        some = maps(tree)[: len(tree), : len(tree)].astype(np.float64).reshape(len(tree) ** 2, -1)
        total, squares, count = total + some.sum(axis=0), squares + (some**2).sum(axis=0), count + len(some)
    spread = np.sqrt(np.maximum(np.asarray(squares) / count - (np.asarray(total) / count) ** 2, 0))
    return torch.from_numpy(np.where(spread > 0, spread, 1).astype(np.float32))


# -- guesses ---------------------------------------------------------------------------------------------------


def _right(tree: Tree, guess: Guess) -> Array:
    """Whether the guess is right, for every word that counts."""
    counted = ~tree.punctuation & (tree.heads != LOST)
    return np.asarray((guess(tree) == tree.heads)[counted])


def _beside(offset: int, tree: Tree) -> Array:
    """The word at this offset; LOST outside the sentence."""
    place = np.arange(len(tree)) + offset
    return np.where((place >= 0) & (place < len(tree)), place, LOST)


_PLACES: dict[str, Guess] = {
    "first": lambda tree: np.full(len(tree), tree.ends[0]),
    "last": lambda tree: np.full(len(tree), tree.ends[1]),
    "nothing": lambda tree: np.full(len(tree), ROOT),
}
