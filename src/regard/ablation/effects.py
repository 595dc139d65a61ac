"""What heads are worth on one text: the model's predictions with and without them.

Enters: a `Model`, a text and heads. Leaves: an `Effect`: predictions at a position (language models), labels
(classifiers) or hidden states (models without either), before and after, for each way of switching heads off.

Long on purpose: predictions, labels and hidden states share how heads are switched off and what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from regard.capture import Means
from regard.capture.finite import require_finite_output
from regard.errors import OutOfRangeError, UserError
from regard.models.ablated import ablated, modes_of
from regard.models.means import NAME
from regard.models.predicting import predicted_token
from regard.trace.heads import Heads, Shows, names_of, names_patterns, parse_heads
from regard.trace.sentences import Message, note
from regard.trace.tokens import Token

if TYPE_CHECKING:
    from regard.capture import Book
    from regard.models.model import Model

# What is compared, by what the model's class predicts.
ABOUT = {
    "masked token": "which token is at a masked position",
    "next token": "which token comes next",
    "labels": "label of the text",
    "token labels": "label of a token",
    "score": "score of the text",
    "hidden states": "cosine between the last hidden states before and after",
}
EVERYTHING = "(mean of all tokens)"


@dataclass(frozen=True)
class Row:
    """One prediction: its probability before, and in each mode after; for hidden states a token and its cosines.

    `code` is "mean" in the row of the mean over all tokens.
    """

    name: str
    before: float | None
    after: dict[str, float]
    code: str = ""


@dataclass(frozen=True, eq=False)
class Effect:
    """What switching heads off changes on one text.

    `kl` is KL(before || after) in nats at the position, by mode; `kls` the same at every position of a causal model.
    `actual` is the token that the text has there, `reference` names the texts of the mean outputs. Probabilities in
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

    def as_record(self) -> dict[str, Any]:
        """The effect as plain lists and dictionaries, for JSON; `coded` has code and values of each note."""
        return {**asdict(self), "meaning": ABOUT[self.about], "coded": [one.record for one in self.notes]}

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from regard.printing.tables import effect_report

        yield from effect_report(self)


def effect(  # long because of its arguments and their descriptions
    model: Model,
    text: str,
    pair: str | None = None,
    *,
    heads: Heads,
    modes: Sequence[str] | str | None = None,
    means: Means | None = None,
    patterns: Iterable[Shows] | None = None,
    target: str | None = None,
    position: int | None = None,
    top: int = 5,
    truncate: bool = False,
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

    Examples
    --------
    >>> effect(model, "The capital of France is", heads="5.4").kl["zero"]  # doctest: +SKIP
    """
    inputs, book = model._engine.collate([model._engine.encode(text, pair, truncate=truncate)], [target])
    if patterns is None and names_patterns(heads):
        patterns = model.trace(text, pair, target=target, truncate=truncate).patterns()
    chosen = parse_heads(heads, model.layout(), patterns)
    selected, notes = _modes(model, modes)
    about, told = _about(model)
    tokens = _tokens(model, book)
    place = _position(model, about, tokens, position)
    if about == "masked token":
        assert place is not None
        inputs["input_ids"][0, place] = model.tokenizer.mask_token_id
    before = _predict(model, inputs, about)
    after = _predict_without(model, inputs, about, chosen, selected, means)
    return Effect(
        model=model.name,
        heads=tuple(names_of(chosen, model.layout())),
        modes=selected,
        about=about,
        tokens=tuple(token.text for token in tokens),
        position=place,
        actual=_actual(about, tokens, place),
        reference=NAME if "mean" in selected and means is None else None,
        notes=(*told, *notes),
        facts=model.facts,
        **_compare(model, about, tokens, place, before, after, top),
    )


@dataclass(frozen=True)
class Said:
    """What a model says of a text: likeliest tokens or labels, and an encoder-decoder model's answer.

    With heads switched off, `after` of the rows and `answer_after` are what it says without them. `rows` is empty where
    a position is needed first, and for models that say nothing (`about` is then "hidden states").
    """

    model: str
    about: str
    tokens: tuple[str, ...]
    position: int | None
    rows: tuple[Row, ...]
    actual: str | None = None
    answer: str | None = None
    answer_after: str | None = None

    def as_record(self) -> dict[str, Any]:
        """The same as plain lists and dictionaries, for JSON."""
        return asdict(self)


def said(
    model: Model,
    text: str,
    pair: str | None = None,
    *,
    heads: Heads = (),
    mode: str = "zero",
    target: str | None = None,
    generate: int | None = None,
    position: int | None = None,
    top: int = 5,
    truncate: bool = False,
) -> Said:
    """What a model says: the tokens it expects at a position, the labels it gives, the answer it writes.

    Parameters are those of `effect`; `generate` continues the text first, as in a trace. Without a position, masked
    models and those that label tokens say nothing yet.

    Examples
    --------
    >>> said(model, "The capital of France is").rows[0].name  # doctest: +SKIP
    """
    engine = model._engine
    row = engine.continue_text(text, generate, truncate=truncate) if generate else None
    row = row or engine.encode(text, pair, truncate=truncate)
    if generate and position is None:
        position = row.side.segments[0].end - 1  # the end of the prompt: what the model went on to say stands after it
    inputs, book = engine.collate([row], [target])
    about, _ = _about(model)
    tokens = _tokens(model, book)
    found: dict[str, Any] = {"model": model.name, "about": about, "tokens": tuple(token.text for token in tokens)}
    chosen = parse_heads(heads, model.layout(), None) if heads else ()
    if model.is_encoder_decoder:
        found["answer"] = _answer(model, tokens)
        if chosen and target is None:
            with ablated(model, chosen, mode=mode):
                found["answer_after"] = _answer(model, _tokens(model, engine.collate([row], [None])[1]))
    masks = [i for i, token in enumerate(tokens) if token.id == getattr(model.tokenizer, "mask_token_id", -1)]
    unplaced = position is None and (about == "token labels" or (about == "masked token" and not masks))
    if about == "hidden states" or unplaced:
        return Said(**found, position=None, rows=())
    whole = about in ("labels", "score")
    place = _position(model, about, tokens, None if whole else position)
    if about == "masked token":
        assert place is not None
        inputs["input_ids"][0, place] = model.tokenizer.mask_token_id
    before = _predict(model, inputs, about)
    after = _predict_without(model, inputs, about, chosen, (mode,), None) if chosen else {}
    rows = _compare(model, about, tokens, place, before, after, top)["rows"]
    return Said(**found, position=place, rows=rows, actual=_actual(about, tokens, place))


def _answer(model: Model, tokens: Sequence[Token]) -> str:
    """The text that a decoder wrote, without its special tokens."""
    from regard.transformer.translator import recased

    ids = [token.id for token in tokens[1:] if token.id is not None]
    text = str(model.tokenizer.decode(ids, skip_special_tokens=True))
    capitals = getattr(model.module, "capitals", None)
    return text if capitals is None else recased(text, capitals)


def _modes(model: Model, modes: Sequence[str] | str | None) -> tuple[tuple[str, ...], list[Message]]:
    """The modes to run, and a note about any that is left out."""
    if modes is not None:
        return ((modes,) if isinstance(modes, str) else tuple(modes)), []
    possible = modes_of(model)
    return possible, [] if "uniform" in possible else [note("no_uniform")]


def _about(model: Model) -> tuple[str, list[Message]]:
    """What the model predicts, and a note where it predicts nothing."""
    name = type(model.module).__name__
    if "ForSequenceClassification" in name:
        return ("score" if model.config.num_labels == 1 else "labels"), []
    if "ForTokenClassification" in name:
        return "token labels", []
    token = predicted_token(model._engine)
    return (token, []) if token else ("hidden states", [note("no_predictions", name=name)])


def _tokens(model: Model, book: Book) -> tuple[Token, ...]:
    """The tokens at whose positions the model predicts something."""
    sides = book.sides[0]
    return (sides["decoder"] if model.is_encoder_decoder else next(iter(sides.values()))).tokens


def _position(model: Model, about: str, tokens: Sequence[Token], position: int | None) -> int | None:
    if about in ("labels", "score"):
        if position is not None:
            raise UserError(f"{type(model.module).__name__} labels the whole text; pass no position")
        return None
    if position is not None:
        if not -len(tokens) <= position < len(tokens):
            raise OutOfRangeError(f"there is no position {position}; the text has {len(tokens)} tokens, from 0")
        return position % len(tokens)
    if about == "masked token":
        mask = model.tokenizer.mask_token
        found = [i for i, token in enumerate(tokens) if token.id == model.tokenizer.mask_token_id]
        if not found:
            raise UserError(f"pass the position of the token to predict, or write {mask} in its place")
        return found[0]
    if about == "token labels":
        raise UserError(f"{type(model.module).__name__} labels single tokens; pass the position of one")
    if about == "hidden states":
        return None
    return 0 if model.is_encoder_decoder else len(tokens) - 1


def _actual(about: str, tokens: Sequence[Token], place: int | None) -> str | None:
    """The token that the text has where the model predicts."""
    if about == "masked token" and place is not None and not tokens[place].special:
        return tokens[place].text
    if about == "next token" and place is not None and place + 1 < len(tokens):
        return tokens[place + 1].text
    return None


def _predict(model: Model, inputs: dict[str, Any], about: str) -> torch.Tensor:
    """(positions, choices) or (choices,) logits, or (positions, d) hidden states, of the one text."""
    found = model._engine.run(inputs)
    if about == "hidden states":
        hidden = getattr(found, "last_hidden_state", None)
        if hidden is None:
            raise UserError(
                f"{type(model.module).__name__} returns neither predictions nor hidden states that could be compared"
            )
    else:
        hidden = getattr(found, "logits", found)
    require_finite_output(hidden)
    return hidden[0].float()  # type: ignore[no-any-return]


def _predict_without(
    model: Model, inputs: dict[str, Any], about: str, heads: Heads, modes: Sequence[str], means: Means | None
) -> dict[str, torch.Tensor]:
    """The same with heads switched off, by mode."""
    found: dict[str, torch.Tensor] = {}
    for mode in modes:
        with ablated(model, heads, mode=mode, means=means):
            found[mode] = _predict(model, inputs, about)
    return found


def _compare(
    model: Model,
    about: str,
    tokens: Sequence[Token],
    place: int | None,
    before: torch.Tensor,
    after: dict[str, torch.Tensor],
    top: int,
) -> dict[str, Any]:
    """The rows of an effect, and its divergences."""
    if about == "hidden states":
        return {"rows": tuple(_cosines(tokens, place, before, after))}
    if about == "score":
        return {"rows": (Row("score", float(before[0]), {mode: float(one[0]) for mode, one in after.items()}),)}
    labels = about in ("labels", "token labels")
    if about == "labels" and getattr(model.config, "problem_type", None) == "multi_label_classification":
        return {"rows": tuple(_rows(model, labels, before.sigmoid(), {m: a.sigmoid() for m, a in after.items()}, top))}
    logs = {mode: one.log_softmax(-1) for mode, one in after.items()}
    first = before.log_softmax(-1)
    divergences = {mode: _kl(first, one) for mode, one in logs.items()}
    here = slice(None) if place is None else place
    rows = _rows(model, labels, first[here].exp(), {mode: one[here].exp() for mode, one in logs.items()}, top)
    found: dict[str, Any] = {"rows": tuple(rows), "kl": {mode: float(one[here]) for mode, one in divergences.items()}}
    if about == "next token":
        found["kls"] = {mode: tuple(one.tolist()) for mode, one in divergences.items()}
    return found


def _kl(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """KL(before || after) in nats along the last axis of log-probabilities; () becomes (1,) for a slice to take."""
    terms = torch.where(before > -torch.inf, before.exp() * (before - after), 0)
    total = terms.sum(-1).clamp(min=0)
    return total[None] if total.ndim == 0 else total


def _rows(model: Model, labels: bool, before: torch.Tensor, after: dict[str, torch.Tensor], top: int) -> Iterator[Row]:
    """The likeliest predictions of every run, by their probability before; for labels, all of them."""
    count = len(before) if labels else min(top, len(before))
    picked = {int(i) for one in (before, *after.values()) for i in one.topk(count).indices}
    for i in sorted(picked, key=lambda i: -float(before[i])):
        name = str(model.config.id2label[i]) if labels else _piece(model.tokenizer, i)
        yield Row(name, float(before[i]), {mode: float(one[i]) for mode, one in after.items()})


def _piece(tokenizer: Any, token: int) -> str:
    """A token as it is written, leading space included; bytes that form no character as the tokenizer names them."""
    text = str(tokenizer.decode([token]))
    return text if text and "\ufffd" not in text else str(tokenizer.convert_ids_to_tokens(token))


def _cosines(
    tokens: Sequence[Token], place: int | None, before: torch.Tensor, after: dict[str, torch.Tensor]
) -> Iterator[Row]:
    """How each token's last hidden state turns, and their mean (the sentence embedding of many encoders)."""
    cosine = torch.nn.functional.cosine_similarity
    for i, token in enumerate(tokens):
        if place in (None, i):
            yield Row(token.text, None, {mode: float(cosine(before[i], one[i], 0)) for mode, one in after.items()})
    if place is None:
        mean = before.mean(0)
        turned = {mode: float(cosine(mean, one.mean(0), 0)) for mode, one in after.items()}
        yield Row(EVERYTHING, None, turned, "mean")
