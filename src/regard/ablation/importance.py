"""Which heads to keep: a score for each, from a file or measured on texts, and the heads that score lowest.

Enters: a `Model`, and a table of scores or a corpus. Leaves: scores by head (higher is worth more), heads to remove.

Measured scores are, for classifiers and language models, Michel's importance: |dL/dxi| of each example's own loss,
each layer scaled to length 1. Encoders without a task head have no loss: their scores are the mean length of what a
head adds to the stream, ||out W_O|| over all positions, each layer scaled to length 1 too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from regard.base.errors import MissingFileError, UserError
from regard.capture import Book, Place, outputs
from regard.capture.finite import require_finite_heads
from regard.capture.gates import gate_gradients
from regard.capture.rebuild import output_weight
from regard.corpus import Example, Item, Source, read
from regard.trace.heads import Head, Layout, all_heads, parse_heads

if TYPE_CHECKING:
    from regard.capture.outputs import Behind
    from regard.models.model import Model

COLUMNS = ("importance", "score")
BY_IMPORTANCE = "importance |dL/dxi| by layer, on the loss of"
BY_LENGTH = "mean length of what each head adds, ||out W_O||, by layer"
_BATCH = 8
Scores = dict[Head, float]
Progress = Callable[[int, int], None]


def least(scores: Mapping[Head, float], keep: float) -> tuple[Head, ...]:
    """The lowest-scoring heads, to be removed so that a share of all is kept; each layer keeps at least one.

    Examples
    --------
    >>> scores = {Head("encoder", 0, 0): 2.0, Head("encoder", 0, 1): 1.0, Head("encoder", 1, 0): 0.1}
    >>> [str(head) for head in least(scores, 0.67)]
    ['encoder:0.1']
    """
    if not 0 < keep < 1:
        raise UserError(f"the share of heads to keep must be between 0 and 1, not {keep}")
    count = len(scores) - round(keep * len(scores))
    left: dict[tuple[str, int], int] = {}
    for head in scores:
        left[head.kind, head.layer] = left.get((head.kind, head.layer), 0) + 1
    if count > len(scores) - len(left):
        raise UserError(f"each of {len(left)} layers keeps a head or more: keep at least {len(left) / len(scores):.2g}")
    if not count:
        raise UserError(f"a share of {keep} keeps all {len(scores)} heads; keep less")
    removed: list[Head] = []
    for head in sorted(scores, key=lambda head: (scores[head], head)):
        place = (head.kind, head.layer)
        if len(removed) < count and left[place] > 1:
            removed.append(head)
            left[place] -= 1
    return tuple(sorted(removed))


# -- from a file ---------------------------------------------------------------------------------------------------


def read_scores(path: str | Path, layout: Layout, column: str | None = None) -> Scores:
    """Scores from a file: JSON ({"5.4": 0.2, ...} or records), CSV, TSV or Parquet with layer, head and a column."""
    path = Path(path)
    if not path.is_file():
        raise MissingFileError(f"there is no score file {path}")
    found = dict(_read_rows(_records(path), layout, column, path))
    missing = [head for head in all_heads(layout) if head not in found]
    if missing:
        raise UserError(f"{path} has no score for head {missing[0]} and {len(missing) - 1} others; score every head")
    return found


_TABLES: dict[str, Callable[[Any, Path], Any]] = {
    ".parquet": lambda pd, path: pd.read_parquet(path),
    ".csv": lambda pd, path: pd.read_csv(path),
    ".tsv": lambda pd, path: pd.read_csv(path, sep="\t"),
}


def _records(path: Path) -> list[dict[str, Any]] | dict[str, Any]:
    if path.suffix == ".json":
        try:
            content: Any = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise UserError(f"{path} is not JSON: {error}") from None
        rows: list[dict[str, Any]] = content if isinstance(content, list) else [content]
        if not all(isinstance(row, dict) for row in rows):
            raise UserError(f"{path} must hold an object of heads and scores, or a list of records")
        return rows if rows is content else rows[0]
    if path.suffix not in _TABLES:
        raise UserError(f"{path} is not a score file; use .json, .csv, .tsv or .parquet")
    import pandas as pd

    try:
        table = _TABLES[path.suffix](pd, path)
    except ValueError as error:  # from pandas and pyarrow: a damaged, empty or misshapen file
        raise UserError(f"{path} could not be read: {str(error).partition(chr(10))[0]}") from None
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _read_rows(
    records: list[dict[str, Any]] | dict[str, Any], layout: Layout, column: str | None, path: Path
) -> Iterator[tuple[Head, float]]:
    if isinstance(records, dict):
        for written, score in records.items():
            yield from ((head, _number(score, path)) for head in parse_heads(written, layout))
        return
    for record in records:
        name = column or next((name for name in COLUMNS if name in record), None)
        if name is None or name not in record or not {"layer", "head"} <= set(record):
            wanted = column or " or ".join(COLUMNS)
            raise UserError(f"{path} needs the columns layer, head and {wanted}; it has {', '.join(record)}")
        place = (int(_number(record["layer"], path)), int(_number(record["head"], path)))
        (head,) = parse_heads([(record["kind"], *place) if "kind" in record else place], layout)
        yield head, _number(record[name], path)


def _number(value: Any, path: Path) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise UserError(f"{path} has {value!r} where a number was expected") from None
    if not math.isfinite(found):
        raise UserError(f"{path} has {value!r} where a number was expected")
    return found


# -- measured ------------------------------------------------------------------------------------------------------


def measure_scores(
    model: Model, source: Source, *, label: str | None = None, step: Progress | None = None
) -> tuple[Scores, str]:
    """Scores of all heads on a corpus, and what they mean."""
    from regard.ablation.tasks import task_for

    try:
        task = task_for(model, None, label)
    except UserError:
        task = None
    if task is None or task.copies > 1:  # an encoder: similarity of pairs has no loss of its own
        return _by_layer(lengths(model, list(read(source)), step)), BY_LENGTH
    wanted = replace(source, keep=(task.label,)) if task.label else source
    examples = list(read(wanted))
    task.learn(examples)
    sums = dict.fromkeys(all_heads(model.layout()), 0.0)
    for some in _batches(model, examples, step):
        batch = task.ask(model, some)
        inputs = model._engine.ready(batch.inputs)
        found = gate_gradients(
            model.module,
            model._engine.plan(),
            model._engine.places(),
            lambda: task.losses(model.module(**inputs), batch),  # noqa: B023
        )
        for (kind, layer), gradients in found.items():  # (rows, H)
            for head, value in enumerate(gradients.abs().double().sum(0).tolist()):
                sums[Head(kind, layer, head)] += value
    return _by_layer(sums), f"{BY_IMPORTANCE} {task.name}"


def _by_layer(values: Scores) -> Scores:
    """Scores with each layer scaled to length 1, as in Michel et al. (2019): layers differ in scale."""
    squares: dict[tuple[str, int], float] = {}
    for head, value in values.items():
        squares[head.kind, head.layer] = squares.get((head.kind, head.layer), 0.0) + value**2
    return {head: value / (squares[head.kind, head.layer] ** 0.5 or 1) for head, value in values.items()}


def lengths(model: Model, examples: Sequence[Example], step: Progress | None = None) -> Scores:
    """Mean length of what each head adds to the stream, over all real positions of some texts."""
    grams = {place: _gram(model, path, place) for path, places in model._engine.places().items() for place in places}
    sums = _Lengths(grams)
    for some in _batches(model, examples, step):
        inputs, sums.book = model._engine.collate([item.encoded for item in some])
        with outputs(model.module, model._engine.plan(), model._engine.places(), sums):
            model._engine.run(inputs)
    return {
        Head(place.kind, place.layer, head): float(value) / sums.counts[place]
        for place, total in sums.totals.items()
        for head, value in enumerate(total)
    }


def _gram(model: Model, path: str, place: Place) -> torch.Tensor:
    """(H, e, e) products of each head's part of W_O with itself."""
    projection = model._engine.plan().projections.get(path)
    if not isinstance(projection, torch.nn.Module):
        raise UserError(f"the output projections of {model.name} are not known; pass a file with scores of its heads")
    weight = output_weight(projection)
    parts = weight.reshape(place.heads, -1, weight.shape[-1])  # (H, e, d_model)
    return parts @ parts.transpose(1, 2)


class _Lengths:
    """An edit that changes nothing and sums the length of what each head adds to the stream."""

    book: Book

    def __init__(self, grams: Mapping[Place, torch.Tensor]) -> None:
        self.grams = grams
        self.totals: dict[Place, torch.Tensor] = {}
        self.counts: dict[Place, int] = {}

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> None:
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
        raise UserError("the corpus has no examples; check the file and its format")
    items = [Item(e.number, model._engine.encode(e.text, e.pair, truncate=True), e) for e in examples]
    items.sort(key=lambda item: len(item.encoded.ids))
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
        if step is not None:
            step(min(start + _BATCH, len(items)), len(items))
