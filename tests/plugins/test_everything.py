"""A notebook with everything that courses have in theirs, graded by stock nbgrader, with the plug-ins and by the class command."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook

from autograder.folder import Course
from tests.support import commands
from tests.support.shown import looks
from tests.support.stock import DOCUMENTATION, PLUGGED, Grade, cell, grades, nbgrader, stock_course, write

pytestmark = [pytest.mark.usefixtures("walls"), pytest.mark.thorough]
NAME, FIRST, SECOND, THIRD = "everything", "1 first", "2 zweites", "3 generated"
NEVER_ENDS = "sleepy"
DUE, LATE = "2030-01-10 12:00:00 UTC", "2030-01-11 12:00:00 UTC"
SETTINGS = f"""
sys.path.insert(0, str(root))
c.ClearSolutions.begin_solution_delimeter = "ANSWER FROM HERE"
c.ClearSolutions.end_solution_delimeter = "TO HERE"
c.AssignLatePenalties.plugin_class = "late.HalfAPoint"
c.Execute.timeout_func = lambda cell: 3 if "{NEVER_ENDS}" in cell.source else 300
c.Execute.iopub_timeout = 60
"""
PENALTY = """
from nbgrader.plugins import BasePlugin
class HalfAPoint(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5
"""
HELPER = "def twice(x):\n    return 2 * x\n"

ANSWERS = {
    "magics": "%%capture kept\n%env COLOUR=red\nprint('hidden')",
    "shell": "!echo 1 > lines.txt; echo 2 >> lines.txt\nlines = !cat lines.txt",
    "bash": "%%bash\necho from bash > bash.txt\necho shown",
    "writes": "%%writefile written.py\nvalue = 42",
    "timed": "%%time\nx = 1",
    "double": "from helper import twice",
    "data": "import csv\nrows = list(csv.reader(open('data/numbers.csv')))",
    "draws": "%matplotlib inline\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2]);",
    "formula": "import sympy\nsympy.init_printing()\nx = sympy.symbols('x')\nx**2",
    "picture": "from PIL import Image\nimage = Image.new('RGB', (4, 4))\nimage",
    "widget": "import ipywidgets\nslider = ipywidgets.IntSlider(value=2)\nslider.value = 3",
    "asks": "asked = 0\nasked = input('a number? ')",
    "awaits": "import asyncio\nasync def later():\n    await asyncio.sleep(0)\n    return 5\nfound = await later()",
    "threads": "import threading\nseen = []\nt = threading.Thread(target=seen.append, args=(1,))\nt.start()\nt.join()",
    "jobs": (
        "import multiprocessing\ndef square(i):\n    return i * i\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n    squares = pool.map(square, range(4))"
    ),
    "processes": "import psutil\nmine = psutil.Process().is_running()",
    "database": "import sqlite3\nbase = sqlite3.connect('base.db')\nbase.execute('create table t (a)')\nbase.commit()",
    "loops": f"# {NEVER_ENDS}\nwhile True:\n    pass",
    "exits": "import sys\nsys.exit(1)",
    "raises": "def broken(x):\n    return 1 / x\nbroken(0)",
    "frame": "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>a</b>'), Markdown('*b*'))",
    "warns": "import warnings\nwarnings.warn('mind the gap')",
    "leaves": "with open('left.txt', 'w') as file:\n    file.write('for the second')",
}
TESTS: dict[str, tuple[float, str]] = {
    "test_magics": (1, "import os\nassert os.environ['COLOUR'] == 'red' and 'hidden' in kept.stdout"),
    "test_shell": (1, "assert lines == ['1', '2']"),
    "test_bash": (1, "assert open('bash.txt').read() == 'from bash\\n'"),
    "test_writes": (1, "import written\nassert written.value == 42"),
    "test_double": (2, "assert twice(1) == 2\n### BEGIN HIDDEN TESTS\nassert twice(3) == 6\n### END HIDDEN TESTS"),
    "test_part": (4, "sum(twice(k) == 2 * k for k in (1, 2, 3)) / 2"),
    "test_data": (1, "assert rows == [['1', '2']]"),
    "test_draws": (1, "assert len(ax.lines) == 1"),
    "test_formula": (1, "assert sympy.diff(x**2, x) == 2 * x\nx**2"),
    "test_picture": (1, "assert image.size == (4, 4)\nimage"),
    "test_widget": (1, "assert slider.value == 3"),
    "test_asks": (1, "assert asked == 0"),
    "test_awaits": (1, "assert await later() == found == 5"),
    "test_threads": (1, "assert seen == [1]"),
    "test_jobs": (1, "assert squares == [0, 1, 4, 9]"),
    "test_processes": (1, "assert mine"),
    "test_database": (1, "assert base.execute('select count(*) from t').fetchone() == (0,)"),
    "test_loops": (1, f"# {NEVER_ENDS}\nimport time\ntime.sleep(100)"),
    "test_exits": (1, "sys.exit(1)"),
    "test_raises": (1, "assert broken(1) == 1\nbroken(0)"),
    "test_warns": (1, "warnings.warn('it costs the point')"),
    "test_folder": (
        1,
        f"import pathlib\nassert pathlib.Path.cwd().name == '{NAME}'\nassert pathlib.Path('{FIRST}.ipynb').exists()",
    ),
}
SOLVED = (
    sum(points for points, _ in TESTS.values()) - 4 + 1.5 - 4
)  # partial credit, and what runs too long, exits, raises or warns
SQUARED = "def squared(n):\n    return n ** 2"
AUTOTEST = "### AUTOTEST squared(3)\n### HASHED AUTOTEST squared(2)"
BY_HAND = {"solution": True, "locked": False}
DIES = "import os\ndef broken(x):\n    os._exit(1)"


def write_source(course: Course) -> None:
    (course.root / "late.py").write_text(PENALTY)
    shutil.copy(str(DOCUMENTATION / "user_guide" / "autotests.yml"), course.root / "autotests.yml")
    folder = course.root / "source" / NAME
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "numbers.csv").write_text("1,2\n")
    (folder / "helper.py").write_text(HELPER)
    answers = [cell(new_code_cell(_marked(source)), name, solution=True) for name, source in ANSWERS.items()]
    tests = [cell(new_code_cell(source), name, points) for name, (points, source) in TESTS.items()]
    first = [
        *answers,
        *tests,
        cell(new_code_cell("# look around"), "explore", 2, **BY_HAND),
        cell(new_markdown_cell("Why?"), "why", 3, **BY_HAND),
        cell(new_markdown_cell("Draw it."), "task", 2, grade=False, task=True),
    ]
    second = [cell(new_code_cell("assert open('left.txt').read() == 'for the second'"), "test_second", 5)]
    third = [
        cell(new_code_cell(_marked(SQUARED)), "squared", solution=True),
        cell(new_code_cell(AUTOTEST), "autotest", 2),
    ]
    for name, cells in ((FIRST, first), (SECOND, second), (THIRD, third)):
        write(folder / f"{name}.ipynb", cells)


def _marked(source: str) -> str:
    """With the delimiters of this course, in no cell whose first line has to come first."""
    head, _, rest = source.partition("\n") if source.startswith("%%") else ("", "", source)
    return f"{head}\n### ANSWER FROM HERE\n{rest}\n### TO HERE".lstrip()


def hand_in(course: Course, student: str, answers: dict[str, str]) -> None:
    folder = course.folder("submitted", student, NAME)
    shutil.copytree(course.root / "release" / NAME, folder)
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(str(path), as_version=4)
        for one in notebook.cells:
            one.source = answers.get(one.metadata.nbgrader.grade_id, one.source)
        write(path, notebook.cells)
    (folder / "timestamp.txt").write_text(LATE)


def by_stock(course: Course) -> None:
    log = nbgrader(course.root, "autograde", NAME)
    assert "There was an error" not in log, log


def by_plug_ins(course: Course) -> None:
    _plug_in(course)
    by_stock(course)


def by_class_command(course: Course) -> None:
    _plug_in(course)
    done = commands.grade(course, NAME, "--yes", "--no-feedback")
    assert done.returncode == 0, done.stdout


def _plug_in(course: Course) -> None:
    """Have the engine grade it, and one student more, whom stock nbgrader gives up."""
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(PLUGGED)
    hand_in(course, "dies", {**ANSWERS, "squared": SQUARED, "raises": DIES})


DOORS = (by_stock, by_plug_ins, by_class_command)
OTHERWISE = {
    "timed",
    "widget",
    "warns",
    "test_warns",
}  # times, the names of models, and folders of files are of each run
RIGHT, NOTHING = "ada", "ben"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> list[Course]:
    """The same class, by each door."""
    first = stock_course(tmp_path_factory.mktemp("released"), SETTINGS)
    with Gradebook(first.database) as gradebook:
        gradebook.add_assignment(NAME, duedate=DUE)
    write_source(first)
    first.generate_assignment(NAME)
    hand_in(first, RIGHT, {**ANSWERS, "squared": SQUARED, "explore": "print(1)", "why": "Because.", "task": "Drawn."})
    hand_in(first, NOTHING, {})
    courses = [Course(shutil.copytree(first.root, tmp_path_factory.mktemp(door.__name__) / "course")) for door in DOORS]
    with ThreadPoolExecutor(len(DOORS)) as pool:
        list(pool.map(lambda door, course: door(course), DOORS, courses))
    return courses


def test_all_doors_give_the_same_scores(graded: list[Course]) -> None:
    stock, *ours = ([stored(course, student) for student in (RIGHT, NOTHING)] for course in graded)
    assert all(one == stock for one in ours)
    first = stock[0][0]
    assert [points(cells) for cells in stock[0]] == [SOLVED, 5.0, 2.0]
    assert {name for name, grade in first.items() if grade.by_hand} == {"explore", "why", "task"}


def stored(course: Course, student: str) -> list[dict[str, Grade]]:
    return [grades(course.database, NAME, notebook, student) for notebook in (FIRST, SECOND, THIRD)]


def points(cells: dict[str, Grade]) -> float:
    return sum(grade.score or 0.0 for grade in cells.values())


def test_all_doors_ask_the_course_s_own_penalty(graded: list[Course]) -> None:
    for course in graded:
        with Gradebook(course.database) as gradebook:
            notebooks = gradebook.find_submission(NAME, RIGHT).notebooks
            assert {one.name: one.late_submission_penalty for one in notebooks} == dict.fromkeys(
                (FIRST, SECOND, THIRD), 0.5
            )


@pytest.mark.parametrize("student", [RIGHT, NOTHING])
def test_all_doors_show_the_same_outputs(graded: list[Course], student: str) -> None:
    stock, *ours = (shown(course, student) for course in graded)
    for one in ours:
        assert one.keys() == stock.keys()
        for name in stock.keys() - OTHERWISE:
            assert one[name] == stock[name], name


def shown(course: Course, student: str) -> dict[str, object]:
    notebook = nbformat.read(str(course.folder("autograded", student, NAME) / f"{FIRST}.ipynb"), as_version=4)
    return {one.metadata.nbgrader.grade_id: looks(one.outputs) for one in notebook.cells if one.cell_type == "code"}


def test_a_process_that_dies_costs_what_comes_after_it(graded: list[Course]) -> None:
    """Stock nbgrader gives the whole submission up."""
    for course in graded[1:]:
        assert [points(cells) for cells in stored(course, "dies")] == [SOLVED - TESTS["test_folder"][0], 0.0, 2.0]
