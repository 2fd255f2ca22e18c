"""A class as large as one likes, made up, with the odd ones that every large class has: for an evening's rehearsal."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.authoring.notebook_code import as_notebook_code
from autograder.authoring.sample import answers_in, hand_in, right_in_public, slipped, told_apart
from autograder.exercises import exercises_in
from autograder.exercises.model import Exercise
from autograder.folder import Course
from autograder.plugins.handing_in import TIMESTAMP
from autograder.settings import ROOT

FIRST = "Ada Ben Cleo Dan Eve Fay Gus Hal Ivy Jon Kim Lea Max Noa Ola Pia Quin Rio Sam Tea Uli Vic Wim Xia Yan Zoë"
LAST = "Stone Müller O'Brien Young Ito Novák Silva Okafor Khan Berg Rossi Haddad Nguyen Kowalski Dubois Sato"
DUE, IN_TIME, LATE = "2026-03-01 12:00:00", "2026-03-01 10:00:00 UTC", "2026-03-02 18:30:00 UTC"

ODD = {
    7: "hands in nothing",
    11: "is not on the roster",
    13: "late",
    17: "no notebook",
    19: "another name",
    23: "a copied cell",
    29: "ends its process",
    31: "never ends",
    37: "a syntax error",
    41: "is right in public only",
}
"""What is odd about a student, by the place among fifty; the rest of the class is the same in kind."""
ROUND = 50
ANSWERED = {
    "ends its process": "def {name}(*arguments):\n    import os\n    os._exit(3)",
    "never ends": "def {name}(*arguments):\n    while True:\n        pass",
    "a syntax error": "def {name}(*arguments)\n    return 1",
}


def make_crowd(folder: Path, notebook: str, students: int) -> Course:
    """A course folder of its own with one notebook handed in by so many, ready to be graded; what was there is replaced.

    Of three answers about two are right; of the others most make a known mistake, some slip in a way that no list has, alone or as
    others do, and some are left open. Of fifty students ten are odd.
    """
    if folder.exists():
        shutil.rmtree(folder)
    course = Course.copied(folder)
    course.generate_assignment(notebook)
    source = ROOT / "source" / notebook / f"{notebook}.ipynb"
    right, beginning = answers_in(source), exercises_in(notebook)[0]
    chance = random.Random(0)
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        gradebook.update_or_create_assignment(notebook, duedate=DUE)
        for number in range(students):
            if _oddity(number) != "is not on the roster":
                first, last = chance.choice(FIRST.split()), chance.choice(LAST.split())
                address = f"{_name(number)}@example.org"
                gradebook.add_student(_name(number), first_name=first, last_name=last, email=address)
    for number in range(students):
        oddity = _oddity(number)
        if oddity != "hands in nothing":
            answers = _answers(exercises_in(notebook), right, chance)
            if oddity in ANSWERED:
                last = exercises_in(notebook)[-1].name
                answers[last] = ANSWERED[oddity].format(name=last)
            checked = answers == right
            if oddity == "is right in public only":
                answers, checked = {**right, beginning.name: right[beginning.name] + right_in_public(beginning)}, True
            hand_in(course, _name(number), notebook, answers, checked)
            _as_left(course, number, notebook, chance)
    return course


def _name(number: int) -> str:
    return f"s{number:04}"


def _oddity(number: int) -> str:
    return ODD.get(number % ROUND, "")


def _answers(exercises: Sequence[Exercise], right: dict[str, str], chance: random.Random) -> dict[str, str]:
    answers = dict(right)
    for exercise in exercises:
        drawn = chance.random()
        if drawn < 0.25:
            known = told_apart(exercise)
            answers[exercise.name] = as_notebook_code(exercise, known[int(chance.expovariate(0.35)) % len(known)])
        elif drawn < 0.32:
            factor = chance.choice((1.5, 1.5, 1.5, 2.0, round(1.1 + chance.random(), 3)))
            answers[exercise.name] = right[exercise.name] + slipped(exercise.name, factor)
        elif drawn < 0.35:
            del answers[exercise.name]
        elif exercise.variants and drawn < 0.65:
            answers[exercise.name] = as_notebook_code(exercise, chance.choice(exercise.variants))
    return answers


def _as_left(course: Course, number: int, notebook: str, chance: random.Random) -> None:
    """Change a submission into what somebody leaves: guesses, a date; and what is odd about some."""
    path = course.folder("submitted", _name(number), notebook) / f"{notebook}.ipynb"
    work = nbformat.read(path, as_version=4)
    for cell in work.cells:
        if cell.source.startswith("guess"):
            _guess(cell, chance)
    oddity = _oddity(number)
    if oddity == "a copied cell":
        tested = next(cell for cell in work.cells if cell.metadata.get("nbgrader", {}).get("grade"))
        work.cells.append(NotebookNode({**tested, "id": "copied"}))
    nbformat.write(work, path)
    path.with_name(TIMESTAMP).write_text(LATE if oddity == "late" else IN_TIME)
    if oddity == "no notebook":
        path.write_text("this is not a notebook")
    if oddity == "another name":
        path.rename(path.with_name(f"{notebook} (1).ipynb"))


def _guess(cell: NotebookNode, chance: random.Random) -> None:
    """Guess one of what stands in quotation marks behind it, or a number."""
    name, _, offered = cell.source.partition(" = None")
    choices = [part for part in offered.split('"')[1::2] if part]
    guess = f'"{chance.choice(choices)}"' if choices else str(chance.choice((10, 50, 88, 98, 98, 104)))
    if chance.random() < 0.8:
        cell.source = f"{name} = {guess}{offered}"
