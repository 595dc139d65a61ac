"""Which heads to keep: a score for each, from a file or measured on texts, and the heads that score least.

Enters: a `Model`, and a table of scores or a corpus. Leaves: scores by head (more is worth more), heads to remove.

Measured scores are, for classifiers and language models, Michel's importance: |dL/dxi| of each example's own loss,
every layer brought to length 1. For encoders without a head there is no loss: there it is the mean length of what a
head adds to the stream, ||out W_O|| over all positions, every layer brought to length 1 too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from regard.capture import Book, Place, outputs
from regard.capture.finite import require_finite_heads
from regard.capture.gates import gate_gradients
from regard.capture.rebuild import output_weight
from regard.corpus import Example, Item, Source, read
from regard.errors import MissingFileError, UserError
from regard.trace.heads import Head, Layout, all_heads, parse_heads

if TYPE_CHECKING:
    from regard.capture.tap import Call
    from regard.models.model import Model

COLUMNS = ("importance", "score")
BY_IMPORTANCE = "importance |dL/dxi| by layer, on the loss of"
BY_LENGTH = "mean length of what each head adds, ||out W_O||, by layer"
_BATCH = 8
Scores = dict[Head, float]
Progress = Callable[[int, int], None]


def least(scores: Mapping[Head, float], keep: float) -> tuple[Head, ...]:
    """The heads to remove so that a share of all is kept, those that score least; one in each layer stays.

    Examples
    --------
    >>> scores = {Head("encoder", 0, 0): 2.0, Head("encoder", 0, 1): 1.0, Head("encoder", 1, 0): 0.1}
    >>> [str(head) for head in least(scores, 0.67)]
    ['encoder:0.1']
    """
    if not 0 < keep < 1:
        raise UserError(f"the share of heads to keep must be above 0 and below 1, not {keep}")
    count = len(scores) - round(keep * len(scores))
    left: dict[tuple[str, int], int] = {}
    for head in scores:
        left[head.kind, head.layer] = left.get((head.kind, head.layer), 0) + 1
    if count > len(scores) - len(left):
        raise UserError(f"one head stays in each of {len(left)} layers: keep at least {len(left) / len(scores):.2g}")
    if not count:
        raise UserError(f"{keep} of {len(scores)} heads are all of them; keep less")
    removed: list[Head] = []
    for head in sorted(scores, key=lambda head: (scores[head], head)):
        place = (head.kind, head.layer)
        if len(removed) < count and left[place] > 1:
            removed.append(head)
            left[place] -= 1
    return tuple(sorted(removed))


# -- from a file ---------------------------------------------------------------------------------------------------


def read_scores(path: str | Path, layout: Layout, column: str | None = None) -> Scores:
    """Scores of a file: JSON ({"5.4": 0.2, ...} or records), CSV, TSV or Parquet with layer, head and a column."""
    path = Path(path)
    if not path.is_file():
        raise MissingFileError(f"there is no file {path} of scores")
    found = dict(_scored(_records(path), layout, column, path))
    missing = [head for head in all_heads(layout) if head not in found]
    if missing:
        raise UserError(f"{path} has no score for head {missing[0]} and {len(missing) - 1} others; score every head")
    return found


def _records(path: Path) -> list[dict[str, Any]] | dict[str, Any]:
    if path.suffix == ".json":
        try:
            made: list[dict[str, Any]] | dict[str, Any] = json.loads(path.read_text())
        except json.JSONDecodeError as error:
            raise UserError(f"{path} is not JSON: {error}") from None
        return made
    import pandas as pd

    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    elif path.suffix in (".csv", ".tsv"):
        table = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")
    else:
        raise UserError(f"{path} is no file of scores; use .json, .csv, .tsv or .parquet")
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _scored(
    records: list[dict[str, Any]] | dict[str, Any], layout: Layout, column: str | None, path: Path
) -> Iterator[tuple[Head, float]]:
    if isinstance(records, dict):
        for written, score in records.items():
            yield from ((head, float(score)) for head in parse_heads(written, layout))
        return
    for record in records:
        name = column or next((name for name in COLUMNS if name in record), None)
        if name is None or name not in record or not {"layer", "head"} <= set(record):
            wanted = column or " or ".join(COLUMNS)
            raise UserError(f"{path} needs the columns layer, head and {wanted}; it has {', '.join(record)}")
        place = (int(record["layer"]), int(record["head"]))
        (head,) = parse_heads([(record["kind"], *place) if "kind" in record else place], layout)
        yield head, float(record[name])


# -- measured ------------------------------------------------------------------------------------------------------


def measured(
    model: Model, source: Source, *, label: str | None = None, step: Progress | None = None
) -> tuple[Scores, str]:
    """Scores of all heads on a corpus, and what they are."""
    from regard.ablation.tasks import task_for

    try:
        task = task_for(model, None, label)
    except ValueError:
        task = None
    if task is None or task.copies > 1:  # an encoder: similarity of pairs has no loss of its own
        return _by_layer(lengths(model, list(read(source)), step)), BY_LENGTH
    wanted = replace(source, keep=(task.label,)) if task.label else source
    examples = list(read(wanted))
    task.learn(examples)
    sums = dict.fromkeys(all_heads(model.layout), 0.0)
    for some in _batches(model, examples, step):
        asked = task.ask(model, some)
        inputs = model.ready(asked.inputs)
        found = gate_gradients(
            model.module,
            model.plan,
            model.places,
            lambda: task.losses(model.module(**inputs), asked),  # noqa: B023
        )
        for (kind, layer), gradients in found.items():  # (rows, H)
            for head, value in enumerate(gradients.abs().double().sum(0).tolist()):
                sums[Head(kind, layer, head)] += value
    return _by_layer(sums), f"{BY_IMPORTANCE} {task.name}"


def _by_layer(values: Scores) -> Scores:
    """Scores with every layer brought to length 1, as Michel et al. (2019) do: layers differ in scale."""
    squares: dict[tuple[str, int], float] = {}
    for head, value in values.items():
        squares[head.kind, head.layer] = squares.get((head.kind, head.layer), 0.0) + value**2
    return {head: value / (squares[head.kind, head.layer] ** 0.5 or 1) for head, value in values.items()}


def lengths(model: Model, examples: Sequence[Example], step: Progress | None = None) -> Scores:
    """Mean length of what each head adds to the stream, over all real positions of some texts."""
    grams = {place: _gram(model, path, place) for path, places in model.places.items() for place in places}
    sums = _Lengths(grams)
    for some in _batches(model, examples, step):
        inputs, sums.book = model.collate([item.encoded for item in some])
        with outputs(model.module, model.plan, model.places, sums):
            model.run(inputs)
    return {
        Head(place.kind, place.layer, head): float(value) / sums.counts[place]
        for place, total in sums.totals.items()
        for head, value in enumerate(total)
    }


def _gram(model: Model, path: str, place: Place) -> torch.Tensor:
    """(H, e, e) products of each head's part of W_O with itself."""
    projection = model.plan.projections.get(path)
    if not isinstance(projection, torch.nn.Module):
        raise UserError(f"no output projection of {model.name} is known; give scores of its heads in a file")
    weight = output_weight(projection)
    parts = weight.reshape(place.heads, -1, weight.shape[-1])  # (H, e, d_model)
    return parts @ parts.transpose(1, 2)


class _Lengths:
    """An edit that changes nothing and adds up how long each head's contribution is."""

    book: Book

    def __init__(self, grams: Mapping[Place, torch.Tensor]) -> None:
        self.grams = grams
        self.totals: dict[Place, torch.Tensor] = {}
        self.counts: dict[Place, int] = {}

    def __call__(self, place: Place, out: torch.Tensor, call: Call | None) -> None:
        keep = self.book.keep
        side = place.kind if place.kind in keep else "decoder" if "decoder" in keep else next(iter(keep))
        real = torch.from_numpy(keep[side]).to(out.device)
        vectors = out[real].float()  # (n, H, e)
        squares = torch.einsum("nhe,hef,nhf->nh", vectors, self.grams[place].to(out.device), vectors)
        total = squares.clamp(min=0).sqrt().double().sum(0).cpu()
        require_finite_heads(place.kind, place.layer, total, out.dtype)
        self.totals[place] = self.totals[place] + total if place in self.totals else total
        self.counts[place] = self.counts.get(place, 0) + len(vectors)


def _batches(model: Model, examples: Sequence[Example], step: Progress | None) -> Iterator[list[Item]]:
    if not examples:
        raise UserError("the corpus gave no example; check the file and its format")
    items = [Item(e.number, model.encode(e.text, e.pair, truncate=True), e) for e in examples]
    items.sort(key=lambda item: len(item.encoded.ids))
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
        if step is not None:
            step(min(start + _BATCH, len(items)), len(items))
