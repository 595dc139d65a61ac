"""A million short sentences through `regard study`, on one core of this machine: rate, memory, size of what is written.

    python benchmarks/million.py FOLDER [--count N] [--study atlas] [--model NAME]

Sentences are pieces of six consecutive words of English texts (../shared/data: WikiText-2, novels, SNLI, Tatoeba, EWT,
GAP, reviews), cut at every sixth word, then one word later and so on, then of seven and of five words; no two are
equal. The model is a BERT of two layers of four heads with random weights and the default model's tokenizer, or a
named one. The command runs in a process of its own, whose memory and processor time are read every half second. FOLDER
keeps everything: run it again after Ctrl-C and it goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import psutil
import torch
from transformers import BertConfig, BertModel

import regard

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = (
    "wikitext2/wiki.valid.tokens wikitext2/wiki.test-first-half.raw literature/*.txt snli/*.jsonl "
    "tatoeba_eng_spa/train.tsv ud_english_ewt/*.conllu gap/*.tsv sentence_polarity/*.tsv paws_wiki_en/*.tsv "
    "sts_captions/*.tsv"
).split()
LENGTHS = (6, 7, 5)
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def texts() -> Iterator[list[str]]:
    """The words of each line of every file, in English where a line has two languages."""
    for pattern in FILES:
        for path in sorted(DATA.glob(pattern)):
            for line in path.read_text("utf-8").splitlines():
                yield re.findall(r"[A-Za-z0-9',.;:?!-]+", english(path, line))


def english(path: Path, line: str) -> str:
    """The text of a line."""
    if path.suffix == ".conllu":
        return line.removeprefix("# text = ") if line.startswith("# text = ") else ""
    if path.suffix == ".jsonl":
        row = json.loads(line)
        return " ".join(value for value in row.values() if isinstance(value, str) and " " in value)
    if path.parent.name == "tatoeba_eng_spa":
        return line.split("\t")[0]
    return " ".join(part for part in line.split("\t") if " " in part)


def sentences() -> Iterator[str]:
    """Pieces of six words from every word on, then of seven and five if there are not enough; none twice."""
    seen: set[str] = set()
    for count in LENGTHS:
        for start in range(count):
            for words in texts():
                for at in range(start, len(words) - count + 1, count):
                    piece = " ".join(words[at : at + count])
                    if piece not in seen:
                        seen.add(piece)
                        yield piece


def prepare(folder: Path, count: int) -> tuple[Path, Path]:
    """The corpus and the model, unless they are there."""
    corpus, model = folder / f"sentences-{count}.txt", folder / "model"
    if not corpus.exists():
        found = list(islice(sentences(), count))
        if len(found) < count:
            raise SystemExit(f"the texts hold only {len(found):,} different sentences")
        corpus.write_text("\n".join(found) + "\n", "utf-8")
    if not model.exists():
        torch.manual_seed(0)
        tokenizer = regard.load().tokenizer
        BertModel(BertConfig(vocab_size=len(tokenizer), **SIZES)).save_pretrained(model)
        tokenizer.save_pretrained(model)
    return corpus, model


def watched(command: list[str], notes: Path) -> None:
    """Run a command; adds a line with its seconds and its memory over time to `notes`, also if it is stopped."""
    start, rows = time.monotonic(), []
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    seen = psutil.Process(process.pid)
    try:
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                times = seen.cpu_times()
                rows.append((times.user + times.system, seen.memory_info().rss / 1e6))
            time.sleep(0.5)
    finally:  # after Ctrl-C too, which the command has got as well: it saves what it has done
        code = process.wait()
        found = {"cpu": rows[-1][0], "wall": time.monotonic() - start, "memory": [row[1] for row in rows]}
        with notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
    if code:
        raise SystemExit(code)


def main() -> None:
    """Prepare, run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--study", default="atlas")
    parser.add_argument("--model", help="another model than the tiny one")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    corpus, model = prepare(given.folder, given.count)
    output = given.folder / f"{given.study}-{given.count}"
    command = [sys.executable, "-m", "regard", "study", given.study, str(corpus), "-m", given.model or str(model)]
    notes = given.folder / f"runs-{given.study}-{given.count}.jsonl"
    watched([*command, "-o", str(output), "--resume"], notes)
    parts = [json.loads(line) for line in notes.read_text("utf-8").splitlines()]
    memory = [size for part in parts for size in part["memory"]]
    tenth = len(memory) // 10
    cpu, wall = (sum(part[name] for part in parts) for name in ("cpu", "wall"))
    written = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    print(f"{given.count:,} sentences, {corpus.stat().st_size / 1e6:.1f} MB of text, study {given.study}")
    print(f"processor {cpu:,.0f} s, {given.count / cpu:,.0f} sentences a second; clock {wall:,.0f} s")
    print(
        f"memory after a tenth {memory[tenth]:,.0f} MB, after nine {memory[-tenth - 1]:,.0f}, peak {max(memory):,.0f}"
    )
    print(f"written: {written / 1e6:.2f} MB in {output.name}")


if __name__ == "__main__":
    main()
