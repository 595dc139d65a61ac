"""BERT from plain text: hidden words, and whether one line follows another.

Enters: a text file, one sentence or paragraph per line, empty lines between documents. Leaves: a checkpoint; after
every epoch, how well it does on unseen lines, compared with guessing by frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor

from regard.base.errors import UserError
from regard.transformer.config import Config
from regard.transformer.model import Bert, cross_entropy
from regard.transformer.tokenizing import train_wordpiece
from regard.transformer.training import Trainer, TrainingSettings, by_length, read_lines

HIDDEN = 0.15  # share of the words to be guessed: 80 % become [MASK], 10 % another word, 10 % stay
TOKENS = 512  # per batch: small, because leaving the word frequencies behind takes many steps
APART = 0.05  # share of the lines set aside for evaluation
FEWEST = 100  # with fewer lines, all are used for training and nothing is measured
IGNORE = -100
_PAD, _CLS, _SEP, _MASK, _FIRST = 0, 2, 3, 4, 5  # ids that train_wordpiece gives; words begin at 5

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


class Sentences:
    """The task: pairs of lines, half of them neighbours, with some words hidden."""

    def __init__(self, documents: Sequence[Sequence[str]], tokenizer: Any, seed: int, config: Config) -> None:
        self.seed, self.tokenizer, self.config = seed, tokenizer, config
        self.ids: list[list[int]] = []
        self.next: list[int | None] = []  # the next line, if there is one
        most = (config.length - 3) // 2  # [CLS], [SEP] and [SEP] take three positions
        for lines in documents:
            whole = tokenizer(list(lines), add_special_tokens=False, verbose=False)["input_ids"]
            # a paragraph that does not fit is cut into runs that do, so that all text is used
            rows = [row[at : at + most] for row in whole for at in range(0, len(row), most)]
            for i, row in enumerate(rows):
                self.next.append(len(self.ids) + 1 if i + 1 < len(rows) else None)
                self.ids.append(row)
        self.firsts = [i for i, following in enumerate(self.next) if following is not None]

    def frequencies(self) -> Tensor:
        """(V,) log of each word's share of the text, with one added to each count so that no word is impossible."""
        words = torch.tensor([i for row in self.ids for i in row])
        counts = torch.bincount(words, minlength=self.config.vocabulary) + 1.0
        return (counts / counts.sum()).log()

    def batches(self, epoch: int) -> list[Batch]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        pairs = [self._pair(i, generator) for i in self.firsts]
        lengths = [len(ids) for ids, _, _ in pairs]
        rows = by_length(lengths, TOKENS, generator)
        return [self._batch([pairs[i] for i in chosen], generator) for chosen in rows]

    def _pair(self, first: int, generator: torch.Generator) -> tuple[list[int], int, int]:
        """Ids of [CLS] A [SEP] B [SEP], where B begins, and 1 if B is not the next line."""
        other, which = torch.rand(2, generator=generator).tolist()
        following = self.next[first]
        assert following is not None
        apart = int(other < 0.5)
        second = int(which * len(self.ids)) if apart else following
        room = self.config.length - 3
        a = self.ids[first][: room // 2]
        b = self.ids[second][: room - len(a)]
        return [_CLS, *a, _SEP, *b, _SEP], len(a) + 2, apart

    def _batch(self, pairs: list[tuple[list[int], int, int]], generator: torch.Generator) -> Batch:
        longest = max(len(ids) for ids, _, _ in pairs)
        ids = torch.tensor([row + [_PAD] * (longest - len(row)) for row, _, _ in pairs])  # (B, T)
        starts = torch.tensor([start for _, start, _ in pairs])
        segments = ((torch.arange(longest) >= starts[:, None]) & (ids != _PAD)).long()
        hidden, targets = hide(ids, self.config.vocabulary, generator)
        return hidden, segments, targets, torch.tensor([apart for _, _, apart in pairs])

    def loss(self, model: Bert, batch: Batch) -> Tensor:
        ids, segments, targets, apart = batch
        states = model(ids, ids != _PAD, segments)  # (B, T, D)
        hidden = targets != IGNORE  # logits over the vocabulary only where they are needed
        words = cross_entropy(model.masked_words(states[hidden]), targets[hidden])
        return words + cross_entropy(model.next_sentence(states), apart)

    def example(self, model: Bert) -> str:
        """A line of the text with one word hidden, and the model's guess."""
        first = max(self.firsts[:200], key=lambda i: len(self.ids[i][:30]))
        ids = [_CLS, *self.ids[first][:30], _SEP]
        place = len(ids) // 2
        masked = torch.tensor([ids])
        masked[0, place] = _MASK
        with torch.no_grad():
            guess = int(model.masked_words(model(masked))[0, place].argmax())
        around = self.tokenizer.decode(masked[0, max(1, place - 4) : place + 5])
        return f"{around} → {self.tokenizer.decode([guess])}"


@dataclass(frozen=True)
class Evaluation:
    """How well hidden words are guessed on unseen lines, and how well word frequencies alone would do."""

    loss: float  # mean -log p of the hidden word
    by_frequency: float  # the same, with each word's share of the training text as p
    right: float  # share of hidden words guessed
    most_frequent: float  # the same, when always guessing the most frequent word
    follows: float  # share of pairs classified correctly; chance is 0.5
    words: int  # number of hidden words

    def __str__(self) -> str:
        return (
            f"unseen lines: loss of hidden words {self.loss:.2f} (by frequency {self.by_frequency:.2f}), "
            f"right {self.right:.1%} (most frequent word {self.most_frequent:.1%}), "
            f"next line {self.follows:.1%} (chance 50 %), {self.words:,} hidden words"
        )


@torch.no_grad()
def measure(model: Bert, learned: Sentences, unseen: Sentences) -> Evaluation:
    """Evaluate hidden words and next lines on unseen text, with the same questions every time."""
    chances = learned.frequencies()
    answers, guessed, right_pairs, pairs = [], [], 0, 0
    losses = []
    for ids, segments, targets, apart in unseen.batches(0):
        states = model(ids, ids != _PAD, segments)  # (B, T, D)
        places = targets != IGNORE
        logits = model.masked_words(states[places])  # (words, V)
        losses.append(torch.nn.functional.cross_entropy(logits, targets[places], reduction="none"))
        answers.append(targets[places])
        guessed.append(logits.argmax(-1))
        right_pairs += int((model.next_sentence(states).argmax(-1) == apart).sum())
        pairs += len(apart)
    words, guesses = torch.cat(answers), torch.cat(guessed)
    return Evaluation(
        loss=float(torch.cat(losses).mean()),
        by_frequency=float(-chances[words].mean()),
        right=float((guesses == words).float().mean()),
        most_frequent=float((words == chances.argmax()).float().mean()),
        follows=right_pairs / pairs,
        words=len(words),
    )


@dataclass(eq=False)
class BertTask:
    """The task of `regard train bert`: lines for training, others for evaluation (None for a short text)."""

    learned: Sentences
    unseen: Sentences | None

    def batches(self, epoch: int) -> list[Batch]:
        return self.learned.batches(epoch)

    def loss(self, model: Bert, batch: Batch) -> Tensor:
        return self.learned.loss(model, batch)

    def report(self, model: Bert) -> str:
        example = self.learned.example(model)
        return example if self.unseen is None else f"{example}\n  {measure(model, self.learned, self.unseen)}"


def hide(ids: Tensor, vocabulary: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(B, T) ids with some words hidden, and the words that were there (-100 elsewhere)."""
    chance = torch.rand(ids.shape, generator=generator)
    chosen = (chance < HIDDEN) & (ids >= _FIRST)
    if not bool(chosen.any()):  # a batch without a question has no loss
        chosen = (ids >= _FIRST) & (chance == chance[ids >= _FIRST].min())
    targets = torch.where(chosen, ids, IGNORE)
    kind = torch.rand(ids.shape, generator=generator)
    other = torch.randint(_FIRST, vocabulary, ids.shape, generator=generator)
    hidden = torch.where(chosen & (kind < 0.8), _MASK, ids)
    return torch.where(chosen & (kind >= 0.8) & (kind < 0.9), other, hidden), targets


def read_documents(path: str | Path) -> list[list[str]]:
    """The lines of a text by document, separated by empty lines; one document if every line stands alone."""
    documents: list[list[str]] = [[]]
    for line in read_lines(path):
        if line.strip():
            documents[-1].append(line.strip())
        elif documents[-1]:
            documents.append([])
    found = [lines for lines in documents if len(lines) > 1] or [[line for lines in documents for line in lines]]
    if len(found[0]) < 2:
        raise UserError(f"{path} has fewer than two lines of text; write one sentence per line")
    return found


def kept_apart(documents: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Documents for training, and the last lines of the text for evaluation (none for a short text)."""
    wanted = int(APART * sum(map(len, documents)))
    if wanted < APART * FEWEST:
        return documents, []
    learned, unseen = [list(lines) for lines in documents], []
    while wanted > 0:
        last = learned.pop()
        if len(last) >= max(2, wanted) + 2:  # two lines or more on either side
            cut = len(last) - max(2, wanted)
            learned.append(last[:cut])
            last = last[cut:]
        unseen.append(last)
        wanted -= len(last)
    return learned, unseen[::-1]


def train_bert(
    data: str | Path,
    output: str | Path,
    *,
    epochs: int = 10,
    rate: float = 3e-4,  # at 1e-3 a post-norm model of this size stays at the word frequencies
    warmup: int = 200,
    vocabulary: int = 8000,
    seed: int = 0,
    resume: bool = False,
    console: Console | None = None,
    **sizes: Any,
) -> Path:
    """Train a small BERT on a text file."""
    settings = TrainingSettings(epochs, rate, warmup, seed, resume)
    documents, apart = kept_apart(read_documents(data))
    small: dict[str, Any] = {"width": 128, "heads": 4, "layers": 4, "hidden": 512, "length": 128} | sizes
    tokenizer = train_wordpiece((line for lines in documents for line in lines), vocabulary, length=small["length"])
    torch.manual_seed(seed)
    config = Config(
        vocabulary=len(tokenizer),
        decoder_layers=0,
        segments=2,
        position="learned",
        norm="post",
        activation="gelu",
        embedding_norm=True,
        embedding_scale=False,
        epsilon=1e-12,
        start=_CLS,
        end=_SEP,
        name=Path(output).stem,
        **small,
    )
    facts = {"data": f"{Path(data).parent.name}/{Path(data).name}", "epochs": epochs, "rate": rate, "seed": seed}
    task = BertTask(
        Sentences(documents, tokenizer, seed, config), Sentences(apart, tokenizer, seed, config) if apart else None
    )
    model = Bert(config)
    with torch.no_grad():
        model.output.bias.copy_(task.learned.frequencies())  # what is left to learn is what context adds
    run = Trainer(model, tokenizer, task, settings, Path(output), facts, console or Console(stderr=True))
    return run.run()
