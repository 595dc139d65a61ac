"""The sums of `syntax`: hits of every head and direction for each relation, and of fixed offsets.

Enters: sums over a treebank. Leaves: for each relation the best head and the best offset, each chosen on one half of
the sentences and scored on the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.base.errors import UserError
from regard.corpus.sums import Array, Sums
from regard.measures.intervals import clusters_of, resampled
from regard.studies.base import layers_of
from regard.studies.head_names import head_name
from regard.studies.held_out import Choice, choose, limits
from regard.studies.syntax.reduce import DIRECTIONS, OFFSETS

ALL = "all"


class DirectedHead(NamedTuple):
    """A head, read in one direction; None for the undirected tree."""

    kind: str
    layer: int
    head: int
    direction: str | None

    @property
    def name(self) -> str:
        """Layer and head, and the direction as an arrow between dependent and head."""
        arrow = {DIRECTIONS[0]: " dep → head", DIRECTIONS[1]: " dep ← head", None: ""}[self.direction]
        return f"{head_name(self.layer, self.head)}{arrow}"


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of one relation, by group of clusters: hits (G, 2, places), instances (G, 2), offsets (G, 2, offsets)."""

    hits: Array
    instances: Array
    offsets: Array

    @property
    def total(self) -> int:
        return int(self.instances.sum())

    @property
    def clusters(self) -> float:
        """The effective number of clusters behind it."""
        return float(clusters_of(self.instances.sum(axis=1)))

    @property
    def best(self) -> tuple[Choice, Choice]:
        """The best head and the best offset."""
        counts = resampled(self.instances)
        head, offset = (choose(resampled(hits), counts, self.clusters) for hits in (self.hits, self.offsets))
        return head, offset


@dataclass(frozen=True, eq=False)
class Best:
    """The best head of a relation and the best fixed offset (or the chain of neighbours, for trees)."""

    relation: str
    instances: int
    place: DirectedHead
    head: Choice
    offset: Choice

    @property
    def gain(self) -> Array:
        """(1 + draws,) how much better the head is, both on the same sentences."""
        return self.head.held_out - self.offset.held_out

    @property
    def gain_limits(self) -> tuple[float, float]:
        return limits(self.gain, self.head.clusters)

    @property
    def beats(self) -> bool:
        """Whether it is better than the offset by more than the interval."""
        return self.gain_limits[0] > 0


class Counted:
    """All relations of one run, the most frequent first; `ALL` is every word, rare relations and roots included."""

    def __init__(self, sums: Sums) -> None:
        found = [name.removeprefix("relation/") for name in sums.arrays if name.startswith("relation/")]
        if not found or not sums["words"][0] > sums["words"][1]:
            raise UserError("no word of the treebank has its own piece; the tokenizer drops its characters")
        layers = layers_of(sums, "tree")
        if not layers:
            raise UserError("the model has no attention between the tokens of the text; syntax cannot be studied")
        self._sites = [(kind, layer) for kind, numbers in layers.items() for layer in numbers]
        self.heads = [
            (kind, layer, head) for kind, layer in self._sites for head in range(sums[f"{kind}/{layer}/tree"].shape[-1])
        ]
        self.places = [DirectedHead(*head, direction) for direction in DIRECTIONS for head in self.heads]
        counts = {relation: self._counts(sums, relation) for relation in found}
        every = Counts(
            *(np.sum([getattr(one, name) for one in counts.values()], axis=0) for name in Counts.__dataclass_fields__)
        )
        self.relations = {
            relation: counts[relation] for relation in sorted(found, key=lambda name: (-counts[name].total, name))
        }
        self.relations[ALL] = every
        trees = np.concatenate([sums[f"{kind}/{layer}/tree"] for kind, layer in self._sites], axis=-1)
        edges = sums["edges"]  # (G, 2, edges and chain)
        self.trees = Counts(trees, edges[..., 0], edges[..., 1:])

    def _counts(self, sums: Sums, relation: str) -> Counts:
        layers = [sums[f"{kind}/{layer}/hits/{relation}"] for kind, layer in self._sites]  # (.., 2, 2, H) each
        hits = np.concatenate(layers, axis=-1)
        instances = sums[f"relation/{relation}"]
        return Counts(hits.reshape(*hits.shape[:2], -1), instances[..., 0], instances[..., 1:])

    def frequent(self, least: int) -> list[str]:
        """Relations with at least this many instances, and all words; roots have no head to find."""
        return [name for name, one in self.relations.items() if name == ALL or (one.total >= least and name != "root")]

    def best(self, relation: str) -> Best:
        """The best head and the best offset for a relation."""
        counts = self.relations[relation]
        head, offset = counts.best
        return Best(relation, counts.total, self.places[head.best], head, offset)

    def best_tree(self) -> Best:
        """The head whose maximum spanning tree has most true edges, and the chain of neighbours."""
        head, chain = self.trees.best
        return Best("tree", self.trees.total, DirectedHead(*self.heads[head.best], None), head, chain)


def offset_of(choice: Choice) -> int:
    """The fixed offset that is best over all sentences: +1 is the next word."""
    return OFFSETS[choice.best]
