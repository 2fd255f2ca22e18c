"""An exercise is worth what its probes come to: whatever else gives its points has to give the same, or nothing is released or graded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor
from sqlalchemy.exc import SQLAlchemyError

from autograder.plugins.judges import Judge, judge_of, worth

POINTS = r"([\d.]+) points?"
JUDGED = re.compile(r"^judge\((.*)\)$", re.MULTILINE)


def in_source(judge: Judge, notebook: str, cells: Sequence[NotebookNode]) -> Iterator[str]:
    """Where a source notebook gives other points than the exercises: in its title, over an exercise, or in a graded cell."""
    points = worth(judge, notebook)
    title = re.search(rf", {POINTS}, about", cells[0].source if cells else "")
    yield from _told(f"{notebook}: all its exercises", sum(points.values()), "its title", title and title[1])
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for name, value in points.items():
        heading = re.search(rf"^### .*`{name}`\n+\*.* {POINTS}\*$", texts, re.MULTILINE)
        yield from _told(f"{notebook}: {name}", value, "the text over it", heading and heading[1])
        graded = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name]
        given = graded[0].metadata.nbgrader.get("points") if len(graded) == 1 else None
        yield from _told(f"{notebook}: {name}", value, f"the metadata of its cell {name!r}", given)
    for exercise in judge.exercises(notebook):
        for cell in cells:
            asked = JUDGED.findall(cell.source)
            if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise and asked != [exercise]:
                called = " and ".join(f"judge({name})" for name in asked) or "no judge"
                yield f"{notebook}: the test cell {exercise!r} calls {called}; it has to call judge({exercise})."


def in_readme(judge: Judge, text: str) -> Iterator[str]:
    """Where the README's table of notebooks gives other points than the exercises."""
    for notebook in judge.notebooks:
        row = re.search(rf"^\| `{notebook}` \|.*\| *([\d.]+) *\|$", text, re.MULTILINE)
        yield from _told(notebook, sum(worth(judge, notebook).values()), "README.md", row and row[1])


def in_gradebook(judge: Judge, notebooks: Iterable[Any]) -> Iterator[str]:
    """Where a gradebook's notebooks (nbgrader's own, or those of a snapshot) give other points than the exercises."""
    for notebook in notebooks:
        given = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
        for name, value in worth(judge, notebook.name).items():
            yield from _told(f"{notebook.name}: {name}", value, "the gradebook", given.get(name))


def _told(what: str, points: float, where: str, told: str | float | None) -> Iterator[str]:
    if told is None:
        yield f"{what}: {points:g} points in autograder/exercises, none in {where}."
    elif float(told) != points:
        yield f"{what}: {points:g} points in autograder/exercises, {float(told):g} in {where}."


def outdated(judge: Judge, assignment: str, notebooks: Iterable[Any]) -> str:
    """Why an assignment cannot be graded as the gradebook has it, and what to do; "" where it can."""
    found = " ".join(in_gradebook(judge, notebooks))
    return found and f"{found} Run `nbgrader generate_assignment {assignment} --force` to release what is there now."


def outdated_in(judge: Judge, url: str, course_id: str, assignment: str) -> str:
    """The same of an assignment in the gradebook at `url`; "" where that does not have it, or cannot be used: nbgrader says so."""
    try:
        with Gradebook(url, course_id) as gradebook:
            return outdated(judge, assignment, gradebook.find_assignment(assignment).notebooks)
    except (MissingEntry, SQLAlchemyError):
        return ""


class SamePoints(NbGraderPreprocessor):
    """Refuse to release a notebook of this course that gives other points than its exercises."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        notebook = resources["nbgrader"]["notebook"]
        judge = judge_of(self.config)
        if notebook in judge.notebooks and (found := list(in_source(judge, notebook, nb.cells))):
            raise ValueError(" ".join(found))
        return nb, resources
