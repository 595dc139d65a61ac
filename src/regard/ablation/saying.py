"""What a model says of a text, a picture or a sound, with and without some heads.

Enters: a `Model` and what it is shown. Leaves: a `Said`: tokens it expects, labels it gives, the answer it writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from regard.ablation.comparing import Row, compare, predict
from regard.ablation.effects import predict_without, text_of_token
from regard.models.ablated import ablated
from regard.models.hearing import sound_inputs
from regard.models.outcome import Answering, about_of, actual_of, encode_text, hide, position_of, side_of
from regard.models.sight import picture_inputs
from regard.trace.heads import Heads, parse_heads
from regard.trace.tokens import Token

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.model import Model


@dataclass(frozen=True)
class Said:
    """What a model says of a text, a picture or a sound: likeliest tokens or labels, or an encoder-decoder's answer.

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
    text: Text,
    pair: str | None = None,
    *,
    heads: Heads = (),
    mode: str = "zero",
    target: Target = None,
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
    row, beside = encode_text(engine, text, pair, target, Answering(generate), truncate=truncate)
    inputs, book = engine.collate([row], [beside])
    about, _ = about_of(model._engine)
    side = side_of(model._engine, book)
    tokens = side.tokens
    found: dict[str, Any] = {"model": model.name, "about": about, "tokens": tuple(token.text for token in tokens)}
    chosen = parse_heads(heads, model.layout(), None) if heads else ()
    if model.is_encoder_decoder:
        found["answer"] = _answer(model, tokens)
        if chosen and target is None:
            with ablated(model, chosen, mode=mode):
                found["answer_after"] = _answer(model, side_of(engine, engine.collate([row], [None])[1]).tokens)
    masks = [i for i, token in enumerate(tokens) if token.id == getattr(model.tokenizer, "mask_token_id", -1)]
    unplaced = position is None and (about == "token labels" or (about == "masked token" and not masks))
    if about == "hidden states" or unplaced:
        return Said(**found, position=None, rows=())
    whole = about in ("labels", "score")
    place = position_of(model._engine, about, side, None if whole else position)
    hide(model._engine, about, inputs, place)
    before = predict(model, inputs, about)
    after = predict_without(model, inputs, about, chosen, (mode,), None) if chosen else {}
    rows = compare(model, about, tokens, place, before, after, top)["rows"]
    return Said(**found, position=place, rows=rows, actual=text_of_token(actual_of(about, tokens, place)))


def said_of(
    model: Model,
    text: str | None = None,
    *,
    image: Any = None,
    audio: Any = None,
    heads: Heads = (),
    mode: str = "zero",
    generate: int | None = None,
    top: int = 5,
) -> Said:
    """What a model says of a picture or a sound: the labels it gives, or what follows a text about the picture.

    Parameters are those of `Model.trace` and of `said`. Of what a decoder writes beside an encoder nothing is said.

    Examples
    --------
    >>> said_of(model, image="photo.jpg").rows[0].name  # doctest: +SKIP
    """
    engine = model._engine
    about, _ = about_of(engine)
    if model.is_encoder_decoder or about not in ("labels", "score", "next token"):
        return Said(model=model.name, about="hidden states", tokens=(), position=None, rows=())
    if image is None:
        inputs, book, _ = sound_inputs(engine, audio)
    else:
        inputs, book, _ = picture_inputs(engine, image, text, None, Answering(generate))
    tokens: tuple[Token, ...] = ()
    place = None
    if about == "next token":
        side = side_of(engine, book)
        tokens, place = side.tokens, position_of(engine, about, side, None)
    before = predict(model, inputs, about)
    chosen = parse_heads(heads, model.layout(), None) if heads else ()
    after = predict_without(model, inputs, about, chosen, (mode,), None) if chosen else {}
    return Said(
        model=model.name,
        about=about,
        tokens=tuple(token.text for token in tokens),
        position=place,
        rows=compare(model, about, tokens, place, before, after, top)["rows"],
        actual=text_of_token(actual_of(about, tokens, place)),
    )


def _answer(model: Model, tokens: Sequence[Token]) -> str:
    """The text that a decoder wrote, without its special tokens."""
    from regard.transformer.translator import recased

    ids = [token.id for token in tokens[1:] if token.id is not None]
    text = str(model.tokenizer.decode(ids, skip_special_tokens=True))
    capitals = getattr(model.module, "capitals", None)
    return text if capitals is None else recased(text, capitals)
