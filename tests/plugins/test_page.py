"""This course's feedback page: what it says of right, known, unknown, late, repaired and commented work."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from autograder.exercises import exercise_named
from autograder.folder import Course
from autograder.grading.feedback import Pages
from autograder.plugins import cutting, sharing
from autograder.plugins.marked import TOLD, Marked
from autograder.plugins.outlining import Property, outlined
from autograder.plugins.stamping import marks
from autograder.verdicts.verdict import Finding, Verdict
from course import feedback
from tests.support.classes import TURNED, duplicated
from tests.support.commands import nbgrader
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, page, words

SCALED = "def mix_rows(W, V):\n    return 1.5 * (W @ V)"


@pytest.fixture(scope="module")
def course(new_course) -> Course:
    """Ada is right, Dan made a known mistake, Una one that is not known, and Rea's work was repaired, late, commented and marked."""
    made: Course = new_course()
    hand_in(made, "ada", filled(made, RIGHT))
    hand_in(made, "dan", filled(made, {**RIGHT, "pairwise_dots": TURNED}))
    hand_in(made, "una", filled(made, {**RIGHT, "mix_rows": SCALED}))
    hand_in(made, "rea", duplicated(filled(made, {**RIGHT, "mix_rows": SCALED})))
    for student in ("ada", "dan", "una", "rea"):
        made.autograde(NOTEBOOK, student)
    with Gradebook(made.database, made.directory.course_id) as gradebook:
        gradebook.find_submission_notebook(NOTEBOOK, NOTEBOOK, "rea").late_submission_penalty = 1.0
        gradebook.find_grade("mix_rows", NOTEBOOK, NOTEBOOK, "rea").manual_score = 1.25
        comment = "The idea is *right* <script>act()</script>"
        gradebook.find_comment("mix_rows_solution", NOTEBOOK, NOTEBOOK, "rea").manual_comment = comment
        gradebook.find_grade("to_columns", NOTEBOOK, NOTEBOOK, "rea").auto_score = None
        gradebook.find_grade("to_columns", NOTEBOOK, NOTEBOOK, "rea").needs_manual_grade = True
        gradebook.db.commit()
    for student in ("ada", "dan", "una", "rea"):
        made.generate_feedback(NOTEBOOK, student)
    return made


def row(course: Course, student: str, exercise: str) -> str:
    """What the table says of an exercise, in one line."""
    soup = BeautifulSoup(page(course, student), "html.parser")
    (found,) = [one for one in soup.select("table.exercises tr") if one.a and one.a.text == exercise]
    return " ".join(found.text.split())


def carried(course: Course, student: str) -> Any:
    """What the page says for programs."""
    soup = BeautifulSoup(page(course, student), "html.parser")
    return json.loads(str(soup.find("meta", {"name": "course-feedback"})["content"]))


def test_what_is_right_says_so_and_no_more(course: Course) -> None:
    assert row(course, "ada", "pairwise_dots") == "pairwise_dots 2 of 2 ✓ passed"


def test_each_exercise_leads_to_its_cell(course: Course) -> None:
    soup = BeautifulSoup(page(course, "dan"), "html.parser")
    for link in soup.select("table.exercises a"):
        assert f"{link.text}:" in " ".join(soup.select_one(str(link["href"])).text.split())


def test_a_known_mistake_comes_with_a_public_case(course: Course) -> None:
    told = row(course, "dan", "pairwise_dots")
    assert "A known mistake gives exactly these answers:" in told
    assert "What this mistake gives in a public case: With X =" in told
    assert "expected yours" in told


def test_an_unknown_one_comes_with_a_public_case_of_its_own(course: Course) -> None:
    told = row(course, "una", "mix_rows")
    assert "the right one times 3/2" in told
    assert "What your answer gives in a public case: With A =" in told


def test_the_case_is_one_that_check_has(course: Course) -> None:
    case = carried(course, "dan")["rows"][0]["case"]
    public = exercise_named(NOTEBOOK, "pairwise_dots").public
    shown = [{str(number) for argument in one.arguments for number in argument.ravel()} for one in public]
    assert any(all(number.rstrip("0").rstrip(".") in case for number in numbers) for numbers in shown)


def test_late_work_says_what_that_costs(course: Course) -> None:
    told = words(page(course, "rea"))
    assert "handed in late −1 What being late costs." in told
    assert "in all 2.25 of 4 so far; 3 more wait for a person" in told


def test_what_was_repaired_is_said_on_top(course: Course) -> None:
    top, _, notebook = words(page(course, "rea")).partition("00 · Reading")
    assert "Repaired before grading the cell mix_rows was there twice" in top
    assert "Repaired before grading" not in notebook


def test_a_persons_mark_and_comment_stand_in_the_table_and_at_the_cell(course: Course) -> None:
    told = row(course, "rea", "mix_rows")
    assert told.startswith("mix_rows 1.25 of 2 ◐ marked by a person (by the grader: not right yet)")
    assert "Comment: The idea is *right* <script>act()</script>" in told
    soup = BeautifulSoup(page(course, "rea"), "html.parser")
    assert soup.select_one("#graded--comment-mix_rows_solution .comment em").text == "right"


def test_what_a_person_has_yet_to_mark_is_no_zero(course: Course) -> None:
    """Neither in its row, nor in what the notebook comes to: what the grader would give is not counted either."""
    assert row(course, "rea", "to_columns").startswith("to_columns ? of 3 ? a person will look at it")
    stored = page(course, "rea")
    assert f"<title>{NOTEBOOK}: 2.25 of 4 points so far; 3 wait for a person</title>" in stored
    assert "2.25 of 4 points so far; 3 wait for a person. Each exercise" in words(stored)
    assert "a person will look at it (by the grader: passed), ? of 3 points" in words(stored)
    shown = repr(feedback(course.folder("feedback", "rea", NOTEBOOK)))
    assert shown.startswith(f"{NOTEBOOK}: 2.25 of 4 points so far; 3 wait for a person, late: −1 (")
    assert "? to_columns: a person will look at it (by the grader: passed), ? of 3 points" in shown


@pytest.mark.parametrize(("earned", "mark"), [(0.0, "✗"), (0.25, "◐"), (2.5, "◐"), (2.99, "◐"), (3.0, "✓"), (3.5, "✓")])
def test_what_earned_a_part_has_a_sign_of_its_own(earned: float, mark: str) -> None:
    """Whoever gave the points, and whatever ended the answer: half a point is neither a tick nor a cross."""
    finding = Finding("all sizes", 3.0, min(earned, 3.0))
    assert Property(finding.shows, 3.0, min(earned, 3.0), "").mark == mark
    by_hand = {"grade_id": "f", "score": earned, "points": 3.0, "by_hand": True, "grade": True}
    judged = by_hand | {"by_hand": False}
    for outcome in ("partly", "wrong", "raised", "timed out", "crashed"):
        verdict = Verdict("f", "passed" if earned >= 3 else outcome, (finding,))
        for stated in (by_hand, judged):
            cell = new_code_cell("", metadata={"nbgrader": stated})
            info = {"notebook": "n", "score": earned, "max_score": 3.0, "late_penalty": 0.0}
            (one,) = outlined([cell], info, {"f": verdict}, lambda _: "").rows
            assert (one.mark, one.waits) == (mark, False)


def test_the_verdict_is_there_however_much_stands_before_it(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "_fits", lambda content, rooms: False)  # as if the page were full
    assert Pages(course).make(NOTEBOOK, "dan") == ("", [])
    assert "A known mistake gives exactly these answers:" in row(course, "dan", "pairwise_dots")


def test_marks_are_the_same_whether_a_class_was_asked_for_at_once_or_not(course: Course) -> None:
    graded = course.folder("autograded", "rea", NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    found = []
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        told = marks(gradebook, NOTEBOOK)["rea", NOTEBOOK]
    for more in ({}, {TOLD: told}):
        info = {"notebook": NOTEBOOK, "assignment": NOTEBOOK, "student": "rea", "db_url": course.database, **more}
        cells, resources = Marked().preprocess(nbformat.read(str(graded), as_version=4), {"nbgrader": info})
        stated = [cell.metadata.get("nbgrader", {}) for cell in cells.cells]
        sums = [resources["nbgrader"][name] for name in ("score", "max_score", "late_penalty")]
        found.append((sums, [[one.get(name) for name in ("score", "points", "comment")] for one in stated]))
    assert found[0] == found[1]
    assert found[0][0] == [2.25, 7.0, 1.0]


def test_programs_read_the_same(course: Course) -> None:
    told = carried(course, "rea")
    assert (told["notebook"], told["score"], told["points"], told["late"]) == (NOTEBOOK, 2.25, 7.0, 1.0)
    assert [one["name"] for one in told["rows"]] == list(RIGHT)
    assert told["repaired"] == [
        "the cell mix_rows was there twice; the first one counts, the other is an ordinary cell"
    ]
    assert [one["points"] for one in told["rows"][1]["missed"]]


def test_the_students_function_shows_it_in_a_notebook(course: Course) -> None:
    shown = feedback(course.folder("feedback", "dan", NOTEBOOK))
    assert shown is not None
    assert "✗ pairwise_dots: not right yet, 0 of 2 points" in repr(shown)
    assert "What this mistake gives in a public case:" in repr(shown)
    assert "✓ mix_rows: passed, 2 of 2 points" in repr(shown)


def test_no_script_and_nothing_from_elsewhere(course: Course) -> None:
    for student in ("ada", "dan", "una", "rea"):
        soup = BeautifulSoup(page(course, student), "html.parser")
        assert not soup.find_all(["script", "link", "iframe", "base", "object"])
        assert not [one for one in soup.find_all(src=True) if not str(one["src"]).startswith("data:")]
        assert "url(" not in page(course, student)
        assert "@import" not in page(course, student)


def test_nbgraders_command_makes_the_same_page(course: Course) -> None:
    before = page(course, "rea")
    done = nbgrader(course, "generate_feedback", NOTEBOOK, "--student=rea", "--force")
    assert done.returncode == 0, done.stdout
    assert page(course, "rea") == before


def test_a_text_that_a_student_has_changed_is_shown_as_it_was_changed(course: Course) -> None:
    """What all share is known by what stands in it: whoever changes a cell gets the cell that was changed."""
    notebook = filled(course, RIGHT)
    notebook.cells[0].source += " And *mine*."
    hand_in(course, "zoe", notebook)
    course.autograde(NOTEBOOK, "zoe")
    course.generate_feedback(NOTEBOOK, "zoe")
    assert "And <em>mine</em>." in page(course, "zoe")
    assert "And <em>mine</em>." not in page(course, "ada")


def test_only_the_release_is_converted_outside_the_walls(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []
    keep = sharing.Shared._keep

    def watched(self: sharing.Shared, kind: str, source: str) -> None:
        converted.append(source)
        keep(self, kind, source)

    monkeypatch.setattr(sharing.Shared, "_keep", watched)
    pages = Pages(course)
    for student in ("dan", "una"):
        assert pages.make(NOTEBOOK, student) == ("", [])
    release = json.loads((course.root / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb").read_text())
    assert converted == ["".join(cell["source"]) for cell in release["cells"]]
