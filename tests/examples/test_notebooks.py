"""The notebooks in examples/ run from top to bottom, as a user would run them."""

import json
from pathlib import Path

import pytest

from tests.processes import warm_python

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = ["ablation", "from-bertviz", "patterns", "quick-tour", "studies"]
SAVED = ["patterns", "quick-tour"]  # with outputs, by examples/save_outputs.py
MOST = 600_000  # bytes of a saved notebook


def test_every_notebook_is_here():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_notebook_shows_something_without_a_kernel(name):
    path = FOLDER / f"{name}.ipynb"
    assert path.stat().st_size < MOST
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    kinds = [kind for cell in cells for one in cell["outputs"] for kind in one.get("data", {})]
    assert "image/png" in kinds and "text/html" in kinds
    assert not any("widget" in kind for kind in kinds)
    text = path.read_text("utf-8")
    assert "/tmp/" not in text and "/work/" not in text  # nobody's folders


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all notebooks: to import the libraries takes longer than most of them."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[:1] = warm_python()
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=240)
    yield manager
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Proactor|unclosed:")
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name, kernel, tmp_path):
    import nbformat  # here: it compiles forty grammars, which every process that collects tests would do
    from nbclient import NotebookClient

    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert any(cell.get("outputs") for cell in notebook.cells) == (name in SAVED)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {tmp_path}"))  # nothing of the last one
    client = NotebookClient(notebook, timeout=300, km=kernel)
    try:
        client.execute()
    finally:
        client.kc.stop_channels()
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert last["outputs"]
