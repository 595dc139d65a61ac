"""What a model's output says of a text, and the one number of it that heads and lines are judged by.

Enters: an engine, a text's inputs and tokens. Leaves: what the model's class predicts, where, and an `Outcome`: the log
probability of a token or label, a score, or the similarity of two sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from regard.base.errors import OutOfRangeError, UserError
from regard.capture.finite import require_finite_output
from regard.models.predicting import predicted_token
from regard.models.sampling import GREEDY, Sampling
from regard.trace.sentences import Message, note
from regard.trace.tokens import Side, Token

if TYPE_CHECKING:
    from regard.capture import Book
    from regard.models.base import Target, Text
    from regard.models.engine import Engine
    from regard.models.prepare import Encoded

# What is compared, by what the model's class predicts.
ABOUT = {
    "masked token": "which token is at a masked position",
    "next token": "which token comes next",
    "labels": "label of the text",
    "token labels": "label of a token",
    "score": "score of the text",
    "hidden states": "cosine between the last hidden states before and after",
}
_LABELLED = ("ForSequenceClassification", "ForImageClassification", "ForAudioClassification")  # in names of classes
TURN = "turn"  # of the mean last hidden state, for one sentence; it has no gradient
SIMILARITY = "similarity"  # of two sentences: what an outcome is of a model without predictions


@dataclass(frozen=True)
class Answering:
    """How a causal model continues a text first: for so many tokens (None: not at all), how they are chosen, until."""

    count: int | None = None
    sampling: Sampling = GREEDY
    stop: tuple[str, ...] = ()


def encode_text(
    engine: Engine,
    text: Text,
    pair: str | None,
    target: Target,
    answer: Answering = Answering(),  # noqa: B008 (it is frozen)
    *,
    truncate: bool = False,
    segment_ids: bool = True,
) -> tuple[Encoded, Target]:
    """A text as the model reads it, continued if asked, and what a decoder beside it reads."""
    if answer.count is None:
        return engine.read(text, pair, target, truncate=truncate, segment_ids=segment_ids)
    if target is not None and engine.is_causal:
        raise UserError("pass either a target, which is the answer, or generate=, not both")
    more: dict[str, Any] = {"sampling": answer.sampling, "stop": answer.stop}
    return engine.continue_text(text, answer.count, truncate=truncate, **more), target


def about_of(engine: Engine) -> tuple[str, list[Message]]:
    """What the model predicts, and a note where it predicts nothing."""
    name = type(engine.module).__name__
    if any(kind in name for kind in _LABELLED):
        return ("score" if engine.config.num_labels == 1 else "labels"), []
    if "ForTokenClassification" in name:
        return "token labels", []
    token = predicted_token(engine)
    return (token, []) if token else ("hidden states", [note("no_predictions", name=name)])


def side_of(engine: Engine, book: Book) -> Side:
    """The tokens at whose positions the model predicts something."""
    sides = book.sides[0]
    return sides["decoder"] if engine.is_encoder_decoder else next(iter(sides.values()))


def prompt_end(side: Side) -> int:
    """The last position before an answer; that of the text where there is none."""
    return next((part.start for part in side.segments if part.name == "answer"), len(side.tokens)) - 1


def position_of(engine: Engine, about: str, side: Side, position: int | None) -> int | None:
    """The position whose prediction is compared; None where the model says one thing of the whole text.

    A text with an answer is judged at the end of its prompt unless told: what the model went on to say stands after it.
    """
    tokens = side.tokens
    if about in ("labels", "score"):
        if position is not None:
            raise UserError(f"{type(engine.module).__name__} labels the whole text; pass no position")
        return None
    if position is not None:
        if not -len(tokens) <= position < len(tokens):
            raise OutOfRangeError(f"there is no position {position}; the text has {len(tokens)} tokens, from 0")
        return position % len(tokens)
    if about == "masked token":
        mask = engine.tokenizer.mask_token
        found = [i for i, token in enumerate(tokens) if token.id == engine.tokenizer.mask_token_id]
        if not found:
            raise UserError(f"pass the position of the token to predict, or write {mask} in its place")
        return found[0]
    if about == "token labels":
        raise UserError(f"{type(engine.module).__name__} labels single tokens; pass the position of one")
    if about == "hidden states":
        return None
    if engine.is_encoder_decoder:
        return 0
    return prompt_end(side)


def actual_of(about: str, tokens: Sequence[Token], place: int | None) -> Token | None:
    """The token that the text has where the model predicts."""
    if about == "masked token" and place is not None and not tokens[place].special:
        return tokens[place]
    if about == "next token" and place is not None and place + 1 < len(tokens):
        return tokens[place + 1]
    return None


def hide(engine: Engine, about: str, inputs: dict[str, Any], place: int | None, book: Book | None = None) -> None:
    """Put the mask token where a masked language model is asked for one, in its inputs and among the tokens shown."""
    if about != "masked token":
        return
    assert place is not None
    inputs["input_ids"][0, place] = engine.tokenizer.mask_token_id
    if book is not None:
        side = side_of(engine, book)
        mask = replace(
            side.tokens[place], text=engine.tokenizer.mask_token, id=engine.tokenizer.mask_token_id, special=True
        )
        tokens = (*side.tokens[:place], mask, *side.tokens[place + 1 :])
        book.sides[0][side.name] = replace(side, tokens=tokens)


def output_of(engine: Engine, about: str, found: Any) -> torch.Tensor:
    """(B, positions, choices) or (B, choices) logits, or (B, positions, d) hidden states, of the model's own output."""
    if about == "hidden states":
        hidden = getattr(found, "last_hidden_state", None)
        if hidden is None:
            raise UserError(
                f"{type(engine.module).__name__} returns neither predictions nor hidden states that could be compared"
            )
    else:
        hidden = getattr(found, "logits", found)
    require_finite_output(hidden)
    return hidden  # type: ignore[no-any-return]


def choice_name(engine: Engine, about: str, index: int) -> str:
    """A label by its name, a token as it is written."""
    return str(engine.config.id2label[index]) if "labels" in about else piece(engine.tokenizer, index)


def chances_of(engine: Engine, logits: torch.Tensor) -> torch.Tensor:
    """(..., labels) probabilities of a classifier's labels; each by itself where several may hold."""
    several = getattr(engine.config, "problem_type", None) == "multi_label_classification"
    return logits.sigmoid() if several else logits.softmax(-1)


def piece(tokenizer: Any, token: int) -> str:
    """A token as it is written, leading space included; bytes that form no character as the tokenizer names them."""
    text = str(tokenizer.decode([token]))
    return text if text and "\ufffd" not in text else str(tokenizer.convert_ids_to_tokens(token))


@dataclass(frozen=True, eq=False)
class Outcome:
    """One number of a model's output, and its name.

    `about` is as in `ABOUT`, or "similarity"; `position` and `index` say which log probability it is, `name` the
    token or label. `of` takes (B, ...) outputs, as `output_of` gives them, to (B,) numbers.
    """

    about: str
    position: int | None
    index: int | None
    name: str
    of: Callable[[torch.Tensor], torch.Tensor] = field(repr=False)

    @property
    def is_probability(self) -> bool:
        """Whether the number is the logarithm of a probability."""
        return self.about not in ("score", SIMILARITY, TURN)


def outcome_of(
    engine: Engine,
    about: str,
    side: Side,
    place: int | None,
    plain: torch.Tensor,
    token: str | int | None = None,
) -> Outcome | None:
    """The number that lines are judged by; None where the model has none for this text.

    Parameters
    ----------
    plain
        The model's own output for the text, without its batch axis; of predictions, those at the place may be alone.
    token
        The token or label; without one, the token that the text has there, or the likeliest.
    """
    if about == "hidden states":
        return _similarity(side)
    if about == "score":
        return Outcome(about, None, 0, "score", lambda output: output[:, 0])
    here = plain if place is None else plain[place if len(plain) > 1 else 0]  # (choices,)
    actual = actual_of(about, side.tokens, place)
    if token is not None:
        index = _choice(engine, about, token, len(here))
    elif actual is not None and actual.id is not None:
        index = actual.id
    else:
        index = int(here.argmax())
    several = getattr(engine.config, "problem_type", None) == "multi_label_classification"
    chances = torch.nn.functional.logsigmoid if about == "labels" and several else _log_softmax

    def of(output: torch.Tensor) -> torch.Tensor:
        here = output if place is None else output[:, place if output.shape[1] > 1 else 0]  # or predictions there alone
        return chances(here.float())[:, index]

    return Outcome(about, place, index, choice_name(engine, about, index), of)


def turn_of(plain: torch.Tensor) -> Outcome:
    """How far the mean of the last hidden states turns: the cosine with what it is without any edit."""
    mean = plain.float().mean(0)

    def of(output: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cosine_similarity(output.float().mean(1), mean[None], dim=-1)

    return Outcome(TURN, None, None, TURN, of)


def _log_softmax(logits: torch.Tensor) -> torch.Tensor:
    return logits.log_softmax(-1)


def _similarity(side: Side) -> Outcome | None:
    """Cosine between the mean last hidden states of two sentences that the model reads together."""
    parts = [[i for i in range(segment.start, segment.end) if not side.tokens[i].special] for segment in side.segments]
    if len(parts) != 2 or not all(parts):
        return None

    def of(output: torch.Tensor) -> torch.Tensor:
        first, second = (output[:, part].float().mean(1) for part in parts)
        return torch.nn.functional.cosine_similarity(first, second, dim=-1)

    return Outcome(SIMILARITY, None, None, SIMILARITY, of)


def _choice(engine: Engine, about: str, token: str | int, count: int) -> int:
    """The index of a label or of a token of the vocabulary."""
    if isinstance(token, int):
        if not 0 <= token < count:
            raise OutOfRangeError(f"there is no choice {token}; they count from 0 to {count - 1}")
        return token
    if "labels" in about:
        names = {str(name): int(index) for index, name in engine.config.id2label.items()}
        if token not in names:
            raise UserError(f"there is no label {token!r}; choose from {', '.join(names)}")
        return names[token]
    forms = [token] if token.startswith(" ") or about != "next token" else [" " + token, token]
    known = [engine.tokenizer(form, add_special_tokens=False)["input_ids"] for form in forms]
    single = [ids[0] for ids in known if len(ids) == 1 and ids[0] != getattr(engine.tokenizer, "unk_token_id", None)]
    if not single:
        first = piece(engine.tokenizer, known[0][0]) if known[0] else ""
        raise UserError(
            f"{token!r} is not one token of {engine.name}, which can be asked only for single tokens"
            + (f"; its first one is {first!r}" if first and first.strip() != token.strip() else "")
        )
    return int(single[0])
