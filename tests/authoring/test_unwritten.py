"""A student opens a released notebook and runs all of it before writing anything: in a kernel, some; tests/engine/test_outputs.py runs all."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.support.calm import assert_calm
from tests.support.kernels import run_in_kernel

RELEASE = Path(__file__).parents[2] / "release"


@pytest.mark.parametrize("notebook", ["00_shapes", "05_block"])
def test_a_notebook_with_nothing_written_runs_to_its_end_without_a_traceback(notebook: str) -> None:
    path = RELEASE / notebook / f"{notebook}.ipynb"
    read = nbformat.read(str(path), as_version=4)
    run_in_kernel(read, timeout=600, iopub_timeout=60, resources={"metadata": {"path": str(path.parent)}})
    assert_calm(read, notebook)
