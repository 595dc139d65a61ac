"""Reads a package's imports and says where its layout is broken.

Enters: the folder of a package, the ranks of its parts, lowest first. Leaves: sentences, one for each fault.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


@dataclass(frozen=True)
class Import:
    """One module names another: where, and whether it is only for types."""

    module: str
    line: int
    imported: str
    typing: bool


def modules_of(folder: Path) -> dict[str, Path]:
    """Every module of a package, by its dotted name without the package's own; the package itself is ""."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imports_of(module: str, path: Path, package: str, known: Collection[str]) -> Iterator[Import]:
    """Every import of the package's own modules: at the top, inside functions, `from package import x`."""
    tree = ast.parse(path.read_text("utf-8"))
    typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        for dotted in _named(node, package, known):
            yield Import(module, node.lineno, dotted, id(node) in typing)  # type: ignore[attr-defined]


def _named(node: ast.AST, package: str, known: Collection[str]) -> Iterator[str]:
    """The package's modules that a statement or a call of import_module names."""
    if isinstance(node, ast.Import):
        yield from (_inside(alias.name, package) for alias in node.names if _belongs(alias.name, package))
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and _belongs(node.module, package):
        base = _inside(node.module, package)
        for alias in node.names:
            if alias.name.startswith("__"):
                continue  # __version__ is no module
            longer = f"{base}.{alias.name}".strip(".")
            yield longer if longer in known else base
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
        name = node.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and _belongs(name.value, package):
            yield _inside(name.value, package)


def _belongs(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _inside(name: str, package: str) -> str:
    return name.removeprefix(package).removeprefix(".")


def faults(
    folder: Path,
    ranks: Sequence[Collection[str]],
    hooks: Mapping[str, Collection[str]] | None = None,
    package: str | None = None,
) -> list[str]:
    """What is wrong with a package's layout; nothing, if all is well.

    Parameters
    ----------
    folder
        The package.
    ranks
        Its parts (folders, and modules at the root), lowest first; parts of one rank do not import each other.
    hooks
        module -> the parts above it that its methods may reach: those that only show or start something.
    """
    hooks = hooks or {}
    package = package or folder.name
    modules = modules_of(folder)
    rank = {part: number for number, parts in enumerate(ranks) for part in parts}
    imports = [one for name, path in modules.items() for one in imports_of(name, path, package, modules)]
    return [
        *_unlisted(modules, rank),
        *_upward(imports, rank, hooks),
        *_cycles(imports, modules, rank, hooks),
        *_names_used_twice(modules),
    ]


def part_of(module: str) -> str:
    """The folder or root module that a module belongs to."""
    return module.partition(".")[0]


def _unlisted(modules: Mapping[str, Path], rank: Mapping[str, int]) -> Iterator[str]:
    for part in sorted({part_of(name) for name in modules} - set(rank)):
        yield f"{part or '__init__'} is not in the list of ranks"
    for part in sorted(set(rank) - {part_of(name) for name in modules}):
        yield f"{part} is in the list of ranks but not there"


def _upward(imports: list[Import], rank: Mapping[str, int], hooks: Mapping[str, Collection[str]]) -> Iterator[str]:
    for one in imports:
        here, there = part_of(one.module), part_of(one.imported)
        if here == there or here not in rank or there not in rank or one.typing:
            continue
        if rank[there] >= rank[here] and there not in hooks.get(one.module, ()):
            yield f"{one.module}:{one.line} imports {one.imported or 'the package'}, which is not below it"


def _cycles(
    imports: list[Import],
    modules: Mapping[str, Path],
    rank: Mapping[str, int],
    hooks: Mapping[str, Collection[str]],
) -> Iterator[str]:
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for one in imports:
        hooked = part_of(one.imported) in hooks.get(one.module, ())
        if not one.typing and not hooked and one.imported != one.module and one.imported in graph:
            graph[one.module].add(one.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield "modules import each other: " + " -> ".join(name or "__init__" for name in reversed(error.args[1]))


def _names_used_twice(modules: Mapping[str, Path]) -> Iterator[str]:
    owners: dict[str, list[str]] = {}
    for name, path in modules.items():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                owners.setdefault(node.name, []).append(name)
    for name, where in sorted(owners.items()):
        if len(where) > 1:
            yield f"the class name {name} is used in {' and '.join(where)}"
