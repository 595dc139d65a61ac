"""What the command line says, command after command in one process where regard has no asserts.

python -m tests.package.answers '[["view", "the cat"], ["models"]]'

As under `python -O`, which would compile torch and transformers anew: only regard's own asserts are left out here.
"""

import contextlib
import io
import json
import sys
import warnings
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from unittest.mock import patch


class Bare(SourceFileLoader):
    """Compiles a module without its asserts; what others have compiled of it is not read."""

    def source_to_code(self, data, path, *, _optimization=-1):
        return compile(data, path, "exec", dont_inherit=True, optimize=1)

    def path_stats(self, path):
        raise OSError


class BareFinder(PathFinder):
    """Finds regard's modules, to be loaded without their asserts."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None) -> ModuleSpec | None:
        found = super().find_spec(fullname, path, target) if fullname.split(".")[0] == "regard" else None
        if found and isinstance(found.loader, SourceFileLoader):
            found.loader = Bare(fullname, found.loader.path)
        return found


def answer(arguments):
    """How a command line ended, and what it printed on both streams."""
    from regard import cli
    from regard.commands import shared

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
    for name in [name for name in sys.modules if name.split(".")[0] == "regard"]:  # imported with its asserts
        del sys.modules[name]
    sys.meta_path.insert(0, BareFinder)
    print(json.dumps([answer(arguments) for arguments in json.loads(sys.argv[1])]))  # noqa: T201
    loaded = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "regard"}
    assert len(loaded) > 50 and all(isinstance(one.__loader__, Bare) for one in loaded.values()), loaded.keys()
