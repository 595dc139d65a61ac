"""What the command line says, command after command in one process.

python -O -m tests.package.answers '[["view", "the cat"], ["models"]]'
"""

import contextlib
import io
import json
import sys
import warnings
from unittest.mock import patch

from regard import cli
from regard.commands import shared


def answer(arguments):
    """How a command line ended, and what it printed on both streams."""
    said = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings(action="ignore"))
        stack.enter_context(patch.object(sys, "argv", ["regard", *arguments]))
        stack.enter_context(patch.object(sys.modules["__main__"], "__package__", None))  # it is called regard
        for console in (shared.out, shared.err):
            stack.enter_context(patch.multiple(console, _file=said, _width=80))
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        try:
            cli.main()
        except SystemExit as end:
            return [end.code, said.getvalue()]
        except BaseException as error:
            return [repr(error), said.getvalue()]
    raise AssertionError("the command line does not exit")


if __name__ == "__main__":
    print(json.dumps([answer(arguments) for arguments in json.loads(sys.argv[1])]))  # noqa: T201
