"""The rows of a model that produce an answer, and nothing else of the text.

Enters: a causal language model, a prompt and an answer. Leaves: an `AnswerRun`: q of the rows that predict the
answer, k and v of all positions, and the gradients of the answer's log probability at the outputs of heads.

The prompt runs once, without gradients, and leaves its keys and values; its last token and the answer run on top of
them, forward and backward. These are the rows that generation had. No position of the prompt depends on the answer,
so their gradients are those of a full pass: all at the price of reading the prompt, and no map is ever held.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from regard.base.errors import TooLongError, UserError
from regard.capture import output_gradients
from regard.capture.alone import alone
from regard.capture.gradients import Gradients
from regard.capture.operation import Operation
from regard.capture.tiers import undisturbed
from regard.models.cutting import require_cuttable
from regard.models.outcome import output_of
from regard.models.prepare import Encoded
from regard.models.reread import cache_of
from regard.trace.pieces import answer_side
from regard.trace.tokens import Segment, Side

if TYPE_CHECKING:
    from regard.models.engine import Engine

GENERATED = 32  # most tokens of an answer that the model gives itself


def written_prompt(engine: Engine, prompt: str, question: str | None, chat: bool) -> tuple[str, int]:
    """The text that the model reads, and where the prompt begins in it."""
    if not prompt.strip():
        raise UserError("the prompt is empty; pass the text that the answer came from")
    body = prompt if question is None else f"{prompt.rstrip()}\n\n{question}"
    if not chat:
        return body, 0
    engine.need_tokenizer()
    if not getattr(engine.tokenizer, "chat_template", None):
        raise UserError(f"{engine.name} has no chat template; leave out chat (--chat)")
    said = [{"role": "user", "content": body}]
    text = str(engine.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True))
    first = engine.tokenizer.bos_token
    if first and text.startswith(first) and engine.encode("a").ids[0] == engine.tokenizer.bos_token_id:
        text = text.removeprefix(first)  # the tokenizer puts it there itself
    at = text.find(prompt.strip())
    if at < 0:
        raise UserError(f"the chat template of {engine.name} changes the prompt; leave out chat (--chat)")
    return text, at - (len(prompt) - len(prompt.lstrip()))


def encode_answer(engine: Engine, text: str, answer: str | None, count: int = GENERATED) -> Encoded:
    """A prompt and its answer as one text with two segments; without an answer, what the model generates greedily.

    Special tokens that end a generated answer are left out. A given answer begins with a space if the prompt ends
    without one.
    """
    require_causal(engine)
    if answer is None:
        return answer_row(engine, engine.continue_text(text, count))
    if not answer.strip():
        raise UserError("the answer is empty; pass at least one word, or none to let the model answer")
    prompt = engine.encode(text)
    apart = text[-1:].isspace() or answer[:1].isspace()
    ids = list(engine.tokenizer(answer if apart else f" {answer}", add_special_tokens=False)["input_ids"])
    length = len(prompt.ids) + len(ids)
    if engine.limit is not None and length > engine.limit:
        raise TooLongError(
            f"prompt and answer have {length} tokens but the model takes at most {engine.limit}; shorten the prompt",
            length,
            engine.limit,
        )
    side = answer_side(engine.tokenizer, ids, "text", prompt.side)
    return _joined(Encoded(prompt.ids + ids, None, side), len(prompt.ids), length)


def answer_row(engine: Engine, row: Encoded) -> Encoded:
    """A text that ends with an answer as one of two segments; special tokens that end it are left out."""
    start, end = row.side.segments[-1].start, len(row.ids)
    while end > start and row.side.tokens[end - 1].special:
        end -= 1
    if end == start:
        raise UserError(f"{engine.name} answers this prompt with nothing; pass the answer (--answer)")
    return _joined(row, start, end)


def require_causal(engine: Engine) -> None:
    """Refuse a model that does not continue a text, or whose vectors are hidden."""
    if engine.is_encoder_decoder or not engine.can_generate:
        raise UserError(f"{engine.name} does not continue a text; this needs a causal language model")
    require_cuttable(engine)


def _joined(row: Encoded, start: int, end: int) -> Encoded:
    segments = (Segment("prompt", 0, start), Segment("answer", start, end))
    return Encoded(row.ids[:end], None, Side("text", row.side.tokens[:end], segments), None, row.cut)


@dataclass(frozen=True, eq=False)
class AnswerRun:
    """The rows that produce an answer: row 0 is the prompt's last token, which predicts the first of the answer.

    `operations` and `gradients` are by (kind, layer), `logs` the (n,) log probabilities of the answer's tokens, `ranks`
    how many tokens were likelier than each; `first` is the position of row 0. A layer with a window may hold the last
    keys alone: `offset` gives the position of its first.
    """

    operations: dict[tuple[str, int], Operation]
    gradients: Gradients
    logs: torch.Tensor
    ranks: torch.Tensor
    first: int

    @property
    def keys(self) -> int:
        """How many positions the last row may see."""
        return self.first + len(self.logs)

    def offset(self, place: tuple[str, int]) -> int:
        """The position of a layer's first key."""
        return self.keys - self.operations[place].keys


class ReadPrompt:
    """A prompt that the model has read: its keys and values, on which answers run."""

    def __init__(self, engine: Engine, row: Encoded) -> None:
        self.engine, self.row = engine, row
        self.first = row.side.segments[0].end - 1  # the last token of the prompt
        if self.first < 1:
            raise UserError("the prompt has one token; pass a longer one")
        engine.places()
        self._cache = cache_of(engine, torch.tensor([row.ids[: self.first]]))
        if self._cache is None:
            raise UserError(
                f"{engine.name} keeps no keys and values of what it has read, so its answers cannot be replayed"
            )

    def inputs(self) -> dict[str, Any]:
        """What the model reads on top of the prompt: its last token, and the answer without the last one."""
        ids = torch.tensor([self.row.ids[self.first : -1]])
        mask = torch.ones(1, len(self.row.ids) - 1, dtype=torch.long)
        given = {"input_ids": ids, "attention_mask": mask, "use_cache": True}
        return {**self.engine.ready(given), "past_key_values": deepcopy(self._cache)}  # a run adds to its cache

    def logs(self, output: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """(n,) log probabilities of the answer's tokens, and how many tokens are likelier than each."""
        logs = output_of(self.engine, "next token", output)[0].float().log_softmax(-1)  # (n, V)
        own = logs.gather(-1, torch.tensor(self.row.ids[self.first + 1 :], device=logs.device)[:, None])
        return own[:, 0], (logs > own).sum(-1)

    def answer(self) -> AnswerRun:
        """The rows of the answer, with gradients of its log probability."""
        found: list[torch.Tensor] = []

        def measure(output: Any) -> torch.Tensor:
            logs, ranks = self.logs(output)
            found.extend((logs.detach(), ranks))
            return logs.sum()

        engine = self.engine
        with alone(engine.module):
            operations, gradients = output_gradients(
                engine.module, self.inputs(), engine.plan(), engine.places(), measure
            )
        logs, ranks = found
        return AnswerRun(self._named(operations), gradients, logs, ranks, self.first)

    def value(self) -> float:
        """The log probability of the answer, under whatever edits are open."""
        with undisturbed(self.engine.module):
            return float(self.logs(self.engine.module(**self.inputs()))[0].sum())

    def _named(self, operations: list[Operation]) -> dict[tuple[str, int], Operation]:
        """Operations by the kind and layer that traces give them."""
        places, calls = self.engine.places(), Counter[str]()
        rows, keys = len(self.row.ids) - 1 - self.first, len(self.row.ids) - 1
        found: dict[tuple[str, int], Operation] = {}
        for one in operations:
            own = places.get(one.path, ())
            if not own or one.part:
                continue
            place = own[calls[one.path] % len(own)]
            calls[one.path] += 1
            if one.v is None or one.queries != rows or one.keys > keys:
                raise UserError(
                    f"{self.engine.name} does not read an answer on top of its prompt in a way that regard knows"
                )
            found[place.kind, place.layer] = one
        return found
