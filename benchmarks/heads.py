"""What portraits of heads cost: against the plain forward pass over the same batches, and memory as the corpus grows.

    python benchmarks/heads.py [--quick]

Sentences of WikiText-2, four novels, SNLI, PAWS, film reviews and Tatoeba (../shared/data), in this order: 86,560, then
from the first again. Both ways run window by window in turn, on one thread, and process time is counted, so that noise
hits both alike. Peak memory is measured in processes of its own. The second pass runs over the examples that
pages show, whose number does not grow with the corpus.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

import regard
from corpus import model_of, own_peak, plain, seconds, verdict
from regard.corpus.batches import Window, window_of, windows_of
from regard.corpus.engine import Run, encoder_of, run_local, sum_window
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.heads.study import Heads
from regard.studies.heads.vocabulary import frequent_tokens

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SHAPES = {"default": 2048, "bert-base": 256, "SmolLM2-135M-Instruct": 128}
MOST_TIME, MOST_GROWTH = 1.5, 1.05


@contextmanager
def sentences(count: int) -> Iterator[Source]:
    """The first `count` texts of several corpora, one per line; from the first again if they do not suffice."""
    prose = [DATA / "wikitext2" / name for name in ("wiki.valid.tokens", "wiki.test-first-half.raw")]
    prose += sorted((DATA / "literature").glob("*.txt"))
    pairs = [DATA / "snli" / name for name in ("dev.jsonl", "train.jsonl")]
    pairs += [DATA / "paws_wiki_en" / "dev-first.tsv"]
    single = [DATA / "sentence_polarity" / "train.tsv", DATA / "tatoeba_eng_spa" / "train.tsv"]

    def all_texts() -> Iterator[str | None]:
        for path in prose:
            yield from (example.text for example in read(Source(str(path), format="text", unit="sentence")))
        for example in chain.from_iterable(read(Source(str(path))) for path in pairs):
            yield from (example.text, example.pair)
        for path in single:
            yield from (line.partition("\t")[0] for line in path.read_text("utf-8").splitlines()[1:])

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        written = 0
        while written < count:
            for text in all_texts():
                if text and written < count:
                    file.write(" ".join(text.split()) + "\n")
                    written += 1
        file.flush()
        yield Source(file.name)


def study_of(model: regard.Model, source: Source) -> Heads:
    """The study with the tokens of the corpus' first window."""
    return Heads(frequent_tokens(model, source, "truncate"))


def compare(shape: str, count: int) -> tuple[float, float]:
    """Seconds of the plain pass and of the portraits over the same batches."""
    model = regard.load(shape) if shape.startswith("SmolLM2") else model_of(shape)
    base = ours = 0.0
    total = Sums()
    with sentences(count) as source:
        study = study_of(model, source)
        for number, examples in windows_of(read(source)):
            window = window_of(number, examples, encoder_of(model), long="truncate")
            if number == 0:
                sum_window(study, model, Window(0, window.batches[:1]))  # what is done once per model
                plain(model, Window(0, window.batches[:1]))
            base += seconds(lambda window=window: plain(model, window))
            made: list[Sums] = []
            ours += seconds(
                lambda window=window, made=made, total=total: made.append(total.plus(sum_window(study, model, window)))
            )
            total = made[0]
    return base, ours


def second_pass(count: int) -> tuple[int, float, float]:
    """Examples that pages show, and seconds of the first and the second pass."""
    model = model_of("default")
    with sentences(count) as source:
        study = study_of(model, source)
        sums: list[Sums] = []
        first = seconds(lambda: sums.append(run_local(study, model, Run(source)).sums))
        shown = study.second(sums[0], model, run_local)
        return len(shown.wanted), first, seconds(lambda: run_local(shown, model, Run(source)))


def peak(count: int) -> float:
    """Peak resident memory in MB of a fresh process that runs both passes."""
    args = [sys.executable, __file__, "--peak", str(count)]
    return float(json.loads(subprocess.run(args, capture_output=True, text=True, check=True).stdout))


def main() -> None:
    """Measure and print ratios beside their targets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few sentences, no memory measurement")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.peak:
        second_pass(options.peak)
        print(json.dumps(own_peak()))
        return
    console = Console()
    table = Table("model", "sentences", "plain s", "portraits s", "portraits/plain", box=None)
    for shape, count in SHAPES.items():
        some = count // 4 if options.quick else count
        base, ours = compare(shape, some)
        table.add_row(shape, f"{some:,}", f"{base:.1f}", f"{ours:.1f}", verdict(ours / base, MOST_TIME))
    console.print(table)
    if options.quick:
        return
    shown, first, second = second_pass(8192)
    console.print(f"8,192 sentences: first pass {first:.0f} s, second pass over {shown:,} examples {second:.0f} s")
    few, many = peak(10_000), peak(100_000)
    console.print(
        f"peak memory: 10,000 sentences {few:,.0f} MB, 100,000 {many:,.0f} MB, "
        f"growth {verdict(many / few, MOST_GROWTH)}"
    )


if __name__ == "__main__":
    main()
