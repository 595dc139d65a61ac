"""From the sums of portraits to tables and pages.

Enters: sums over a corpus, and where exactly the shown examples look. Leaves: a `Result` with a page per head.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from regard.corpus.sums import Sums
from regard.measures.intervals import between
from regard.models.progress import working
from regard.patterns.definitions import ALWAYS
from regard.studies.base import StudyContext
from regard.studies.chart import Chart, counted
from regard.studies.controls import Ranged
from regard.studies.head_names import head_name
from regard.studies.heads.choosing import shown_rows
from regard.studies.heads.describing import BY_DISTANCE, BY_TOKEN, Description, Place, describe
from regard.studies.heads.examples import examples_table, looks_of
from regard.studies.heads.mapping import SampleTexts
from regard.studies.heads.pages import Portrait, index_part, page_name, portrait_page
from regard.studies.heads.predicting import Predicting, predicting
from regard.studies.heads.records import head_json
from regard.studies.heads.sample import sample_batches, sampled_inputs
from regard.studies.heads.shown import ShownRows
from regard.studies.heads.stored import TABLE, array_files, sample_facts, sample_table
from regard.studies.heads.tables import COPIES, distance_table, grammar_table, index_table, token_table
from regard.studies.heads.telling import CountedTokens
from regard.studies.heads.texts import texts_of
from regard.studies.heads.vectors import Vectors, vectors_of
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from regard.studies.heads.study import Heads

_PLACE = ["kind", "layer", "head"]


def heads_result(sums: Sums, context: StudyContext) -> Result:
    """Tables, and a page per head."""
    study: Heads = context.study  # type: ignore[assignment]
    tokens = CountedTokens(context.model, study.vocabulary.ids)
    found = describe(sums)
    predicts = predicting(context, study.predictive)
    index = index_table(sums, found, tokens, predicts)
    rows = shown_rows(sums)
    assert context.second is not None  # this study always has a second pass
    texts = texts_of(context, ShownRows(rows).wanted)
    looks = {place: list(looks_of(place, rows[f"{place[0]}/{place[1]}"], context.second, texts)) for place in found}
    files = {"examples": examples_table(looks), "tokens": token_table(sums, found, tokens)}
    files["distances"] = distance_table(sums)
    grammar = grammar_table(sums)
    if grammar is not None:
        files["grammar"] = grammar
    by_head = dict(files)
    vectors = _vectors(sums, context, study.vectors)
    sample = SampleTexts(vectors)
    if vectors.layers:
        files[TABLE] = sample_table(vectors)
    title = f"What each head of {context.model.name} does when awake"
    pages = {
        page_name(place, index): partial(
            portrait_page,
            Portrait(place, one, looks[place], sums, predicts.said(place), sample),
            index,
            files,
            context,
        )
        for place, one in found.items()
    }
    records = {
        f"{page.removesuffix('.html')}.json": partial(head_json, place, index, by_head, context)
        for place, page in ((place, page_name(place, index)) for place in found)
    }
    return Result(
        study="heads",
        title=title,
        table=index,
        meta={**context.meta(), "predictive_inputs": predicts.inputs, "vectors": sample_facts(vectors)},
        findings=[*_findings(index, found, context), *_copying(index), _most_predictive(index, predicts)],
        chart=_told(index, len(found), context.tally.inputs),
        cautions=context.cautions(),
        files=files,
        sections={"All heads": index_part(index, files["distances"])},
        pages={**pages, **records},
        arrays=array_files(vectors),
    )


def _vectors(sums: Sums, context: StudyContext, positions: int) -> Vectors:
    """q and k of all heads on a sample of the corpus."""
    names = sampled_inputs(sums, positions)
    with working("keeping q and k of a sample"):
        return vectors_of(context.model, names, sample_batches(context, names) if names else [])


def _findings(index: pd.DataFrame, found: Mapping[Place, Description], context: StudyContext) -> list[str]:
    """How many heads are described, the clearest of them, how much rests, and the controls."""
    sure, resting = _counts(found)
    said = [
        f"{sure} of {len(found)} heads have a description that holds on text it was not chosen on; {resting} always "
        f"rest; for {len(found) - sure - resting} no description holds."
    ]
    told = index[index["verified"] & ~index["description"].isin([ALWAYS, BY_DISTANCE, BY_TOKEN])]
    told = told.sort_values("value", ascending=False).groupby("description", sort=False).head(1)
    several = index["kind"].nunique() > 1
    for row in told.itertuples():
        called = f"{f'{row.kind} ' if several else ''}head {head_name(row.layer, row.head)}".capitalize()
        said.append(f"{called}: {row.sentence}")
    counts = index.loc[index["verified"], "description"].value_counts()
    said.append(
        f"{counts.get(BY_DISTANCE, 0)} heads are told by how far they look, {counts.get(BY_TOKEN, 0)} by the tokens "
        "that they look at whoever asks."
    )
    said.append(
        f"The median head rests with {index['rests'].median():.2f} of its attention, and with "
        f"{index['rests_arriving'].median():.2f} of what arrives."
    )
    if context.controls is not None:
        sure_of = [sum(_counts(describe(sums))) for sums in context.controls.named.values()]
        said.append(
            f"Control: heads of {len(found)} that get a description or always rest: "
            f"{Ranged(sure_of[:-1], sure_of[-1]).said('{:.3g}')}."
        )
    return said


def _copying(index: pd.DataFrame) -> list[str]:
    """How many heads write what they read, and which does most."""
    known = index[index[COPIES[0]].notna()]
    if known.empty:
        return []
    writes, suppresses = int((known[COPIES[1]] > 0).sum()), int((known[COPIES[2]] < 0).sum())
    row = known.loc[known[COPIES[0]].idxmax()]
    return [
        f"{writes} of {len(known)} heads write the words they read, {suppresses} suppress them (intervals apart from "
        f"0); head {head_name(row['layer'], row['head'])} copies most, "
        f"{row[COPIES[0]]:.2f}{between(row[COPIES[1]], row[COPIES[2]])}."
    ]


def _told(index: pd.DataFrame, whole: int, inputs: int) -> Chart:
    """How many heads have each description that holds."""
    names = index.loc[index["verified"] | (index["description"] == ALWAYS), "description"]
    named = {BY_DISTANCE: "by how far they look", BY_TOKEN: "by the tokens they look at", ALWAYS: "always rest"}
    counts = {named.get(str(name), str(name)): int(count) for name, count in names.value_counts().items()}
    return counted(f"What describes how many of the {whole} heads, over {inputs:,} inputs.", counts)


def _most_predictive(index: pd.DataFrame, predicts: Predicting) -> str:
    """The head that looks most at the words that predict."""
    if index["predicts"].isna().all():
        return predicts.said(next(iter(predicts.heads), ("", 0, 0)))
    own = index[index["predicts_own"] & index["predicts"].notna()]
    if own.empty:
        return "No head looks at the words that help with the prediction more than at something simpler."
    row = own.loc[own["predicts"].idxmax()]
    named = f"Of heads that do nothing simpler, {head_name(row['layer'], row['head'])} looks most at what predicts."
    return f"{named} {predicts.said(tuple(row[_PLACE]))}"


def _counts(found: Mapping[Place, Description]) -> tuple[int, int]:
    """How many heads have a description that holds, and how many always rest."""
    resting = sum(one.name == ALWAYS for one in found.values())
    return sum(one.verified for one in found.values()) - resting, resting
