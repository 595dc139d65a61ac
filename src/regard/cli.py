"""The command line: all commands, and errors in one sentence.

Enters: arguments. Leaves: tables on standard output, one sentence on standard error when something is wrong.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

from regard import __version__
from regard.base.errors import UserError
from regard.commands import (
    ablate,
    chat,
    cut,
    doctor,
    evidence,
    export,
    find,
    lens,
    match,
    models,
    nearest,
    neurons,
    prune,
    query,
    replay,
    rules,
    serve,
    study,
    train,
    view,
    walk,
    why,
    writes,
)
from regard.commands.heads import ManyHeads
from regard.commands.shared import err, out

app = typer.Typer(
    name="regard",
    help="See what a Transformer looks at, how it computes that, and what its heads do.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; errors that a user can fix are printed in one sentence."""
    gc.set_threshold(20_000)  # torch and its like make a million things that stay: looked through 30 times less often
    try:
        app()
    except KeyboardInterrupt:
        err.print("regard: stopped")
        sys.exit(130)
    except (UserError, OSError) as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        err.print(f"regard: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        err.print(
            f"regard: this is a bug in regard, please report it ({what}); REGARD_DEBUG=1 shows the traceback",
            markup=False,
            soft_wrap=True,
        )
        sys.exit(70)  # EX_SOFTWARE


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"regard {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Without a command, the app opens in the browser."""
    del version
    if context.invoked_subcommand is None:
        serve.serve()


for _command in (
    serve.serve,
    chat.chat,
    view.view,
    view.patterns,
    view.trace,
    neurons.neurons,
    cut.cut,
    evidence.evidence,
    find.find,
    lens.lens,
    match.match,
    nearest.nearest,
    query.query,
    replay.replay,
    export.export,
    walk.walk,
    why.why,
    writes.writes,
    models.models,
    doctor.doctor,
):
    app.command()(_command)
app.command(cls=ManyHeads)(ablate.ablate)
app.command(cls=ManyHeads)(prune.prune)
app.add_typer(rules.app, name="rules")
app.add_typer(study.app, name="study")
app.add_typer(train.app, name="train")


if __name__ == "__main__":
    main()
