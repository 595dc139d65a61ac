"""How long the measures of a trace take, next to the forward pass that made it.

A BERT-base-shaped model with random weights (12 layers x 12 heads), 2 threads, 128 and 512 tokens:

    python benchmarks/measures.py

"All measures" is everything `trace.patterns()` needs before it writes sentences: maps rebuilt from q and k, every
pattern's mass, argmax rate, chance and lift, entropy, distance, bag of words, and the five types. Not in it, because
they compare heads with each other or ask the model again: Jensen-Shannon distances (own line) and predictive words.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from transformers import BertConfig, BertModel

import regard
from regard.measures import js_distance
from regard.patterns import patterns
from regard.patterns.rows import read_trace
from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Trace

REPEATS = 7


def best_of(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """The shortest time in seconds, after one run to warm up: other work on the machine only ever adds."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def text_like(trace: Trace, generator: np.random.Generator) -> Trace:
    """The trace with tokens such as a pair of sentences has: words that repeat, pieces, punctuation, delimiters."""
    count = trace.sites[0].queries
    half, tokens = count // 2, []
    for i in range(count):
        segment = int(i > half)
        if i in (0, half, count - 1):
            tokens.append(Token("[CLS]" if i == 0 else "[SEP]", special=True, segment=segment))
        else:
            word = "," if i % 11 == 0 else f"w{generator.zipf(1.3) % 5000}"
            tokens.append(Token(word, word=i - (i % 9 == 0), segment=segment))
    side = Side(trace.sites[0].query_side, tuple(tokens), (Segment("A", 0, half + 1), Segment("B", half + 1, count)))
    return Trace({side.name: side}, trace.sites, trace.facts)


def measure(tokens: int) -> dict[str, float]:
    """Times for a text of so many tokens."""
    generator = np.random.default_rng(0)
    torch.manual_seed(0)
    module = BertModel(BertConfig(), add_pooling_layer=False).eval()
    inputs = {"input_ids": torch.from_numpy(generator.integers(1000, 30000, (1, tokens)))}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    with torch.no_grad():
        forward = best_of(lambda: module(**inputs))
    trace = text_like(regard.load(module).trace_inputs(inputs)[0], generator)
    every = best_of(lambda: read_trace(trace))
    table = best_of(lambda: patterns(trace))
    layer = trace.sites[0].block()
    between = best_of(lambda: js_distance(layer), 3)
    return {
        "tokens": tokens,
        "forward ms": round(forward * 1e3, 1),
        "all measures ms": round(every * 1e3, 1),
        "all measures / forward": round(every / forward, 3),
        "trace.patterns() ms": round(table * 1e3, 1),
        "JS distances within one layer ms": round(between * 1e3, 1),
    }


if __name__ == "__main__":
    torch.set_num_threads(2)
    lengths = [int(n) for n in sys.argv[1:]] or [128, 512]
    for length in lengths:
        print(json.dumps(measure(length)))
