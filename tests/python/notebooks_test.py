# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from the first cell to the last, and are kept without what they print."""

import os
import pathlib

import gemm64
import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, "strip the outputs"
    package = pathlib.Path(gemm64.__file__).resolve().parents[1]
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(package)})
    pictures = [output for cell in notebook.cells if cell.cell_type == "code"
                for output in cell.outputs if "image/png" in output.get("data", {})]
    assert bool(pictures) == (path.stem == "sweep")
