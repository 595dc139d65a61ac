"""Fine-tuning: a classifier of texts or pairs from any encoder and a table of labelled examples.

Enters: a table (TSV, CSV, JSONL) with columns of text and label, and a model. Leaves: a Hugging Face folder (config
with the labels, safetensors, tokenizer) that `regard.load` opens as a classifier; the same seed gives the same weights.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import torch
import transformers
from rich.console import Console

from regard import __version__
from regard.ablation.labelled import HELD_OUT, Data, labelled_data
from regard.base.errors import UserError
from regard.base.files import write_atomic
from regard.corpus.readers.source import Source
from regard.models.loading import load_classifier, quiet
from regard.models.model import Model
from regard.models.packaged import resolve
from regard.models.prepare import Encoded, encode
from regard.transformer.training import TrainingSettings, adam, bar, by_length, learn

STEP = 1024  # padded tokens per training step: about 32 sentences
WARM = 0.1  # share of the steps until the highest learning rate
FACTS = "training.json"


def train_classifier(  # long because of its arguments and their descriptions
    data: str | Path,
    output: str | Path,
    *,
    dev: str | Path | None = None,
    model: str | Path | None = None,
    text: str | None = None,
    pair: str | None = None,
    label: str = "label",
    epochs: int = 3,
    rate: float = 1e-4,
    patience: int = 1,
    length: int = 128,
    limit: int | None = None,
    seed: int = 0,
    console: Console | None = None,
    device: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    offline: bool = False,
) -> Path:
    """Fine-tune a model to predict the labels of a table, and save its best epoch as a folder.

    Parameters
    ----------
    data, output
        A TSV, CSV or JSONL file, and the folder to write (after every epoch that beats the best so far).
    dev
        A file like `data` that decides which epoch is best; a tenth of `data` unless given.
    model
        Hub name or folder; the built-in encoder unless given.
    text, pair, label
        Columns; text and pair are found by their usual names unless given.
    epochs, rate, patience
        The most epochs, the highest learning rate, and the number of epochs without a gain after which to stop.
    length
        The most tokens per input; longer inputs are cut.
    limit
        Use only this many examples of `data`, from its beginning.
    seed
        Decides the new head, the tenth that is held out, the order of the examples and dropout.
    """
    settings = TrainingSettings(epochs, rate, warmup=0, seed=seed)
    if Path(output).is_file():
        raise UserError(f"{output} is a file; name a folder for the model")
    console = console or Console(stderr=True)
    source = Source(str(data), text=text, pair=pair, limit=limit)
    learned, held, labels = labelled_data(source, dev, label, seed, console)
    torch.manual_seed(seed)  # the new head
    name, place = resolve(model)
    options = {"trust_remote_code": trust_remote_code, "allow_pickle": allow_pickle, "offline": offline}
    classifier = _padding(Model(*load_classifier(place, labels, **options), name=name, device=device))
    rows, others = (_rows(classifier, part, labels, length) for part in (learned, held))
    tuning = _Tuning(classifier, rows, others, settings, Path(output), console)
    tuning.facts |= {
        "base": name,
        "data": source.name,
        "held out": f"{HELD_OUT:.0%} of the data" if dev is None else Path(dev).name,
        "column": label,
        "labels": labels,
        "length": length,
        "patience": patience,
    }
    return tuning.run(patience)


def _padding(model: Model) -> Model:
    """The model with a padding token, which many decoders lack and their classifiers need."""
    model._engine.need_tokenizer()
    if model.tokenizer.pad_token is None:
        model.tokenizer.pad_token = model.tokenizer.eos_token or model.tokenizer.unk_token
    model.config.pad_token_id = model.tokenizer.pad_token_id
    return model


def _rows(model: Model, data: Data, labels: list[str], length: int) -> list[tuple[Encoded, int]]:
    """Each example as the model reads it, with its label's number."""
    limit = min(length, model.limit or length)
    number = {label: i for i, label in enumerate(labels)}
    return [
        (encode(model.tokenizer, example.text, example.pair, limit=limit, truncate=True), number[label])
        for example, label in zip(data.examples, data.labels, strict=True)
    ]


class _Tuning:
    """One run: epochs, the accuracy after each, and the best of them on disk."""

    def __init__(
        self,
        model: Model,
        rows: list[tuple[Encoded, int]],
        held: list[tuple[Encoded, int]],
        settings: TrainingSettings,
        folder: Path,
        console: Console,
    ) -> None:
        self.model, self.rows, self.held = model, rows, held
        self.settings, self.folder, self.console = settings, folder, console
        self.step = 0
        self.best: tuple[float, int] | None = None  # accuracy and epoch of what is in the folder
        self.facts: dict[str, Any] = {
            "examples": len(rows),
            "held-out examples": len(held),
            **{name: getattr(settings, name) for name in ("epochs", "rate", "seed")},
            "threads": torch.get_num_threads(),
            "versions": {"regard": __version__, "torch": torch.__version__, "transformers": transformers.__version__},
            "accuracies": [],
            "finished": False,
        }

    def run(self, patience: int) -> Path:
        """Train until the last epoch, or until there is no more gain."""
        optimizer = adam(self.model.module, self.settings.rate)
        began = time.perf_counter()
        with bar(self.console) as advance:
            for epoch in range(self.settings.epochs):
                loss = self._epoch(optimizer, epoch, advance)
                accuracy = self._accuracy()
                line = f"epoch {epoch + 1}/{self.settings.epochs}  loss {loss:.3f}  held-out accuracy {accuracy:.3f}"
                self.console.print(f"{line} of {len(self.held):,}", highlight=False)
                self.facts["accuracies"].append(round(accuracy, 4))
                if self.best is None or accuracy > self.best[0]:
                    self.best = accuracy, epoch
                    self.facts |= {"epoch": epoch + 1}
                    self._save()
                elif epoch - self.best[1] >= patience and epoch + 1 < self.settings.epochs:
                    self.console.print(f"stopped: no better than epoch {self.best[1] + 1}", highlight=False)
                    break
        self.facts |= {"finished": True, "seconds": round(time.perf_counter() - began, 1)}
        self._note(self.folder)
        return self.folder

    def _epoch(self, optimizer: torch.optim.Optimizer, epoch: int, advance: Any) -> float:
        """One pass over the data; the mean loss."""
        generator = torch.Generator().manual_seed(self.settings.seed * 1_000_003 + epoch)
        batches = list(by_length([len(row.ids) for row, _ in self.rows], STEP, generator))
        settings = replace(self.settings, warmup=round(WARM * len(batches) * self.settings.epochs))
        known = f", held-out accuracy {self.facts['accuracies'][-1]:.3f}" if epoch else ""
        total = seen = 0.0
        for index, chosen in enumerate(batches):
            progress = (epoch + index / len(batches)) / settings.epochs
            for group in optimizer.param_groups:
                group["lr"] = settings.rate_at(self.step, progress)
            torch.manual_seed(settings.seed * 1_000_003 + self.step)  # dropout
            self.model.module.train()
            logits, labels = self._run([self.rows[i] for i in chosen])
            loss = learn(self.model.module, optimizer, torch.nn.functional.cross_entropy(logits, labels))
            if loss is None:
                self._stop()
            self.step += 1
            total, seen = total + loss * len(chosen), seen + len(chosen)
            advance(progress, f"loss {total / seen:.3f}{known}")
        return total / seen

    def _stop(self) -> NoReturn:
        saved = "nothing was saved yet" if self.best is None else f"epoch {self.best[1] + 1} is in {self.folder}"
        raise UserError(
            f"the loss is no longer a number at step {self.step}; training stopped, {saved}. Try a smaller --rate"
        )

    def _run(self, rows: list[tuple[Encoded, int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, labels) logits and (B,) labels of some examples."""
        inputs = self.model._engine.ready(self.model._engine.collate([row for row, _ in rows])[0])
        logits = self.model.module(**inputs).logits
        return logits, torch.tensor([label for _, label in rows], device=logits.device)

    def _accuracy(self) -> float:
        """The share of held-out examples whose label is predicted correctly."""
        self.model.module.eval()
        generator = torch.Generator().manual_seed(0)
        right = 0
        with torch.no_grad():
            for chosen in by_length([len(row.ids) for row, _ in self.held], 2 * STEP, generator):
                logits, labels = self._run([self.held[i] for i in chosen])
                right += int((logits.argmax(-1) == labels).sum())
        return right / len(self.held)

    def _save(self) -> None:
        """Write the folder; each file is the complete new one or the old one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder.parent, prefix=f".{self.folder.name}-") as temporary:
            staging = Path(temporary)
            module: Any = self.model.module
            with quiet():
                module.save_pretrained(staging)
            self.model.tokenizer.save_pretrained(staging)
            self._note(staging)
            for file in staging.iterdir():
                file.replace(self.folder / file.name)

    def _note(self, folder: Path) -> None:
        """Record, next to the weights, how they were made."""
        text = json.dumps(self.facts, indent=2, ensure_ascii=False)
        write_atomic(folder / FACTS, lambda path: Path(path).write_text(text, "utf-8"))
