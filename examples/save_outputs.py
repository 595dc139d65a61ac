"""Run the notebooks and save them with their outputs, as they are shown where no kernel runs.

python examples/save_outputs.py [NAME ...]
"""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
KEPT = ("output_type", "data", "metadata", "name", "text", "execution_count")
WIDGET = "application/vnd.jupyter.widget-view+json"  # says nothing without its kernel


def save(path: Path) -> None:
    """Run one notebook in an empty folder; widgets and what libraries say of themselves are not kept."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=1200, resources={"metadata": {"path": folder}}, store_widget_state=False
        ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                one for one in cell.outputs if one.get("name") != "stderr" and WIDGET not in one.get("data", {})
            ]
    notebook.metadata.pop("widgets", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    names = sys.argv[1:] or [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    for name in names:
        save(FOLDER / f"{name}.ipynb")
