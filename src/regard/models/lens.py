"""Next words over the layers: what the end of a decoder would say of the state after each layer (a logit lens).

Enters: a text and a position. Leaves: `Lens`, for each layer the words that its state would give.

    logits_l = unembedding(final norm(h_l))                                    h_0: embeddings, h_L: what the model says

All that comes after the last layer, the final norm, the map to words, a scale or a soft cap, is the model's own: its
last layer's output is replaced by the states of all layers, side by side. The last one must give the model's logits.
A lens: layers before the last were not trained to be read this way, and what they hold may be there in another form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from regard.base.errors import UserError
from regard.capture.alone import alone
from regard.capture.frozen import frozen_run
from regard.capture.prefix import blocks_of
from regard.models.outcome import Answering, encode_text, prompt_end, side_of
from regard.models.writes import SplitLogits
from regard.trace.picking import position_of
from regard.trace.records import Tabular, columns_of
from regard.trace.sentences import refusal

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.engine import Engine
    from regard.models.model import Model

_NEAR = 1e-4  # of the largest logit


@dataclass(frozen=True)
class LensWord:
    """A word and the probability that it has."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class LensLayer:
    """What the state after so many layers would say: its likeliest words, and the answer's place (from 0) among all."""

    layers: int
    words: tuple[LensWord, ...]
    rank: int
    probability: float


@dataclass(frozen=True)
class Lens(Tabular):
    """The next word after a position, layer by layer.

    `answer` is what the model says. `rows` has an entry for each state, the embeddings (0 layers) first; `leads` is the
    number of layers from which on the answer comes first and stays first. `error` is the largest difference between
    the last row and the model's logits, as a part of the largest. `parts`, if asked for, are the shares of every head,
    MLP and embedding in the answer's logit, against the mean over the vocabulary, largest first.
    """

    model: str
    position: int
    token: str
    answer: LensWord
    rows: tuple[LensLayer, ...]
    leads: int
    error: float
    parts: tuple[tuple[str, float], ...] = ()

    def as_record(self) -> dict[str, Any]:
        """What a page or a script reads."""
        rows = [{**vars(row), "words": [vars(word) for word in row.words]} for row in self.rows]
        parts = [{"name": name, "logit": logit} for name, logit in self.parts]
        return {**vars(self), "answer": vars(self.answer), "rows": rows, "parts": parts}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = (
            {"layers": row.layers, "place": place, **vars(word), "answer_place": row.rank, "answer": row.probability}
            for row in self.rows
            for place, word in enumerate(row.words)
        )
        return columns_of(rows, ("layers", "place", "token", "id", "probability", "answer_place", "answer"))

    def __rich_console__(self, *_: Any) -> Any:
        from regard.printing.lens import lens_report

        yield from lens_report(self)


def lens(
    model: Model,
    text: Text,
    position: int | str | None = None,
    *,
    target: Target = None,
    generate: int | None = None,
    top: int = 5,
    parts: bool = False,
    truncate: bool = False,
) -> Lens:
    """What a decoder would say next after each of its layers.

    Parameters
    ----------
    text, target
        What the model reads.
    position
        After which token: a position, a token's text, or both ("cat@7"); the last one unless given, or the end of the
        prompt if the text is continued.
    generate
        Continue the text by so many tokens first, as in a trace.
    top
        How many words to list for each layer.
    parts
        Also split the answer's logit over heads, MLPs and embeddings, as `regard.models.writes` does.

    Examples
    --------
    >>> lens(model, "The capital of France is").answer.token  # doctest: +SKIP
    ' Paris'
    """
    engine = model._engine
    row, beside = encode_text(engine, text, None, target, Answering(generate), truncate=truncate)
    inputs, book = engine.collate([row], [beside])
    side = side_of(engine, book)
    at = position_of(side.tokens, prompt_end(side) if position is None else position)
    with alone(engine.module):
        logits, error = lens_logits(engine, inputs, at)
        made = _parts(engine, inputs, at) if parts else ()
    shares = logits.softmax(-1)
    answer = int(logits[-1].argmax())

    def word(state: int, number: int) -> LensWord:
        return LensWord(engine.tokenizer.decode([number]), number, float(shares[state, number]))

    best = logits.topk(min(top, logits.shape[-1]), -1).indices.tolist()
    rows = tuple(
        LensLayer(
            state,
            tuple(word(state, number) for number in numbers),
            int((logits[state] > logits[state, answer]).sum()),
            float(shares[state, answer]),
        )
        for state, numbers in enumerate(best)
    )
    return Lens(engine.name, at, side.tokens[at].text, word(-1, answer), rows, _leads(rows), error, made)


def _parts(engine: Engine, inputs: Mapping[str, Any], position: int) -> tuple[tuple[str, float], ...]:
    with torch.enable_grad():
        run = frozen_run(engine.module, engine.ready(inputs), engine.plan(), engine.places())
        return SplitLogits(engine, run, position, engine.run(inputs).logits[0, position]).components()


def _leads(rows: tuple[LensLayer, ...]) -> int:
    """The first state from which on the answer is first."""
    behind = [row.layers for row in rows if row.rank > 0]
    return behind[-1] + 1 if behind else 0


def lens_logits(engine: Engine, inputs: Mapping[str, Any], position: int) -> tuple[torch.Tensor, float]:
    """(L + 1, V) logits of every state at a position, and how far the last ones are from the model's own."""
    own = {path: some for path, some in engine.places().items() if all(place.kind == "decoder" for place in some)}
    blocks = blocks_of(engine.module, own)
    if not blocks:
        raise _none(engine)
    states: list[torch.Tensor] = []
    with _keeping(blocks, states, position):
        true = getattr(engine.run(inputs), "logits", None)
    if true is None or true.ndim != 3 or true.shape[-1] != engine.config.get_text_config().vocab_size:
        raise _none(engine)
    stacked = torch.stack(states)  # (L + 1, D)
    with _replacing(blocks[-1], stacked):
        found = engine.run(inputs).logits.flatten(0, 1)[: len(stacked)].float()  # (L + 1, V)
    last = true[0, position].float()
    error = float((found[-1] - last).abs().max() / last.abs().max().clamp(min=1e-6))
    if not error <= _NEAR:
        raise _none(engine)
    return found, error


def _none(engine: Engine) -> UserError:
    return UserError(refusal("lens_none", model=type(engine.module).__name__))


@contextmanager
def _keeping(blocks: list[torch.nn.Module], states: list[torch.Tensor], position: int) -> Iterator[None]:
    """Keep what enters the first block at a position, and what leaves each."""

    def entering(_block: torch.nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        states.append((args[0] if args else given["hidden_states"])[0, position])

    def leaving(_block: torch.nn.Module, _args: Any, output: Any) -> None:
        states.append(_state(output)[0, position])

    hooks = [blocks[0].register_forward_pre_hook(entering, with_kwargs=True)]
    hooks += [block.register_forward_hook(leaving) for block in blocks]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def _replacing(block: torch.nn.Module, states: torch.Tensor) -> Iterator[None]:
    """Give these states to whatever follows a block, in rows as long as its own: what follows knows no positions."""

    def replace(_block: torch.nn.Module, _args: Any, output: Any) -> Any:
        length = _state(output).shape[1]
        rows = -(-len(states) // length)
        packed = states.new_zeros(rows * length, states.shape[-1])
        packed[: len(states)] = states
        packed = packed.view(rows, length, -1)
        return (packed, *output[1:]) if isinstance(output, tuple) else packed

    hook = block.register_forward_hook(replace)
    try:
        yield
    finally:
        hook.remove()


def _state(output: Any) -> torch.Tensor:
    """(B, T, D) what a block hands on."""
    found: torch.Tensor = output[0] if isinstance(output, tuple) else output
    return found
