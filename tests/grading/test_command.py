"""The command line: what it prints, what it returns, what it asks."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import run as asked
from autograder.folder import Course
from autograder.grading import run as grading
from autograder.grading.command import run
from autograder.grading.report.lines import NOT_GRADED, lines
from autograder.grading.store import only_run
from autograder.problems import FAILED, INTERRUPTED, OTHER_RUN, UNCONFIRMED, USAGE
from autograder.settings import CONFIG, ROOT
from tests.support.commands import MODULE, grade_command
from tests.support.quick import calls
from tests.support.quick_class import NAME, QuickClass, hand_in


def run_json(course: Course, capsys: pytest.CaptureFixture[str], **options: Any) -> tuple[int, dict[str, Any]]:
    code = run(course.root, NAME, jobs=1, feedback=False, as_json=True, **options)
    return code, json.loads(capsys.readouterr().out)


def test_json_is_one_object_and_all_there_is_on_stdout(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2", ben="raise 1")
    code, tree = run_json(course, capsys)
    assert code == FAILED
    assert tree["failed"] == {"ben": "RuntimeError: no kernel"}
    assert (tree["assignment"], tree["written"], tree["changes"]) == (NAME, True, [])
    assert (tree["error"], tree["code"]) == (None, FAILED)
    assert Path(tree["report"]).is_file()
    ada = tree["students"][0]
    assert ada.pop("seconds") >= 0
    assert ada == {
        "student": "ada",
        "name": "",
        "handed_in": True,
        "timestamp": None,
        "seconds_late": 0.0,
        "paper": None,
        "late_penalty": 0.0,
        "raw_score": 2.0,
        "score": 2.0,
        "max_score": 2.0,
        "notes": [],
        "exercises": [
            {
                "exercise": "test",
                "points": 2.0,
                "score": 2.0,
                "extra_credit": 0.0,
                "outcome": "graded",
                "mistakes": [],
                "needs_manual": False,
                "not_recognised": False,
                "missed": [],
            }
        ],
    }


def test_without_a_yes_changes_are_printed_and_not_written(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2", ben="1")
    assert run(course.root, NAME, jobs=1, feedback=False) == 0
    hand_in(course, "ada", "1.5")
    hand_in(course, "ben", "2")
    capsys.readouterr()
    assert run(course.root, NAME, jobs=1, feedback=False) == UNCONFIRMED
    printed = capsys.readouterr().out
    assert ["ada", "test", "2", "1.5", "loses"] in rows(printed)
    assert ["ben", "test", "1", "2", "gains"] in rows(printed)
    assert "Nothing was written." in printed
    code, tree = run_json(course, capsys)
    assert (code, tree["written"]) == (UNCONFIRMED, False)
    assert tree["changes"][0] == {"student": "ada", "notebook": NAME, "exercise": "test", "old": 2.0, "new": 1.5}
    code, tree = run_json(course, capsys, yes=True)
    assert (code, tree["written"]) == (0, True)
    assert [student["score"] for student in tree["students"]] == [1.5, 2.0]


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", UNCONFIRMED), ("", UNCONFIRMED)])
def test_on_a_terminal_it_asks(
    quick_class: QuickClass,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    code: int,
) -> None:
    course = quick_class(ada="2")
    run(course.root, NAME, jobs=1, feedback=False)
    hand_in(course, "ada", "1")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda *_: answer)
    assert run(course.root, NAME, jobs=1, feedback=False) == code
    assert "Write these? [y/N] " in capsys.readouterr().out


def test_the_end_of_input_is_a_no(quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch) -> None:
    course = quick_class(ada="2")
    run(course.root, NAME, jobs=1, feedback=False)
    hand_in(course, "ada", "1")
    monkeypatch.setattr(sys, "stdin", EndedTerminal())
    assert run(course.root, NAME, jobs=1, feedback=False) == UNCONFIRMED


class EndedTerminal(io.StringIO):
    """A terminal at which Ctrl-D was pressed."""

    def isatty(self) -> bool:
        return True


def test_problems_are_said_in_a_sentence(quick_class: QuickClass, capsys: pytest.CaptureFixture[str]) -> None:
    course = quick_class(ada="2")
    assert run(course.root, "quack") == USAGE
    assert "There is no assignment 'quack'" in capsys.readouterr().out


def test_json_is_an_object_also_where_nothing_was_graded(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2")
    code = run(course.root, "quack", as_json=True)
    tree = json.loads(capsys.readouterr().out)
    assert (code, tree["code"], tree["assignment"]) == (USAGE, USAGE, "quack")
    assert "There is no assignment 'quack'" in tree["error"]
    with only_run(course.class_folder / "graded"):
        code, tree = run_json(course, capsys)
    assert (code, tree["code"]) == (OTHER_RUN, OTHER_RUN)
    assert "another run" in tree["error"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["grade", NAME, "--jobs", "0"], "--jobs"),
        (["grade", NAME, "--jobs", "many"], "--jobs"),
        (["grade", NAME, "--no-such"], "--no-such"),
        (["grade"], "assignment"),
        (["grade", NAME, "ada"], "ada"),
        (["graed", NAME], "graed"),
        ([], "--json"),
    ],
)
def test_json_is_an_object_also_where_the_command_line_cannot_be_read(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        asked([*words, "--json"])
    printed = capsys.readouterr()
    tree = json.loads(printed.out)
    assert sentence in tree["error"].lower()
    assert tree.pop("error") in printed.err
    assert tree == {"assignment": None, "code": USAGE}
    assert ended.value.code == USAGE


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [(KeyError("ada"), FAILED, "KeyError: 'ada'"), (KeyboardInterrupt(), INTERRUPTED, "Stopped")],
)
def test_json_is_an_object_also_where_grading_breaks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, sentence: str
) -> None:
    def breaks(*_: object) -> None:
        raise error

    monkeypatch.setattr("autograder.grading.command.run", breaks)
    with pytest.raises(SystemExit) as ended:
        asked(["grade", NAME, "--json"])
    tree = json.loads(capsys.readouterr().out)
    assert sentence in tree["error"]
    assert (tree["code"], ended.value.code) == (code, code)


@pytest.mark.parametrize("folder", ["missing", "empty", "broken"])
def test_a_folder_that_is_no_course_is_named_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    if folder != "missing":
        (tmp_path / folder).mkdir()
    if folder == "broken":
        (tmp_path / folder / CONFIG).write_text("c = get_config(\n")
    code = run(tmp_path / folder, NAME, as_json=True)
    tree = json.loads(capsys.readouterr().out)
    assert (code, tree["code"]) == (USAGE, USAGE)
    assert str(tmp_path / folder) in tree["error"]
    assert "Traceback" not in tree["error"]


def test_a_course_that_names_no_folders_is_graded_from_anywhere(
    quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    course = quick_class()
    settings = (course.root / CONFIG).read_text().splitlines()
    kept = [line for line in settings if not line.startswith(("c.CourseDirectory.root", "c.CourseDirectory.db_url"))]
    (course.root / CONFIG).write_text("\n".join(kept))
    (course.root / "class" / "gradebook.db").rename(course.root / "gradebook.db")
    monkeypatch.chdir(tmp_path)
    hand_in(course, "ada", "2")
    assert run(course.root, NAME, jobs=1, feedback=False) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_reason_that_many_share_is_said_once(quick_class: QuickClass, capsys: pytest.CaptureFixture[str]) -> None:
    course = quick_class(ada="2", **{f"s{n:02}": "raise 1" for n in range(12)})
    assert run(course.root, NAME, jobs=2, feedback=False) == FAILED
    printed = capsys.readouterr().out
    assert printed.count("RuntimeError: no kernel") == 1
    assert "s00, s01" in printed
    assert "and 2 more (12 students) could not be graded" in " ".join(printed.split())
    assert "Traceback" not in printed


def test_what_failed_is_not_called_nothing_handed_in(quick_class: QuickClass) -> None:
    course = quick_class(ben="raise 1")
    run(course.root, NAME, jobs=1, feedback=False)
    assert [line.outcome for line in lines(course, NAME)] == [NOT_GRADED]


# ------------------------------------------------------------------------------------------------------ without walls


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", UNCONFIRMED)])
def test_without_walls_it_says_so_once_and_asks_before_anything_runs(
    quick_class: QuickClass,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    code: int,
) -> None:
    course = quick_class(ada="2", ben="1")
    monkeypatch.setattr(grading._Run, "has_walls", lambda _: False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda *_: answer)
    assert run(course.root, NAME, jobs=1, feedback=False) == code
    printed = capsys.readouterr().out
    assert printed.count("There are no walls here") == 1
    assert "Run them all the same? [y/N] " in printed
    assert ("Nothing was run. Say yes, or use --no-walls" in printed) == (code != 0)
    assert len(calls(course.root / "calls")) == (2 if code == 0 else 0)
    assert run(course.root, NAME, jobs=1, feedback=False, no_walls=True) == 0
    assert len(calls(course.root / "calls")) == 2


def test_where_nobody_can_be_asked_it_is_said_and_the_run_goes_on(
    quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2")
    monkeypatch.setattr(grading._Run, "has_walls", lambda _: False)
    assert run(course.root, NAME, jobs=1, feedback=False) == 0
    assert capsys.readouterr().out.count("There are no walls here") == 1
    assert run(course.root, NAME, jobs=1, feedback=False) == 0
    assert "There are no walls here" not in capsys.readouterr().out  # nothing is run


# -------------------------------------------------------------------------------------------------------------- late


def test_what_being_late_costs_is_shown_wherever_points_are(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2", ben="1")
    (course.folder("submitted", "ada", NAME) / "timestamp.txt").write_text("2026-03-01 13:00:00 UTC")
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-03-01 12:00:00")
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
    assert run(course.root, NAME, jobs=1) == 0
    page = course.folder("feedback", "ada", NAME) / f"{NAME}.html"
    assert "Late submission penalty (" not in page.read_text()
    with (course.root / CONFIG).open("a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    code, tree = run_json(course, capsys_cleared(capsys))
    assert (code, tree["written"]) == (UNCONFIRMED, False)
    late = {"student": "ada", "notebook": NAME, "exercise": "late penalty", "old": 0.0, "new": -2.0}
    assert tree["changes"] == [late]
    assert run(course.root, NAME, jobs=1, yes=True) == 0
    assert "Late submission penalty (Score: -2.0)" in page.read_text()
    printed = capsys.readouterr().out
    assert [row[-2:] for row in rows(printed) if row[0] == "ada"][-1] == ["1 h late, -2", "0"]
    assert [row[-2:] for row in rows(printed) if row[0] == "ben"] == [["", "1"]]
    page = (course.root / "class" / "report" / f"{NAME}.html").read_text()
    assert '<td data-value="3600.0">1 h late, -2</td><td>0</td>' in page
    code, tree = run_json(course, capsys)
    ada = tree["students"][0]
    assert (ada["name"], ada["timestamp"]) == ("Ada Lovelace", "2026-03-01T13:00:00")
    assert (ada["seconds_late"], ada["late_penalty"], ada["raw_score"], ada["score"]) == (3600.0, 2.0, 2.0, 0.0)
    assert calls(course.root / "calls") == ["ada", "ben"]


def test_where_nobody_was_late_there_is_no_such_column(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    run(quick_class(ada="2").root, NAME, jobs=1, feedback=False)
    assert "late" not in capsys.readouterr().out


def capsys_cleared(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    capsys.readouterr()
    return capsys


def rows(printed: str) -> list[list[str]]:
    """The rows of the tables in what was printed."""
    return [[part.strip() for part in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]


def command(course: Course, *options: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    hears = {
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    }  # in the background of a script it is ignored
    words = [*MODULE, *grade_command(course, NAME, "--no-feedback", *options)]
    return subprocess.Popen(words, env=environment, text=True, start_new_session=True, **pipes, **hears)  # type: ignore[call-overload,no-any-return]


def test_ctrl_c_stops_at_once_and_the_same_command_goes_on(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="long 1")
    running = command(course, "--jobs", "1")
    while running.poll() is None and "ben" not in calls(course.root / "calls"):
        time.sleep(0.05)
    pressed = time.monotonic()
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    printed, _ = running.communicate()
    assert running.returncode == INTERRUPTED, printed
    assert time.monotonic() - pressed < 300  # what ran would have gone on for 600
    assert "run the same command again to go on" in printed
    assert "Traceback" not in printed
    again = command(course)
    assert again.wait() == 0
    assert calls(course.root / "calls") == ["ada", "ben", "ben"]


def test_an_assignment_is_known_by_its_number_too(quick_class: QuickClass, capsys: pytest.CaptureFixture[str]) -> None:
    course = quick_class(ada="2")
    source = course.root / "source"
    for name in ("07_masks", "08_heads", "08_tails", "09"):
        (source / name).mkdir()
    meant = {"07": "07_masks", "07_masks": "07_masks", "08": "08", "09": "09", "7": "07_masks", NAME: NAME}
    assert {word: course.meant(word) for word in meant} == meant
    run(course.root, "07")
    assert "07_masks was not released yet" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "words", [["report", "{}"], ["likeness", "{}"], ["export", "{}"], ["extend", "{}", "ada", "--days", "1"]]
)
def test_other_commands_know_it_by_its_number_too(
    quick_class: QuickClass, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2")
    (course.root / "source" / "07_masks").mkdir()
    with pytest.raises(SystemExit) as ended:
        asked([*(word.format("07") for word in words), "--course", str(course.root)])
    assert "07_masks" in f"{ended.value.code} {capsys.readouterr().err}"


@pytest.mark.parametrize(
    "setting", ['AssignLatePenalties.plugin_class = "late.TenPercent"', 'LateSubmissionPlugin.penalty_method = "half"']
)
def test_a_late_penalty_that_cannot_be_used_is_said_in_a_sentence(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    course = quick_class(ada="2")
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-03-01 12:00:00")
    with (course.root / CONFIG).open("a") as config:
        config.write(f"c.{setting}\n")
    assert run(course.root, NAME, jobs=1, feedback=False) == USAGE
    assert "nbgrader_config.py has a setting of late penalties that cannot be used: The '" in capsys.readouterr().out
