"""The layout: imports point one way, a class name means one thing, and the light parts stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.layout import faults, imports_of, modules_of, part_of

SOURCE = Path(__file__).resolve().parents[2] / "src" / "regard"

# Folders and root modules, lowest first; those of one rank do not know each other. "" is regard/__init__.py.
RANKS = [
    ("base",),
    ("trace", "measures"),
    ("capture", "transformer"),
    ("models",),
    ("patterns",),
    ("views", "corpus"),
    ("ablation",),
    ("studies",),
    ("printing", "bertviz", "testing", "callbacks"),
    ("app",),
    ("commands",),
    ("",),
    ("cli",),
    ("__main__",),
]
# What `Trace` and `Model` show or start for the people who use them, and how results print themselves.
HOOKS = {
    "trace.trace": ("patterns", "views", "printing"),
    "models.model": ("ablation", "views"),
    "trace.heads": ("patterns",),  # the names of patterns, in a sentence
    "patterns.table": ("printing",),
    "ablation.effects": ("printing",),
    "models.why": ("printing",),
    "ablation.cutting": ("printing",),
    "models.writes": ("printing",),
    "models.lens": ("printing",),
    "ablation.evidence": ("printing", "studies"),
}
TORCH = {"capture", "transformer", "models", "ablation", "studies", "callbacks"}


def test_imports_point_one_way():
    assert faults(SOURCE, RANKS, HOOKS) == []


def test_hooks_are_used():
    modules = modules_of(SOURCE)
    for module, parts in HOOKS.items():
        reached = {part_of(one.imported) for one in imports_of(module, modules[module], "regard", modules)}
        assert set(parts) <= reached


def written(folder, files):
    for name, text in files.items():
        path = folder / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "house"


PLAIN = {"low/a": "class A: ...", "high/b": "from house.low.a import A", "high/c": "import house.high.b"}
PLAIN_RANKS = [("low",), ("high",)]


def test_a_house_in_order_has_no_faults(tmp_path):
    assert faults(written(tmp_path, PLAIN), PLAIN_RANKS) == []


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ({"low/a": "import house.high.b"}, "low.a:1 imports high.b, which is not below it"),
        ({"low/a": "def f():\n    from house.high import b"}, "low.a:2 imports high.b, which is not below it"),
        ({"low/a": "from house import high"}, "low.a:1 imports high, which is not below it"),
        ({"low/a": "import_module('house.high.b')"}, "low.a:1 imports high.b, which is not below it"),
        ({"high/b": "def f():\n    import house.high.c"}, "modules import each other: high.b -> high.c -> high.b"),
        ({"high/b": "class A: ..."}, "the class name A is used in high.b and low.a"),
        ({"stray": ""}, "stray is not in the list of ranks"),
    ],
)
def test_a_planted_fault_is_found(tmp_path, planted, fault):
    folder = written(tmp_path, PLAIN | {"high/__init__": ""} | planted)
    found = faults(folder, PLAIN_RANKS)
    assert any(one == fault or (" -> " in fault and one.startswith("modules import each other")) for one in found)


def test_a_declared_hook_is_no_fault(tmp_path):
    folder = written(tmp_path, PLAIN | {"low/a": "class A:\n    def show(self):\n        import house.high.b"})
    assert faults(folder, PLAIN_RANKS, {"low.a": ("high",)}) == []


def heavy(path):
    nodes = ast.parse(path.read_text()).body
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in names} & {"torch", "transformers"}


def test_only_what_runs_models_imports_torch():
    modules = {name: path for name, path in modules_of(SOURCE).items() if part_of(name) not in TORCH}
    assert {name: heavy(path) for name, path in modules.items() if heavy(path)} == {}


def test_importing_regard_does_not_import_torch():
    code = "import sys, regard; assert not {'torch', 'transformers', 'matplotlib', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
