"""The study of deletion, and its report.

Enters: a corpus, then its sums. Leaves: a `Result`: a row per ranking, the fall of the output as tokens are removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import between, interval
from regard.studies.base import Study, StudyContext
from regard.studies.deletion.lowering import ABOUT, Lowering
from regard.studies.deletion.reduce import FEWEST, RANDOM, RANKINGS, SHARES, falls_of
from regard.studies.figures import line_picture
from regard.studies.result import Result
from regard.views.figures import Picture

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model

_FALLS, _COUNT, _ABOUT = "falls", "texts", "about"
_CONTROL = "Control: the area above random order, with random and shuffled weights"


class Deletion(Study):
    """Which ranking of tokens finds those whose removal changes the output most."""

    name: ClassVar[str] = "deletion"

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the falls of some texts."""
        for item in items:
            outcome = Lowering(model, item.encoded)
            if len(outcome.removable) < FEWEST:
                continue
            found = falls_of(outcome, item.encoded, np.random.default_rng((self.seed, item.number)))
            there = np.isfinite(found)
            values = {_FALLS: np.where(there, found, 0)[None], _COUNT: there.astype(float)[None]}
            sums.add_all(values, np.array([item.cluster]))
            about = np.zeros(len(ABOUT))
            about[list(ABOUT).index(outcome.about)] = 1
            sums.add(_ABOUT, about)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """A row per ranking, a curve of each, and which one is best on these texts."""
        if _FALLS not in sums:
            raise UserError(f"no text has {FEWEST} tokens that can be removed; use longer texts")
        about = list(ABOUT)[int(sums[_ABOUT].argmax())]
        table, tables = _table(sums), {}
        if context.controls is not None:
            tables[_CONTROL] = context.controls.table(_above(sums), _above, ("ranking",))
        return Result(
            study=self.name,
            title=f"Which tokens matter to {context.model.name}: rankings judged by deletion",
            table=table,
            meta={**context.meta(), "about": about},
            drawers={
                "falls": (
                    f"Fall of the {ABOUT[about]} as a ranking's first tokens are removed; bands: 95% over inputs.",
                    lambda: _curve(sums, table, ABOUT[about]),
                )
            },
            findings=_findings(table, ABOUT[about], int(sums.whole(_COUNT)[0, 0])),
            cautions=context.cautions(),
            tables=tables,
        )


def _numbers(sums: Sums) -> tuple[Array, Array]:
    """(1 + draws, rankings, shares) mean falls, and (rankings, shares) effective numbers of clusters."""
    return ratio(sums.resampled(_FALLS), sums.resampled(_COUNT)), sums.clusters(_COUNT)


def _table(sums: Sums) -> pd.DataFrame:
    """A row per ranking: the area over its curve, that above random order, and the fall at each share."""
    import pandas as pd

    falls, clusters = _numbers(sums)
    area = falls.mean(axis=-1)  # (1 + draws, rankings)
    above = area - area[:, [RANKINGS.index(RANDOM)]]
    ends, beyond = interval(area, clusters[:, 0]), interval(above, clusters[:, 0])
    rows = [
        {
            "ranking": name,
            "area": area[0, index],
            "low": ends[0][index],
            "high": ends[1][index],
            "above_random": above[0, index],
            "above_low": beyond[0][index],
            "above_high": beyond[1][index],
            **{f"removed_{share:.0%}": falls[0, index, place] for place, share in enumerate(SHARES)},
        }
        for index, name in enumerate(RANKINGS)
        if np.isfinite(area[0, index])
    ]
    return pd.DataFrame(rows).sort_values("area", ascending=False, ignore_index=True)


def _above(sums: Sums) -> pd.DataFrame:
    """How much larger the area of each ranking is than that of random order, as `value`."""
    table = _table(sums)
    return table[table["ranking"] != RANDOM].rename(columns={"above_random": "value"})[["ranking", "value"]]


def _curve(sums: Sums, table: pd.DataFrame, about: str) -> Picture:
    falls, clusters = _numbers(sums)
    low, high = interval(falls, clusters)
    there = [RANKINGS.index(name) for name in table["ranking"]]
    nothing = np.zeros(1)
    lines = {RANKINGS[index]: np.concatenate([nothing, falls[0, index]]) for index in there}
    bands = {
        RANKINGS[index]: (np.concatenate([nothing, low[index]]), np.concatenate([nothing, high[index]]))
        for index in there
    }
    return line_picture(lines, x="tenths of the tokens removed", y="fall", title=f"fall of the {about}", bands=bands)


def _findings(table: pd.DataFrame, about: str, texts: int) -> list[str]:
    best, rest = table.iloc[0], table.iloc[1:]
    said = [
        f"Best here: {best['ranking']}. Removing the tokens it ranks first lowers the {about} by {best['area']:.3f}"
        f"{between(best['low'], best['high'], '.3f')} on average, with {SHARES[0]:.0%} to {SHARES[-1]:.0%} removed."
    ]
    said += [
        f"{row['ranking'][:1].upper()}{row['ranking'][1:]}: {row['area']:.3f}"
        f"{between(row['low'], row['high'], '.3f')}, {row['above_random']:+.3f} against random order."
        for _, row in rest.iterrows()
    ]
    said.append(
        f"{texts:,} texts. The best ranking finds tokens whose absence changes this output on these texts; it does not "
        "say how the model uses them."
    )
    return said
