"""Tasks: what a model has to do while its heads are switched off, and how well it does, example by example.

Enters: examples of a corpus. Leaves: one number per example and run (right or wrong, a loss, a cosine), and how those
of a whole corpus become a score.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from regard.ablation.labelled import label_name
from regard.base.errors import UserError
from regard.capture.finite import require_finite_output
from regard.corpus.batches import Item
from regard.corpus.sums import Array

if TYPE_CHECKING:
    from regard.corpus.readers.source import Example
    from regard.models.model import Model

MASKED = 0.15  # share of a text's words that is hidden from a masked language model
IGNORE = -100


@dataclass(eq=False)
class TaskBatch:
    """Some examples as questions: the model's inputs, and the expected answer to each example."""

    inputs: dict[str, Any]
    expected: torch.Tensor  # (B,) labels or scores, or (B, T) ids with -100 where nothing is asked
    counts: Array  # (B,) how many questions each example holds


class Task(ABC):
    """What is asked of the model, and how its answers are scored.

    `sign` is 1 where a higher score is better, `column` the column that the corpus needs besides the text, `copies` the
    number of inputs per example, `tokens` how many padded tokens run at once.
    """

    name: ClassVar[str]
    score: ClassVar[str]
    sign: ClassVar[int] = 1
    ranks: ClassVar[bool] = False  # the score is a rank correlation with what is expected
    column: ClassVar[str | None] = None
    copies: ClassVar[int] = 1
    tokens: ClassVar[int] = 2048

    def __init__(self, model: Model, column: str | None = None) -> None:
        self.label = column or self.column
        self.check(model)

    @abstractmethod
    def check(self, model: Model) -> None:
        """Raise if the model cannot do this task, and say why."""

    def learn(self, examples: list[Example]) -> None:  # noqa: B027 (texts alone need no look)
        """Look at all examples beforehand, so that labels that make no sense are reported before anything runs."""

    @abstractmethod
    def ask(self, model: Model, items: list[Item]) -> TaskBatch:
        """The inputs of some examples."""

    @abstractmethod
    def values(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        """(B,) how well each example went, summed over its questions."""

    @abstractmethod
    def losses(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        """(B,) a loss for each example, to take gradients of."""


class Classification(Task):
    """Sequence classification: the share of examples whose label is predicted correctly."""

    name = "classification"
    score = "accuracy"
    column = "label"

    def check(self, model: Model) -> None:
        self.names = {
            number: label_name(name) for number, name in (getattr(model.config, "id2label", None) or {}).items()
        }
        if not type(model.module).__name__.endswith("ForSequenceClassification") or model.is_encoder_decoder:
            raise UserError(
                f"{model.name} ({type(model.module).__name__}) does not classify texts; train a classifier with "
                "`regard train classifier`, or choose another --task"
            )

    def learn(self, examples: list[Example]) -> None:
        found = {label_name(example.fields[self.label or ""]) for example in examples}
        self.numbers = {name: number for number, name in self.names.items()}
        if not found <= set(self.numbers):
            numbers = {str(number): number for number in self.names}  # a file may number the labels
            if not found <= set(numbers):
                strange = ", ".join(sorted(found - set(self.numbers))[:3])
                known = ", ".join(self.names[number] for number in sorted(self.names))
                raise UserError(f"the model does not know the label {strange}; its labels are {known}")
            self.numbers = numbers

    def ask(self, model: Model, items: list[Item]) -> TaskBatch:
        inputs, _ = model._engine.collate([item.encoded for item in items])
        labels = [self.numbers[label_name(item.example.fields[self.label or ""])] for item in items]
        return TaskBatch(inputs, torch.tensor(labels), np.ones(len(items)))

    def values(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        require_finite_output(output.logits)
        right: torch.Tensor = output.logits.argmax(-1).cpu() == batch.expected
        return right.double()

    def losses(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        require_finite_output(output.logits)
        return cross_entropy(output.logits.float(), batch.expected.to(output.logits.device), reduction="none")


class _LanguageModel(Task):
    """The loss over the words that the model has to predict."""

    score = "loss"
    sign = -1
    tokens = 512  # the output has a number for each word of the vocabulary at each position

    def values(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        return self._each(output, batch).sum(-1).double().cpu()

    def losses(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        each = self._each(output, batch)
        return each.sum(-1) / torch.from_numpy(batch.counts).to(each).clamp(min=1)

    def _each(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        """(B, T) losses, 0 where nothing is asked."""
        logits = output.logits.float()
        expected = batch.expected.to(logits.device)
        lost = cross_entropy(logits.flatten(0, 1), expected.flatten(), reduction="none", ignore_index=IGNORE)
        require_finite_output(lost.reshape(expected.shape), "the model's loss")
        return lost.reshape(expected.shape)


class MaskedLanguageModel(_LanguageModel):
    """Masked language modelling: 15 % of the words are hidden, the same ones in every run."""

    name = "masked-lm"

    def check(self, model: Model) -> None:
        if not type(model.module).__name__.endswith(("ForMaskedLM", "ForPreTraining")):
            raise UserError(
                f"{model.name} ({type(model.module).__name__}) has no masked language model head; choose another --task"
            )
        if getattr(model.tokenizer, "mask_token_id", None) is None:
            raise UserError(f"the tokenizer of {model.name} has no mask token; choose another --task")

    def ask(self, model: Model, items: list[Item]) -> TaskBatch:
        inputs, _ = model._engine.collate([item.encoded for item in items])
        ids = inputs["input_ids"]
        expected = torch.full_like(ids, IGNORE)
        for row, item in enumerate(items):
            for place in _hidden(item):
                expected[row, place] = ids[row, place]
        inputs["input_ids"] = ids.masked_fill(expected != IGNORE, model.tokenizer.mask_token_id)
        return TaskBatch(inputs, expected, (expected != IGNORE).sum(-1).double().numpy())


def _hidden(item: Item) -> list[int]:
    """Places of the words to hide, drawn by the example's number; at least one."""
    words = [place for place, token in enumerate(item.encoded.side.tokens) if not token.special]
    if not words:
        return []
    drawn = np.random.Generator(np.random.Philox(key=[0, item.number])).random(len(words))
    return [place for place, chance in zip(words, drawn, strict=True) if chance < max(MASKED, drawn.min() + 1e-12)]


class CausalLanguageModel(_LanguageModel):
    """Causal language modelling: the loss of every next token."""

    name = "causal-lm"

    def check(self, model: Model) -> None:
        if not model.can_generate or model.is_encoder_decoder:
            raise UserError(
                f"{model.name} ({type(model.module).__name__}) has no causal language model head; choose another --task"
            )

    def ask(self, model: Model, items: list[Item]) -> TaskBatch:
        inputs, _ = model._engine.collate([item.encoded for item in items])
        ids, real = inputs["input_ids"], inputs["attention_mask"].bool()
        expected = torch.full_like(ids, IGNORE)
        expected[:, :-1] = ids[:, 1:].masked_fill(~real[:, 1:], IGNORE)
        return TaskBatch(inputs, expected, (expected != IGNORE).sum(-1).double().numpy())


class SimilarityTask(Task):
    """Sentence similarity: cosines of mean-pooled embeddings, ranked against human scores (STS)."""

    name = "sts"
    score = "Spearman correlation"
    ranks = True
    column = "score"
    copies = 2

    def check(self, model: Model) -> None:
        name = type(model.module).__name__
        if "For" in name or "LMHead" in name or model.is_encoder_decoder:
            raise UserError(f"{model.name} ({name}) gives no embeddings; sts needs an encoder without a task head")

    def learn(self, examples: list[Example]) -> None:
        gold = [_number(example.fields[self.label or ""], self.label) for example in examples]
        if any(example.pair is None for example in examples):
            raise UserError("sts compares two sentences; name the column of the second one with --pair")
        self.low, self.high = min(gold), max(gold)
        if self.low == self.high:
            raise UserError(f"every example has the score {self.low:g}; there is nothing to rank")

    def ask(self, model: Model, items: list[Item]) -> TaskBatch:
        pairs = [item.example.pair or "" for item in items]
        texts = [item.example.text for item in items] + pairs
        inputs, _ = model._engine.collate([model._engine.encode(text, truncate=True) for text in texts])
        gold = torch.tensor([_number(item.example.fields[self.label or ""], self.label) for item in items])
        return TaskBatch(inputs, gold, np.ones(len(items)))

    def values(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        return self._cosines(output, batch).double().cpu()

    def losses(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        """Squared distance between the cosine and the score, scaled to 0 .. 1."""
        cosines = self._cosines(output, batch)
        gold = (batch.expected.to(cosines) - self.low) / (self.high - self.low)
        return (cosines - gold) ** 2

    def _cosines(self, output: Any, batch: TaskBatch) -> torch.Tensor:
        states = output.last_hidden_state.float()  # (2 B, T, D)
        real = batch.inputs["attention_mask"].to(states)[..., None]
        one, other = ((states * real).sum(1) / real.sum(1)).chunk(2)
        cosines = cosine_similarity(one, other, dim=-1)
        require_finite_output(cosines)
        return cosines


def _number(value: Any, column: str | None) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UserError(
            f"the score {value!r} in the column {column!r} is not a number; name another column with --label"
        ) from None


TASKS: dict[str, type[Task]] = {
    task.name: task for task in (Classification, MaskedLanguageModel, CausalLanguageModel, SimilarityTask)
}


def task_for(model: Model, name: str | None = None, column: str | None = None) -> Task:
    """The task of this name, or the one that the model is made for."""
    if name is not None:
        if name not in TASKS:
            raise UserError(f"there is no task {name!r}; choose from {', '.join(TASKS)}")
        return TASKS[name](model, column)
    for task in TASKS.values():
        try:
            return task(model, column)
        except UserError:
            continue
    raise UserError(
        f"{model.name} ({type(model.module).__name__}) fits no task; there are {', '.join(TASKS)}, each for models "
        "made for it"
    )
