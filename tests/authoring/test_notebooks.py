"""Every notebook in source/ agrees with the catalogue of exercises and with itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from itertools import pairwise

import pytest
from nbformat import NotebookNode

from autograder.exercises import NOTEBOOKS, every_exercise, exercise_named, exercises_in, tasks_in
from autograder.exercises.model import Exercise, Task
from autograder.settings import ROOT
from course.figures.verdicts import TOO_CLOSE
from tests.support.leaks import cells_of, functions, source_cells

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WIDEST = 92  # columns of code that JupyterLab shows on a screen of 1280 pixels, its side bar open
each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS)
each_task = pytest.mark.parametrize("task", [task for notebook in NOTEBOOKS for task in tasks_in(notebook)])
each_exercise = pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)


def graded(notebook: str, grade_id: str) -> NotebookNode:
    (cell,) = (c for c in source_cells(notebook) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)
    return cell


def solution_of(exercise: Exercise) -> NotebookNode:
    return graded(exercise.notebook, f"{exercise.name}_solution")


def task_of(exercise: Exercise) -> NotebookNode:
    """The text over an exercise, found by its heading."""
    heading = re.compile(rf"^### Exercise \d+ · `{exercise.name}`$", re.MULTILINE)
    (cell,) = (c for c in source_cells(exercise.notebook) if c.cell_type == "markdown" and heading.search(c.source))
    return cell


def question_of(task: Task) -> NotebookNode:
    """The text over a question that a person marks, found by its heading."""
    heading = re.compile(rf"^### Question \d+ · `{task.name}`$", re.MULTILINE)
    (cell,) = (c for c in source_cells(task.notebook) if c.cell_type == "markdown" and heading.search(c.source))
    return cell


def function_in(source: str, name: str) -> ast.FunctionDef:
    (found,) = (n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name)
    return found


def signature(code: str, name: str) -> str:
    """Arguments, defaults and annotations of a function, names for types (`Project = Callable[...]`) spelt out."""
    names = types(code)

    class Spell(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return names.get(node.id, node)

    function = Spell().visit(function_in(code, name))
    return f"({ast.unparse(function.args)}) -> {ast.unparse(function.returns)}"


def types(code: str) -> dict[str, ast.expr]:
    """What a module assigns to names, and what the modules assign to them that it imports its types from."""
    found: dict[str, ast.expr] = {}
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.ImportFrom) and str(statement.module).endswith((".parts", "course.parameters")):
            found |= types(inspect.getsource(importlib.import_module(str(statement.module))))
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = statement.value
    return found


def test_there_is_a_source_for_every_notebook_of_the_catalogue_and_for_no_other() -> None:
    assert sorted(path.name for path in (ROOT / "source").iterdir() if path.is_dir()) == sorted(NOTEBOOKS)


@each_notebook
def test_an_exercise_is_found_under_its_notebook_and_its_name(notebook: str) -> None:
    for exercise in exercises_in(notebook):
        assert exercise.notebook == notebook
        assert exercise_named(notebook, exercise.name) is exercise


def test_no_two_exercises_have_the_same_name() -> None:
    names = [exercise.name for exercise in every_exercise()]
    assert len(names) == len(set(names))


def test_a_notebook_that_is_none_of_this_course_has_no_exercises() -> None:
    assert exercises_in("77_elsewhere") == exercises_in("") == ()


# ------------------------------------------------------------------------------------- what is said of an exercise


@each_notebook
def test_the_title_counts_exercises_points_and_minutes(notebook: str) -> None:
    title = source_cells(notebook)[0].source
    ((count, asked, points, minutes),) = re.findall(
        r"(\w+) exercises?(?: and (\w+) questions?)?, ([\d.]+) points?, about (\d+) minutes", title
    )
    exercises, tasks = exercises_in(notebook), tasks_in(notebook)
    assert WORDS.index(count.lower()) == len(exercises)
    assert WORDS.index(asked or "zero") == len(tasks)
    assert float(points) == sum(graded.points for graded in (*exercises, *tasks))
    assert int(minutes) > sum(said(told)[1] for told in (*map(task_of, exercises), *map(question_of, tasks)))


def said(told: NotebookNode) -> tuple[str, int, float]:
    """Difficulty, minutes and points, as the text over an exercise or a question gives them."""
    ((difficulty, minutes, points),) = re.findall(
        r"^\*(\w+) · (\d+) minutes? · ([\d.]+) points?\*$", told.source, re.MULTILINE
    )
    return difficulty, int(minutes), float(points)


@each_exercise
def test_the_text_over_an_exercise_gives_difficulty_minutes_and_its_points(exercise: Exercise) -> None:
    difficulty, minutes, points = said(task_of(exercise))
    assert difficulty in ("easy", "medium", "hard")
    assert minutes > 0
    assert points == exercise.points


@each_notebook
def test_exercises_are_numbered_from_one_in_the_order_of_the_catalogue(notebook: str) -> None:
    text = "\n".join(cell.source for cell in source_cells(notebook) if cell.cell_type == "markdown")
    numbered = re.findall(r"^### Exercise (\d+) · `(\w+)`$", text, re.MULTILINE)
    assert numbered == [(str(i), exercise.name) for i, exercise in enumerate(exercises_in(notebook), 1)]


@each_exercise
def test_an_exercise_is_told_then_answered_then_tested(exercise: Exercise) -> None:
    ids = [cell.id for cell in source_cells(exercise.notebook)]
    told, answered, tested = (
        ids.index(cell.id)
        for cell in (task_of(exercise), solution_of(exercise), graded(exercise.notebook, exercise.name))
    )
    assert told < answered
    assert tested == answered + 1


# --------------------------------------------------------------------------------------------------- graded cells


@each_exercise
def test_the_test_cell_checks_and_judges_and_nothing_else(exercise: Exercise) -> None:
    cell = graded(exercise.notebook, exercise.name)
    assert cell.source == (
        f"check({exercise.name})\n"
        "### BEGIN HIDDEN TESTS\n"
        "from course import judge\n"
        f"judge({exercise.name})\n"
        "### END HIDDEN TESTS"
    )
    stated = {"grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3}
    assert cell.metadata == {"nbgrader": {**stated, "grade_id": exercise.name, "points": exercise.points}}


@each_exercise
def test_the_answer_cell_is_marked_as_nbgrader_wants_it(exercise: Exercise) -> None:
    cell = solution_of(exercise)
    stated = {"grade": False, "solution": True, "locked": False, "task": False, "schema_version": 3}
    assert cell.metadata == {"nbgrader": {**stated, "grade_id": f"{exercise.name}_solution"}}
    assert re.findall("### (BEGIN|END) SOLUTION", cell.source) == ["BEGIN", "END"]


@each_notebook
def test_no_other_cell_is_graded(notebook: str) -> None:
    names = [c.metadata.nbgrader.grade_id for c in source_cells(notebook) if "nbgrader" in c.metadata]
    by_the_judge = [name for e in exercises_in(notebook) for name in (f"{e.name}_solution", e.name)]
    assert names == by_the_judge + [task.name for task in tasks_in(notebook)]


@each_task
def test_a_question_is_asked_then_answered_in_prose_for_a_person_to_mark(task: Task) -> None:
    assert said(question_of(task))[2] == task.points
    cell = graded(task.notebook, task.name)
    stated = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3}
    assert cell.cell_type == "markdown"
    assert cell.metadata == {"nbgrader": {**stated, "grade_id": task.name, "points": task.points}}
    assert re.findall("(BEGIN|END) SOLUTION", cell.source) == ["BEGIN", "END"]
    ids = [c.id for c in source_cells(task.notebook)]
    assert ids.index(question_of(task).id) < ids.index(cell.id)


@each_exercise
def test_the_stub_has_the_signature_of_the_oracle_and_a_docstring(exercise: Exercise) -> None:
    stub = solution_of(exercise).source
    catalogue = inspect.getsource(sys.modules[exercise.oracle.__module__])
    assert signature(stub, exercise.name) == signature(catalogue, exercise.name)
    assert ast.get_docstring(function_in(stub, exercise.name))


@each_exercise
def test_the_solution_stored_in_the_notebook_has_full_marks_there(exercise: Exercise) -> None:
    (output,) = graded(exercise.notebook, exercise.name).outputs
    text = output.data["text/plain"]
    assert text.startswith(f"{exercise.name}: passed, {exercise.points:g} of {exercise.points:g} points"), text


# ---------------------------------------------------------------------------------------------- carried-over cells


@each_notebook
def test_a_carried_over_function_is_the_solution_of_an_earlier_notebook(notebook: str) -> None:
    for cell in source_cells(notebook):
        if cell.id == "carried-over":
            for function in ast.parse(cell.source).body:
                assert isinstance(function, ast.FunctionDef)
                exercise = next(exercise for exercise in every_exercise() if exercise.name == function.name)
                assert exercise.notebook < notebook
                assert ast.dump(function) == ast.dump(function_in(solution_of(exercise).source, exercise.name))


@each_notebook
def test_no_other_cell_defines_a_function_of_another_exercise(notebook: str) -> None:
    for cell in source_cells(notebook):
        if cell.cell_type == "code" and cell.id != "carried-over":
            defined = {name for name, _ in functions(cell.source)} & {exercise.name for exercise in every_exercise()}
            assert defined <= {cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("_solution")}


# ---------------------------------------------------------------------------------------------------- what is stored


def pictures(cell: NotebookNode) -> list[str]:
    """The img elements in a cell's outputs, without the pixels."""
    outputs = cell.get("outputs", ())
    html = "".join(output["data"].get("text/html", "") for output in outputs if "data" in output)
    return [re.sub(r'src="[^"]*"', "", element) for element in re.findall(r"<img\b[^>]*>", html)]


@each_notebook
def test_every_picture_is_stored_with_a_text_for_those_who_do_not_see_it(notebook: str) -> None:
    found = [element for cell in source_cells(notebook) for element in pictures(cell)]
    assert found
    for element in found:
        ((alt,),) = [re.findall(r'alt="([^"]*)"', element)]
        assert len(alt.split()) >= 8, alt
    kinds = {kind for cell in source_cells(notebook) for o in cell.get("outputs", ()) for kind in o.get("data", {})}
    assert kinds <= {"text/plain", "text/html"}


@each_notebook
def test_every_call_of_a_picture_has_left_one(notebook: str) -> None:
    for cell in source_cells(notebook):
        if cell.cell_type == "code" and ends_with_a_picture(cell.source):
            assert len(pictures(cell)) == 1, cell.id


def ends_with_a_picture(code: str) -> bool:
    """Whether a cell's last statement calls a function of `figures`, over however many lines."""
    statements = ast.parse(code).body
    return bool(statements) and ast.unparse(statements[-1]).startswith("figures.")


@each_notebook
def test_what_a_picture_says_of_a_guess_is_also_said_to_those_who_do_not_see_it(notebook: str) -> None:
    for cell in source_cells(notebook):
        if cell.cell_type == "code" and re.search(r"^figures\.\w+\([^)]*\bguess", cell.source, re.MULTILINE):
            ((alt,),) = [re.findall(r'alt="([^"]*)"', element) for element in pictures(cell)]
            assert re.search(rf"You guessed|{TOO_CLOSE}", alt), cell.id


@each_notebook
def test_no_output_is_an_error_or_a_complaint(notebook: str) -> None:
    for cell in source_cells(notebook):
        for output in cell.get("outputs", ()):
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id


@each_notebook
def test_nothing_stored_names_a_folder_of_a_machine_or_a_place_on_the_web_but_in_a_link(notebook: str) -> None:
    text = json.dumps(source_cells(notebook), ensure_ascii=False)
    readable = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]*", "", text)
    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|Users|usr|var|work|opt|private)/\S*", readable) == []
    assert re.findall(r"[A-Z]:\\\\\w+", readable) == []
    readable = re.sub(r"\]\(https://[^()\s]+\)", "]", readable)  # as a notebook's sources are linked
    assert re.findall(r"https?://\S*|\bwww\.\S*", readable) == []


@pytest.mark.parametrize("folder", ["source", "release"])
@each_notebook
def test_no_line_of_code_is_cut_where_the_side_bar_is_open(folder: str, notebook: str) -> None:
    for cell in cells_of(ROOT / folder / notebook / f"{notebook}.ipynb"):
        if cell.cell_type == "code":
            assert [line for line in cell.source.splitlines() if len(line) > WIDEST] == [], cell.id


@each_notebook
def test_what_is_folded_can_be_unfolded_and_closed(notebook: str) -> None:
    for cell in source_cells(notebook):
        if cell.cell_type == "markdown":
            counts = {cell.source.count(tag) for tag in ("<details>", "</details>", "<summary>", "</summary>")}
            assert len(counts) == 1, cell.id


@each_notebook
def test_headings_go_down_one_level_at_a_time(notebook: str) -> None:
    text = "\n".join(cell.source for cell in source_cells(notebook) if cell.cell_type == "markdown")
    levels = [len(marks) for marks in re.findall(r"^(#+) ", re.sub(r"(?s)```.*?```", "", text), re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each_notebook
def test_what_a_covered_picture_shows_is_told_behind_the_guess(notebook: str) -> None:
    told = [
        text.source
        for picture, text in pairwise(source_cells(notebook))
        if picture.cell_type == "code" and re.search(r"^figures\.\w+\(\s*guess", picture.source, re.MULTILINE)
    ]
    assert told
    behind = re.compile(r"<details><summary>After your guess(: [^<]+)?</summary>\n\n")
    assert [text[:60] for text in told if not behind.match(text)] == []
