"""The readable Transformer against its bounds: decoding with and without the cache, training against nn.Transformer.

    python benchmarks/transformer.py [--threads 1] [--data ../shared/data/tatoeba_eng_spa/dev.tsv]
                                     [--train ../shared/data/tatoeba_eng_spa/train.tsv]

Both sides of a comparison run in turns in one process; the middle of several runs counts. Processor time is given
beside wall time, because a machine shared with others shows it better. With --data also sacreBLEU of the embedded
translator (greedy), where sacrebleu is installed; with --train how long training it takes, from the median of its
first real steps.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from regard.transformer.config import Config
from regard.transformer.decoding import greedy
from regard.transformer.masks import causal_mask
from regard.transformer.model import Translator, cross_entropy, sinusoids

VOCABULARY, STEPS, BATCH, LENGTH = 5000, 64, 16, 20


class Reference(nn.Module):
    """The same model built from torch's nn.Transformer."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocabulary, config.width, padding_idx=config.pad)
        self.register_buffer("position", sinusoids(config.length, config.width))
        self.body = nn.Transformer(
            config.width,
            config.heads,
            config.layers,
            config.decoder_layers,
            config.hidden,
            config.dropout,
            config.activation,
            batch_first=True,
            norm_first=config.norm == "pre",
        )
        self.output = nn.Linear(config.width, config.vocabulary)
        self.output.weight = self.word.weight

    def embed(self, ids: Tensor) -> Tensor:
        return self.word(ids) * self.word.embedding_dim**0.5 + self.position[: ids.shape[1]]

    def forward(self, source: Tensor, target: Tensor, real: Tensor) -> Tensor:
        mask = ~causal_mask(target.shape[1], target.shape[1])
        padding = ~real
        states = self.body(
            self.embed(source),
            self.embed(target),
            tgt_mask=mask,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.output(states)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def in_turns(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, tuple[float, float]]:
    """Middle wall and processor seconds of each, run in turns."""
    for work in works.values():
        work()
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            runs[name].append(timed(work))
    return {
        name: (statistics.median(w for w, _ in times), statistics.median(p for _, p in times))
        for name, times in runs.items()
    }


def decoding() -> dict[str, tuple[float, float]]:
    """64 tokens for 16 sentences; the end token never comes."""
    torch.manual_seed(0)
    model = Translator(Config(vocabulary=VOCABULARY, length=STEPS + 1)).eval()
    with torch.no_grad():
        model.output.bias[model.config.end] = -1e9
        source = torch.randint(4, VOCABULARY, (BATCH, LENGTH))
        works = {
            name: lambda cached=cached: greedy(model, source, None, STEPS, use_cache=cached)
            for name, cached in (("with cache", True), ("without cache", False))
        }
        assert torch.equal(works["with cache"](), works["without cache"]())
        return in_turns(works, 5)


def training() -> dict[str, tuple[float, float]]:
    """One step on a batch as the translator sees it, without dropout, so that both compute the same."""
    torch.manual_seed(0)
    config = Config(vocabulary=VOCABULARY, dropout=0.0)
    source = torch.randint(4, VOCABULARY, (120, 9))
    source[::3, 7:] = config.pad
    target, real = torch.randint(4, VOCABULARY, (120, 10)), source != config.pad
    works = {}
    for name, model in (("regard", Translator(config)), ("nn.Transformer", Reference(config))):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

        def step(model: nn.Module = model, optimizer: torch.optim.Optimizer = optimizer) -> None:
            loss = cross_entropy(model(source, target[:, :-1], real), target[:, 1:], smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        works[name] = step
    return in_turns(works, 15)


def bleu(data: Path) -> str:
    """sacreBLEU of the built-in translator, greedy."""
    import sacrebleu

    import regard
    from regard.transformer.translator import read_pairs, translate

    model, pairs = regard.load("translator"), read_pairs(data)
    made: list[str] = []
    for start in range(0, len(pairs), 100):
        made += translate(model.module, model.tokenizer, [source for source, _ in pairs[start : start + 100]])
    return str(sacrebleu.corpus_bleu(made, [[target for _, target in pairs]]))


def minutes_of_training(data: Path, steps: int = 60) -> str:
    """How long all steps of the built-in translator take, by the median of the first ones."""
    import tempfile

    from regard.transformer import checkpoint, training
    from regard.transformer.translator import train_translator

    all_steps, walls = checkpoint.load(checkpoint.EMBEDDED).facts["steps"], []
    usual = training.Trainer._step

    def watched(self: training.Trainer, *given: object) -> float:
        if len(walls) == steps:
            raise KeyboardInterrupt
        start = time.perf_counter()
        loss = usual(self, *given)
        walls.append(time.perf_counter() - start)
        return loss

    training.Trainer._step = watched
    try:
        with tempfile.TemporaryDirectory() as folder:
            train_translator(data, Path(folder) / "translator.safetensors")
    except KeyboardInterrupt:
        pass
    finally:
        training.Trainer._step = usual
    middle = statistics.median(walls)
    return (
        f"training the built-in translator: {all_steps:,} steps of {middle * 1e3:.0f} ms (median of {steps}) on "
        f"{torch.get_num_threads()} threads are {all_steps * middle / 60:.1f} minutes; bound 20 on 2"
    )


def report(console: Console, title: str, runs: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Print two runs and return how much longer the second takes, in wall and in processor time."""
    table = Table("", "wall ms", "processor ms", title=title)
    for name, (wall, processor) in runs.items():
        table.add_row(name, f"{wall * 1e3:.1f}", f"{processor * 1e3:.1f}")
    console.print(table)
    (first, second) = runs.values()
    return second[0] / first[0], second[1] / first[1]


def main() -> None:
    """Measure, print, and fail where a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--train", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.filterwarnings("ignore", message="enable_nested_tensor")
    console = Console()
    wall, processor = report(console, f"decoding {STEPS} tokens, {BATCH} sentences", decoding())
    console.print(f"the cache makes decoding {wall:.1f} times faster ({processor:.1f} in processor time); bound 3\n")
    slower = [1 / ratio for ratio in report(console, "one training step, 120 pairs", training())]
    console.print(f"a step takes {slower[0]:.2f} times nn.Transformer's ({slower[1]:.2f} processor); bound 1.15")
    if options.data:
        console.print(bleu(options.data))
    if options.train:
        console.print(minutes_of_training(options.train))
    # On a machine shared with others one of the two clocks may be disturbed, not both.
    assert max(wall, processor) >= 3
    assert min(slower) <= 1.15


if __name__ == "__main__":
    main()
