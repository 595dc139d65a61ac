"""docs/reference/models.md: what the sweep found, as a page.

Enters: records. Leaves: Markdown, and what of it must not change unseen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
import transformers

from regard.capture import TIERS
from tests.fidelity.compare import BOUND
from tests.fidelity.known import FAILURES, PARTS, RARE, REPEATED, UNTRIED
from tests.fidelity.records import Record
from tests.models.seeing import TYPES
from tests.models.towers import TOWERS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "models.md"
_HEAD = "| Family | Class | Captured: layers x heads | Tier | Difference | In the score beside q, k | Norms |"


_LINES = (
    "The base classes of PaddleOCR's text readers have none. The reader of lines that is built on pp_ocrv6_small_rec "
    "has it, and is traced exactly with its own weights: [a model that reads a line of text]"
    "(../how-to/see-where-a-vision-model-looks.md#a-model-that-reads-a-line-of-text)."
)


def page(records: Mapping[str, Record]) -> str:
    """The page for a sweep's records."""
    passed = [r for r in records.values() if r.state == "pass"]
    parts = [r for r in records.values() if r.state == "part"]
    failed = [r for r in records.values() if r.state == "fail"]
    without = [r.model_type for r in records.values() if r.state == "none"]
    lines = [
        "# Models",
        "",
        "Written by `python -m tests.fidelity.write_page`; do not edit.",
        "",
        f"The model types of transformers {transformers.__version__} as tiny models with random weights (torch "
        f"{torch.__version__}): the trace, made with the model's default kernel, against the maps that a second model "
        "with the same weights reports when it runs in eager mode with `output_attentions=True`. Texts are padded, and "
        f"longer than sliding windows. A family passes when every map agrees to {_power(BOUND)}, no attention layer "
        "is missing, and the model is left as it was.",
        "",
        f"{len(RARE)} types that need a config or an input of their own were tried when this page was written; "
        f"`make test` tries all others each time, and {len(REPEATED)} of these: {', '.join(REPEATED)}.",
        "",
        *_counts(records),
        "",
        "Tiers, each trace says which one made it:",
        "",
        *(f"- `{name}`: {text}" for name, text in TIERS.items()),
        "",
        "With tier `maps`, the trace holds the model's own maps: no difference is what it must be. Maps marked * are "
        "compared with what the eager model's softmax gives, because the model does not report them.",
        "",
        "## Families that pass",
        "",
        _HEAD,
        "|" + " --- |" * 7,
        *map(_row, sorted(passed, key=lambda r: r.model_type)),
        "",
        "## Families that pass in part",
        "",
        "| Family | Class | Captured: layers x heads | What is no map of positions | Why |",
        "|" + " --- |" * 5,
        *map(_failure, sorted(parts, key=lambda r: r.model_type)),
        "",
        "## Families that fail",
        "",
        "| Family | Class | Captured: layers x heads | What the sweep says | Why |",
        "|" + " --- |" * 5,
        *map(_failure, sorted(failed, key=lambda r: r.model_type)),
        "",
        *pictured(),
        "## Families without softmax attention",
        "",
        ", ".join(sorted(without)) + ".",
        "",
        _LINES,
        "",
        "## Families not tried",
        "",
        *_untried(),
        "",
    ]
    return "\n".join(lines)


def _counts(records: Mapping[str, Record]) -> list[str]:
    """How many families passed, in part, failed, have no attention, or were not tried."""
    count = Counter(r.state for r in records.values())
    with_vectors = sum(r.state == "pass" and r.tier in ("tap", "both") for r in records.values())
    return [
        f"- **{count['pass']} model types pass**, {with_vectors} of them with q, k and v",
        f"- {count['part']} pass [in part](#families-that-pass-in-part): what is traced agrees, and the trace names "
        "attention that is no map of positions",
        f"- {count['fail']} fail, with reasons [below](#families-that-fail)",
        f"- {count['none']} have [no softmax attention](#families-without-softmax-attention)",
        f"- {len(UNTRIED)} were [not tried](#families-not-tried), each with the reason. This page says nothing about "
        "how they do",
    ]


def pictured() -> list[str]:
    """Types whose own processors lay pictures out in texts: what is known of the places of their image tokens."""
    rows = [f"| {name} | {kinds[0]}Processor, {kinds[1]}ImageProcessor |" for name, kinds in sorted(TYPES.items())]
    return [
        "## Pictures in texts",
        "",
        f"{len(TYPES)} types that read a picture in a text, as tiny models with random weights and their own "
        f"processors: attention of the language model agrees with its eager maps to {_power(BOUND)}, and with the "
        "blocks of the vision tower silenced, the image tokens that change with a patch of pixels, in each quadrant of "
        "the picture, are those that regard draws there (tests/models/test_sight.py).",
        "",
        "| Family | Processors |",
        "| --- | --- |",
        *rows,
        "",
        "Beside them, cross attention of VisionEncoderDecoder models to a ViT (TrOCR) and to Donut's Swin is drawn on "
        "the patches, and both towers of CLIP are traced side by side (tests/models/test_picture_writers.py). "
        "Exact and placed as well: the cross attention of Mllama to its tiles and of Pix2Struct to its numbered "
        "patches, the image tokens of Florence-2, and the cross attention of BLIP-2's learned queries, whose tokens "
        "have no place themselves (tests/models/test_more_sight.py). Windows of a tower have no place: those of "
        "Qwen2.5-VL, which sorts patches into them, of Swin and of Florence-2. SmolVLM's processor needs a further "
        "package (`pip install num2words`).",
        "",
        "## Pictures alone",
        "",
        f"{len(TOWERS)} types of vision models with image processors of transformers, tiny and with random weights: "
        f"attention agrees with the eager model's own maps to {_power(BOUND)}, and a look at the patch that changes "
        "with some pixels, in each quadrant of the picture, is drawn on these pixels (tests/models/test_towers.py).",
        "",
        f"{', '.join(sorted(TOWERS))}.",
        "",
        "[CLS], registers and the detection tokens of YOLOS stand beside the picture. ViTMAE shuffles its patches by "
        "chance, also if it hides none: they have no place. Windows of Swin have none either.",
        "",
    ]


def _row(r: Record) -> str:
    star = "*" if r.maps["softmax"] else ""
    norms = "yes" if r.norms == "yes" else "no" if r.tier in ("maps", "watch") else f"no: {r.norms}"
    cells = [r.model_type, r.model_class, _layers(r) + star, r.tier, _power(r.difference), ", ".join(r.terms), norms]
    return f"| {' | '.join(cells)} |"


def _failure(r: Record) -> str:
    why = PARTS.get(r.model_type) or FAILURES.get(r.model_type, ("", ""))[1]
    what = r.reason.removeprefix("no map of positions: ")
    return f"| {r.model_type} | {r.model_class} | {_layers(r)} | {what} | {why} |"


def _layers(r: Record) -> str:
    return ", ".join(f"{kind} {layers} x {r.heads}" for kind, layers in r.layers.items())


def _power(difference: float) -> str:
    """A round bound of a difference, which stays the same from machine to machine."""
    if difference == 0:
        return "0"
    return "1e-6" if difference <= 1e-6 else "1e-5"


def _untried() -> Iterable[str]:
    for reason in dict.fromkeys(UNTRIED.values()):
        yield f"- {reason}: {', '.join(sorted(name for name, why in UNTRIED.items() if why == reason))}."


def facts(text: str) -> dict[str, str]:
    """What a page says of each family, without numbers: its tier, that it passes in part or fails, or has none."""
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")}
    row = re.compile(r"^\| (\S+) \| \w* \| [^|]* \| (\w+)", re.MULTILINE)
    found = {name: tier for name, tier in row.findall(sections["Families that pass"]) if name != "Family"}
    for title, what in (("Families that pass in part", "in part"), ("Families that fail", "fails")):
        found |= {name: what for name, _ in row.findall(sections[title]) if name != "Family"}
    listed = sections["Families without softmax attention"].splitlines()[2].rstrip(".")
    return found | dict.fromkeys(listed.split(", "), "no attention")
