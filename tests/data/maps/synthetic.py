"""Noisy synthetic maps of the five types, with and without a causal mask, for one sentence or two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TYPES = ("vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous")


class Example(NamedTuple):
    attention: np.ndarray  # (n, n)
    segments: np.ndarray  # (n,), negative for special tokens
    visible: np.ndarray  # (n, n)
    type: str


def examples(count: int, seed: int) -> list[Example]:
    """`count` maps of each type, in turn."""
    generator = np.random.default_rng(seed)
    return [example(generator, name) for _ in range(count) for name in TYPES]


def example(generator: np.random.Generator, name: str) -> Example:
    size = int(generator.integers(12, 48))
    causal = bool(generator.random() < 0.35) and name != "block"
    two = name == "block" or bool(generator.random() < 0.6)
    segments = np.zeros(size, np.int64)
    border = int(generator.integers(size // 3, 2 * size // 3 + 1))
    if two:
        segments[border:] = 1
    if not causal:
        segments[[0, size - 1]] = -1
        if two:
            segments[border - 1] = -1
    visible = np.tri(size, dtype=bool) if causal else np.ones((size, size), bool)
    maps = {
        "vertical": vertical,
        "diagonal": diagonal,
        "vertical + diagonal": both,
        "block": block,
        "heterogeneous": heterogeneous,
    }
    attention = maps[name](generator, size, causal, segments) * visible
    return Example(attention / attention.sum(axis=-1, keepdims=True), segments, visible, name)


def background(generator: np.random.Generator, size: int) -> np.ndarray:
    """Rows of unstructured attention that sum to 1: gamma noise, from nearly even to spiky."""
    noise = generator.gamma(generator.uniform(0.5, 4), size=(size, size)) + 1e-9
    return noise / noise.sum(axis=-1, keepdims=True)


def columns(generator: np.random.Generator, size: int, causal: bool) -> np.ndarray:
    """One to three columns; a causal map has one at the start, which every row can see."""
    places = generator.choice(size, size=int(generator.integers(1, 4)), replace=False)
    if causal:
        places[0] = 0
    table = np.zeros((size, size))
    table[:, places] = generator.gamma(3, size=(size, len(places))) * generator.uniform(0.3, 1, len(places))
    return table / table.sum(axis=-1, keepdims=True)


def line(generator: np.random.Generator, size: int, causal: bool) -> np.ndarray:
    """A diagonal at an offset of at most two, sometimes blurred."""
    offset = int(generator.integers(-2, 1 if causal else 3))
    blur = generator.uniform(0, 0.35)
    table = np.eye(size, k=offset) + blur * (np.eye(size, k=offset - 1) + np.eye(size, k=offset + 1)) + 1e-9
    return table / table.sum(axis=-1, keepdims=True)


def mixed(generator: np.random.Generator, size: int, parts: list[tuple[float, np.ndarray]]) -> np.ndarray:
    """Structure of the given strengths, jittered row by row, over background."""
    rest = np.ones((size, 1))
    attention = np.zeros((size, size))
    for strength, table in parts:
        share = np.clip(strength * generator.uniform(0.6, 1.3, (size, 1)), 0, rest)
        attention += share * table
        rest = rest - share
    return attention + rest * background(generator, size)


def vertical(generator: np.random.Generator, size: int, causal: bool, segments: np.ndarray) -> np.ndarray:
    return mixed(generator, size, [(generator.uniform(0.35, 0.95), columns(generator, size, causal))])


def diagonal(generator: np.random.Generator, size: int, causal: bool, segments: np.ndarray) -> np.ndarray:
    return mixed(generator, size, [(generator.uniform(0.4, 0.98), line(generator, size, causal))])


def both(generator: np.random.Generator, size: int, causal: bool, segments: np.ndarray) -> np.ndarray:
    parts = [
        (generator.uniform(0.3, 0.55), columns(generator, size, causal)),
        (generator.uniform(0.2, 0.45), line(generator, size, causal)),
    ]
    return mixed(generator, size, parts)


def block(generator: np.random.Generator, size: int, causal: bool, segments: np.ndarray) -> np.ndarray:
    border = int(np.argmax(segments == 1))
    side = np.arange(size) >= border
    own = (side[:, None] == side[None, :]) * background(generator, size)
    return mixed(generator, size, [(generator.uniform(0.6, 0.98), own / own.sum(axis=-1, keepdims=True))])


def heterogeneous(generator: np.random.Generator, size: int, causal: bool, segments: np.ndarray) -> np.ndarray:
    """Unstructured attention, in half of the cases with a few strong pairs in odd places."""
    attention = background(generator, size)
    if generator.random() < 0.5:
        spots = int(generator.integers(1, size))
        attention[generator.integers(size, size=spots), generator.integers(size, size=spots)] += generator.uniform(
            0.1, 1
        )
    return attention
