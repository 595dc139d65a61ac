"""What heads are worth on one text: the model's predictions with and without them.

Enters: a `Model`, a text and heads. Leaves: an `Effect`: predictions at a position (language models), labels
(classifiers) or hidden states (models without either), before and after, for each way of switching heads off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from regard.ablation.comparing import Row, compare, kl, predict, predict_all, row_columns
from regard.ablation.yardstick import Yardstick, yardstick
from regard.capture import Means
from regard.capture.copies import repeated
from regard.models.ablated import ablated, modes_of
from regard.models.means import NAME
from regard.models.outcome import ABOUT, about_of, actual_of, hide, position_of, side_of
from regard.trace.heads import Heads, Shows, names_of, names_patterns, parse_heads
from regard.trace.records import Tabular
from regard.trace.sentences import Message, note
from regard.trace.tokens import Token

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.model import Model

_LIKELY = ("masked token", "next token", "labels", "token labels")  # whose change is a divergence


@dataclass(frozen=True, eq=False)
class Effect(Tabular):
    """What switching heads off changes on one text.

    `kl` is KL(before || after) in nats at the position, by mode; `kls` the same at every position of a causal model.
    `actual` is the token that the text has there, `reference` names the texts of the mean outputs, `yardstick` says how
    many other heads change more. Probabilities in
    `rows` are over the whole vocabulary or all labels.
    """

    model: str
    heads: tuple[str, ...]
    modes: tuple[str, ...]
    about: str
    tokens: tuple[str, ...]
    position: int | None
    rows: tuple[Row, ...]
    kl: dict[str, float] = field(default_factory=dict)
    kls: dict[str, tuple[float, ...]] = field(default_factory=dict)
    actual: str | None = None
    reference: str | None = None
    notes: tuple[Message, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    yardstick: Yardstick | None = None

    def as_record(self) -> dict[str, Any]:
        """The effect as plain lists and dictionaries, for JSON; `coded` has code and values of each note."""
        return {**asdict(self), "meaning": ABOUT[self.about], "coded": [one.record for one in self.notes]}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return row_columns(self.rows)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from regard.printing.tables import effect_report

        yield from effect_report(self)


def effect(  # long because of its arguments and their descriptions
    model: Model,
    text: Text,
    pair: str | None = None,
    *,
    heads: Heads,
    modes: Sequence[str] | str | None = None,
    means: Means | None = None,
    patterns: Iterable[Shows] | None = None,
    target: Target = None,
    position: int | None = None,
    top: int = 5,
    truncate: bool = False,
    compared: bool = False,
) -> Effect:
    """Compare a model's predictions on a text with and without some heads.

    Parameters
    ----------
    heads
        As `Model.ablate` reads them; names of patterns mean the heads that show them on this text, unless `patterns`
        are given.
    modes
        Which ways of switching heads off to compare; all possible ones unless given.
    means
        Mean outputs for mode "mean", from `head_means`; without them, means over the sentences included in regard.
    position
        The token whose prediction is compared, from 0; negative counts from the end. Masked language models: this
        token is masked; without a position, the first [MASK] of the text. Causal models: the token after it; without
        a position, after the last token. Encoder-decoder models: a position of the target.
    top
        How many predictions to list per run.
    compared
        Whether to switch other heads off too, one at a time, to say how many change more; for a single head.

    Examples
    --------
    >>> effect(model, "The capital of France is", heads="5.4").kl["zero"]  # doctest: +SKIP
    """
    row, beside = model._engine.read(text, pair, target, truncate=truncate)
    inputs, book = model._engine.collate([row], [beside])
    if patterns is None and names_patterns(heads):
        patterns = model.trace(text, pair, target=target, truncate=truncate).patterns()
    chosen = parse_heads(heads, model.layout(), patterns)
    selected, notes = _modes(model, modes)
    about, told = about_of(model._engine)
    side = side_of(model._engine, book)
    tokens, place = side.tokens, position_of(model._engine, about, side, position)
    hide(model._engine, about, inputs, place)
    before = predict(model, inputs, about)
    after = predict_without(model, inputs, about, chosen, selected, means)
    measured = compared and len(chosen) == 1 and (about in _LIKELY or (about == "hidden states" and place is None))
    return Effect(
        model=model.name,
        heads=tuple(names_of(chosen, model.layout())),
        modes=selected,
        about=about,
        tokens=tuple(token.text for token in tokens),
        position=place,
        actual=text_of_token(actual_of(about, tokens, place)),
        reference=NAME if "mean" in selected and means is None else None,
        notes=(*told, *notes),
        facts=model.facts,
        yardstick=_yardstick(model, inputs, about, place, before, chosen[0]) if measured else None,
        **compare(model, about, tokens, place, before, after, top),
    )


def text_of_token(token: Token | None) -> str | None:
    """How a token is written, if there is one."""
    return None if token is None else token.text


def _modes(model: Model, modes: Sequence[str] | str | None) -> tuple[tuple[str, ...], list[Message]]:
    """The modes to run, and a note about any that is left out."""
    if modes is not None:
        return ((modes,) if isinstance(modes, str) else tuple(modes)), []
    possible = modes_of(model)
    return possible, [] if "uniform" in possible else [note("no_uniform")]


def _yardstick(
    model: Model, inputs: dict[str, Any], about: str, place: int | None, before: torch.Tensor, head: Any
) -> Yardstick | None:
    """How a head's change compares with that of other heads."""

    def change(after: torch.Tensor) -> float:
        if about == "hidden states":
            return 1 - float(torch.nn.functional.cosine_similarity(before.mean(0), after.mean(0), 0))
        here = slice(None) if place is None else place
        return float(kl(before.log_softmax(-1), after.log_softmax(-1))[here])

    length = next(one.shape[-1] for one in inputs.values() if isinstance(one, torch.Tensor) and one.ndim > 1)
    return yardstick(
        model, head, length, partial(repeated, inputs), lambda some: predict_all(model, some, about), change
    )


def predict_without(
    model: Model, inputs: dict[str, Any], about: str, heads: Heads, modes: Sequence[str], means: Means | None
) -> dict[str, torch.Tensor]:
    """The same with heads switched off, by mode."""
    found: dict[str, torch.Tensor] = {}
    for mode in modes:
        with ablated(model, heads, mode=mode, means=means):
            found[mode] = predict(model, inputs, about)
    return found
