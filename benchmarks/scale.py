"""A 70B model at 131,072 tokens: what a trace keeps, what maps would take, and how long a tile takes.

    python benchmarks/scale.py [--json]

One layer with random q and k of the shape of Llama 3 70B: 64 query heads, 8 key-value heads, 128 wide, in float16.
Bytes are those of the arrays, times 80 layers. Times are wall clock, medians of 7 after one run that does not count,
on two threads: one row of one head over all keys, 256 rows, and a tile of 256 x 256 of a head whose log-sum-exps are
known, as fused kernels give them.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from regard.trace.mask import Mask
from regard.trace.site import Site

TOKENS, HEADS, GROUPS, WIDTH, LAYERS = 131_072, 64, 8, 128, 80
ROWS, ROUNDS = 256, 7


def main() -> None:
    """Make the layer, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    site = random_layer()
    found = {**sizes(site), **times(site), "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    print(json.dumps(found, indent=1) if given.json else told(found))


def random_layer() -> Site:
    """A causal layer with random q and k."""
    draw = np.random.default_rng(0)

    def vectors(heads: int) -> Any:
        held = np.empty((heads, TOKENS, WIDTH), np.float16)
        for head in held:
            head[:] = draw.standard_normal(head.shape, dtype=np.float32)
        return held

    q, k = vectors(HEADS), vectors(GROUPS)
    return Site("decoder", 0, "text", "text", tuple(range(HEADS)), scale=WIDTH**-0.5, mask=Mask(right=0), q=q, k=k)


def sizes(site: Site) -> dict[str, Any]:
    """Bytes of one layer, and of all."""
    assert site.q is not None and site.k is not None
    maps = HEADS * TOKENS**2 * 4
    return {"k": site.k.nbytes, "q": site.q.nbytes, "maps": maps, "layers": LAYERS, "tokens": TOKENS}


def times(site: Site) -> dict[str, float]:
    """Seconds of a row, of 256 rows and of a tile, in the middle of the text's last eighth."""
    start = TOKENS - TOKENS // 16
    rows = slice(start, start + ROWS)
    columns = slice(TOKENS // 2, TOKENS // 2 + ROWS)
    whole = site.attention(5, rows)
    assert np.allclose(whole.sum(-1), 1, atol=1e-3), "rows sum to 1"
    lse = np.full((HEADS, TOKENS), np.nan, np.float32)
    scores = site.scores(5, rows)
    top = scores.max(-1, keepdims=True)
    lse[5, rows] = (np.log(np.exp(scores - top).sum(-1, keepdims=True)) + top)[:, 0]
    known = Site(**{**vars(site), "known_lse": lse})
    assert np.allclose(known.attention(5, rows, columns), whole[:, columns], atol=1e-6), "the tile is part of the map"
    return {
        "row": seconds(lambda: site.attention(5, start)),
        "rows": seconds(lambda: site.attention(5, rows)),
        "tile": seconds(lambda: known.attention(5, rows, columns)),
    }


def seconds(way: Callable[[], object]) -> float:
    """The median time of some runs."""
    found = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        way()
        found.append(time.perf_counter() - start)
    return statistics.median(found[1:])


def told(found: dict[str, Any]) -> str:
    """What was measured, in lines."""
    kept = {name: found[name] for name in ("k", "q", "maps")}
    lines = [f"{found['tokens']:,} tokens, {HEADS} heads, {GROUPS} key-value heads, {WIDTH} wide, float16"]
    for name, size in kept.items():
        lines.append(f"{name:5} {size / 1e9:10.2f} GB a layer  {size * LAYERS / 1e9:12.1f} GB in {LAYERS} layers")
    for name, what in (("row", "one row"), ("rows", f"{ROWS} rows"), ("tile", f"a tile of {ROWS} x {ROWS}")):
        lines.append(f"{what}: {found[name] * 1000:.1f} ms")
    return "\n".join([*lines, f"peak memory of this process {found['peak'] / 1e9:.1f} GB"])


if __name__ == "__main__":
    main()
