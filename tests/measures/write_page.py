"""Write docs/reference/measures.md from the functions themselves.

python -m tests.measures.write_page
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from regard import measures
from regard.measures.types import TYPES
from regard.patterns.definitions import BAG, PATTERNS, USUAL
from regard.patterns.entries import MEASURE_NAMES, PHRASES
from regard.patterns.levels import LEVELS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures.md"
HEADER = """# Measures

Generated from the docstrings by `python -m tests.measures.write_page`; a test keeps it fresh.

Arrays in, numbers per head out. The last axes of `attention` are (query, key), leading axes (layers, heads) are kept,
and the same functions take numpy arrays and torch tensors. A measure that no row is eligible for is NaN, never 0.

A trace gives them all at once, with names and reasons: [`trace.patterns()`](#patterns).
"""


def page() -> str:
    """The whole page."""
    functions = [name for name in measures.__all__ if name[0].islower()]
    results = [name for name in measures.__all__ if name[0].isupper()]
    parts = [
        HEADER,
        *(entry(name) for name in functions),
        "## Results\n",
        *(result(name) for name in results),
        patterns(),
    ]
    return "\n".join(parts)


def entry(name: str) -> str:
    function = getattr(measures, name)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(function).parameters.values()]
    return f"## {name}\n\n`{name}{inspect.Signature(plain)}`\n\n{text(function)}\n"


def result(name: str) -> str:
    kind = getattr(measures, name)
    return f"### {name}\n\nFields: {', '.join(f'`{field}`' for field in kind._fields)}.\n\n{text(kind)}\n"


def text(thing: object) -> str:
    """A docstring as Markdown: sections in bold, indented formulas and examples as code."""
    lines = inspect.cleandoc(inspect.getdoc(thing) or "").splitlines()
    shown: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", line):
            continue
        shown.append(f"**{line}**\n" if re.fullmatch(r"-{3,}", below) else line)
    body = re.sub(r"^(\w[\w, ]*)\n    (?=\S)", r"- **\1**: ", "\n".join(shown), flags=re.MULTILINE)
    return re.sub(r"((?:^>>> .*\n?(?:^(?!>>>)\S.*\n?)*)+)", r"```python\n\1\n```", body, flags=re.MULTILINE)


def patterns() -> str:
    """The table of patterns, and the types."""
    rows = [f"| {p.name} | {p.phrase.rstrip(',')} | {'—' if p.threshold is None else p.threshold} |" for p in PATTERNS]
    rows.append(f"| {BAG} | {PHRASES[BAG]} | {USUAL} |")
    table = "\n".join(rows)
    levels = "\n".join(f"| {level.name} | {MEASURE_NAMES[level.name]} |" for level in LEVELS)
    return f"""## Patterns

`trace.patterns()` reads all heads with these, over rows of ordinary tokens. A head is named for a pattern when its lift
reaches the threshold over eight rows or more; a dash marks numbers that stand beside a pattern.

Beside them stand levels, of every row that sees more than one key; *awake* is of those of ordinary tokens.

| level | what it is |
|---|---|
{levels}

A **word** is a run of letters, digits and underscores with inner apostrophes (*don't* is one), or a single mark; a
character of a script without spaces is a word. **Punctuation** is any word without a letter or digit, symbols such as $
and % among them. [UNK] is an ordinary token: nothing rests on it, and two of them are not the same word. A token of
white space alone belongs to no word.

Where heads **rest**, special tokens and in a causal model the first token that a row sees, is never a target of another
pattern, in any column of a study. In a causal model *repeated token* takes the place of *same word* and *same word,
elsewhere*.

| pattern | a head that | lift from |
|---|---|---|
{table}

## Types

Kovaleva et al. (2019) name five shapes of map: {", ".join(TYPES)}.
`regard.measures.types` gives a probability for each; how good they are is told in
[Reading patterns](../explanation/reading-patterns.md).
"""


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
