"""What head 2.9 of the default model does: by two rules, by its portrait, and by what cutting its looks changes."""

from __future__ import annotations

import csv
import json
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from blocks import Blocks, span
from find import printed

PAGE = "tutorials/what-is-a-head-for.md"
LAYER, HEAD = 2, 9
RULES = ("same word and not same position", "same token and not same position")
FRESH = "en_ewt-ud-train-first.conllu"  # sentences on which nothing was looked at before
INPUTS, FRESH_INPUTS, PAIRS, SHOWN = 150, 500, 50, 5


def measure(data: Path) -> dict[str, Any]:
    """What is printed for two rules, the head's portrait, and a cut for every pair of captions."""
    from regard import find, load, study

    model, trees = load(), data / "ud_english_ewt" / "en_ewt-ud-dev.conllu"
    with tempfile.TemporaryDirectory() as folder:
        study.heads(model, trees, limit=INPUTS, output=folder)
        portrait = json.loads((Path(folder) / "heads" / f"{LAYER}.{HEAD}.json").read_text("utf-8"))
    looks = ("group", "query", "key", "query_token", "key_token", "weight")
    return {
        "printed": {rule: printed(find(rule, trees, model, limit=INPUTS)) for rule in RULES},
        "fresh": find(RULES[1], trees.with_name(FRESH), model, limit=FRESH_INPUTS).table.head(2).to_dict("records"),
        "said": portrait["said"],
        "examples": [{name: one[name] for name in looks} for one in portrait["examples"]],
        "cuts": list(islice(_cuts(model, data / "sts_captions" / "sts-captions-dev.tsv"), PAIRS)),
    }


def _cuts(model: Any, path: Path) -> Any:
    """For each pair that shares a token: the change of similarity without the looks from one to the other."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            pair = row["sentence1"], row["sentence2"]
            tokens = [token.text for token in model.trace(*pair).side().tokens]
            end = tokens.index("[SEP]")
            ends = range(1, end), range(end + 1, len(tokens) - 1)
            same = [(a, b) for a in ends[0] for b in ends[1] if tokens[a] == tokens[b]]
            if same:
                made = model.cut(*pair, edges=[(LAYER, HEAD, *edge) for a, b in same for edge in ((a, b), (b, a))])
                change = made.change.after - made.change.before
                yield {"change": change, "random": made.control.mean, "larger": made.control.larger}


def blocks(found: dict[str, Any]) -> Blocks:
    """The parts of the page."""
    parts = {
        name: f"```text\n$ regard find '{rule}' en_ewt-ud-dev.conllu --limit {INPUTS} --top {SHOWN}\n"
        f"{found['printed'][rule]}\n```"
        for name, rule in zip(("word", "token"), RULES, strict=True)
    }
    said, cuts, (first, second) = found["said"], found["cuts"], found["fresh"]
    parts["fresh"] = (
        f"{FRESH_INPUTS} sentences of `{FRESH}`: head {first['layer']}.{first['head']} is first with a lift of "
        f"{span(first['lift'], first['low'], first['high'], 2)}, before {second['layer']}.{second['head']} with "
        f"{span(second['lift'], second['low'], second['high'], 2)}."
    )
    parts["portrait"] = (
        f"> {said['sentence']}\n\n"
        f"The sentence {'holds' if said['verified'] else 'does not hold'} on the half of the documents that it was not chosen "
        f"on: it predicts where the head looks with a correlation of {said['value']:.2f}; the best fixed distance, "
        f"{said['offset']} (0 is the token itself), does with {said['by_offset']:.2f}. Weights on the "
        f"delimiters are {said['rests']:.2f} of all, but what arrives from there is {said['rests_arriving']:.2f}.\n\n"
        f"| looks on the page | at the token itself | at the same token elsewhere | at others |\n|---|---|---|---|\n"
        + "\n".join(_looks(found["examples"], group) for group in ("strongest", "ordinary"))
    )
    sizes = [
        sum(values) / len(cuts) for values in ([abs(one["change"]) for one in cuts], [one["random"] for one in cuts])
    ]
    parts["captions"] = (
        f"Over {len(cuts)} pairs of captions that share a token (STS), with all looks of head {LAYER}.{HEAD} from a token to the same one "
        f"in the other sentence cut: the similarity rises in {sum(one['change'] > 0 for one in cuts)} of them. It changes by "
        f"{sizes[0]:.4f} on average, and by {sizes[1]:.4f} for random lines of the same weights; in "
        f"{sum(one['larger'] == 0 for one in cuts)} pairs by more than for each of 16 random sets, where chance would give "
        f"{len(cuts) / 17:.0f}."
    )
    return {PAGE: parts}


def _looks(examples: list[dict[str, Any]], group: str) -> str:
    mine = [one for one in examples if one["group"] == group]
    itself = sum(one["query"] == one["key"] for one in mine)
    same = sum(one["query_token"] == one["key_token"] for one in mine) - itself
    return f"| {len(mine)} {group} | {itself} | {same} | {len(mine) - itself - same} |"
