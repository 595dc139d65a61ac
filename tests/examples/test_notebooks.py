"""The notebooks in examples/ run from top to bottom, as a user would run them."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = ["ablation", "from-bertviz", "patterns", "quick-tour", "studies"]


def test_every_notebook_is_here():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all notebooks: to import the libraries takes longer than most of them."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
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
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {tmp_path}"))  # nothing of the last one
    client = NotebookClient(notebook, timeout=300, km=kernel)
    try:
        client.execute()
    finally:
        client.kc.stop_channels()
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert last["outputs"]
