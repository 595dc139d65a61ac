"""Lines of the tiny models' words, as a text and as a table of pairs, for portraits of heads."""

from pathlib import Path

import numpy as np

WORDS = "the cat sat on the mat , a dog bought fresh strawberries at the store . it was happy and we went".split()


def lines(count: int, rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.choice(WORDS, rng.integers(3, 12))) for _ in range(count)]


def write_lines(folder: Path) -> Path:
    """Ninety lines, and beside them `pairs.tsv`, in which each of them has a second one."""
    rng = np.random.default_rng(0)
    first, second = lines(90, rng), lines(90, rng)
    path = folder / "lines.txt"
    path.write_text("\n".join(first), "utf-8")
    rows = zip(first, second, strict=True)
    path.with_name("pairs.tsv").write_text("\n".join(["text\tpair", *("\t".join(row) for row in rows)]), "utf-8")
    return path
