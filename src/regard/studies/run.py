"""Running a study: corpus, engine, control, result.

Enters: a study, a model and a source. Leaves: a `Result`, saved where asked.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import UserError
from regard.corpus.engine import Engine, Run, encoder_of, run_local
from regard.corpus.readers.lines import format_of
from regard.corpus.readers.pictures import IMAGE
from regard.corpus.readers.reading import check, read
from regard.corpus.readers.source import Problems
from regard.models.hearing import heard_input
from regard.studies.base import Study, StudyContext
from regard.studies.controls import PERMUTED, SEEDS, Controls, Weights, control_models
from regard.studies.folder import CHECKPOINT, forget, held
from regard.studies.whence import remember

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.studies.result import Result

_READABLE = 16  # tokens of the input that the atlas shows


def run_study(
    study: Study,
    model: Model,
    run: Run,
    *,
    output: str | Path | None = None,
    control: bool = False,
    control_seeds: int = SEEDS,
    keep: bool = False,
    command: str = "",
    engine: str = "local",
    **engine_options: Any,
) -> Result:
    """Run a study over a corpus and make its result.

    Parameters
    ----------
    study, model, run
        What to run, with which model, over which corpus and how.
    output
        A folder for the result, and for checkpoints while the study runs.
    control, control_seeds
        Repeat the study on the same shape with random weights, drawn this many times, and with shuffled ones; the atlas
        also with the model's own and permuted queries.
    keep
        Leave the checkpoint of the finished run, for a caller that has more to do.
    command
        The command line that would run the same study, for the record.
    engine, **engine_options
        "local", or "ray" with `address`, `workers` and `gpus_per_worker`; controls and further passes run there, too.
    """
    if control and run.source.once and not study.reads_once:
        raise UserError("standard input and pipes can only be read once; a control needs the corpus as a file")
    check(run.source)
    folder = None if output is None else Path(output)
    with held(folder, resume=run.resume, restart=run.restart), _engine(engine, engine_options) as chosen:
        result = _result(study, model, run, folder, control_seeds if control else None, chosen)
        result.meta = {"title": result.title, "command": command, **result.meta}
        if folder is not None:
            result.save(folder)
            remember(folder, run.source)
            if not keep:
                forget(folder)
    return result


def _result(study: Study, model: Model, run: Run, folder: Path | None, draws: int | None, engine: Engine) -> Result:
    """What the study, its control and its second pass find."""
    if folder is not None:
        run = replace(run, checkpoint=folder / CHECKPOINT)
    progress = study.sums_of(model, run, engine, Weights())
    context = StudyContext(study, model, run.source, progress.tally, run.problems, run.long, _example(model, run))
    if draws is not None:
        context.controls = _controls(study, model, run, draws, engine)
    second = study.second(progress.sums, model, engine)
    if second is not None:
        context.second = engine(second, model, _beside(run, "second-")).sums
    result = study.report(progress.sums, context)
    result.example = result.example or context.example
    return result


def _controls(study: Study, model: Model, run: Run, draws: int, engine: Engine) -> Controls:
    """The sums of every control, each with its own checkpoint."""
    seeds = [study.control_seed(draw) for draw in range(draws)]
    found = [
        study.sums_of(make(), _beside(run, weights.file), engine, weights).sums
        for weights, make in control_models(model, seeds)
    ]
    other = study.permuted()
    if other is None:
        return Controls(found[:-1], found[-1])
    weights = Weights(PERMUTED)
    permuted = other.sums_of(model, _beside(run, weights.file), engine, weights).sums
    return Controls(found[:-1], found[-1], permuted)


def _beside(run: Run, name: str) -> Run:
    """The same run for another pass: with its own checkpoint, and without reporting problems again."""
    place = None if run.checkpoint is None else run.checkpoint.with_name(f"{name}{CHECKPOINT}")
    return replace(run, checkpoint=place, problems=Problems())


def _engine(name: str, options: dict[str, Any]) -> AbstractContextManager[Engine]:
    if name == "local":
        return nullcontext(run_local)
    if name == "ray":
        from regard.corpus.ray import RayEngine

        return RayEngine(**options)
    raise UserError(f"there is no engine {name!r}; choose local or ray")


def _example(model: Model, run: Run) -> Any:
    """The trace of an early input of readable length, for the interactive atlas; None for a pipe, and for sounds."""
    if run.source.once or heard_input(model.module) is not None:
        return None
    if format_of(run.source) == "images":
        first = next(read(replace(run.source, limit=1, sample=None)), None)
        return None if first is None else model.trace(image=first.fields[IMAGE])
    encode = encoder_of(model)
    early = [(len(encode(one, True).ids), one) for one in read(replace(run.source, limit=50, sample=None))]
    for least in (_READABLE, 8):  # heads show little on fewer tokens
        for length, example in early:
            if least <= length <= 40:
                if model.is_encoder_decoder:
                    return model.trace(example.text, target=example.pair, truncate=True)
                return model.trace(example.text, example.pair, truncate=True)
    return None
