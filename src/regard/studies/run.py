"""Running a study: corpus, engine, control, result.

Enters: a study, a model and a source. Leaves: a `Result`, saved where asked.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.corpus.checkpoint import Progress
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.source import Problems, check, read
from regard.errors import UserError
from regard.studies.base import Study, StudyContext
from regard.studies.controls import SEEDS, Controls, control_models
from regard.studies.folder import CHECKPOINT, forget, held

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.studies.result import Result


def run_study(
    study: Study,
    model: Model,
    run: Run,
    *,
    output: str | Path | None = None,
    control: bool = False,
    control_seeds: int = SEEDS,
    keep: bool = False,
    engine: str = "local",
    **engine_options: Any,
) -> Result:
    """Run a study over a corpus and make its result.

    Parameters
    ----------
    study, model, run
        What is asked, of which model, over which corpus and how.
    output
        A folder for the result; checkpoints are kept there while the study runs.
    control, control_seeds
        Repeat the study on the same shape with random weights, drawn so many times, and with shuffled ones.
    keep
        Leave the checkpoint of the finished run, for a caller who has more to do before all is done.
    engine, **engine_options
        "local", or "ray" with `address`, `workers` and `gpus_per_worker`.
    """
    if control and run.source.once:
        raise UserError("standard input and pipes can be read only once; a control needs the corpus as a file")
    check(run.source)
    folder = None if output is None else Path(output)
    with held(folder, resume=run.resume, restart=run.restart):
        result = _result(study, model, run, folder, control_seeds if control else 0, engine, engine_options)
        if folder is not None:
            result.save(folder)
            if not keep:
                forget(folder)
    return result


def _result(
    study: Study,
    model: Model,
    run: Run,
    folder: Path | None,
    control_seeds: int,
    engine: str,
    engine_options: dict[str, Any],
) -> Result:
    """What the study, its control and its second part find."""
    if folder is not None:
        run = replace(run, checkpoint=folder / CHECKPOINT)
    progress = _summed(study, model, run, engine, engine_options)
    context = StudyContext(study, model, run.source, progress.tally, run.problems, _example(model, run))
    if control_seeds:
        context.controls = _controls(study, model, run, folder, control_seeds)
    second = study.second(progress.sums, model)
    if second is not None:
        place = None if folder is None else folder / f"second-{CHECKPOINT}"
        context.second = run_local(second, model, replace(run, checkpoint=place, problems=Problems())).sums
    return study.result(progress.sums, context)


def _controls(study: Study, model: Model, run: Run, folder: Path | None, seeds: int) -> Controls:
    """The sums of every control, each with a checkpoint of its own."""
    found = []
    for name, make in control_models(model, seeds):
        place = None if folder is None else folder / f"control-{name}-{CHECKPOINT}"
        found.append(run_local(study, make(), replace(run, checkpoint=place, problems=Problems())).sums)
    return Controls(found[:-1], found[-1])


def _summed(study: Study, model: Model, run: Run, engine: str, options: dict[str, Any]) -> Progress:
    if engine == "local":
        return run_local(study, model, run)
    if engine == "ray":
        from regard.corpus.ray import run_ray

        return run_ray(study, model, run, **options)
    raise UserError(f"there is no engine {engine!r}; choose local or ray")


def _example(model: Model, run: Run) -> Any:
    """The trace of a first input of readable length, for the interactive atlas; a pipe is read only once."""
    if run.source.once:
        return None
    for example in read(replace(run.source, limit=50, sample=None)):
        encoded = model._engine.encode(example.text, example.pair, truncate=True)
        if 8 <= len(encoded.ids) <= 40:
            return model.trace(example.text, example.pair, truncate=True)
    return None
