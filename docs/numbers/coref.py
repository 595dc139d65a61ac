"""Which heads know coreference: LitBank, GAP and WinoBias with the default model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

BIAS = ("1.3", "1.5", "2.4", "1.0", "1.1", "2.9")  # heads whose gap the page follows


def measure(data: Path) -> dict[str, Any]:
    """The four studies, with control."""
    bias = data / "winobias"
    pairs = {n: [bias / f"{side}_stereotyped_type{n}.txt.dev" for side in ("pro", "anti")] for n in (1, 2)}
    return {
        "litbank": _study(data / "litbank" / "conll"),
        "gap": _study(data / "gap" / "gap-development.tsv", pieces=512),
        "type1": _study([str(path) for path in pairs[1]]),
        "type2": _study([str(path) for path in pairs[2]]),
    }


def _study(corpus: Any, **options: Any) -> dict[str, Any]:
    from regard import study

    result = study.coref(None, corpus, control=True, **options)
    named = {title.partition(",")[0].partition(":")[0]: rows for title, rows in result.tables.items()}
    return {
        "best": named["Best head"].to_dict("records"),
        "rules": named["Rules and chance on the same mentions"].to_dict("records"),
        "gaps": named["WinoBias"].to_dict("records") if "WinoBias" in named else [],
        "fates": named["What happened to the mentions"].to_dict("records"),
        "findings": list(result.findings),
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """The tables of the page, and the sentences of other pages that quote them."""
    page = {"litbank": _novels(found["litbank"]), "gap": _gap(found["gap"]), "winobias": _bias(found)}
    return {
        "how-to/which-heads-know-coreference.md": page,
        "tutorials/what-does-bert-look-at.md": {"coref": _tutorial(found)},
        "explanation/what-attention-tells.md": {"question": _question(found["gap"])},
    }


def _novels(found: dict[str, Any]) -> str:
    groups = ["all", "pronoun", "proper", "nominal"]
    asked = ["mentions asked", *(f"{_best(found, 'all words', group)['questions']:,}" for group in groups)]
    rows = [asked, *_rules(found, groups, ("nearest mention", "head-word match", "sieve"))]
    for candidates in ("all words", "mention heads"):
        rows += _of_set(found, groups, candidates)
    rows.append(["mention heads minus the best rule", *(_difference(_best(found, "mention heads", g)) for g in groups)])
    fates = "; ".join(f"{row['count']:,} {row['mentions']}" for row in found["fates"])
    return f"{fates}.\n\n{table(['', *groups], rows)}"


def _gap(found: dict[str, Any]) -> str:
    groups = ["all", "masculine", "feminine"]
    rows = _rules(found, groups, ("nearest mention", "sieve"))
    for candidates in ("all words", "mention heads"):
        rows += _of_set(found, groups, candidates)
    best = _best(found, "mention heads", "all")
    return f"""
{table(["", *groups], rows)}

"Mention heads" are the two names. {_heads(best)} tells them apart {_difference(best)} points better than the best rule.
"""


def _bias(found: dict[str, Any]) -> str:
    types = [found["type1"], found["type2"]]
    rows = [["nearest occupation", *(_percent(_rule(one, "all", "nearest mention")) for one in types)]]
    for candidates, name in (("all words", "all words"), ("mention heads", "the two occupations")):
        best = [_best(one, candidates, "all") for one in types]
        rows.append(
            [
                f"best head, {name}; random weights",
                *(f"{_with(row)} ({_heads(row)}); {_percent(row['control'])}" for row in best),
            ]
        )
    for candidates, name in (("mention heads", "the two occupations"), ("all words", "all words")):
        for head in BIAS:
            rows.append([f"gap pro − anti, {name}: head {head}", *(_one_gap(one, candidates, head) for one in types)])
        rows.append(
            [
                f"largest of any head, {name}: random; shuffled weights",
                *(_control_gaps(one, candidates) for one in types),
            ]
        )
    asked = " and ".join(f"{_best(one, 'all words', 'all')['questions']:,}" for one in types)
    listed = "\n".join(f"- Type {n}, {text}" for n, one in enumerate(types, 1) for text in _clear(one))
    return f"{asked} pronouns.\n\n{table(['', 'type 1', 'type 2'], rows)}\n\n{listed}"


def _tutorial(found: dict[str, Any]) -> str:
    rows = []
    for name, one in (("GAP", found["gap"]), ("LitBank", found["litbank"])):
        words, heads = (_best(one, candidates, "all") for candidates in ("all words", "mention heads"))
        rules = [_percent(_rule(one, "all", rule)) for rule in ("nearest mention", "sieve")]
        figures = [_with(words), _percent(words["control"]), _with(heads), _percent(heads["control"])]
        rows.append([f"{name}, {words['questions']:,} mentions", *rules, *figures])
    columns = [
        "%",
        "nearest",
        "sieve",
        "best head, all words",
        "random weights",
        "best head, mention heads",
        "random weights",
    ]
    return table(columns, rows)


def _question(found: dict[str, Any]) -> str:
    words, names = (_best(found, candidates, "all")["value"] for candidates in ("all words", "mention heads"))
    return f"""
**The question decides the figure.** The best head for pronouns in GAP is right in {100 * words:.1f} % of them if it may look at any word, and
in {100 * names:.1f} % if it must choose between the two names, where a coin has 50 ([coreference](../how-to/which-heads-know-coreference.md)).
"""


def _best(found: dict[str, Any], candidates: str, group: str) -> dict[str, Any]:
    return next(row for row in found["best"] if (row["candidates"], row["mentions"]) == (candidates, group))


def _rule(found: dict[str, Any], group: str, rule: str) -> float:
    return next(row["value"] for row in found["rules"] if (row["mentions"], row["rule"]) == (group, rule))


def _rules(found: dict[str, Any], groups: list[str], rules: tuple[str, ...]) -> list[list[str]]:
    return [[rule, *(_percent(_rule(found, group, rule)) for group in groups)] for rule in rules]


def _of_set(found: dict[str, Any], groups: list[str], candidates: str) -> list[list[str]]:
    """A set's rows: the best head, who it is, chance and random weights."""
    best = [_best(found, candidates, group) for group in groups]
    return [
        [f"best head, **{candidates}**", *map(_with, best)],
        ["head", *map(_heads, best)],
        ["chance; random weights", *(f"{_percent(row['chance'])}; {_percent(row['control'])}" for row in best)],
    ]


def _clear(found: dict[str, Any]) -> list[str]:
    """How many heads have a gap whose interval excludes 0, beside the controls."""
    before = "encoder, pro minus anti, "
    return [text.removeprefix(before) for text in found["findings"] if "have an interval that excludes 0" in text]


def _control_gaps(found: dict[str, Any], candidates: str) -> str:
    """The largest gap of any head in the draws of random weights, and in shuffled ones."""
    (told,) = (text for text in _clear(found) if text.startswith(f"{candidates}: "))
    *random, shuffled = map(float, re.findall(r"the largest ([0-9.]+) points", told))
    return f"{min(random):.1f} to {max(random):.1f}; {shuffled:.1f}"


def _one_gap(found: dict[str, Any], candidates: str, name: str) -> str:
    layer, head = map(int, name.split("."))
    row = next(r for r in found["gaps"] if (r["candidates"], r["layer"], r["head"]) == (candidates, layer, head))
    return span(100 * row["gap"], 100 * row["low"], 100 * row["high"])


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _with(row: dict[str, Any]) -> str:
    return span(100 * row["value"], 100 * row["low"], 100 * row["high"])


def _difference(row: dict[str, Any]) -> str:
    return span(100 * row["difference"], 100 * row["difference low"], 100 * row["difference high"])


def _heads(row: dict[str, Any]) -> str:
    return " / ".join(dict.fromkeys((row["chosen on even"], row["chosen on odd"])))
