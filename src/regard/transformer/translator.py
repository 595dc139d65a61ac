"""The translator: sentence pairs in, a small Transformer out; and the built-in one.

Enters: a file of `source TAB target` lines. Leaves: a checkpoint, and translations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.base.errors import UserError
from regard.transformer.config import Config
from regard.transformer.model import Translator, cross_entropy
from regard.transformer.tokenizing import train_bpe
from regard.transformer.training import Trainer, TrainingSettings, by_length, read_lines

SMOOTHING = 0.1
TOKENS = 1200  # per batch: small, because 40,000 pairs need many steps rather than smooth ones


class TranslationTask:
    """The task: given the source and the target so far, predict the target's next word."""

    def __init__(self, pairs: Sequence[tuple[str, str]], tokenizer: Any, seed: int, config: Config) -> None:
        self.seed, self.tokenizer, self.config = seed, tokenizer, config
        cut: dict[str, Any] = {"truncation": True, "max_length": config.length - 1}
        self.sources = [torch.tensor(row) for row in tokenizer([s for s, _ in pairs], **cut)["input_ids"]]
        targets = tokenizer([t for _, t in pairs], **cut)["input_ids"]
        self.targets = [torch.tensor([config.start, *row]) for row in targets]
        self.lengths = [max(len(s), len(t)) for s, t in zip(self.sources, self.targets, strict=True)]
        self.sample = pairs[sorted(range(len(pairs)), key=self.lengths.__getitem__)[len(pairs) // 2]][0]

    def batches(self, epoch: int) -> list[tuple[Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return [self._batch(rows) for rows in by_length(self.lengths, TOKENS, generator)]

    def _batch(self, rows: list[int]) -> tuple[Tensor, Tensor]:
        fill: dict[str, Any] = {"batch_first": True, "padding_value": self.config.pad}
        return pad_sequence([self.sources[i] for i in rows], **fill), pad_sequence(
            [self.targets[i] for i in rows], **fill
        )

    def loss(self, model: Translator, batch: tuple[Tensor, Tensor]) -> Tensor:
        source, target = batch  # (B, S), (B, T + 1)
        # Padding comes last, where no real target position can see it: the causal mask is enough.
        logits = model(source, target[:, :-1], source != self.config.pad)  # (B, T, V)
        return cross_entropy(logits, target[:, 1:], smoothing=SMOOTHING, ignore=self.config.pad)

    def report(self, model: Translator) -> str:
        return f"{self.sample} → {translate(model, self.tokenizer, [self.sample])[0]}"


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """The pairs of a file, one `source TAB target` per line."""
    lines = read_lines(path)
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) < 2 or not parts[0].strip() or not parts[1].strip():
            raise UserError(f"line {number} of {path} is not `source TAB target`: {line[:60]!r}")
        pairs.append((parts[0], parts[1]))
    if not pairs:
        raise UserError(f"{path} has no sentence pairs; write one `source TAB target` per line")
    return pairs


def train_translator(
    data: str | Path,
    output: str | Path,
    *,
    epochs: int = 9,
    rate: float = 2e-3,
    warmup: int = 400,
    vocabulary: int = 5000,
    seed: int = 0,
    resume: bool = False,
    console: Console | None = None,
    **sizes: Any,
) -> Path:
    """Train a translator on a file of pairs; the defaults make the built-in one."""
    settings = TrainingSettings(epochs, rate, warmup, seed, resume)
    pairs = read_pairs(data)
    length = sizes.get("length", Config.length)
    tokenizer = train_bpe((text for pair in pairs for text in pair), vocabulary, length=length)
    torch.manual_seed(seed)
    config = Config(vocabulary=len(tokenizer), name=Path(output).stem, **sizes)
    facts = {
        "data": Path(data).parent.name + "/" + Path(data).name,
        "pairs": len(pairs),
        "epochs": epochs,
        "rate": rate,
        "warmup": warmup,
        "seed": seed,
        "capitals": capitals(target for _, target in pairs),
    }
    task = TranslationTask(pairs, tokenizer, seed, config)
    return Trainer(
        Translator(config), tokenizer, task, settings, Path(output), facts, console or Console(stderr=True)
    ).run()


# -- using it ----------------------------------------------------------------------------------------------


def translate(model: Translator, tokenizer: Any, texts: Sequence[str], *, beams: int = 1) -> list[str]:
    """The model's translation of each text, decoded together."""
    if not all(text.strip() for text in texts):
        raise UserError("the sentence is empty; pass at least one word")
    rows = [torch.tensor(row) for row in tokenizer(list(texts), verbose=False)["input_ids"]]
    longest, limit = max(len(row) for row in rows), model.config.length
    if longest > limit:
        raise UserError(f"the sentence has {longest} tokens but the model takes at most {limit}; shorten it")
    source = pad_sequence(rows, batch_first=True, padding_value=model.config.pad)
    translations = model.generate(source, source != model.config.pad, num_beams=beams)
    return [recased(tokenizer.decode(row, skip_special_tokens=True), model.capitals) for row in translations]


def capitals(lines: Iterable[str], least: int = 3) -> list[str]:
    """Words that mostly begin with a capital inside a sentence: names, which the lower-case vocabulary forgets."""
    upper: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for line in lines:
        for before, word in zip(line.split(), line.split()[1:], strict=False):
            if before[-1].isalnum() or before[-1] == ",":
                (upper if word[:1].isupper() else lower)[word.strip(".,!?¿¡\"'").lower()] += 1
    return sorted(word for word, count in upper.items() if count >= least and count > lower[word] and word)


def recased(text: str, names: Collection[str]) -> str:
    """Put capitals at the beginning of sentences and on names."""
    words = []
    begins = True
    for word in text.split():
        core = word.strip(".,!?¿¡\"'")
        if begins or core in names:
            word = word.replace(core[:1], core[:1].upper(), 1)
        begins = word[-1] in ".!?"
        words.append(word)
    return " ".join(words)
