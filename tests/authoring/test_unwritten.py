"""A student opens a released notebook and runs all of it before writing anything."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.support.kernels import run_in_kernel
from tests.support.sampled import sampled

RELEASE = Path(__file__).parents[2] / "release"
NOTEBOOKS = sorted(path.stem for path in RELEASE.glob("*/*.ipynb"))


@pytest.mark.parametrize("notebook", sampled(NOTEBOOKS, {"00_shapes", "05_block"}.__contains__))
def test_a_notebook_with_nothing_written_runs_to_its_end_without_a_traceback(notebook: str) -> None:
    path = RELEASE / notebook / f"{notebook}.ipynb"
    read = nbformat.read(str(path), as_version=4)
    run_in_kernel(read, timeout=600, iopub_timeout=60, resources={"metadata": {"path": str(path.parent)}})
    outputs = [output for cell in read.cells for output in cell.get("outputs", ())]
    assert not [output.ename for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    (asked,) = (cell for cell in read.cells if cell.source.startswith("progress("))
    assert f"{notebook}: 0 of" in asked.outputs[0].text
