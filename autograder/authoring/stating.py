"""What exercises and notebooks declare about themselves, written into the texts that say it too: numbers, points, counts, cell ids."""

from __future__ import annotations

import re
from collections.abc import Callable

from nbformat import NotebookNode

from autograder.authoring import compared, made_up
from autograder.authoring.leading import FOOT_OF, with_foot
from autograder.authoring.measured import HEAD, kept, table
from autograder.authoring.tables import tables_under
from autograder.exercises import NOTEBOOKS, every_exercise, exercises_in, tasks_in
from autograder.exercises.model import equivalence
from autograder.plugins.judges import worth
from autograder.this_course import JUDGE

ASKED = re.compile(r'^progress\("\d+_\w+"\)$', re.MULTILINE)
COMPARED = tables_under(compared.HEAD)
MADE_UP = tables_under(made_up.HEAD)
MEASURED = tables_under(HEAD)
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def state_in_source(notebook: str, cells: list[NotebookNode]) -> None:
    """Write into a source notebook's cells what its exercises declare.

    The number of the notebook in its title; how many exercises, questions and points there are; over each exercise its number and
    points; the points in the metadata of its test cell; the ids of graded cells, which are their names; of which notebook
    `progress` is asked; and where it leads from its end.
    """
    points = worth(JUDGE, notebook)
    if cells:
        cells[0].source = _titled(notebook, cells[0].source)
    for number, (name, value) in enumerate(points.items(), 1):
        heading = re.compile(rf"^### Exercise \d+ · `{name}`$", re.MULTILINE)
        worth_of = re.compile(rf"^(### .*`{name}`\n+\*.* · )[\d.]+ points?(\*)$", re.MULTILINE)
        for cell in cells:
            if cell.cell_type == "markdown":
                cell.source = heading.sub(f"### Exercise {number} · `{name}`", cell.source)
                cell.source = worth_of.sub(_replacing(_points(value)), cell.source)
    for cell in cells:
        if cell.get("id") == FOOT_OF:
            cell.source = with_foot(cell.source, notebook)
        if cell.cell_type == "code":
            cell.source = ASKED.sub(f'progress("{notebook}")', cell.source)
        graded = cell.metadata.get("nbgrader", {})
        if graded:
            cell.id = graded["grade_id"].replace("_", "-")
        given = points.get(graded.get("grade_id", ""))
        if given is not None and graded.get("points") != given:
            graded["points"] = given


def _titled(notebook: str, title: str) -> str:
    exercises, tasks = len(exercises_in(notebook)), len(tasks_in(notebook))
    asked = f" and {_counted(tasks, 'question')}" if tasks else ""
    said = (
        f"{_counted(exercises, 'exercise').capitalize()}{asked}, {_points(sum(worth(JUDGE, notebook).values()))}, about"
    )
    title = re.sub(r"\A# \d+ · ", f"# {notebook.partition('_')[0]} · ", title)
    return re.sub(r"\w+ exercises?(?: and \w+ questions?)?, [\d.]+ points?, about", lambda _: said, title, count=1)


def _counted(count: int, what: str) -> str:
    return f"{WORDS[count]} {what}{'' if count == 1 else 's'}"


def _points(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"


def state_in_text(text: str) -> str:
    """A page of documentation with the points of notebooks in tables, how much the mutants prove, and how fast grading was, as things
    are."""
    text = MEASURED.sub(lambda _: table(kept()), text)
    text = COMPARED.sub(lambda _: compared.table(compared.kept()), text)
    text = MADE_UP.sub(lambda _: made_up.table(made_up.kept()), text)
    for notebook in NOTEBOOKS:
        row = re.compile(rf"^(\| `{notebook}` \|.*\| *)[\d.]+( *\|)$", re.MULTILINE)
        text = row.sub(_replacing(f"{sum(worth(JUDGE, notebook).values()):g}"), text)
    exercises = list(every_exercise())
    told_apart = [equivalence(mistake) is None for exercise in exercises for mistake in exercise.mistakes]
    counts = (
        (len(exercises), r"( exercises, )"),
        (sum(told_apart), r"( mistakes [^\n]*?, )"),
        (len(told_apart) - sum(told_apart), r"( equivalent, )"),
        (sum(len(exercise.variants) for exercise in exercises), r"( right answers)"),
    )
    pattern = "".join(rf"\d+{between}" for _, between in counts)
    return re.sub(pattern, lambda found: "".join(f"{n}{found[i]}" for i, (n, _) in enumerate(counts, 1)), text)


def _replacing(number: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}{number}{found[2]}"
