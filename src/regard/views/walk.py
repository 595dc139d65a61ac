"""The walk: one page that goes through a layer step by step with the model's own numbers.

Enters: a model and a text. Leaves: a trace with the layer opened, as an HTML page that works offline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import UserError
from regard.trace.trace import Trace
from regard.views.html import save_html

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.transformer.model import Translator
    from regard.transformer.walk import Walk


@dataclass(frozen=True, eq=False)
class Walked:
    """A trace and the layer that was opened on it; `said` is a translator's answer."""

    trace: Trace
    walk: Walk
    said: str | None = None
    unknown: tuple[str, ...] = ()  # words the vocabulary has no pieces for

    def save(self, path: str | Path) -> Path:
        """Write the page; it also has the other views of the trace."""
        return save_html(self.trace, path, view="walk", layer=self.walk.layer, heads=[0], walk=self.walk)


def walk(
    text: str,
    model: Model | None = None,
    *,
    target: str | None = None,
    generate: int | None = None,
    layer: int = 0,
    truncate: bool = False,
) -> Walked:
    """Open one layer of a model on a text.

    Parameters
    ----------
    text
        What the model reads.
    model
        A translator of regard's own, or a hub model: the BERT family, Marian and BART (`regard.transformer.weights`),
        T5 and mT5 (`regard.transformer.t5`), GPT-2, Llama, Mistral and Qwen2 (`regard.transformer.decoders`); without
        one, the built-in translator.
    target
        What a translator's decoder reads; without it, the model's own answer (the same as in a trace).
    generate
        How many tokens a decoder without an encoder adds to the text first.
    layer
        The layer to open.
    truncate
        Cut a text that is too long for the model instead of refusing it.

    Examples
    --------
    >>> walk("Hello, how are you?").said
    'Hola, ¿qué tal?'
    """
    from regard.models.load import load
    from regard.transformer.weights import DECODERS, RELATIVE

    model = load("translator") if model is None else model
    if _type_of(model.module) in DECODERS:
        return _continued(text, model, generate, layer, truncate)
    if generate:
        raise UserError("generate needs a decoder without an encoder, such as GPT-2 or Llama; leave it out")
    if _type_of(model.module) in RELATIVE:
        return _related(text, model, target, layer, truncate)
    return _read(text, model, target, layer, truncate)


def _continued(text: str, model: Model, generate: int | None, layer: int, truncate: bool) -> Walked:
    """The walk through a decoder alone; the run that is opened is the model's own."""
    from regard.capture.alone import alone
    from regard.transformer.decoders import walk_decoder

    trace = model.trace(text, generate=generate, truncate=truncate)
    ids = [token.id or 0 for token in trace.side().tokens]
    with alone(model.module):
        opened = walk_decoder(model.module, ids, layer=layer, tokenizer=model.tokenizer)
    return Walked(trace, opened, None, _unknown(model.tokenizer, text))


def _related(text: str, model: Model, target: str | None, layer: int, truncate: bool) -> Walked:
    """The walk through T5; the run that is opened is the model's own."""
    from regard.capture.alone import alone
    from regard.transformer.t5 import walk_t5

    trace = model.trace(text, target=target, truncate=truncate)
    ids, decoder = ([token.id or 0 for token in trace.side(name).tokens] for name in ("encoder", "decoder"))
    with alone(model.module):
        opened = walk_t5(model.module, ids, decoder, layer=layer, tokenizer=model.tokenizer)
    said = model.tokenizer.decode(decoder[1:], skip_special_tokens=True)
    return Walked(trace, opened, said, _unknown(model.tokenizer, text))


def _read(text: str, model: Model, target: str | None, layer: int, truncate: bool) -> Walked:
    """The walk through an encoder, and a decoder that reads it; the model is rebuilt from its weights."""
    from regard.transformer.model import Bert, Translator
    from regard.transformer.walk import walk_through
    from regard.transformer.weights import from_hugging_face

    own = model.module if isinstance(model.module, (Bert, Translator)) else from_hugging_face(model.module)
    trace = model.trace(text, target=target, truncate=truncate, attribution=isinstance(own, Bert))
    sides = {name: [token.id or 0 for token in side.tokens] for name, side in trace.sides.items()}
    decoder = sides.get("decoder", [])
    opened = walk_through(own, next(iter(sides.values())), decoder, layer=layer, tokenizer=model.tokenizer)
    said = _decode(own, model.tokenizer, decoder) if isinstance(own, Translator) else None
    return Walked(trace, opened, said, _unknown(model.tokenizer, text))


def can_walk(module: Any) -> bool:
    """Whether there is a walk through a model of this type."""
    from regard.transformer.model import Bert, Translator
    from regard.transformer.weights import DECODERS, ENCODERS, RELATIVE, TRANSLATORS

    known = ENCODERS + TRANSLATORS + DECODERS
    whole = _type_of(module) in RELATIVE and hasattr(module, "decoder")
    return isinstance(module, (Bert, Translator)) or whole or _type_of(module) in known


def _type_of(module: Any) -> str | None:
    return getattr(getattr(module, "config", None), "model_type", None)


def _decode(own: Translator, tokenizer: Any, ids: list[int]) -> str:
    from regard.transformer.translator import recased

    return recased(tokenizer.decode(ids[1:], skip_special_tokens=True), own.capitals)


def _unknown(tokenizer: Any, text: str) -> tuple[str, ...]:
    unknown = getattr(tokenizer, "unk_token_id", None)
    return tuple(word for word in text.split() if unknown in tokenizer(word, verbose=False)["input_ids"])
