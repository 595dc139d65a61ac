"""`regard prune`: a smaller model without its least valuable heads.

Enters: a model's name and how its heads are chosen. Leaves: a folder that `regard.load` reads, and the gain.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from regard.base.errors import FileThereError, UserError
from regard.commands.heads import HeadNames
from regard.commands.shared import Loading, err, expand_options, out, size_of, working

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.trace.heads import Head


@expand_options
def prune(
    model: Annotated[
        str | None,
        typer.Argument(help="Hub name or folder.", show_default="the built-in all-MiniLM-L6-v2"),
    ] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    keep: Annotated[
        float | None,
        typer.Option(help="Share of the heads to keep; every layer keeps at least one.", show_default=False),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option("--on", help="File of texts to measure heads on; for classifiers, with labels.", metavar="FILE"),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="File of scores by head, higher is worth more: JSON, CSV or Parquet.", metavar="FILE"),
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column with the scores.", metavar="COL")] = None,
    label: Annotated[str | None, typer.Option(help="Column with the labels of the texts.", metavar="COL")] = None,
    limit: Annotated[int, typer.Option(help="Texts to measure on.", min=1)] = 500,
    heads: HeadNames = None,
    loading: Loading,
) -> None:
    """Remove heads from a model's weights and save it as a folder: BERT-type and GPT-2-type models.

    The heads are those named with --heads or, with --keep, those that score lowest in a file (--scores) or on texts
    (--on).
    """
    from regard.ablation.pruning import distance, speed
    from regard.ablation.pruning import prune as pruned
    from regard.models.pruned import save_pruned
    from regard.trace.heads import names_of

    _one_way(heads, keep, corpus, scores)
    if output.exists() and (output.is_file() or any(output.iterdir())):
        raise FileThereError(f"{output} already exists; name a new folder")
    loaded = loading.load(model)
    chosen, by = _chosen(loaded, heads, keep, scores, column, corpus, label, limit)
    with working("removing the heads"):
        smaller = pruned(loaded, chosen)
        names = names_of(chosen, loaded.layout())
        path = save_pruned(smaller, output, {"from": loaded.name, "removed": names, "by": by, "facts": loaded.facts})
    with working("measuring the speed"):
        before, after = speed(loaded, smaller)
    out.print(f"removed {len(chosen)} of {sum(loaded.layout().values())} heads: {', '.join(names)}", soft_wrap=True)
    out.print(f"heads per layer: {_heads(smaller)}", soft_wrap=True)
    out.print(f"chosen by: {by}", soft_wrap=True)
    fewer = 1 - smaller.parameters / loaded.parameters
    out.print(f"parameters: {loaded.parameters:,} before, {smaller.parameters:,} after (-{fewer:.1%})")
    out.print(
        f"speed: {before * 1e3:.1f} ms before, {after * 1e3:.1f} ms after, {before / after:.2f} times as fast "
        "(8 x 64 tokens, median of 9 runs each)",
        soft_wrap=True,
    )
    off = distance(loaded, smaller, chosen)
    out.print(f"largest difference from the model with these heads at zero: {off:.1e}", soft_wrap=True)
    weights = path / "model.safetensors"
    out.print(f"\nmodel: [bold]{path}[/bold] ({size_of(weights)}); load it with regard.load({str(path)!r})")


def _one_way(heads: list[str] | None, keep: float | None, corpus: str | None, scores: Path | None) -> None:
    """Check that heads are chosen in exactly one way."""
    if heads and (keep is not None or corpus is not None or scores is not None):
        raise UserError("choose one way: --heads, or --keep with --on or --scores")
    if not heads and (keep is None or (corpus is None) == (scores is None)):
        raise UserError(
            "choose the heads to remove: --heads 5.4 2.1, or --keep 0.6 with --on FILE (texts to measure them on) or "
            "--scores FILE"
        )


def _chosen(
    model: Model,
    heads: list[str] | None,
    keep: float | None,
    scores: Path | None,
    column: str | None,
    corpus: str | None,
    label: str | None,
    limit: int,
) -> tuple[tuple[Head, ...], str]:
    """The heads to remove, and how they were chosen."""
    from regard.ablation.importance import least, measure_scores, read_scores
    from regard.corpus import Source
    from regard.trace.heads import parse_heads

    if heads:
        return parse_heads(heads, model.layout()), "name"
    assert keep is not None
    if scores is not None:
        return least(read_scores(scores, model.layout(), column), keep), f"scores of {scores.name}"
    assert corpus is not None
    least(dict.fromkeys(_all(model), 0.0), keep)  # reports a bad share before anything is measured
    with Progress(console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("measuring the heads", total=None)

        def step(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        found, by = measure_scores(model, Source(corpus, limit=limit), label=label, step=step)
    return least(found, keep), f"{by}, {Path(corpus).name}"


def _all(model: Model) -> Any:
    from regard.trace.heads import all_heads

    return all_heads(model.layout())


def _heads(model: Model) -> str:
    return ", ".join(f"{layer}: {count}" for (_, layer), count in model.layout().items())
