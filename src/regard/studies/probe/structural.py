"""The structural probe of Hewitt & Manning (2019): are distances in the tree distances between hidden states?

Enters: features and trees. Leaves: scores of d_B(i, j) = ||B (h_i - h_j)||^2 with B of a given rank: UUAS, the share of
edges in the minimum spanning tree (punctuation left out), and the rank correlation of distances.

B minimises the L1 difference to the tree distances, each sentence divided by the square of its length. Hidden states
are divided by the spread of each dimension, which B could undo: this only helps the optimiser. Several probes, for
different layers or ranks, are trained in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.ranks import mean_ranks
from regard.studies.probe.batches import Patience, batches_of, shuffled
from regard.studies.probe.features import Spill
from regard.studies.probe.scores import ProbeScores
from regard.studies.probe.trees import Control, Tree
from regard.studies.spanning import spanning_hits

UUAS, DSPR = "structural/UUAS", "structural/DSpr"
LENGTHS = range(5, 51)  # lengths of the sentences whose rank correlations are averaged, each length with equal weight
_RATE = 0.001

Hidden = Callable[[Tree, int], Array]  # (tree, layer) -> (n, d)
Distances = Callable[[Sequence[Tree]], torch.Tensor]  # (B, n, n) predicted


@dataclass(eq=False)
class Metric:
    """One probe: B (rank, d) for the hidden states of a layer, and the state of its training."""

    layer: int
    rank: int
    scale: torch.Tensor  # (d,)
    b: torch.Tensor
    best: torch.Tensor
    patience: Patience = field(default_factory=Patience)

    def squared(self, hidden: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """(B, n, n) distances of (B, n, d) hidden states."""
        placed = hidden @ (b / self.scale).T  # (B, n, rank)
        squares = (placed**2).sum(-1)
        inner = placed @ placed.transpose(1, 2)
        return (squares[:, :, None] + squares[:, None, :] - 2 * inner).clamp(min=0)

    def distances(self, hidden: torch.Tensor) -> torch.Tensor:
        """(B, n, n) distances under the best B so far."""
        with torch.no_grad():
            return self.squared(hidden, self.best)


def fit(
    training: Sequence[Tree],
    development: Sequence[Tree],
    hidden: Hidden,
    kinds: Sequence[tuple[int, int]],
    *,
    epochs: int,
    seed: int,
    tick: Callable[[int], None] = lambda epoch: None,
) -> list[Metric]:
    """Train a probe for each (layer, rank) of `kinds`; each keeps its best epoch on the development sentences."""
    metrics = _begun(training, hidden, kinds, seed)
    optimizer = torch.optim.Adam([{"params": [metric.b]} for metric in metrics], lr=_RATE)
    batches, held = batches_of(training), batches_of(development)
    for epoch in range(epochs):
        for batch in shuffled(batches, seed, epoch):
            optimizer.zero_grad()
            running = [metric for metric in metrics if not metric.patience.over]
            losses = _losses(running, batch, hidden)
            torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()  # a probe that has finished has no gradient and does not change
        with torch.no_grad():
            parts = [(_losses(metrics, batch, hidden), len(batch)) for batch in held]
        for n, (metric, group) in enumerate(zip(metrics, optimizer.param_groups, strict=True)):
            if metric.patience.over:
                continue
            if metric.patience.better(sum(float(losses[n]) * size for losses, size in parts)):
                metric.best = metric.b.detach().clone()
            else:
                group["lr"] *= 0.1
        tick(epoch)
        if all(metric.patience.over for metric in metrics):
            break
    return metrics


def _begun(training: Sequence[Tree], hidden: Hidden, kinds: Sequence[tuple[int, int]], seed: int) -> list[Metric]:
    scales = {layer: spread(training, hidden, layer) for layer in dict.fromkeys(layer for layer, _ in kinds)}
    found = []
    for layer, rank in kinds:
        width = len(scales[layer])
        generator = torch.Generator().manual_seed(seed)
        # distances of about 4 edges to begin with, whatever the rank
        b = torch.randn(rank, width, generator=generator) * (2 / (rank * width)) ** 0.5
        found.append(Metric(layer, rank, scales[layer], b.requires_grad_(), b.detach().clone()))
    return found


def _losses(metrics: Sequence[Metric], batch: Sequence[Tree], hidden: Hidden) -> list[torch.Tensor]:
    """The loss of each probe on a batch; hidden states are read once per layer."""
    words = max(len(tree) for tree in batch)
    wanted = np.zeros((len(batch), words, words), np.float32)
    weight = np.zeros((len(batch), words, words), np.float32)
    for row, tree in enumerate(batch):
        wanted[row, : len(tree), : len(tree)] = tree.distances
        weight[row, : len(tree), : len(tree)] = 1 / (len(tree) ** 2 * len(batch))
    target, weights = torch.from_numpy(wanted), torch.from_numpy(weight)
    states = {layer: _padded(batch, hidden, layer) for layer in dict.fromkeys(metric.layer for metric in metrics)}
    return [((m.squared(states[m.layer], m.b) - target).abs() * weights).sum() for m in metrics]


def _padded(batch: Sequence[Tree], hidden: Hidden, layer: int) -> torch.Tensor:
    """(B, n, d) hidden states of a batch."""
    read = [hidden(tree, layer) for tree in batch]
    found = np.zeros((len(batch), max(map(len, read)), read[0].shape[1]), np.float32)
    for row, some in enumerate(read):
        found[row, : len(some)] = some
    return torch.from_numpy(found)


def spread(trees: Sequence[Tree], hidden: Hidden, layer: int) -> torch.Tensor:
    """(d,) standard deviation of each dimension over the words of the trees."""
    total: Array | float = 0.0
    squares: Array | float = 0.0
    count = 0
    for tree in trees:
        some = hidden(tree, layer).astype(np.float64)
        total, squares, count = total + some.sum(axis=0), squares + (some**2).sum(axis=0), count + len(some)
    found = np.sqrt(np.maximum(np.asarray(squares) / count - (np.asarray(total) / count) ** 2, 0))
    return torch.from_numpy(np.where(found > 0, found, 1).astype(np.float32))


# -- scores ----------------------------------------------------------------------------------------------------


def edges_right(trees: Sequence[Tree], distances: torch.Tensor) -> Array:
    """(trees, 2) correct and all edges between words that are not punctuation, from (B, n, n) distances."""
    nodes = np.zeros(distances.shape[:2], bool)
    edges = np.zeros(distances.shape, bool)
    for row, tree in enumerate(trees):
        nodes[row, : len(tree)] = ~tree.punctuation
        edges[row, : len(tree), : len(tree)] = tree.distances == 1
    edges &= nodes[:, :, None] & nodes[:, None, :]
    hits = spanning_hits(-distances[:, None], torch.from_numpy(nodes), torch.from_numpy(edges))  # (B, 1)
    return np.stack([hits[:, 0].numpy(), edges.sum(axis=(1, 2)) / 2], axis=1)


def correlation(tree: Tree, distances: Array) -> float:
    """The mean over words of Spearman's correlation between predicted and tree distances to all words."""
    ranks = [mean_ranks(some) for some in (tree.distances, distances)]
    one, other = (some - some.mean(axis=1, keepdims=True) for some in ranks)
    below = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    defined = below > 0
    return float(((one * other).sum(axis=1)[defined] / below[defined]).mean()) if defined.any() else float("nan")


@dataclass(eq=False)
class StructuralProbe:
    """Trains and scores the probe: on `training` sentences, stopped by `development` ones, tested on `test` ones."""

    training: Sequence[Tree]
    development: Sequence[Tree]
    test: Sequence[Tree]
    scores: ProbeScores
    ranks: Sequence[int] = (1, 2, 4, 8, 16, 32, 64)
    epochs: int = 12
    seed: int = 0
    report: Callable[[str], None] = lambda what: None

    def train(self, states: Spill, of: str) -> tuple[list[Metric], Array]:
        """A probe per layer, at the highest rank, and their UUAS on the development sentences."""
        hidden, layers = reader(states), len(states.get(self.training[0].number))
        kinds = [(layer, max(self.ranks)) for layer in range(layers)]
        metrics = self._fit((self.training, self.development), hidden, kinds, of)
        shares = np.array([self._uuas(self.development, _predicted(metric, hidden)) for metric in metrics])
        self.scores.note(f"structural/development/{of}", shares)
        return metrics, shares

    def weights(self, of: str, states: Spill) -> None:
        """The probe on the same shape with untrained weights, at its own best layer."""
        metrics, shares = self.train(states, of)
        self._note(of, self.test, _predicted(metrics[int(np.argmax(shares))], reader(states)))

    def model(self, states: Spill, metrics: Sequence[Metric], layer: int) -> None:
        """Scores of the probes of all layers; at one layer also lower ranks, baselines and control task."""
        hidden = reader(states)
        self._note("model", self.test, _predicted(metrics[layer], hidden))
        for metric in metrics:
            self._note(f"layer {metric.layer}", self.test, _predicted(metric, hidden))
        lower = [(layer, rank) for rank in sorted(set(self.ranks))[:-1]]
        for metric in self._fit((self.training, self.development), hidden, lower, "ranks"):
            self._note(f"rank {metric.rank}", self.test, _predicted(metric, hidden))
        self._note("distance", self.test, _chain)
        control = Control(self.training, self.seed)
        *learned, test = ([control.of(tree) for tree in some] for some in (self.training, self.development, self.test))
        metric = self._fit(learned, hidden, [(layer, max(self.ranks))], "control task")[0]
        self._note("control task", test, _predicted(metric, hidden))
        self._note("control task, distance", test, _chain)
        star = max(_STARS, key=lambda star: self._uuas(learned[0], star))
        self._note("control task, majority", test, star)

    def _fit(
        self, learned: Sequence[Sequence[Tree]], hidden: Hidden, kinds: list[tuple[int, int]], of: str
    ) -> list[Metric]:
        """Probes trained on the first of two sets of trees, stopped by the second."""
        if not kinds:
            return []

        def tick(epoch: int) -> None:
            self.report(f"distances between words: {of}, epoch {epoch + 1}")

        tick(-1)
        return fit(learned[0], learned[1], hidden, kinds, epochs=self.epochs, seed=self.seed, tick=tick)

    def _uuas(self, trees: Sequence[Tree], predict: Distances) -> float:
        right, count = sum(edges_right(batch, predict(batch)).sum(axis=0) for batch in batches_of(trees))
        return float(right / max(1, count))

    def _note(self, of: str, trees: Sequence[Tree], predict: Distances) -> None:
        for batch in batches_of(trees):
            distances = predict(batch)
            clusters = [tree.drawn_with for tree in batch]
            self.scores.add(f"{UUAS}/{of}", clusters, *edges_right(batch, distances).T)
            self.scores.add(f"{DSPR}/{of}", clusters, *_correlations(batch, distances.numpy()))


def structural_model(probes: Sequence[StructuralProbe], states: Spill) -> None:
    """All runs on a model, at the one layer that is best on the development sentences, on average over runs."""
    trained = [probe.train(states, "model") for probe in probes]
    layer = int(np.argmax(np.mean([shares for _, shares in trained], axis=0)))
    for probe, (metrics, _) in zip(probes, trained, strict=True):
        probe.model(states, metrics, layer)


def _correlations(batch: Sequence[Tree], distances: Array) -> Array:
    """(2, trees, lengths) each tree's rank correlation, and a 1 for it, in the column of its length."""
    found = np.zeros((2, len(batch), len(LENGTHS)))
    for row, tree in enumerate(batch):
        if len(tree) in LENGTHS and np.isfinite(value := correlation(tree, distances[row, : len(tree), : len(tree)])):
            found[:, row, LENGTHS.index(len(tree))] = value, 1
    return found


def reader(states: Spill) -> Hidden:
    """Hidden states of a sentence at a layer."""
    return lambda tree, layer: states.get(tree.number)[layer].astype(np.float32)


def _predicted(metric: Metric, hidden: Hidden) -> Distances:
    return lambda batch: metric.distances(_padded(batch, hidden, metric.layer))


def _chain(batch: Sequence[Tree]) -> torch.Tensor:
    """Distance in the sentence: what word order alone gives."""
    place = torch.arange(max(map(len, batch)), dtype=torch.float32)
    return (place[:, None] - place[None, :]).abs().expand(len(batch), -1, -1)


def _star(end: int, batch: Sequence[Tree]) -> torch.Tensor:
    """Every word is attached to the first (0) or the last (1)."""
    found = torch.full((len(batch), *[max(map(len, batch))] * 2), 2.0)
    for row, tree in enumerate(batch):
        hub = tree.ends[end]
        found[row, hub, :] = found[row, :, hub] = 1
    return found


_STARS: tuple[Distances, ...] = (partial(_star, 0), partial(_star, 1))
