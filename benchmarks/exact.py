"""Whether examples of portraits are exactly those of brute force, over 2,000 sentences of three models.

    python benchmarks/exact.py [--count N] [MODEL ...]

Every text runs alone, without padding. MiniLM and SmolLM2 give eager maps (`output_attentions`), the translator the
maps of a trace; numpy takes the largest weight of each row outside the resting places, sorts all rows, and draws the
ordinary ones by a hash written out here once more. Compared with what the study keeps over batches: strengths of the
64 best rows of each head, which rows they are, rows in each of 100 bins of strength, and the rows shown at each decile.
Rows whose strengths agree to float32's rounding may change places; they are counted, and so are heads where a strength
lies on the edge of a bin.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import regard
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Source
from regard.corpus.sums import KEPT
from regard.studies.heads.choosing import shown_rows, slots_of
from regard.studies.heads.study import Heads
from regard.studies.heads.vocabulary import frequent_tokens

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
KINDS = {"all-MiniLM-L6-v2": "encoder", "SmolLM2-135M-Instruct": "decoder", "translator": "cross"}
BEST, BINS, PER_BIN, DECILES = 64, 100, 4, [(n + 0.5) / 10 for n in range(10)]
CLOSE = 2e-6


def source_of(folder: str, kind: str, count: int) -> Source:
    """Sentences of the English Web Treebank; for the translator pairs of Tatoeba, from all over the file."""
    if kind != "cross":
        found = read(Source(str(DATA / "ud_english_ewt" / "en_ewt-ud-dev.conllu"), limit=count))
        rows = [one.text for one in found]
    else:
        pairs = (DATA / "tatoeba_eng_spa" / "train.tsv").read_text("utf-8").splitlines()[1:]
        rows = pairs[:: max(1, len(pairs) // count)][:count]
    path = Path(folder) / ("pairs.tsv" if kind == "cross" else "lines.txt")
    path.write_text("\n".join([*(["text\tpair"] if kind == "cross" else []), *rows]), "utf-8")
    return Source(str(path), pair="pair") if kind == "cross" else Source(str(path))


def maps_of(model: regard.Model, example: Example, kind: str) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Maps (H, Q, K) of each layer of a text alone; which queries count, and where rows may look (Q, K)."""
    if kind == "cross":
        trace = model.trace(example.text, target=example.pair, truncate=True)
        sites = [site for site in trace.sites if site.kind == "cross"]
        maps = [np.stack([site.attention(n) for n in range(site.heads)]) for site in sites]
        sides = (trace.sides[name].tokens for name in (sites[0].query_side, sites[0].key_side))
        queries, keys = (np.array([not token.special for token in side]) for side in sides)
        return maps, queries, queries[:, None] & keys[None]
    ids = model.tokenizer(example.text, truncation=True, max_length=model.limit, return_tensors="pt")
    with torch.no_grad():
        maps = [one[0].numpy() for one in model.module(**ids, output_attentions=True).attentions]
    ordinary = ~np.isin(ids["input_ids"][0].numpy(), model.tokenizer.all_special_ids)
    free = ordinary[:, None] & ordinary[None]
    if kind == "decoder":
        free = np.tril(free)
        free[:, 0] = False  # the first token is where decoders rest
    return maps, ordinary, free


def brute_force(model: regard.Model, source: Source, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strengths and keys (heads of all layers, rows), and names of the rows: example and query (rows, 2)."""
    strengths, keys, names = [], [], []
    for example in read(source):
        maps, queries, free = maps_of(model, example, kind)
        rows = np.flatnonzero(queries & free.any(axis=1))
        outside = np.where(free, np.concatenate(maps), 0)[:, rows]  # (heads, rows, K)
        strengths.append(outside.max(axis=-1))
        keys.append(outside.argmax(axis=-1))
        names.append(np.stack([np.full(len(rows), example.number), rows], axis=1))
    return np.concatenate(strengths, 1), np.concatenate(keys, 1), np.concatenate(names)


def hashes(names: np.ndarray, seed: int = 0) -> np.ndarray:
    """SplitMix64 of seed, example, part 0 and query, one number after the other."""
    mask, found = (1 << 64) - 1, []
    for example, query in names.tolist():
        state = seed
        for value in (example, 0, query):
            state = (state + value + 0x9E3779B97F4A7C15) & mask
            state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
            state ^= state >> 31
        found.append((state >> 11) / 2.0**53)
    return np.array(found)


def deciles(bins: np.ndarray, order: np.ndarray) -> list[int]:
    """The rows shown at each decile, two each: of the bin that reaches it, those with the smallest hashes."""
    reached = np.cumsum(np.bincount(bins, minlength=BINS)) / len(bins)
    ordered = bins[order]
    queues = {place: order[np.flatnonzero(ordered == place)[:PER_BIN]].tolist() for place in set(bins.tolist())}
    found = []
    for quantile in DECILES:
        queue = queues[int(np.searchsorted(reached, quantile))]
        found += [queue.pop(0) for _ in range(2) if queue]
    return found


def heads_of(sums: Any, kind: str) -> Iterator[tuple[str, int]]:
    """Every layer of a kind, and its heads."""
    layers = sorted(
        int(name.split("/")[1]) for name in sums.arrays if name.startswith(f"{kind}/") and name.endswith("/strengths")
    )
    for layer in layers:
        for head in range(len(sums[f"{kind}/{layer}/strengths"])):
            yield f"{kind}/{layer}", head


def compare(name: str, count: int) -> tuple[str, ...]:
    """One model: the largest differences."""
    kind = KINDS[name]
    with tempfile.TemporaryDirectory() as folder:
        model = regard.load(name)
        source = source_of(folder, kind, count)
        sums = run_local(Heads(frequent_tokens(model, source, "truncate")), model, Run(source)).sums
        if kind != "cross":
            model.module.set_attn_implementation("eager")
        strengths, keys, names = brute_force(model, source, kind)
    order = np.argsort(hashes(names), kind="stable")
    shown = shown_rows(sums)
    largest, other, moved, edges, unlike = 0.0, 0, 0, 0, 0
    for number, (place, head) in enumerate(heads_of(sums, kind)):
        mine = strengths[number]
        best = np.lexsort((names[:, 1], names[:, 0], -mine))[:BEST]
        kept = sums[f"{KEPT}{place}/best"][head][: len(best)]
        largest = max(largest, float(np.abs(kept[:, 5] - mine[best]).max()))
        for row, got in zip(best, kept, strict=True):
            same = (names[row] == got[[1, 3]]).all() and keys[number, row] == got[4]
            near = np.flatnonzero(np.abs(mine - mine[row]) < CLOSE)
            tied = any((names[one] == got[[1, 3]]).all() for one in near)
            moved, other = moved + (not same and tied), other + (not same and not tied)
        bins = np.minimum((mine * np.float32(BINS)).astype(np.int64), BINS - 1)
        if (np.bincount(bins, minlength=BINS) != sums[f"{place}/strengths"][head]).any():
            edges += 1
            continue
        typical = shown[place][head][slots_of("typical")]
        got = [tuple(row) for row in typical[np.isfinite(typical[:, 0])][:, [1, 3]].astype(int)]
        unlike += got != [tuple(names[row]) for row in deciles(bins, order)]
    return (name, kind, f"{len(set(names[:, 0].tolist())):,}", f"{len(names):,}", f"{len(strengths)}", f"{largest:.1e}",
            str(other), str(moved), str(unlike), str(edges))  # fmt: skip


def main() -> None:
    """Compare, and print a row for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=list(KINDS))
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = Table(
        *("model", "attention", "sentences", "rows", "heads", "largest difference", "other rows", "tied rows"),
        *("other deciles", "heads with a row on an edge"),
        box=None,
    )
    for name in options.models:
        table.add_row(*compare(name, options.count))
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
