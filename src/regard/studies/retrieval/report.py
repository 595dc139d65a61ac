"""The report of retrieval heads: scores, answers by length and depth, and what removing heads does.

Enters: sums of needles. Leaves: a `Result`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import between, interval, share_interval
from regard.studies.base import StudyContext, layers_of
from regard.studies.chart import Bar, Chart
from regard.studies.figures import heat_picture, line_picture
from regard.studies.result import Result
from regard.trace.heads import Head

if TYPE_CHECKING:
    import pandas as pd

WAYS = ("whole", "without the retrieval heads", "without random heads of the same layers")
_RETRIEVES = 0.1  # the score from which Wu et al. (2024) call a head a retrieval head
_NAMED = 10


def retrieval_result(
    sums: Sums, context: StudyContext, lengths: Sequence[int], halves: Sequence[Sequence[Head]]
) -> Result:
    """Tables, figures and findings."""
    heads, cells = head_rows(sums), cell_rows(sums, lengths)
    tables = {"Answers by length and depth": cells}
    removed = None if context.second is None else removal_rows(sums, context.second, lengths)
    if removed is not None:
        tables["Without heads"] = removed
    if context.controls is not None:
        tables["Scores with weights that learned nothing"] = _control_rows(context)
    drawers: dict[str, Any] = {
        "scores": ("Retrieval score of every head: share of the needle's tokens.", lambda: _grid(heads)),
        "answers": ("Needles that the model answers, by depth; a line per length.", lambda: _depths(cells, lengths)),
    }
    return Result(
        study="retrieval",
        title=f"Which heads of {context.model.name} retrieve",
        table=heads,
        meta={**context.meta(), "removed": [[str(head) for head in half] for half in halves]},
        drawers=drawers,
        findings=_findings(heads, cells, removed, lengths, halves),
        chart=_chart(removed),
        cautions=context.cautions(),
        tables=tables,
    )


def head_rows(sums: Sums) -> pd.DataFrame:
    """A row per head, best first: retrieval score, shares of sink and of recent keys, each with an interval."""
    import pandas as pd

    rows = []
    tokens, count = sums.resampled("tokens"), sums.resampled("rows")
    clusters = float(sums.clusters("tokens"))
    for kind, layers in layers_of(sums, "retrieved").items():
        for layer in layers:
            score = ratio(sums.resampled(f"{kind}/{layer}/retrieved"), tokens[:, None])
            sink, recent = (
                ratio(sums.resampled(f"{kind}/{layer}/{name}"), count[:, None]) for name in ("sink", "recent")
            )
            (low, high), (under, over) = (interval(values, clusters) for values in (score, sink + recent))
            for head in range(score.shape[1]):
                rows.append(
                    {
                        "kind": kind, "layer": layer, "head": head, "retrieval": score[0, head], "low": low[head],
                        "high": high[head], "sink": sink[0, head], "recent": recent[0, head],
                        "streaming": sink[0, head] + recent[0, head], "streaming_low": under[head],
                        "streaming_high": over[head],
                    }
                )  # fmt: skip
    found = pd.DataFrame(rows)
    return found.sort_values("retrieval", ascending=False, kind="stable", ignore_index=True)


def cell_rows(sums: Sums, lengths: Sequence[int]) -> pd.DataFrame:
    """A row per length and depth, and per length over all depths (depth "all"): share of needles answered."""
    import pandas as pd

    cells, answered, logs = (sums.resampled(name) for name in ("cells", "answered", "logs"))  # (R, L, D)
    count = cells.shape[2]
    rows = []
    for number, length in enumerate(lengths):
        for depth in [*range(count), None]:
            part = slice(None) if depth is None else slice(depth, depth + 1)
            whole = cells[:, number, part].sum(axis=-1)
            share = ratio(answered[:, number, part].sum(axis=-1), whole)
            clusters = float(sums.clusters("cells")[number].sum()) if depth is None else float(whole[0])
            low, high = share_interval(share, clusters)
            name = "all" if depth is None else f"{depth / max(1, count - 1):.0%}"
            log = ratio(logs[:, number, part].sum(axis=-1), whole)[0]
            rows.append((length, name, share[0], float(low), float(high), log, int(whole[0])))
    return pd.DataFrame(rows, columns=["length", "depth", "answered", "low", "high", "log", "needles"])


def removal_rows(sums: Sums, second: Sums, lengths: Sequence[int]) -> pd.DataFrame:
    """A row per way and length, and over all lengths: share answered, and the paired change from the whole model."""
    import pandas as pd

    plain = np.stack([sums.resampled(name).sum(axis=-1) for name in ("answered", "logs")], axis=-1)  # (R, L, 2)
    ways = np.concatenate([plain[:, None], second.resampled("ways")], axis=1)  # (R, W, L, 2)
    needles = sums.resampled("cells").sum(axis=-1)  # (R, L)
    clusters = float(sums.clusters("tokens"))
    rows = []
    for number, length in [*enumerate(lengths), (None, "all")]:
        part = slice(None) if number is None else slice(number, number + 1)
        count = needles[:, part].sum(axis=-1)
        for way, name in enumerate(WAYS):
            value = ratio(ways[:, way, part].sum(axis=1), count[:, None])  # (R, 2)
            change = value - ratio(ways[:, 0, part].sum(axis=1), count[:, None])
            low, high = share_interval(value[:, 0], clusters)
            under, over = share_interval(change[:, 0], clusters, least=-1.0) if way else (0.0, 0.0)
            log_low, log_high = interval(change[:, 1], clusters)
            rows.append(
                {
                    "length": str(length), "model": name, "answered": value[0, 0], "low": float(low),
                    "high": float(high), "change": change[0, 0], "change_low": float(under), "change_high": float(over),
                    "log": value[0, 1], "log_change": change[0, 1], "log_low": float(log_low),
                    "log_high": float(log_high), "needles": int(count[0]),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def _control_rows(context: StudyContext) -> pd.DataFrame:
    import pandas as pd

    assert context.controls is not None
    rows = []
    named = {f"random weights {n}": sums for n, sums in enumerate(context.controls.random)}
    for name, sums in {**named, "shuffled weights": context.controls.shuffled}.items():
        best = head_rows(sums).iloc[0]
        rows.append((name, f"{best['layer']}.{best['head']}", best["retrieval"], best["low"], best["high"]))
    return pd.DataFrame(rows, columns=["weights", "best head", "retrieval", "low", "high"])


def _grid(heads: pd.DataFrame) -> Any:
    kind = heads["kind"].iloc[0]
    mine = heads[heads["kind"] == kind]
    values: Array = np.full((int(mine["layer"].max()) + 1, int(mine["head"].max()) + 1), np.nan)
    values[mine["layer"], mine["head"]] = mine["retrieval"]
    return heat_picture(values, title=f"{kind}: retrieval score", label="share of the needle's tokens")


def _depths(cells: pd.DataFrame, lengths: Sequence[int]) -> Any:
    lines = {
        f"{length} tokens": np.asarray(cells[(cells["length"] == length) & (cells["depth"] != "all")]["answered"])
        for length in lengths
    }
    return line_picture(lines, x="depth, from the beginning to the end", y="share answered", title="needles answered")


def _chart(removed: pd.DataFrame | None) -> Chart | None:
    if removed is None:
        return None
    whole = removed[removed["length"] == "all"]
    bars = [Bar(row.model, row.answered, note=between(row.low, row.high).strip()) for row in whole.itertuples()]
    return Chart("Share of needles that the model answers", bars, top=1.0)


def _findings(
    heads: pd.DataFrame,
    cells: pd.DataFrame,
    removed: pd.DataFrame | None,
    lengths: Sequence[int],
    halves: Sequence[Sequence[Head]],
) -> list[str]:
    strong = heads[heads["low"] >= _RETRIEVES]
    named = ", ".join(
        f"{row.layer}.{row.head} {row.retrieval:.2f}{between(row.low, row.high)}"
        for row in heads.head(_NAMED).itertuples()
    )
    said = [
        f"{len(strong)} of {len(heads)} heads retrieve: while the answer copies the needle, their strongest key is the "
        f"token to copy for at least {_RETRIEVES:.0%} of its tokens (lower end of the interval). The first: {named}."
    ]
    if removed is not None:
        rows = {row.model: row for row in removed[removed["length"] == "all"].itertuples()}
        whole, without, random = (rows[name] for name in WAYS)
        both = len(set(halves[0]) & set(halves[1]))
        said.append(
            f"The whole model answers {whole.answered:.0%} of {whole.needles} needles. Without the "
            f"{len(halves[0])} best "
            f"heads (mode mean, chosen on other haystacks): {without.answered:.0%}, a change of {without.change:+.0%}"
            f"{between(without.change_low, without.change_high)}; without as many random heads of the same layers: "
            f"{random.answered:.0%}, a change of {random.change:+.0%}{between(random.change_low, random.change_high)}. "
            f"Both halves chose {both} of these heads alike."
        )
    for length in lengths:
        row = cells[(cells["length"] == length) & (cells["depth"] == "all")].iloc[0]
        said.append(
            f"With {length} tokens the model answers {row['answered']:.0%}{between(row['low'], row['high'])} of "
            f"{row['needles']} needles."
        )
    middle = heads["streaming"].median()
    said.append(
        f"The middle head gives {middle:.2f} of its weight to the first token, special tokens and the last 32 keys: it "
        f"streams. {int((heads['streaming'] > 0.95).sum())} heads give them more than 0.95."
    )
    return said
