"""The tutorials: small, stored without outputs, running as they are, exercises solvable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def run(notebook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Execute a notebook in an empty folder and return its code cells."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestEachNotebook:
    def test_is_small(self, path: Path) -> None:
        notebook = read(path)
        nbformat.validate(notebook)
        assert len(notebook.cells) <= 25
        for cell in notebook.cells:
            lines = [line for line in cell.source.splitlines() if line.strip()]
            assert cell.cell_type == "markdown" or len(lines) <= 8, cell.source
        assert any(cell.cell_type == "code" for cell in notebook.cells[:3])

    def test_is_stored_without_outputs(self, path: Path) -> None:
        notebook = read(path)
        assert set(notebook.metadata) == {"kernelspec", "language_info"}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                assert cell.outputs == []
                assert cell.execution_count is None

    def test_ends_with_an_exercise(self, path: Path) -> None:
        last = read(path).cells[-1]
        assert "answer" in last.source
        assert last.metadata["workbench"]["solution"].startswith("answer")

    @pytest.mark.slow
    @pytest.mark.model
    def test_runs_and_its_exercise_can_be_solved(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        notebook = read(path)
        last = notebook.cells[-1]
        check = nbformat.v4.new_code_cell(last.source)
        first, *rest = check.source.splitlines()
        check.source = "\n".join([last.metadata["workbench"]["solution"], *rest])
        assert first.startswith("answer")
        notebook.cells.append(check)
        cells = run(notebook, monkeypatch, tmp_path)
        first_outputs = [output for cell in cells[:2] for output in cell.outputs]
        assert any("text/html" in output.get("data", {}) for output in first_outputs)
        assert "not yet" in text_of(cells[-2])
        assert text_of(cells[-1]).strip() == "solved"


def test_the_first_notebook_says_what_it_shows() -> None:
    source = " ".join(
        cell.source for cell in read(ROOT / "notebooks" / "01_first_mask.ipynb").cells
    )
    assert "A mask is a set of tokens" in source
    assert "wb.step(model, prompt, person" in source
