"""Coming from BertViz: `head_view` and `model_view` with the same arguments, showing regard's views.

Enters: attention tensors and tokens as BertViz takes them. Leaves: a widget in the notebook, or a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.base.errors import UserError
from regard.trace.tokens import Segment
from regard.trace.trace import Trace


def head_view(
    attention: Any = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    html_action: str = "view",
) -> Any:
    """Lines between tokens, like `bertviz.head_view`, with the same arguments."""
    trace = _trace(
        attention,
        tokens,
        sentence_b_start,
        prettify_tokens,
        {"encoder": encoder_attention, "decoder": decoder_attention, "cross": cross_attention},
        {"encoder": encoder_tokens, "decoder": decoder_tokens},
    )
    if include_layers is not None:
        trace = trace.select(layers=include_layers)
    return _shown(trace, html_action, view="heads", layer=layer, heads=heads)


def model_view(
    attention: Any = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    display_mode: str = "dark",
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    html_action: str = "view",
) -> Any:
    """All layers and heads at once, like `bertviz.model_view`; light or dark follows the notebook."""
    del display_mode
    trace = _trace(
        attention,
        tokens,
        sentence_b_start,
        prettify_tokens,
        {"encoder": encoder_attention, "decoder": decoder_attention, "cross": cross_attention},
        {"encoder": encoder_tokens, "decoder": decoder_tokens},
    )
    if include_layers is not None or include_heads is not None:
        trace = trace.select(layers=include_layers, heads=include_heads)
    return _shown(trace, html_action, view="atlas")


def _trace(
    attention: Any,
    tokens: Sequence[str] | None,
    sentence_b_start: int | None,
    prettify: bool,
    maps: dict[str, Any],
    texts: dict[str, Sequence[str] | None],
) -> Trace:
    given = {kind: value for kind, value in maps.items() if value is not None}
    if attention is None and not given:
        raise UserError("pass attention and tokens, or encoder_attention, decoder_attention or cross_attention")
    if attention is not None:
        if given:
            raise UserError("pass attention alone, or the encoder, decoder and cross arguments, not both")
        if tokens is None:
            raise UserError("tokens is required: the token texts the model saw, special tokens included")
        return Trace.from_maps(attention, _pretty(tokens, prettify), segments=_segments(len(tokens), sentence_b_start))
    sides = {name: _pretty(side, prettify) for name, side in texts.items() if side is not None}
    return Trace.from_maps(given, sides)


def _segments(length: int, start: int | None) -> tuple[Segment, ...]:
    if start is None:
        return ()
    if not 0 < start < length:
        raise UserError(
            f"sentence_b_start is {start}, but there are {length} tokens; pass the place where sentence B begins"
        )
    return Segment("A", 0, start), Segment("B", start, length)


def _pretty(tokens: Sequence[str], prettify: bool) -> list[str]:
    """Tokens with the marks of byte-level and SentencePiece tokenizers replaced by the spaces they stand for."""
    if not prettify:
        return list(tokens)
    return [token.replace("Ġ", " ").replace("▁", " ").replace("Ċ", "\n").replace("</w>", "") for token in tokens]


def _shown(trace: Trace, action: str, **first: Any) -> Any:
    if action == "view":
        from IPython.display import display

        display(trace.view(**first))
        return None
    if action == "return":
        from IPython.display import HTML

        from regard.views.html import page_of

        return HTML(page_of(trace, **first).decode())
    raise UserError(f"html_action must be 'view' or 'return', not {action!r}")
