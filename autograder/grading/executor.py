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
    executor = _executor(snapshot)
    if executor is None:
        return notebook
    with setenv(NBGRADER_EXECUTION="autograde"):
        executed, _ = executor(notebook, resources)
    return executed


_of_ours: dict[str, ExecutePreprocessor | None] = {}


def _executor(snapshot: Snapshot) -> ExecutePreprocessor | None:
    """What the settings name; for a notebook of this course the same each time (with real kernels, one remembers the last)."""
    if snapshot.digest in _of_ours:
        return _of_ours[snapshot.digest]
    kinds = map(import_item, snapshot.autograde)
    kind = next((kind for kind in kinds if issubclass(kind, ExecutePreprocessor)), None)
    executor = kind(config=snapshot.settings) if kind else None
    if snapshot.ours:
        _of_ours[snapshot.digest] = executor
    return executor
