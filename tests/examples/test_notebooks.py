"""The notebooks in examples/ run from top to bottom, as a user would run them."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = ["ablation", "from-bertviz", "patterns", "quick-tour", "studies"]


def test_every_notebook_is_here():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Proactor|unclosed:")
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name, tmp_path):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert last["outputs"]
