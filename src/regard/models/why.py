"""Why a head looks there: a score split over what made the query and what made the key.

Enters: a text, a head, a query and a key. Leaves: a `Why`, with the share of every embedding, earlier head and MLP.

With the statistics of all norms frozen, q and k are sums over what was added to the residual stream, and so is the
score q.k. A side is split with the other one whole. What adds the same to every key cancels in the softmax, so shares
are compared after the row's mean over the visible keys is taken away. Not counterfactual: without a part, norms would
be different; `agreement` says how well removing parts for real agrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from regard.capture.alone import alone
from regard.capture.frozen import frozen_run, plain_run
from regard.capture.shares import StreamPart
from regard.models.outcome import Answering, encode_text
from regard.models.scores import SplitLook, SplitScores
from regard.models.splitting import Agreement, SplitSide, component_of, one_head, sides_of
from regard.trace.heads import Head, Heads
from regard.trace.picking import position_of
from regard.trace.records import Tabular, columns_of

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.model import Model

_COLUMNS = ("side", "position", "token", "name", "kind", "attention", "layer", "head", "score", "centred")
LEADING = 3  # components of a side among which a head must be to be drawn as a line


@dataclass(frozen=True)
class Why(Tabular):
    """Why a head looks from a query to a key.

    `score` is before softmax and before any soft cap, `weight` the attention, `centred` the score minus its mean over
    the `visible` keys. `key` and `query` are the two sides; `error` is the largest difference between the sum of the
    shares and the model's own score, over all visible keys, as a part of the largest score.
    """

    model: str
    head: Head
    name: str
    key: SplitSide
    query: SplitSide
    score: float
    centred: float
    weight: float
    visible: int
    error: float

    def as_record(self, count: int = 10) -> dict[str, Any]:
        """What a page draws: see docs/reference/app.md."""
        return {
            "model": self.model,
            "head": {"name": self.name, **self.head._asdict()},
            "score": self.score,
            "centred": self.centred,
            "weight": self.weight,
            "visible": self.visible,
            "sum": sum(one.score for one in self.key.components),
            "error": self.error,
            "key": self.key.as_record(count),
            "query": self.query.as_record(count),
            "chain": self.chain(),
        }

    def chain(self) -> list[dict[str, Any]]:
        """Lines back through the layers: the look itself, then on each side the head that did most for it, if any did.

        Each has a head, the position it runs at (`query`) and the one it reads most from (`key`); those after the first
        also the line that they lead into (`into`, a number in this list) and by which `side`.
        """
        lines: list[dict[str, Any]] = [
            {**self.head._asdict(), "query": self.query.position, "key": self.key.position, "share": self.weight}
        ]
        for side, split in (("key", self.key), ("query", self.query)):
            heads = [
                one for one in split.components[:LEADING] if one.kind == "head" and one.centred > 0 and one.sources
            ]
            for best in heads[:1]:
                place = {"kind": best.attention, "layer": best.layer, "head": best.head}
                read = {"query": split.position, "key": best.sources[0].position, "share": best.centred}
                lines.append({**place, **read, "into": 0, "side": side})
        return lines

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = [
            {"side": side, "position": split.position, "token": split.token, **vars(one)}
            for side, split in (("key", self.key), ("query", self.query))
            for one in split.components
        ]
        return columns_of(rows, _COLUMNS)

    def __rich_console__(self, *_: Any) -> Any:
        from regard.printing.split import why_report

        yield from why_report(self)


def why(
    model: Model,
    text: Text,
    head: Heads,
    query: int | str = -1,
    key: int | str | None = None,
    pair: str | None = None,
    *,
    target: Target = None,
    generate: int | None = None,
    truncate: bool = False,
    check: bool = True,
) -> Why:
    """Split the score of a head from a query to a key over what made them.

    Parameters
    ----------
    text, pair, target
        What the model reads.
    head
        One head: "18.6", (18, 6), or "cross:1.3".
    query, key
        Positions, token texts, or both ("cat@7"); the last token unless given, and the key to which it looks most.
    generate
        Let a causal model continue for this many tokens first, as in a trace.
    truncate
        Cut a text that is too long.
    check
        Also remove parts for real and say how well their shares agree; takes a run of the model over some 50 rows.
    """
    options: dict[str, Any] = {"target": target, "generate": generate, "truncate": truncate, "check": check}
    return whys(model, text, [head], query, key, pair, **options)[0]


def whys(
    model: Model,
    text: Text,
    heads: Sequence[Heads],
    query: int | str,
    key: int | str | None = None,
    pair: str | None = None,
    *,
    target: Target = None,
    generate: int | None = None,
    truncate: bool = False,
    check: bool = False,
) -> list[Why]:
    """The same for several heads of a text; those of one layer share its runs."""
    engine = model._engine
    asked = [one_head(head, engine.layout()) for head in heads]
    row, beside = encode_text(engine, text, pair, target, Answering(generate), truncate=truncate)
    inputs, book = engine.collate([row], [beside])
    ends = []
    for one in asked:
        queries, keys = sides_of(book.sides[0], one.kind)
        ends.append((position_of(queries, query), None if key is None else position_of(keys, key)))
    found: dict[Head, Why] = {}
    with alone(engine.module), torch.enable_grad():  # whatever the caller has set
        ready = engine.ready(inputs)
        for place in dict.fromkeys((one.kind, one.layer) for one in asked):
            true = plain_run(engine.module, ready, engine.plan(), engine.places(), place)
            run = frozen_run(engine.module, ready, engine.plan(), engine.places(), place)
            for one, (at, to) in zip(asked, ends, strict=True):
                if (one.kind, one.layer) == place:
                    split = SplitScores(engine, one, true, run, book.sides[0])
                    look = split.look(at, to)
                    found[one] = _why(split, look, split.agreements(look, ready) if check else (None, None))
    return [found[one] for one in asked]


def _why(split: SplitScores, look: SplitLook, agreements: tuple[Agreement | None, Agreement | None]) -> Why:
    queries, keys = sides_of(split.sides, split.head.kind)
    total = look.scores + look.bias
    name = component_of(StreamPart("head", *split.head), split.engine.layout()).name
    return Why(
        model=split.engine.name,
        head=split.head,
        name=name,
        key=SplitSide(look.key, keys[look.key].text, split.key_components(look), agreements[0]),
        query=SplitSide(look.query, queries[look.query].text, split.query_components(look), agreements[1]),
        score=float(total[look.key]),
        centred=float(total[look.key] - total[look.visible].mean()),
        weight=float(look.weights[look.key]),
        visible=int(look.visible.sum()),
        error=look.error,
    )
