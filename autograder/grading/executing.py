"""The one place where grading runs a student's notebook."""

from __future__ import annotations

from typing import Any

from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode
from nbgrader.utils import setenv
from traitlets.utils.importstring import import_item

from autograder.grading.snapshot import Snapshot


def execute(notebook: NotebookNode, resources: dict[str, Any], snapshot: Snapshot) -> NotebookNode:
    """Run a notebook in the folder `resources["metadata"]["path"]`, with whatever the course's settings name for it.

    Raises:
        Exception: what ends a submission: under nbgrader's own rules, a kernel that died or does not answer.
    """
    kinds = map(import_item, snapshot.autograde)
    executor = next((kind for kind in kinds if issubclass(kind, ExecutePreprocessor)), None)
    if executor is None:
        return notebook
    with setenv(NBGRADER_EXECUTION="autograde"):
        executed, _ = executor(config=snapshot.settings)(notebook, resources)
    return executed
