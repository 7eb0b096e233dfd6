"""The notebooks run from the first cell to the last, and are stored without outputs."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# What a notebook prints if it shows what its text says.
PRINTED = {
    "a-stream-that-changes": "the new subject has a topic of its own: True",
    "explore-and-name": "topic,name,share,rank,word,count,probability",
    "first-topics": "True\n",
}


def named(path):
    return path.stem


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == sorted(PRINTED)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_a_notebook_is_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert codes and [cell for cell in codes if cell.outputs or cell.execution_count] == []
    assert notebook.cells[0].source.startswith("# ")


@pytest.mark.docs
@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=where).execute()
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    assert PRINTED[path.stem] in "".join(one.get("text", "") for one in outputs)
