"""The verdicts in a graded notebook."""

from __future__ import annotations

from collections.abc import Iterable

from nbformat import NotebookNode
from nbgrader.utils import is_grade

from autograder.verdicts.cells import verdict_in
from autograder.verdicts.verdict import Verdict


def verdicts_in(cells: Iterable[NotebookNode]) -> dict[str, Verdict]:
    """By exercise, the verdicts in the grade cells of a graded notebook; other cells may hold anything."""
    graded = (cell for cell in cells if is_grade(cell))
    return {cell.metadata.nbgrader.grade_id: verdict for cell in graded if (verdict := verdict_in(cell))}
