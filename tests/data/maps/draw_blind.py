"""Draw maps of five models for two blind readers, rich in rare types; blind_sheets.py prints them.

Enters: free corpora (only file names and line numbers are kept), reactions.json, the 300 maps labelled before. Leaves:
blind.npz (float16), blind.json (where each map came from and why it was drawn) and blind_inputs.json.

Long on purpose: the record of how the maps were drawn, from texts to files, read from top to bottom.

    python tests/data/maps/draw_blind.py CORPORA STORIES   # STORIES: package/src/llama2.data, see stories.py
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
SEED = 23
SHORTEST, LONGEST = 12, 64  # tokens
OLD = 8  # maps of each type of the first 300, to compare their reader with the new ones
SAME_HEAD = 5  # at most so many maps of one head are drawn for one rare type
PAIRS = {"snli/dev.jsonl": 12, "paws_wiki_en/dev-first.tsv": 10, "sts_captions/sts-captions-dev.tsv": 8}
BOOKS = (
    "literature/11_alices_adventures_in_wonderland.txt",
    "literature/208_daisy_miller_a_study.txt",
    "literature/215_the_call_of_the_wild.txt",
)
REVIEWS = "sentence_polarity/dev.tsv"
OUTER = ("[CLS]", "[SEP]", "<s>")
ATOMS = r"\[[^]]+\]|Br|Cl|>>|."  # the tokens of a reaction


class Kind(NamedTuple):
    """Maps of one model on one sort of input, and how many of them are drawn at random and for each rare type."""

    model: str
    pair: bool
    files: dict[str, int]  # inputs from each file
    random: int
    rare: dict[str, int]


KINDS = (
    Kind(
        "all-MiniLM-L6-v2",
        True,
        PAIRS | {REVIEWS: 6} | dict.fromkeys(BOOKS, 3),
        60,
        {"block": 45, "heterogeneous": 25, "diagonal": 15},
    ),
    Kind(
        "all-MiniLM-L6-v2",
        False,
        {REVIEWS: 9} | dict.fromkeys(BOOKS, 3),
        30,
        {"heterogeneous": 20, "diagonal": 10},
    ),
    Kind(
        "rxnmapper",
        False,
        {"reactions.json": 14},
        30,
        {"block": 40, "heterogeneous": 20, "diagonal": 10},
    ),
    Kind(
        "SmolLM2-135M-Instruct",
        True,
        {"snli/dev.jsonl": 3, "paws_wiki_en/dev-first.tsv": 3, BOOKS[2]: 3},
        20,
        {"block": 25, "heterogeneous": 10, "diagonal": 5},
    ),
    Kind(
        "SmolLM2-135M-Instruct",
        False,
        {REVIEWS: 3, BOOKS[0]: 3, BOOKS[1]: 3},
        20,
        {"heterogeneous": 10, "diagonal": 5},
    ),
    Kind("stories15M", False, {BOOKS[0]: 8, BOOKS[2]: 4}, 10, {"heterogeneous": 5, "diagonal": 5}),
    Kind("translator", True, {"tatoeba_eng_spa/dev.tsv": 14}, 10, {"heterogeneous": 5, "diagonal": 5}),
)


class Found(NamedTuple):
    """One map of the pool."""

    kind: int
    given: int
    part: str
    layer: int
    head: int
    tokens: tuple[Any, ...]
    attention: np.ndarray


class Piece(NamedTuple):
    text: str
    special: bool
    segment: int


def texts(path: Path) -> list[list[str]]:
    """The texts of a corpus, one or two in each place."""
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [[record["premise"], record["hypothesis"]] for record in records]
    if path.suffix == ".json":
        return [[text] for text in json.loads(path.read_text(encoding="utf-8"))]
    if path.suffix == ".txt":
        flat = " ".join(path.read_text(encoding="utf-8").split())
        return [[sentence] for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", flat)]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not any(name.startswith("sentence") for name in rows[0]):
        return rows
    places = [place for place, name in enumerate(rows[0]) if name.startswith("sentence")]
    return [[row[place] for place in places] for row in rows[1:]]


def chosen(kind: Kind, corpora: Path, generator: np.random.Generator) -> Iterator[tuple[str, int, list[str]]]:
    """(file, place, texts), each file in an order of its own; a pair of single sentences is one and the next."""
    for name in kind.files:
        folder = HERE if name == "reactions.json" else corpora
        records = texts(folder / name)
        for place in generator.permutation(len(records)):
            one = records[place][:2]
            if kind.pair and len(one) == 1:
                one = [*one, *records[(place + 1) % len(records)]]
            yield name, int(place), one if kind.pair else one[:1]


def reader(name: str, stories_file: Path) -> Callable[[list[str]], Any]:
    """A function from one or two texts to a trace."""
    import regard

    if name == "stories15M":
        import stories

        module, words = stories.read(stories_file)
        return by_ids(regard.load(module), words.texts, lambda text: stories.encode(words, text))
    model = regard.load(name)
    if name == "rxnmapper":
        return reaction_reader(model)
    if name == "translator":
        return lambda given: model.trace(given[0], target=given[1])
    return lambda given: model.trace(*given)


def reaction_reader(model: Any) -> Callable[[list[str]], Any]:
    """Reads vocab.txt itself: transformers 5 makes a tokenizer of it that knows no atom."""
    from regard.models.packaged import packaged_path

    words = (packaged_path("rxnmapper") / "vocab.txt").read_text(encoding="utf-8").split("\n")  # type: ignore[operator]
    return by_ids(model, words, lambda text: [words.index(w) for w in ("[CLS]", *re.findall(ATOMS, text), "[SEP]")])


def by_ids(model: Any, words: list[str], encode: Callable[[str], list[int]]) -> Callable[[list[str]], Any]:
    """A reader for a model that is given token ids."""
    import torch

    def trace(given: list[str]) -> Any:
        ids = encode(given[0])
        return model.trace_inputs({"input_ids": torch.tensor([ids])}, tokens=[words[i] for i in ids])[0]

    return trace


def maps_of(trace: Any, kind: int, given: int) -> Iterator[Found]:
    """All maps of a text with itself that are neither too small nor too large."""
    for part in trace.kinds:
        if part == "cross":
            continue
        for layer in trace.layers(part):
            site = trace.site(layer, kind=part)
            tokens = tuple(
                Piece(t.text, t.special or t.text.strip() in OUTER, t.segment)
                for t in trace.side(site.query_side).tokens
            )
            if SHORTEST <= len(tokens) <= LONGEST:
                for head in range(site.heads):
                    yield Found(kind, given, part, layer, head, tokens, trace.attention(layer, head, kind=part))


def pool(corpora: Path, stories_file: Path, generator: np.random.Generator) -> tuple[list[Found], list[dict[str, Any]]]:
    """Every map of the inputs, and the inputs."""
    found: list[Found] = []
    inputs: list[dict[str, Any]] = []
    readers: dict[str, Callable[[list[str]], Any]] = {}
    for number, kind in enumerate(KINDS):
        readers[kind.model] = read = readers.get(kind.model) or reader(kind.model, stories_file)
        counts: Counter[str] = Counter()
        for name, place, given in chosen(kind, corpora, generator):
            words = sum(len(text.split()) for text in given)
            if counts[name] == kind.files[name] or (kind.model != "rxnmapper" and not 8 <= words <= 50):
                continue
            made = list(maps_of(read(given), number, len(inputs)))
            if made:
                counts[name] += 1
                inputs.append({"model": kind.model, "file": name, "place": place, "texts": len(given)})
                found += made
    return found, inputs


def causal(attention: np.ndarray) -> bool:
    return not np.triu(attention, 1).any()


def likely(one: Found) -> dict[str, float]:
    """How much a map looks like each rare type: by the types as they were; for blocks, by how sharp they end."""
    from regard.measures import shape_features
    from regard.measures.types import TYPES, type_probabilities

    size = len(one.tokens)
    visible = np.tri(size, dtype=bool) if causal(one.attention) else np.ones((size, size), bool)
    segments = np.array([-1 if token.special else token.segment for token in one.tokens])
    shape = shape_features(one.attention.astype(np.float32), segments=segments, visible=visible)
    chances = dict(zip(TYPES, type_probabilities(shape).tolist(), strict=True))
    inner = [i for i in marks(one.tokens) if 0.2 * size <= i <= 0.8 * size]
    return chances | {"block": max((sharpness(one.attention, visible, border) for border in inner), default=0.0)}


def sharpness(attention: np.ndarray, visible: np.ndarray, border: int) -> float:
    """How much more attention stays on its side of a border than crosses it, between tokens **equally far apart**.

    A broad diagonal stays on its side too, because it is near; compared distance by distance, it scores 0. Without the
    three strongest columns and the five middle lines; times the share of attention that is left without these.
    """
    size = len(attention)
    row, column = np.indices(attention.shape)
    kept = visible & (abs(row - column) > 2)
    kept[:, np.argsort(attention.mean(axis=0))[-3:]] = False
    same = (row < border) == (column < border)

    def by_distance(cells: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.bincount((column - row + size)[cells], values[cells], minlength=2 * size)

    ones = np.ones_like(attention)
    counts = [by_distance(kept & side, ones) for side in (same, ~same)]
    inside, across = (
        by_distance(kept & side, attention) / np.maximum(1, count)
        for side, count in zip((same, ~same), counts, strict=True)
    )
    pairs = np.minimum(*counts)
    stays, crosses = (pairs * inside).sum(), (pairs * across).sum()
    return float(max(0.0, stays - crosses) / max(1e-9, stays + crosses) * attention[kept].sum() / size)


def draw(found: list[Found], generator: np.random.Generator) -> list[tuple[int, str]]:
    """(number in the pool, why): a random part of each kind, then maps that are likely of a rare type."""
    scores = [likely(one) for one in found]
    taken: dict[int, str] = {}
    for number, kind in enumerate(KINDS):
        mine = np.array([i for i, one in enumerate(found) if one.kind == number])
        taken |= dict.fromkeys(generator.choice(mine, kind.random, replace=False).tolist(), "random")
        for rare, count in kind.rare.items():
            chances = np.array([scores[i][rare] for i in mine]) ** 2
            order = generator.choice(mine, len(mine), replace=False, p=(chances + 1e-9) / (chances + 1e-9).sum())
            heads: Counter[tuple[str, int, int]] = Counter()
            for i in order.tolist():
                head = found[i].part, found[i].layer, found[i].head
                if count and i not in taken and heads[head] < SAME_HEAD:
                    taken[i], count = rare, count - 1
                    heads[head] += 1
    return list(taken.items())


def marks(tokens: tuple[Piece, ...]) -> list[int]:
    """Where a reader gets a tick: the first token, special ones, borders of molecules, a second sentence."""
    borders = (">>", ".") if any(token.text == ">>" for token in tokens) else ()
    second = [
        i for i in range(1, len(tokens)) if tokens[i].segment > tokens[i - 1].segment and not tokens[i - 1].special
    ]
    return sorted({0, *second, *(i for i, token in enumerate(tokens) if token.special or token.text in borders)})


def old_maps(generator: np.random.Generator) -> list[int]:
    """`OLD` of each type of the first 300."""
    labels = np.array(json.loads((HERE / "labels.json").read_text(encoding="utf-8"))["first"])
    return [int(n) for name in np.unique(labels) for n in generator.choice(np.flatnonzero(labels == name), OLD, False)]


def collect(corpora: Path, stories_file: Path) -> None:
    found, inputs = pool(corpora, stories_file, np.random.default_rng(SEED))
    generator = np.random.default_rng(SEED + 1)  # the same draw from the same pool
    rows: list[dict[str, Any]] = [{"why": "old", "old": number} for number in old_maps(generator)]
    arrays: list[np.ndarray | None] = [None] * len(rows)
    for number, why in draw(found, generator):
        one = found[number]
        rows.append(
            {
                "why": why,
                "kind": one.kind,
                "input": one.given,
                "part": one.part,
                "layer": one.layer,
                "head": one.head,
                "special": [int(token.special) for token in one.tokens],
                "segment": [token.segment for token in one.tokens],
                "marks": marks(one.tokens),
            }
        )
        arrays.append(one.attention.astype(np.float16))
    order = generator.permutation(len(rows)).tolist()
    kept = {f"{n:03d}": array for n, i in enumerate(order) if (array := arrays[i]) is not None}
    np.savez_compressed(HERE / "blind.npz", **kept)
    write(HERE / "blind.json", [{"map": n, **rows[i]} for n, i in enumerate(order)])
    sizes = Counter(one.given for one in found)
    write(HERE / "blind_inputs.json", [given | {"maps": sizes[n]} for n, given in enumerate(inputs)])


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    collect(Path(sys.argv[1]), Path(sys.argv[2]))
