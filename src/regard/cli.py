"""The command line: commands put together, errors said in one sentence.

Enters: arguments. Leaves: tables on standard output, one sentence on standard error when something is wrong.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from regard import __version__
from regard.commands import models, study, train, view, walk
from regard.commands.shared import err, out

app = typer.Typer(
    name="regard",
    help="See what a Transformer looks at, how it computes that, and what its heads do.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; what a user can put right is said in one sentence."""
    try:
        app()
    except KeyboardInterrupt:
        err.print("regard: stopped")
        sys.exit(130)
    except (ValueError, OSError, LookupError, TypeError, ImportError) as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        err.print(f"regard: {message}", markup=False, soft_wrap=True)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


for _command in (view.view, view.patterns, view.trace, walk.walk, models.models):
    app.command()(_command)
app.add_typer(study.app, name="study")
app.add_typer(train.app, name="train")


if __name__ == "__main__":
    main()
