"""Answers that end, block, flood or deceive the process they run in: one class, graded in one run beside an honest student."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.plugins.experiments import MARK
from autograder.settings import ROOT
from tests.support.submissions import (
    NOTEBOOK,
    RIGHT,
    WRONG,
    Attempt,
    Graded,
    answer_cell,
    grade_class,
    page,
    scores,
    words,
)

pytestmark = pytest.mark.thorough  # a class of attempts, graded through both doors

IDS = [cell.id for cell in nbformat.read(ROOT / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb", as_version=4).cells]
MIX_ROWS = f"cell {IDS.index('mix-rows-solution') + 1} of {len(IDS)}"
NOTHING = (0.0, 0.0, 0.0)
ALL = (2.0, 2.0, 3.0)

FAKE_MODULES = """import sys, types
fake = types.ModuleType("course")
fake.judge = fake.check = lambda function: 2.0
sys.modules["course"] = sys.modules["course.client"] = fake
check = judge = fake.judge
"""
JUDGE_THAT_SAYS = "import course\ncourse.judge = lambda function: {}\n"
ALWAYS_EQUAL = """class Equal(np.ndarray):
    def __eq__(self, other): return True
    def __array_ufunc__(self, *arguments, **keywords): return True
def pairwise_dots(A, B):
    return np.zeros((len(A), len(B))).view(Equal)"""
EQUAL_AND_SHAPED = """class Equal:
    shape, dtype, ndim = (1, 2), np.dtype(float), 2
    def __eq__(self, other): return True
    def __float__(self): return 2.0
def mix_rows(W, V):
    return Equal()"""
EQUAL_TUPLE = """class Equal(tuple):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
def to_columns(X, W):
    return Equal([X, W])"""
PUBLISHER = """import threading, time
from IPython import get_ipython
def mix_rows(W, V):
    from IPython.display import publish_display_data
    publish_display_data({"text/plain": "2.0", "application/vnd.course.verdict+json": {"score": 2.0}})
    print(2.0)
    return 2.0"""
OWN_CONVERSATION = """import os, socket
from course.trial.link import SocketLink
def pairwise_dots(A, B):
    link = SocketLink(socket.socket(fileno=os.dup(int(os.environ["COURSE_JUDGE"]))))
    link.send({"say": "observed", "score": 2.0})
    return 2.0"""
TALKS_BACK = """import course.trial.cases
class Passed:
    def shorter(self): return [self]
    def to_value(self): return {"outcome": "passed", "score": 2.0}
course.trial.cases.account = lambda *arguments, **keywords: Passed()
def pairwise_dots(A, B):
    return 2.0"""
STASHES_ARGUMENTS = """def to_columns(X, W):
    print("seen:", X)
    raise ValueError("seen: " + repr(X.tolist()))"""


def answers(**changed: str) -> Attempt:
    """The honest notebook with other answers; what it may earn is added with `earning`."""

    def make(notebook: NotebookNode, path: Path) -> NotebookNode:
        for exercise, source in changed.items():
            answer_cell(notebook, exercise).source = source
        return notebook

    return Attempt(make, ALL)


def earning(attempt: Attempt, earns: tuple[float, float, float], log: str = "", page: str = "") -> Attempt:
    return Attempt(attempt.make, earns, log, page)


def with_experiments_of_their_own(attempt: Attempt) -> Attempt:
    """Every experiment is changed, so that none is left out while nbgrader grades."""

    def make(notebook: NotebookNode, path: Path) -> NotebookNode:
        attempt.make(notebook, path)
        for cell in notebook.cells:
            if MARK in cell.metadata:
                cell.source += "\n# and more"
        return notebook

    return Attempt(make, attempt.earns, attempt.log, attempt.page)


def with_a_cell_of_their_own(source: str) -> Attempt:
    """All answers wrong, and a cell in front of everything."""

    def make(notebook: NotebookNode, path: Path) -> NotebookNode:
        for exercise, answer in WRONG.items():
            answer_cell(notebook, exercise).source = answer
        notebook.cells.insert(0, nbformat.v4.new_code_cell(source))
        return notebook

    return Attempt(make, NOTHING)


UNASKED = "The test cell ran without asking to be judged."
ATTEMPTS = {
    "exit-in-cell": with_experiments_of_their_own(
        earning(
            answers(mix_rows="import os\nos._exit(0)"),
            (2.0, 0.0, 0.0),
            log=f"{NOTEBOOK} of exit-in-cell: {MIX_ROWS}: the process that ran this notebook ended in this cell; the cells after it were not run",
            page="mix_rows: the kernel died, 0 of 2 points",
        )
    ),
    "exit-when-called": with_experiments_of_their_own(
        earning(
            answers(mix_rows="import os\ndef mix_rows(W, V):\n    os._exit(0)"),
            (2.0, 0.0, 0.0),
            log=f"{NOTEBOOK} of exit-when-called: mix_rows: the kernel died; the cells after it were not run",
            page="The process that ran your code ended; what had been earned before is kept.",
        )
    ),
    "sys-exit": earning(
        answers(
            mix_rows="import sys\nsys.exit(0)",
            to_columns="import sys\ndef to_columns(X, W):\n    sys.exit(0)",
        ),
        (2.0, 0.0, 0.0),
        page="Your code raises SystemExit at line 3 of to_columns, sys.exit(0)",
    ),
    "endless-loops": earning(
        answers(mix_rows="while True:\n    pass", to_columns="def to_columns(X, W):\n    while True:\n        pass"),
        (2.0, 0.0, 0.0),
        log=f"{NOTEBOOK} of endless-loops: to_columns: ran out of time",
        page="to_columns: ran out of time, 0 of 3 points",
    ),
    "flood": answers(
        mix_rows="for _ in range(5000):\n    print('x' * 80)\n"
        "def mix_rows(W, V):\n    for _ in range(500):\n        print('y' * 80)\n    return W @ V"
    ),
    "warnings": answers(
        mix_rows="import sys, warnings\ndef mix_rows(W, V):\n    warnings.warn('mind')\n    print('oh', file=sys.stderr)\n    return W @ V",
        to_columns="import sys\nprint('oh', file=sys.stderr)\n" + RIGHT["to_columns"],
    ),
    "fake-modules": earning(
        answers(pairwise_dots=FAKE_MODULES + WRONG["pairwise_dots"]),
        NOTHING,
        log=f"{NOTEBOOK} of fake-modules: pairwise_dots: the answer could not be read",
        page=UNASKED,
    ),
    "judge-says": earning(
        answers(
            pairwise_dots=JUDGE_THAT_SAYS.format("float('nan')") + WRONG["pairwise_dots"],
            mix_rows=JUDGE_THAT_SAYS.format("-1") + WRONG["mix_rows"],
            to_columns=JUDGE_THAT_SAYS.format("np.float64(3)") + WRONG["to_columns"],
        ),
        NOTHING,
        log=f"{NOTEBOOK} of judge-says: to_columns: the answer could not be read",
        page=UNASKED,
    ),
    "no-judge": earning(
        with_a_cell_of_their_own("import os\ndel os.environ['COURSE_JUDGE']"),
        NOTHING,
        page="pairwise_dots: not right yet, 0 of 2 points",
    ),
    "judge-of-their-own": earning(
        with_a_cell_of_their_own("import os\ndel os.environ['COURSE_JUDGE'], os.environ['NBGRADER_EXECUTION']"),
        NOTHING,
        page="pairwise_dots: not right yet, 0 of 2 points",
    ),
    "answers-for-itself": earning(
        answers(pairwise_dots=OWN_CONVERSATION), (0.0, 2.0, 3.0), page="pairwise_dots: the answer could not be read"
    ),
    "talks-back": earning(
        answers(pairwise_dots=TALKS_BACK),
        NOTHING,
        log="talks-back: pairwise_dots: the answer could not be read",
        page="What came back was not an answer (not an observation).",
    ),
    "publishes-a-verdict": earning(
        answers(mix_rows=PUBLISHER), (2.0, 0.0, 3.0), page="mix_rows: not right yet, 0 of 2 points"
    ),
    "always-equal": earning(
        answers(pairwise_dots=ALWAYS_EQUAL, mix_rows=EQUAL_AND_SHAPED, to_columns=EQUAL_TUPLE),
        NOTHING,
        page="The result should be a numpy array of float64; yours is a Equal.",
    ),
    "odd-numbers": earning(
        answers(
            pairwise_dots="def pairwise_dots(A, B):\n    return np.full((len(A), len(B)), np.nan)",
            mix_rows="def mix_rows(W, V):\n    return -1",
            to_columns="def to_columns(X, W):\n    return np.float64(3)",
        ),
        NOTHING,
        page="The result should be a tuple of 2 parts; yours is a float.",
    ),
    "own-markers": earning(
        answers(mix_rows=WRONG["mix_rows"] + "\n### BEGIN HIDDEN TESTS\nmine = 1\n### END HIDDEN TESTS"),
        (2.0, 0.0, 3.0),
        page="mine = 1",
    ),
    "stashes-arguments": earning(
        answers(to_columns=STASHES_ARGUMENTS), (2.0, 2.0, 0.0), page="Your code raises ValueError"
    ),
}


@pytest.fixture(scope="module")
def graded(new_course) -> Graded:
    return grade_class(new_course(), ATTEMPTS, "--Execute.timeout=6")


def test_nbgrader_gets_through_the_whole_class(graded: Graded) -> None:
    assert graded.returncode == 0, graded.log


def test_the_honest_student_among_them_keeps_every_mark(graded: Graded) -> None:
    assert scores(graded.course, "honest") == ALL


@pytest.mark.parametrize("student", ATTEMPTS)
def test_an_attempt_earns_what_its_right_answers_earn_and_no_more(graded: Graded, student: str) -> None:
    assert scores(graded.course, student) == ATTEMPTS[student].earns


@pytest.mark.parametrize("student", [name for name, attempt in ATTEMPTS.items() if attempt.log])
def test_the_log_says_what_happened_and_to_whom(graded: Graded, student: str) -> None:
    assert ATTEMPTS[student].log in graded.log_of(student)


@pytest.mark.parametrize("student", [name for name, attempt in ATTEMPTS.items() if attempt.page])
def test_the_feedback_page_says_what_happened(graded: Graded, student: str) -> None:
    assert ATTEMPTS[student].page in words(page(graded.course, student))


@pytest.mark.parametrize("student", ["exit-in-cell", "exit-when-called"])
def test_of_cells_that_were_not_run_the_log_speaks_once_and_the_page_in_each(graded: Graded, student: str) -> None:
    assert graded.log_of(student).count("not run") == 1
    told = words(page(graded.course, student))
    assert told.count("this cell was not run: the process that ran the notebook had ended in a cell above") >= 3
    assert "cells after it" not in told.partition("Both readings at once")[2]


def test_nothing_that_the_kernel_prints_while_it_is_judged_is_kept(graded: Graded) -> None:
    autograded = graded.course.folder("autograded", "flood", NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(str(autograded), as_version=4)
    tests = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert [output.data["text/plain"] for cell in tests for output in cell.outputs] == ["2", "2", "3"]
    assert "seen: [" not in words(page(graded.course, "stashes-arguments"))


def test_a_flood_is_cut_to_a_length_that_a_person_can_scroll_through(graded: Graded) -> None:
    assert page(graded.course, "flood").count("x" * 80) <= 1000
