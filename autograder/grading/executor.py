"""The one place where grading runs a student's notebook."""

from __future__ import annotations

from typing import Any

from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode
from nbgrader.utils import setenv
from traitlets.utils.importstring import import_item

from autograder.grading.snapshot import Snapshot


def executor(snapshot: Snapshot) -> ExecutePreprocessor | None:
    """What the settings name to run notebooks with; None where they name nothing."""
    kinds = map(import_item, snapshot.autograde)
    kind = next((kind for kind in kinds if issubclass(kind, ExecutePreprocessor)), None)
    return kind(config=snapshot.settings) if kind else None


def execute(notebook: NotebookNode, resources: dict[str, Any], executor: ExecutePreprocessor | None) -> NotebookNode:
    """Run a notebook in the folder `resources["metadata"]["path"]`; it stays as it is where there is nothing to run it with.

    Raises:
        Exception: what ends a submission: under nbgrader's own rules, a kernel that died or does not answer.
    """
    if executor is None:
        return notebook
    with setenv(NBGRADER_EXECUTION="autograde"):
        executed, _ = executor(notebook, resources)
    return executed
