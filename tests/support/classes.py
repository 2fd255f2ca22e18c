"""Classes to grade twice: what students hand in, and all that grading leaves behind, in a form that can be compared."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Base, Gradebook
from sqlalchemy import inspect, select, text

from autograder.folder import Course
from autograder.settings import CONFIG
from autograder.verdicts.cells import VERDICT_TYPE
from tests.support.submissions import RIGHT, answer_cell, filled, grade_cell, hand_in

STOCK = "ps1"
DUE = "2026-03-01 12:00:00"
TURNED = "def pairwise_dots(A, B):\n    return B @ A.T"


# --------------------------------------------------------------------------------------------- this course's notebook


def duplicated(notebook: NotebookNode) -> NotebookNode:
    notebook.cells.append(copy.deepcopy(grade_cell(notebook, "mix_rows")))
    return notebook


def tagged_and_retyped(notebook: NotebookNode) -> NotebookNode:
    cell = grade_cell(notebook, "mix_rows")
    cell.metadata["tags"] = ["skip-execution"]
    cell.cell_type = "markdown"
    notebook.cells.remove(grade_cell(notebook, "to_columns"))
    return notebook


def dying(notebook: NotebookNode) -> NotebookNode:
    answer_cell(notebook, "mix_rows").source = "def mix_rows(W, V):\n    import os\n    os._exit(1)"
    return notebook


def printing(notebook: NotebookNode) -> NotebookNode:
    source = "from pathlib import Path\nPath('left.txt').write_text('here')\nfor n in range(2000):\n    print(n)"
    notebook.cells.append(new_code_cell(source))
    return notebook


CHANGED: dict[str, Callable[[NotebookNode], NotebookNode]] = {
    "bob +%": duplicated,
    "eve": tagged_and_retyped,
    "dying": dying,
    "Zoë O'Neil": printing,
}


def hand_in_shapes(course: Course) -> None:
    """One student for each way in which a submission of 00_shapes can differ from what is expected."""
    hand_in(course, "ada", filled(course, RIGHT))
    hand_in(course, "ben", filled(course, {}))
    hand_in(course, "dan", filled(course, {**RIGHT, "pairwise_dots": TURNED}))
    for student, change in CHANGED.items():
        hand_in(course, student, change(filled(course, RIGHT)))
    hand_in(course, "gus", filled(course, {})).write_text("this is not a notebook")
    late = hand_in(course, "late", filled(course, RIGHT))
    late.with_name("timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    crowded = hand_in(course, "crowded", filled(course, RIGHT))
    crowded.with_name("scratch.ipynb").write_text("{}")
    crowded.with_name("numpy.py").write_text("raise SystemExit")
    copied = hand_in(course, "copied", filled(course, RIGHT))
    copied.rename(copied.with_name("00_shapes (1).ipynb"))
    linked = hand_in(course, "linked", filled(course, RIGHT))
    linked.rename(course.root / "elsewhere.ipynb")
    linked.symlink_to(course.root / "elsewhere.ipynb")


# ----------------------------------------------------------------------------------------- an assignment like any other


def cell(made: NotebookNode, name: str, points: float | None = None, **settings: Any) -> NotebookNode:
    stated = {"grade_id": name, "schema_version": 3, "grade": points is not None, "locked": points is not None}
    made.metadata = from_dict({"nbgrader": {**stated, "solution": False, "task": False, **settings}})
    if points is not None:
        made.metadata.nbgrader.points = points
    return made


def release_stock(course: Course) -> None:
    """Release two notebooks with automatic, manual and task cells, and a data file."""
    double = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    hidden = "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS"
    first = [
        cell(new_code_cell(double), "double", solution=True),
        cell(new_code_cell(hidden), "hidden", 2),
        cell(new_code_cell("1.5"), "partial", 3),
        cell(new_code_cell("assert open('data.csv').read() == '1,2\\n'"), "data", 1),
        cell(new_markdown_cell("Why?"), "essay", 4, solution=True, locked=False),
    ]
    second = [
        cell(new_code_cell("x = 1"), "given", locked=True),
        cell(new_code_cell("# your code"), "free", 5, solution=True, locked=False),
        cell(new_markdown_cell("Draw it."), "task", 6, task=True, grade=False),
    ]
    folder = course.root / "source" / STOCK
    folder.mkdir()
    (folder / "data.csv").write_text("1,2\n")
    for name, cells in (("first", first), ("second", second)):
        (folder / f"{name}.ipynb").write_text(json.dumps(new_notebook(cells=cells, metadata=KERNEL)))
    course.generate_assignment(STOCK)


KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def hand_in_stock(course: Course) -> None:
    """A good one with files of its own, one that lacks a notebook, one that stock nbgrader cannot grade."""
    release = course.root / "release" / STOCK
    good = course.folder("submitted", "ada", STOCK)
    shutil.copytree(release, good)
    edit(good / "first.ipynb", 0, "from helper import twice as double\nopen('made.txt', 'w').write('x')")
    edit(good / "first.ipynb", 4, "Because.")
    edit(good / "second.ipynb", 1, "print(open('made.txt').read())")
    (good / "helper.py").write_text("def twice(x):\n    return 2 * x\n")
    (good / "data.csv").write_text("changed")
    (good / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    lacking = course.folder("submitted", "ben", STOCK)
    lacking.mkdir(parents=True)
    shutil.copy(release / "first.ipynb", lacking)
    shutil.copy(release / "first.ipynb", lacking / "extra.ipynb")
    broken = course.folder("submitted", "cleo", STOCK)
    shutil.copytree(release, broken)
    (broken / "second.ipynb").write_text("this is not a notebook")


def edit(path: Path, index: int, source: str) -> None:
    """Change the source of one cell of a stored notebook."""
    notebook = json.loads(path.read_text())
    notebook["cells"][index]["source"] = source
    path.write_text(json.dumps(notebook))


def penalise(course: Course) -> Course:
    """Have late work cost everything, and set a due date; the course is opened anew."""
    with (course.root / CONFIG).open("a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        for assignment in gradebook.assignments:
            gradebook.update_or_create_assignment(assignment.name, duedate=DUE)
    return Course(course.root)


# --------------------------------------------------------------------------------------------------- what grading left


def gradebook_rows(course: Course) -> dict[str, list[str]]:
    """Every row of every table, with what it refers to written out in place of random identifiers."""
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        look = inspect(gradebook.engine)
        known = Base.metadata.tables  # their types make the same values of what different databases keep
        tables = {
            name: [
                dict(row._mapping)
                for row in gradebook.db.execute(
                    select(*known[name].c) if name in known else text(f'SELECT * FROM "{name}"')
                )
            ]
            for name in look.get_table_names()
        }
        links = {
            name: {key["constrained_columns"][0]: key["referred_table"] for key in look.get_foreign_keys(name)}
            for name in tables
        }

    def written_out(table: str, row: dict[str, Any]) -> str:
        parts = []
        for column, value in row.items():
            if column in links[table] and value is not None:
                referred = next(other for other in tables[links[table][column]] if other["id"] == value)
                parts.append(f"{column}=({written_out(links[table][column], referred)})")
            elif column != "id" or table in ("student", "course"):
                parts.append(f"{column}={value!r}")
        return ", ".join(parts)

    return {name: sorted(written_out(name, row) for row in rows) for name, rows in tables.items()}


def files_in(folder: Path) -> dict[str, tuple[int, Any]]:
    """By relative path, permissions and content; notebooks without what is random or a time of day."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file()):
        content: Any = (
            os.readlink(path).removeprefix(str(folder.parents[1])) if path.is_symlink() else path.read_bytes()
        )
        if "__pycache__" in path.parts:
            continue
        if path.suffix == ".ipynb" and not path.is_symlink() and content.startswith(b"{") and content != b"{}":
            content = json.loads(content)
            for one in content["cells"]:
                one.pop("id", None)
                one["metadata"].pop("execution", None)
                one["outputs"] = [without_drawn_sizes(output) for output in one.get("outputs", [])]
        found[path.relative_to(folder).as_posix()] = (path.lstat().st_mode & 0o777, content)
    return found


def without_drawn_sizes(output: Any) -> Any:
    """A verdict may say which shape was expected, and hidden cases are drawn afresh each time."""
    judged = VERDICT_TYPE in output.get("data", {})
    return re.sub(r"\[\d+(, \d+)*\]", "[shape]", json.dumps(output)) if judged else output
