"""The notebook runs from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

_NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "tour.ipynb"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    notebook = nbformat.read(_NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "keep the notebook without its outputs"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    done = client.execute()
    texts = [output.get("text", "") for cell in done.cells for output in cell.get("outputs", ())]
    assert any("RMSE" in text for text in texts) and any("ring yes" in text for text in texts)
