"""Draw 300 attention maps of two models at random, keep them, and print them as numbered contact sheets.

Enters: inputs.json (texts written for this purpose). Leaves: maps.npz (float16), maps.json (where each came from), and,
in the folder given as argument, the sheets that a person labels (labels.json) without seeing anything else.

    python tests/data/maps/make_maps.py collect             # needs the models; writes maps.npz and maps.json
    python tests/data/maps/make_maps.py sheets FOLDER       # 12 sheets of 25 maps
    python tests/data/maps/make_maps.py again FOLDER        # 60 of them, shuffled, for a second reading
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

HERE = Path(__file__).parent
PER_INPUT = {"all-MiniLM-L6-v2": 18, "SmolLM2-135M-Instruct": 15}
SEED, AGAIN_SEED = 7, 11
CELL, GAP, SIDE = 168, 24, 5


def collect() -> None:
    import regard

    generator = np.random.default_rng(SEED)
    rows, maps = [], []
    models = {}
    for number, given in enumerate(json.loads((HERE / "inputs.json").read_text(encoding="utf-8"))):
        name = given["model"]
        models[name] = models.get(name) or regard.load(name)
        trace = models[name].trace(given["text"], given["pair"])
        layers = np.resize(generator.permutation(trace.layers()), PER_INPUT[name])  # every layer as often as the next
        for layer in layers:
            head = int(generator.integers(trace.site(int(layer)).heads))
            while (number, int(layer), head) in [(r["input"], r["layer"], r["head"]) for r in rows]:
                head = int(generator.integers(trace.site(int(layer)).heads))
            tokens = trace.tokens
            rows.append(
                {
                    "input": number,
                    "layer": int(layer),
                    "head": head,
                    "tokens": [token.text for token in tokens],
                    "special": [int(token.special) for token in tokens],
                    "segment": [token.segment for token in tokens],
                }
            )
            maps.append(trace.attention(int(layer), head).astype(np.float16))
    order = generator.permutation(len(rows))
    np.savez_compressed(HERE / "maps.npz", **{f"{n:03d}": maps[i] for n, i in enumerate(order)})
    text = ",\n".join(json.dumps({"map": n, **rows[i]}, ensure_ascii=False) for n, i in enumerate(order))
    (HERE / "maps.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")


def sheets(folder: Path, order: list[int], name: str) -> None:
    maps = np.load(HERE / "maps.npz")
    rows = json.loads((HERE / "maps.json").read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(order), SIDE * SIDE):
        sheet = Image.new("RGB", (SIDE * (CELL + GAP), SIDE * (CELL + GAP)), "white")
        for place, number in enumerate(order[start : start + SIDE * SIDE]):
            x, y = (place % SIDE) * (CELL + GAP) + GAP // 2, (place // SIDE) * (CELL + GAP) + GAP - 4
            draw(sheet, x, y, start + place if name == "again" else number, maps[f"{number:03d}"], rows[number])
        sheet.save(folder / f"{name}-{start // (SIDE * SIDE):02d}.png")


def draw(sheet: Image.Image, x: int, y: int, label: int, attention: np.ndarray, row: dict) -> None:
    """A map in dark blue on white, square-root scale up to its own maximum; ticks mark the segments' border."""
    shade = np.sqrt(attention.astype(np.float64) / attention.max())
    colour = 255 - shade[..., None] * (255 - np.array([8, 20, 90]))
    picture = Image.fromarray(colour.astype(np.uint8)).resize((CELL, CELL), Image.Resampling.NEAREST)
    sheet.paste(picture, (x, y))
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((x - 1, y - 1, x + CELL, y + CELL), outline="#999999")
    pen.text((x, y - 13), str(label), fill="black")
    if 1 in row["segment"]:
        border = round(row["segment"].index(1) / len(row["segment"]) * CELL)
        pen.line((x + border, y + CELL, x + border, y + CELL + 5), fill="red", width=2)
        pen.line((x - 6, y + border, x - 1, y + border), fill="red", width=2)


def second_reading() -> list[int]:
    """The maps that are labelled twice, in their second order."""
    return [int(n) for n in np.random.default_rng(AGAIN_SEED).permutation(300)[:60]]


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        collect()
    elif sys.argv[1] == "sheets":
        sheets(Path(sys.argv[2]), list(range(300)), "sheet")
    else:
        sheets(Path(sys.argv[2]), second_reading(), "again")
