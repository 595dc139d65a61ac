"""What two small models look at that learned to read handwritten digits (docs/gallery/learning.py), on digits held out.

Shares are of the attention of one row, a mean over pictures with a 95 % interval (bootstrap over pictures). The head that
looks at the digit asked about is chosen on sheets of digits that the model learned from.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from blocks import Blocks, span

PAGE = "how-to/see-where-a-vision-model-looks.md"
SHEETS = 200
DRAWS = 2000


def measure(data: Path) -> dict[str, Any]:
    """How many digits are read right, and where [CLS] and the question look."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gallery"))
    return {"digits": _digits(), "sheets": _sheets()}


def _digits() -> dict[str, Any]:
    """How many digits are read right, and without the head that most of them need, chosen on those learned from."""
    from digits import NAMES, split
    from learning import PATCHES, READ, digit_reader

    import regard

    model = regard.load(digit_reader())
    learned, held = split()
    layer, head = max(np.ndindex(4, 4), key=lambda one: float((_read(model, learned, one) != learned.labels).sum()))
    whole, without = _read(model, held, None), _read(model, held, (layer, head))
    pairs = [(int(a), int(b)) for a, b, c in zip(held.labels, without, whole, strict=True) if a == c != b]
    said, heard = max(set(pairs), key=pairs.count)
    mistaken = np.flatnonzero((held.labels == said) & (whole == said) & (without == heard))
    return {
        "learned": len(learned.labels),
        "held": len(held.labels),
        "right": _mean(whole == held.labels),
        "head": f"{layer}.{head}",
        "without": _mean(without == held.labels),
        "said": NAMES[said],
        "heard": NAMES[heard],
        "of": int(((held.labels == said) & (whole == said)).sum()),
        "mistaken": mistaken.tolist(),
        "gap": _gap(model, held, layer, head, np.flatnonzero(held.labels == said)),
        "patches": PATCHES,
        "pixels": READ,
    }


def _read(model: Any, digits: Any, off: tuple[int, ...] | None) -> np.ndarray:
    """What the model reads, with all heads or without one."""
    import torch
    from learning import pixels

    from regard.models.ablated import ablated
    from regard.trace.heads import parse_heads

    given = pixels(digits.read())
    with torch.no_grad():
        if off is None:
            return np.asarray(model.module(pixel_values=given).logits.argmax(-1))
        with ablated(model, parse_heads([f"{off[0]}.{off[1]}"], model.layout(), None), mode="zero"):
            return np.asarray(model.module(pixel_values=given).logits.argmax(-1))


def _gap(model: Any, digits: Any, layer: int, head: int, some: np.ndarray) -> list[float]:
    """How often [CLS] looks most at one of three patches: row 2, columns 5 to 7."""
    from digits import picture

    found = []
    for number in some:
        row = model.trace(image=picture(digits.values[number])).attention(layer, head, queries=0).ravel()[1:]
        found.append(int(row.argmax()) in (25, 26, 27))
    return _mean(np.array(found))


def _sheets() -> dict[str, Any]:
    from digits import split
    from learning import sheet_reader

    import regard

    model = regard.load(sheet_reader())
    learned, held = split()
    _, chosen, _ = _asked(model, learned, 1)
    layer, head = _best(chosen)
    right, asked, everything = _asked(model, held, 2)
    return {
        "sheets": SHEETS,
        "right": _mean(right),
        "head": f"{layer}.{head}",
        "asked": _mean(asked[:, layer, head]),
        "picture": _mean(everything[:, layer, head]),
        "most": float((asked[:, layer, head] > 0.5).mean()),
    }


def _asked(model: Any, digits: Any, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each sheet: whether the answer is right; of each head, the share on the asked digit, and on the picture at all."""
    from digits import NAMES, sheet
    from learning import question

    draws = np.random.default_rng(seed)
    right, asked, everything = [], [], []
    for number in range(SHEETS):
        place = number % 4
        four = draws.integers(len(digits.labels), size=4)
        trace = model.trace(question(place), image=sheet(digits.values[four]), generate=2)
        side = trace.side()
        answer = next(part for part in side.segments if part.name == "answer")
        right.append(side.texts[answer.start] == NAMES[digits.labels[four[place]]])
        middle = np.stack([side.spans[:, [0, 2]].mean(1), side.spans[:, [1, 3]].mean(1)])
        seen = ~np.isnan(middle[0])
        there = seen & ((middle[0] > 0.5) == place % 2) & ((middle[1] > 0.5) == place // 2)
        sites = [site for site in trace.sites if site.kind == "decoder"]
        rows = np.stack([trace.attention(site.layer, kind="decoder", queries=answer.start - 1)[:, 0] for site in sites])
        asked.append(rows[..., there].sum(-1) / rows[..., seen].sum(-1))
        everything.append(rows[..., seen].sum(-1))
    return np.array(right), np.stack(asked), np.stack(everything)


def _best(found: np.ndarray) -> tuple[int, int]:
    """Layer and head with the largest mean of (pictures, layers, heads)."""
    mean = found.mean(0)
    layer, head = np.unravel_index(mean.argmax(), mean.shape)
    return int(layer), int(head)


def _mean(values: np.ndarray) -> list[float]:
    """A mean with its interval."""
    draws = np.random.default_rng(0).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.percentile(values[draws].mean(1), [2.5, 97.5])
    return [float(values.mean()), float(low), float(high)]


def blocks(found: dict[str, Any]) -> Blocks:
    """What was found, in sentences."""
    digits, sheets = found["digits"], found["sheets"]
    said, heard = digits["said"], digits["heard"]
    return {
        PAGE: {
            "handwriting": "\n".join(
                [
                    f"- **digits-vit**, 4 layers of 4 heads, learned from {digits['learned']:,} digits and reads {_percent(digits['right'])} of {digits['held']} others right. "
                    f"The head that it needs most, chosen on the digits it learned from, is {digits['head']}: without it, {_percent(digits['without'])} are read right, and "
                    f"{len(digits['mistaken'])} of {digits['of']} {said}s that were read right are read as {heard}s. In {_percent(digits['gap'], 0)} of the {said}s held out, [CLS] looks by this head most at one of "
                    f"three patches (row 2, columns 5 to 7): below the bar of the {said}, where a {heard} has ink.",
                    f"- **digits-llava**, 2 layers in the tower and 2 above it, answers “Which digit is top left ?” and the like about sheets of four digits: {_percent(sheets['right'])} right of "
                    f"{sheets['sheets']} sheets of digits held out. From the “?”, where the answer begins, head {sheets['head']}, chosen on sheets of digits learned from, gives the digit asked about {_percent(sheets['asked'])} of its "
                    f"attention to the picture (chance: 25 %), and more than half of it on {_share(sheets['most'])} of the sheets; {_percent(sheets['picture'])} of all its attention is on the picture.",
                ]
            )
        }
    }


def _percent(mean: list[float], digits: int = 1) -> str:
    value, low, high = (100 * one for one in mean)
    return f"{value:.0f} %" if low == high else f"{span(value, low, high, digits)} %"


def _share(value: float) -> str:
    return "all" if value == 1 else f"{100 * value:.0f} %"
