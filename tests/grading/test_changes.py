"""What changes while a class is being graded: late days, points, who is in it, and what was handed in again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.grading.extending import extend, set_due
from autograder.grading.preview import Change
from autograder.grading.report.lines import NOTHING
from autograder.grading.run import grade
from autograder.problems import USAGE, Problem
from autograder.settings import ROOT
from tests.support import commands, stock
from tests.support.classes import edit
from tests.support.commands import MODULE, grade_command
from tests.support.quick import calls
from tests.support.quick_class import NAME, QuickClass, hand_in


def due(course: Course, when: str = "2026-03-01 12:00:00") -> Course:
    """The course with a due date, after which a submission earns nothing."""
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=when)
    return Course(course.root)


def handed_in(course: Course, student: str, when: str) -> None:
    (course.folder("submitted", student, NAME) / "timestamp.txt").write_text(when)


def points(course: Course) -> dict[str, float]:
    with Gradebook(course.database, "quick") as gradebook:
        return {
            one.student.id: one.score - (one.late_submission_penalty or 0.0)
            for one in gradebook.assignment_submissions(NAME)
        }


def called() -> list[str]:
    return sorted(calls(Path(os.environ["QUICK"])))


# ------------------------------------------------------------------------------------------------------------ late days


def test_late_days_of_one_student_count_and_nobody_is_run_again(quick_class: QuickClass) -> None:
    course = due(quick_class(ada="2", ben="2"))
    for student in ("ada", "ben"):
        handed_in(course, student, "2026-03-02 10:00:00 UTC")
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 0.0, "ben": 0.0}
    assert extend(course, NAME, "ada", 2) == (
        "ada may hand in quick until 2026-03-03 12:00 UTC, a day being 24 hours. Grade it again to have that count."
    )
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 2.0, "ben": 0.0}
    assert called() == ["ada", "ben"]
    extend(course, NAME, "ada", 0)
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 0.0, "ben": 0.0}


def test_late_days_can_be_given_before_anything_is_handed_in_and_count_for_nbgrader_too(
    quick_class: QuickClass,
) -> None:
    course = due(quick_class(ada="2"))
    stock.nbgrader(course.root, "db", "student", "add", "ben")
    extend(course, NAME, "ben", 2)
    graded = grade(course, NAME, jobs=1, feedback=False)
    assert [line.outcome for line in graded.lines if line.student == "ben"] == [NOTHING]
    hand_in(course, "ben", "1")
    handed_in(course, "ben", "2026-03-02 10:00:00 UTC")
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 2.0, "ben": 1.0}
    stock.nbgrader(course.root, "autograde", NAME, "--force")
    assert points(course) == {"ada": 2.0, "ben": 1.0}


@pytest.mark.parametrize(
    ("assignment", "student", "days", "sentence"),
    [
        ("quack", "ada", 1, "The gradebook has no assignment 'quack'. Did you mean quick?"),
        (NAME, "adda", 1, "The gradebook has no student 'adda'. Did you mean ada?"),
        (NAME, "nobody", 1, "The gradebook has no student 'nobody'."),
        (NAME, "ada", -1, "-1 days are no extension: give a number from 0 to 366."),
        (NAME, "ada", 1, "quick has no due date, so nobody is late: give it one with"),
    ],
)
def test_late_days_that_cannot_be_given_say_why(
    quick_class: QuickClass, assignment: str, student: str, days: float, sentence: str
) -> None:
    course = quick_class(ada="2", noah="2")
    grade(course, NAME, jobs=1, feedback=False)
    with pytest.raises(Problem) as refused:
        extend(course, assignment, student, days)
    assert sentence in str(refused.value)
    assert "noah" not in str(refused.value), "nobody is near enough"


SAME_MOMENT = {  # half an hour before the due date
    "utc": "2026-07-01 10:00:00 UTC",
    "offset": "2026-07-01 12:00:00 +0200",
    "colon": "2026-07-01 12:00:00 +02:00",
    "name": "2026-07-01 12:00:00 CEST",
    "iso": "2026-07-01T12:00:00+02:00",
}


@pytest.mark.parametrize("by_nbgrader", [True, False])
def test_times_with_an_offset_mean_the_same_in_both_doors(quick_class: QuickClass, by_nbgrader: bool) -> None:
    course = due(quick_class(**dict.fromkeys([*SAME_MOMENT, "doubt"], "2")))
    done = commands.run(["autograder", "due", NAME, "2026-07-01 12:30 +0200", "--course", str(course.root)])
    assert f"{NAME} is due 2026-07-01 10:30:00 UTC." in done.stdout
    for student, when in SAME_MOMENT.items():
        handed_in(course, student, when)
    handed_in(course, "doubt", "2026-07-01 12:00:00 CST")
    if by_nbgrader:
        with (course.root / "nbgrader_config.py").open("a") as config:
            config.write("from autograder.plugins.config import plug_in\nplug_in(c)\n")
        said = stock.nbgrader(course.root, "autograde", NAME)
        assert "timestamp.txt was moved to" in said
    else:
        grade(course, NAME, jobs=1, feedback=False)
        assert grade(course, NAME, jobs=1, feedback=False).marked == {}
        assert sorted(called()) == sorted([*SAME_MOMENT, "doubt"]), "nobody is run again for how a time is written"
    with Gradebook(course.database, "quick") as gradebook:
        found = {one.student.id: one.timestamp for one in gradebook.assignment_submissions(NAME)}
    assert found == dict.fromkeys(SAME_MOMENT, datetime(2026, 7, 1, 10)) | {"doubt": None}
    assert points(course) == dict.fromkeys([*SAME_MOMENT, "doubt"], 2.0)


@pytest.mark.parametrize(
    "when", ["2026-07-01 12:30 CST", "07/08/2026", "tomorrow", "", "2026-07-01 12:30 \N{MINUS SIGN}0200"]
)
def test_a_due_date_in_doubt_is_refused_with_the_form_to_write(quick_class: QuickClass, when: str) -> None:
    with pytest.raises(Problem, match=r"2026-01-31 23:59:00 \+0100"):
        set_due(quick_class(), NAME, when)


def test_a_due_date_of_no_assignment_is_refused(quick_class: QuickClass) -> None:
    with pytest.raises(Problem, match=r"no assignment 'quack'. Did you mean quick"):
        set_due(quick_class(), "quack", "2026-07-01 12:30 +0200")


def test_the_command_of_late_days(quick_class: QuickClass) -> None:
    course = due(quick_class(ada="2"))
    grade(course, NAME, jobs=1, feedback=False)
    command = ["autograder", "extend", NAME, "ada", "--course", str(course.root)]
    done = commands.run([*command, "--days", "1.5"])
    assert done.returncode == 0
    assert "until 2026-03-03 00:00 UTC" in done.stdout
    done = commands.run([*command, "--until", "2026-03-04 23:59:59 +0100"])
    assert "until 2026-03-04 22:59:59 UTC." in done.stdout
    for words in ([], ["--days", "1", "--until", "2026-03-04"]):
        done = commands.run([*command, *words])
        assert done.returncode == USAGE
        assert "Say either how many days of 24 hours, or until when" in done.stdout + done.stderr


def test_until_a_time_counts_where_clocks_change_in_between_and_moves_with_the_due_date(
    quick_class: QuickClass,
) -> None:
    course = due(quick_class(ada="2"))
    set_due(course, NAME, "2026-10-24 23:59 +0200")
    handed_in(course, "ada", "2026-10-26 23:30:00 +0100")
    grade(course, NAME, jobs=1, feedback=False)
    assert "until 2026-10-26 21:59 UTC, a day being 24 hours." in extend(course, NAME, "ada", 2)
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 0.0}
    assert "until 2026-10-26 22:59 UTC." in extend(course, NAME, "ada", until="2026-10-26 23:59 +0100")
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 2.0}
    set_due(course, NAME, "2026-10-24 23:29 +0200")
    grade(course, NAME, jobs=1, feedback=False)
    assert points(course) == {"ada": 0.0}


@pytest.mark.parametrize(
    ("until", "sentence"),
    [
        ("2026-02-28 12:00 UTC", "2026-02-28 12:00 UTC is no extension of what is due 2026-03-01 12:00 UTC"),
        ("2027-04-01", "give a time in the 366 days after that"),
        ("2026-07-01 12:30 CST", "is no time that can be read for certain"),
        ("", "is no time that can be read for certain"),
    ],
)
def test_a_time_that_is_no_extension_is_refused(quick_class: QuickClass, until: str, sentence: str) -> None:
    course = due(quick_class(ada="2"))
    grade(course, NAME, jobs=1, feedback=False)
    with pytest.raises(Problem, match=sentence):
        extend(course, NAME, "ada", until=until)


# --------------------------------------------------------------------------------------------------- points, and people


def test_changed_points_count_once_the_assignment_is_generated_again_and_a_persons_marks_stay(
    quick_class: QuickClass,
) -> None:
    course = quick_class(ada="full 2", ben="full 2")
    grade(course, NAME, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.find_grade("test", NAME, NAME, "ben").manual_score = 1.75
        gradebook.db.commit()
    source = course.root / "source" / NAME / f"{NAME}.ipynb"
    cells = nbformat.read(source, as_version=4)
    cells.cells[-1].metadata.nbgrader.points = 1
    nbformat.write(cells, source)
    course.generate_assignment(NAME)
    shown: list[Change] = []
    graded = grade(course, NAME, jobs=1, feedback=False, confirm=lambda changes: shown.extend(changes) or True)
    assert shown == [Change("ada", NAME, "test", 2.0, 1.0)]
    assert {line.student: line.score for line in graded.lines} == {"ada": 1.0, "ben": 1.75}


def test_who_leaves_is_gone_and_nobody_else_is_run_again(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1")
    grade(course, NAME, jobs=1)
    shutil.rmtree(course.root / "class" / "submitted" / "ada")
    stock.nbgrader(course.root, "db", "student", "remove", "ada", "--force")
    graded = grade(course, NAME, jobs=1)
    assert {line.student for line in graded.lines} == {"ben"}
    assert points(course) == {"ben": 1.0}
    assert called() == ["ada", "ben"]


def test_what_is_handed_in_again_is_run_again_alone_and_a_persons_mark_waits_to_be_looked_at(
    quick_class: QuickClass,
) -> None:
    course = quick_class(ada="2", ben="1")
    grade(course, NAME, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.find_grade("test", NAME, NAME, "ada").manual_score = 1.5
        gradebook.find_comment("answer", NAME, NAME, "ada").manual_comment = "Well argued."
        gradebook.db.commit()
    hand_in(course, "ada", "1")
    grade(course, NAME, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        found = gradebook.find_grade("test", NAME, NAME, "ada")
        assert (found.auto_score, found.manual_score, found.needs_manual_grade) == (1.0, 1.5, True)
        assert gradebook.find_comment("answer", NAME, NAME, "ada").comment == "Well argued."
    assert called() == ["ada", "ada", "ben"]


def test_two_assignments_are_graded_one_after_the_other(quick_class: QuickClass) -> None:
    """A second run of the same course is told to wait; nothing of either is lost."""
    course = quick_class(ada="2")
    other = course.root / "source" / "other"
    shutil.copytree(course.root / "source" / NAME, other)
    (other / f"{NAME}.ipynb").rename(other / "other.ipynb")
    course.generate_assignment("other")
    work = shutil.copytree(course.root / "release" / "other", course.folder("submitted", "ada", "other"))
    edit(work / "other.ipynb", 0, "1")
    both = [[*MODULE, *grade_command(course, name, "--no-feedback", "--yes", "--json")] for name in (NAME, "other")]
    runs = [subprocess.Popen(one, cwd=ROOT, stdout=subprocess.PIPE, text=True) for one in both]
    said = [json.loads(run.communicate(timeout=120)[0]) for run in runs]
    assert sorted(one["code"] for one in said) in ([0, 0], [0, 4])
    for name in (NAME, "other"):
        grade(course, name, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        assert {one.assignment.name for one in gradebook.student_submissions("ada")} == {NAME, "other"}
