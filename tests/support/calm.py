"""What a student sees who runs all of a released notebook before writing anything."""

from __future__ import annotations

from nbformat import NotebookNode


def assert_calm(run: NotebookNode, notebook: str) -> None:
    """No traceback, nothing on stderr, and `progress` counts nothing."""
    outputs = [output for cell in run.cells for output in cell.get("outputs", ())]
    assert not [output.ename for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    (asked,) = (cell for cell in run.cells if cell.source.startswith("progress("))
    assert f"{notebook}: 0 of" in asked.outputs[0].text
