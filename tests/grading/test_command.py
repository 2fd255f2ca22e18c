"""The command line: what it prints, what it returns, what it asks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from quick import calls
from quick_class import NAME, QuickClass, hand_in

from autograder.command import run
from autograder.course import ROOT, Course
from autograder.grading.problems import FAILED, INTERRUPTED, UNCONFIRMED, USAGE


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
    assert Path(tree["report"]).is_file()
    ada = tree["students"][0]
    assert ada.pop("seconds") >= 0
    assert ada == {
        "student": "ada",
        "handed_in": True,
        "score": 2.0,
        "notes": [],
        "exercises": [
            {
                "exercise": "test",
                "points": 2.0,
                "score": 2.0,
                "outcome": "graded",
                "mistakes": [],
                "needs_manual": False,
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
    rows = [[part.strip() for part in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    assert ["ada", "test", "2", "1.5", "loses"] in rows
    assert ["ben", "test", "1", "2", "gains"] in rows
    assert "Nothing was written." in printed
    code, tree = run_json(course, capsys)
    assert (code, tree["written"]) == (UNCONFIRMED, False)
    assert tree["changes"][0] == {"student": "ada", "notebook": NAME, "exercise": "test", "old": 2.0, "new": 1.5}
    code, tree = run_json(course, capsys, yes=True)
    assert (code, tree["written"]) == (0, True)
    assert [student["score"] for student in tree["students"]] == [1.5, 2.0]


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", UNCONFIRMED), ("", UNCONFIRMED)])
def test_on_a_terminal_it_asks(
    quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    course = quick_class(ada="2")
    run(course.root, NAME, jobs=1, feedback=False)
    hand_in(course, "ada", "1")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda *_: answer)
    assert run(course.root, NAME, jobs=1, feedback=False) == code


def test_problems_are_said_in_a_sentence(quick_class: QuickClass, capsys: pytest.CaptureFixture[str]) -> None:
    course = quick_class(ada="2")
    assert run(course.root, "quack") == USAGE
    assert "There is no assignment 'quack'" in capsys.readouterr().out


def command(course: Course, *options: str) -> subprocess.Popen[str]:
    here = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    words = [sys.executable, "-m", "autograder", "grade", NAME, "--course", str(course.root), "--no-feedback", *options]
    environment = {**os.environ, "PYTHONPATH": here}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(words, env=environment, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload,no-any-return]


def test_ctrl_c_stops_at_once_and_the_same_command_goes_on(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="long 1")
    running = command(course, "--jobs", "1")
    while running.poll() is None and "ben" not in calls(course.root / "calls"):
        time.sleep(0.05)
    pressed = time.monotonic()
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    printed, _ = running.communicate()
    assert running.returncode == INTERRUPTED, printed
    assert time.monotonic() - pressed < 10
    assert "run the same command again to go on" in printed
    assert "Traceback" not in printed
    again = command(course)
    assert again.wait() == 0
    assert calls(course.root / "calls") == ["ada", "ben", "ben"]
