"""The same class twice: in a course that stock nbgrader grades, and in this one."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.authoring.sample import answers_in, hand_in, mistaken_answers, slipped
from autograder.folder import Course
from autograder.settings import ROOT

PLUG_INS = 'plug_in(c, judge="autograder.this_course.JUDGE")\n'
OURS = "from course import judge\njudge("
STOCKS = "from autograder.bench.scoring import score\nscore("
"""A hidden test that stock nbgrader can read: its last line is the number of points."""
ON_ONE_PAPER = "from autograder.bench.scoring import score_on_one_paper\nscore_on_one_paper("
"""The same, and all who are scored in a process have the same hidden cases."""
KINDS = ("right", "wrong as listed", "wrong as nobody listed")
HALVES = "ab"


def make_course(root: Path, notebook: str, students: int, stock: bool) -> Course:
    """A course in a folder of its own with one notebook released and handed in by a class.

    A third has everything right, a third has a known mistake in every exercise, and a third is wrong everywhere in a way that no list
    has. Half of them are called a..., half b..., so that two processes of stock nbgrader can share them.

    Args:
        root: the folder, which must not exist.
        notebook: "00_shapes".
        students: how many; with six, each half has one of each kind.
        stock: leave the plug-ins out, and let the hidden tests say their points.
    """
    course = Course.copied(root)
    if stock:
        config = root / "nbgrader_config.py"
        config.write_text(config.read_text().replace(PLUG_INS, ""))
        source = root / "source" / notebook / f"{notebook}.ipynb"
        read = nbformat.read(str(source), as_version=4)
        for cell in read.cells:
            cell.source = cell.source.replace(OURS, STOCKS)
        nbformat.write(read, str(source))
        course = Course(root)
    course.generate_assignment(notebook)
    right = answers_in(ROOT / "source" / notebook / f"{notebook}.ipynb")
    for number in range(students):
        answers = right
        if _kind(number) == KINDS[1]:
            answers = mistaken_answers(notebook, number // 3)
        elif _kind(number) == KINDS[2]:
            answers = {name: source + slipped(name, 1.01 + number / 100) for name, source in right.items()}
        hand_in(course, f"{HALVES[number % 2]}{number // 2:04}", notebook, answers)
    return course


def kind_of(student: str) -> str:
    """Which third of the class a student is in."""
    return _kind(2 * int(student[1:]) + HALVES.index(student[0]))


def _kind(number: int) -> str:
    return KINDS[number % len(KINDS)]
