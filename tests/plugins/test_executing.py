"""What a kernel does after it was judged, or instead: earlier marks stay, and nothing it shows is a verdict."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.engine import KilledByMachine, Session
from autograder.engine.session import CellRun
from autograder.folder import Course
from autograder.grading.marking import Marker
from autograder.grading.report.lines import lines
from autograder.grading.snapshot import read_snapshot
from autograder.grading.submission import read_submission
from tests.support.submissions import (
    NOTEBOOK,
    RIGHT,
    Attempt,
    Graded,
    answer_cell,
    filled,
    grade_class,
    hand_in,
    page,
    scores,
    words,
)

ALL = (2.0, 2.0, 3.0)
VERDICT = "application/vnd.course.verdict+json"

SHOWN_ONCE = """def mix_rows(W, V):
    from IPython.display import display
    display({"text/plain": "0"}, raw=True, display_id="mix_rows")
    return 2.0"""
SHOWN_AGAIN = f"""from IPython.display import update_display
update_display({{"text/plain": "2", "{VERDICT}": {{"outcome": "passed"}}}}, raw=True, display_id="mix_rows")"""
FAKE_VERDICT = f"""from IPython.display import display
display({{"{VERDICT}": {{"mistakes": ["nope"], "outcome": "[/x]"}}}}, raw=True)"""
NEVER_ENDS = """import time
while True:
    try:
        time.sleep(0.1)
    except:
        pass"""
UNPRINTABLE = 'from IPython.display import display\ndisplay({"text/plain": 5}, raw=True)'
OWN_CHECK = "%reset_selective -f check\ncheck = np.allclose"
WRAPPED = """import functools
@functools.lru_cache
def helper(n):
    return n
def logged(f):
    @functools.wraps(f)
    def inner(*arguments):
        return f(*arguments)
    return inner
@logged
def pairwise_dots(A, B):
    return A @ B.T"""


def ending_with(source: str, **answers: str) -> Attempt:
    """Right answers, but for those given, and one more cell at the end."""

    def make(notebook: NotebookNode, path: Path) -> NotebookNode:
        for exercise, answer in answers.items():
            answer_cell(notebook, exercise).source = answer
        notebook.cells.append(new_code_cell(source))
        return notebook

    return Attempt(make, ALL)


def beginning_with(source: str) -> Attempt:
    def make(notebook: NotebookNode, path: Path) -> NotebookNode:
        place = notebook.cells.index(answer_cell(notebook, "pairwise_dots"))
        notebook.cells.insert(place, new_code_cell(source))
        return notebook

    return Attempt(make, ALL)


NOT_RUN = {
    "has-no-colon": ("def mix_rows(W, V)\n    return W @ V", "did not run: SyntaxError, line 1"),
    "stops-before-it": (
        "x = 1\nno_such_thing\ndef mix_rows(W, V):\n    return W @ V",
        "did not run: NameError, line 2",
    ),
    "calls-it-otherwise": ("def rows(W, V):\n    return W @ V", "did not run: no mix_rows"),
    "has-it-in-a-class": (
        "class Course:\n    @staticmethod\n    def mix_rows(W, V):\n        return W @ V",
        "did not run: no mix_rows",
    ),
    "uses-odd-magic": ("\n%%no_such_magic\ndef mix_rows(W, V):\n    return W @ V", "did not run: UsageError"),
    "forges-a-name": ("raise type('A\\x1b[31m\\nada: 7', (Exception,), {})('x')", "did not run: A31mada7, line 1"),
    "binds-it-again": (
        "def mix_rows(W, V):\n    return W @ V\n\nmix_rows = mix_rows(np.eye(2), np.eye(2))",
        "did not run: mix_rows is no function any more",
    ),
    "left-comments": ("# later", "not attempted"),
}


def in_a_cell_of_its_own(notebook: NotebookNode, path: Path) -> NotebookNode:
    """The answer left as it was released, and a cell below it that stops before it comes to its own."""
    answer = answer_cell(notebook, "mix_rows")
    answer.source = "def mix_rows(A, V):\n    raise NotImplementedError()"
    source = "plt.figure()\ndef mix_rows(A, V):\n    return A @ V"
    notebook.cells.insert(notebook.cells.index(answer) + 1, new_code_cell(source))
    return notebook


def with_another_below(notebook: NotebookNode, path: Path) -> NotebookNode:
    """A wrong answer in its cell, and a right copy of the cell under its test."""
    answer = answer_cell(notebook, "mix_rows")
    copied = copy.deepcopy(answer)
    answer.source = "def mix_rows(A, V):\n    return 2.0"
    notebook.cells.insert(notebook.cells.index(answer) + 2, copied)
    return notebook


def answering(source: str) -> Attempt:
    return Attempt(ending_with("pass", mix_rows=source).make, (2.0, 0.0, 3.0))


ATTEMPTS = {
    "shows-marks-later": Attempt(ending_with(SHOWN_AGAIN, mix_rows=SHOWN_ONCE).make, (2.0, 0.0, 3.0)),
    "shows-a-verdict": ending_with(FAKE_VERDICT),
    "never-ends": ending_with(NEVER_ENDS),
    "shows-what-no-notebook-holds": ending_with(UNPRINTABLE),
    "has-a-check-of-their-own": beginning_with(OWN_CHECK),
    "stops-in-a-cell-of-its-own": Attempt(in_a_cell_of_its_own, (2.0, 0.0, 3.0)),
    "has-another-below": Attempt(with_another_below, (2.0, 0.0, 3.0)),
    "wraps-an-answer": ending_with("pass", pairwise_dots=WRAPPED),
    **{student: answering(source) for student, (source, _) in NOT_RUN.items()},
}


@pytest.fixture(scope="module")
def graded(new_course) -> Graded:  # type: ignore[no-untyped-def]
    return grade_class(new_course(), ATTEMPTS, "--Execute.timeout=6", "--Execute.iopub_timeout=2")


@pytest.mark.parametrize("student", ATTEMPTS)
def test_the_score_is_what_the_judge_gave(graded: Graded, student: str) -> None:
    assert scores(graded.course, student) == ATTEMPTS[student].earns


@pytest.mark.parametrize("student", NOT_RUN)
def test_a_cell_that_stopped_is_not_called_an_attempt_never_made(graded: Graded, student: str) -> None:
    (line,) = (one for one in lines(graded.course, NOTEBOOK) if (one.student, one.exercise) == (student, "mix_rows"))
    assert (line.score, line.outcome) == (0.0, NOT_RUN[student][1])


def test_the_page_says_what_stopped_the_cell(graded: Graded) -> None:
    said = words(page(graded.course, "has-no-colon"))
    assert "mix_rows: did not run, 0 of 2 points" in said
    assert "SyntaxError, line 1: expected ':'" in said


@pytest.mark.parametrize(
    ("student", "sentence"),
    [
        ("calls-it-otherwise", "no mix_rows: its cell defines rows, and nothing of this name."),
        ("has-it-in-a-class", "no mix_rows: the class Course holds it, and a function has to stand by itself."),
        ("stops-in-a-cell-of-its-own", "NameError, line 1: name 'plt' is not defined"),
    ],
)
def test_the_page_says_of_an_answer_that_is_not_there_where_it_is(graded: Graded, student: str, sentence: str) -> None:
    said = words(page(graded.course, student))
    assert "mix_rows: did not run, 0 of 2 points" in said
    assert sentence in said
    assert "not attempted" not in said


def test_the_page_says_of_two_answers_which_one_was_judged(graded: Graded) -> None:
    said = words(page(graded.course, "has-another-below"))
    assert "What was judged is the mix_rows above its test." in said
    assert "the cell mix_rows_solution was there twice; the first one counts, the other is an ordinary cell" in said
    assert "What was judged" not in words(page(graded.course, "shows-marks-later"))


def test_the_page_says_what_a_name_was_bound_to(graded: Graded) -> None:
    said = words(page(graded.course, "binds-it-again"))
    assert (
        "mix_rows is no function any more: mix_rows = mix_rows(np.eye(2), np.eye(2)) has bound it to a numpy array of float64. "
        "Give that another name, and run the cell with def mix_rows again."
    ) in said
    assert "Your code raises" not in said


def test_nobody_stops_the_run_or_the_report(graded: Graded) -> None:
    assert graded.returncode == 0, graded.log
    outcomes = {(line.student, line.exercise): line.outcome for line in lines(graded.course, NOTEBOOK)}
    assert outcomes["shows-a-verdict", "mix_rows"] == "passed"
    assert outcomes["shows-marks-later", "mix_rows"] == "wrong"
    assert {outcomes["honest", exercise] for exercise in RIGHT} == {"passed"}


@pytest.mark.parametrize("kills", [2, 100])
@pytest.mark.parametrize("by_nbgrader", [True, False])
def test_what_this_machine_kills_is_run_again_and_then_waits_for_a_person(
    new_course: Callable[[], Course], monkeypatch: pytest.MonkeyPatch, kills: int, by_nbgrader: bool
) -> None:
    left = [kills]

    def finish(session: Session, seconds: float | None) -> CellRun:
        if left[0]:
            left[0] -= 1
            raise KilledByMachine("no memory")
        return real(session, seconds)

    real = Session.finish
    monkeypatch.setattr(Session, "finish", finish)
    course = new_course()
    hand_in(course, "ada", filled(course, RIGHT))
    if by_nbgrader:
        course.autograde(NOTEBOOK, "ada")
    else:
        marker = Marker(read_snapshot(course, NOTEBOOK))
        result = marker.mark(read_submission(course, "ada", marker.snapshot), 7)
        assert bool(result.notebooks[NOTEBOOK].by_hand) == (kills > 2)
        assert result.fault == (kills > 2)
        return
    assert scores(course, "ada") == (ALL if kills == 2 else (None, None, None))
