"""The layout: imports point one way, and the light parts stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "regard"
# What each part may import of ours; longest prefix decides.
ALLOWED = {
    "tokens": set(),
    "site": set(),
    "heads": {"patterns", "trace"},
    "merging": {"site"},
    "trace": {"tokens", "site", "merging", "maps", "store", "terminal", "patterns", "views"},
    "pieces": {"tokens"},
    "maps": {"pieces", "tokens", "site", "trace"},
    "store": {"tokens", "site", "trace"},
    "terminal": {"effects", "site", "trace"},
    "gguf": set(),
    "hub": set(),
    "progress": set(),
    "smiles": set(),
    "loading": {"gguf", "hub", "progress", "pruning", "smiles"},
    "catalogue": {"loading"},
    "measures": {"measures"},
    "capture": {"capture", "heads", "tokens", "site", "trace"},
    "inputs": {"capture", "tokens", "site"},
    "answers": {"capture", "tokens", "site"},
    "reference": {"capture", "model"},
    "ablation": {"capture", "heads", "inputs", "model", "reader", "reference"},
    "choosing": {"capture", "corpus", "heads", "model", "studies"},
    "classifier": {"corpus", "inputs", "loading", "model", "store", "transformer"},
    "effects": {"ablation", "capture", "heads", "model", "reference", "tokens", "terminal"},
    "pruning": {"capture", "heads", "model"},
    "reader": {"answers", "capture", "inputs", "loading", "pieces", "tokens"},
    "related": {"context", "tokens"},
    "model": {
        "ablation",
        "answers",
        "capture",
        "heads",
        "inputs",
        "loading",
        "reader",
        "related",
        "trace",
        "transformer",
    },
}
TORCH = {
    *("ablation", "answers", "capture", "choosing", "classifier", "effects", "inputs", "model", "pruning", "reader"),
    *("related", "transformer", "studies"),
}


def parts():
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE).with_suffix("")
        yield relative.parts[0], path


def imports(path, *, top_level):
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize(("part", "path"), [(p, f) for p, f in parts() if p in ALLOWED], ids=lambda x: str(x)[-30:])
def test_imports_point_one_way(part, path):
    ours = {name.split(".")[1] for name in imports(path, top_level=False) if name.startswith("regard.")}
    assert ours <= ALLOWED[part] | {part}


@pytest.mark.parametrize(("part", "path"), [(p, f) for p, f in parts() if p not in TORCH], ids=lambda x: str(x)[-30:])
def test_only_capture_model_transformer_and_studies_know_torch(part, path):
    heavy = {name.split(".")[0] for name in imports(path, top_level=True)} & {"torch", "transformers"}
    assert not heavy


def test_importing_regard_does_not_import_torch():
    code = "import sys, regard; assert not {'torch', 'transformers', 'matplotlib', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
