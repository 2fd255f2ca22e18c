"""The proof of the hidden tests, as a contributor asks for it: by name, and with a sentence where it cannot be given."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import autograder.authoring.mutants as mutants
from autograder.__main__ import app
from autograder.authoring.mutants import Unknown, Unreleased, chosen, rows, stored_answers
from autograder.exercises import every_exercise, exercise_named, exercises_in
from autograder.exercises.devices.mlp_tp import _devices as devices
from autograder.exercises.model import Exercise, Probe, case, right_to_seven_digits
from autograder.exercises.parts import softmax_of_kept
from autograder.judging import Paper, judge_here
from autograder.judging.reference import given
from autograder.settings import ROOT
from course import answers
from course.answers import StoredMistake
from course.checking import examine
from course.client import answer

F = np.ndarray
FFN = exercise_named("05_block", "ffn")
DOTS = exercise_named("00_shapes", "pairwise_dots")


@pytest.fixture(autouse=True)
def as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test makes up stands in no module of an exercise, of which a notebook's code could be made."""
    monkeypatch.setattr(mutants, "as_written", mutants.as_student)


@pytest.mark.parametrize("exercise", [FFN, DOTS], ids=lambda exercise: exercise.name)
def test_every_mistake_loses_marks_and_is_named_by_both(exercise: Exercise) -> None:
    found = rows(exercise)
    named = [implementation.__name__ for implementation in (*exercise.variants, *exercise.mistakes)]
    assert [row.name for row in found] == [*named, "whatever does nothing"]
    assert [row for row in found if row.trouble] == []


def test_what_earns_points_by_doing_nothing_is_named() -> None:
    def twice(x: F) -> bool:
        """whether x is twice there."""
        return True

    exercise = Exercise(twice, "77_ours", (), (Probe("says yes", 2.0, lambda _: [case(np.ones(2))]),), (), ())
    row = mutants._idle(exercise, {1: Paper(exercise, 1)})
    assert "returning True earns 2 (seed 1)" in row.trouble


def test_what_is_marked_as_right_to_seven_digits_has_to_be_told_as_that() -> None:
    def halved(X: F, W1: F, b1: F, W2: F, b2: F, act: Callable[[F], F]) -> F:
        """no student reads this."""
        return (act(X @ W1 + b1) @ W2 + b2) / 2

    (row,) = (row for row in rows(FFN, (1,)) if row.name == "ffn_in_float32")
    assert row.trouble == ""
    row = mutants._mistake(FFN, {1: Paper(FFN, 1)}, right_to_seven_digits(halved))
    assert "check does not say 'the right value to some seven digits'" in row.trouble


def mha_loop(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: F) -> F:
    root = np.sqrt(Wq.shape[2])
    turns = zip(Wq, Wk, Wv, strict=True)
    return np.concatenate([softmax_of_kept(X @ q @ (X @ k).T / root, keep) @ (X @ v) for q, k, v in turns], axis=1) @ Wo


def mlp_tp(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Any, all_reduce: Any) -> F:
    shards = devices(W1, b1, W2, p)
    return all_reduce([act(X @ w1 + c1).astype(np.float64) @ w2 for w1, c1, w2 in shards]) + b2


@pytest.mark.parametrize(
    ("notebook", "answered", "named"),
    [("04_heads", mha_loop, "heads_in_float64"), ("09_devices", mlp_tp, "sum_in_float64")],
)
def test_a_float64_that_was_computed_another_way_differs_in_last_digits_alone_and_is_named(
    notebook: str, answered: Callable[..., F], named: str
) -> None:
    exercise = exercise_named(notebook, answered.__name__)
    assert examine(mutants.as_student(exercise, answered)).mistakes == (named,)
    assert judge_here(answered, Paper(exercise, 1), answer).mistakes == (named,)


# ----------------------------------------------------------------------------------------------------- by name


def test_an_exercise_and_a_notebook_are_chosen_by_name_in_the_order_of_the_course() -> None:
    assert [e.name for e in chosen(["ffn", "00_shapes"])] == ["pairwise_dots", "mix_rows", "to_columns", "ffn"]
    assert chosen(["05_block", "ffn"]) == list(exercises_in("05_block"))
    assert chosen([]) == list(every_exercise())


@pytest.mark.parametrize(("name", "meant"), [("fnn", "ffn"), ("05_blok", "05_block"), ("softmax1d", "softmax_1d")])
def test_a_wrong_name_gets_a_sentence_with_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(Unknown, match=f"no exercise or notebook '{name}'; did you mean .*{meant}"):
        chosen([name])


def test_a_name_that_is_like_none_gets_them_all() -> None:
    with pytest.raises(Unknown, match=r"there are 00_shapes, .*zero_renorm"):
        chosen(["????"])


def test_the_command_proves_what_was_named_and_nothing_else() -> None:
    command = [sys.executable, "-m", "autograder", "mutants", "pairwise_dots"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"1 exercise, {len(DOTS.mistakes)} mistakes that lose marks and are named" in run.stdout
    assert all(mistake.__name__ in run.stdout for mistake in DOTS.mistakes)
    assert "mix_rows" not in run.stdout


def test_what_has_most_mistakes_is_begun_first_and_all_is_told_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one process would be at it for minutes after every other was through."""
    begun: list[str] = []

    def begin(self: ThreadPoolExecutor, call: Any, notebook: str, name: str, seeds: tuple[int, ...]) -> Future[Any]:
        begun.append(name)
        done: Future[Any] = Future()
        done.set_result([name])
        return done

    monkeypatch.setattr(ThreadPoolExecutor, "submit", begin)
    monkeypatch.setattr(mutants, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor())
    names = {"pairwise_dots": "00_shapes", "parallel_block": "10_capstone", "ffn": "05_block"}
    found = mutants._in_processes([(notebook, name, (1,)) for name, notebook in names.items()])
    assert [name for (name,) in found] == [*names]
    assert begun == sorted(names, key=lambda name: -len(exercise_named(names[name], name).mistakes))
    assert begun[0] == "parallel_block"


def test_the_command_refuses_a_wrong_name_without_a_traceback() -> None:
    result = CliRunner().invoke(app, ["mutants", "fnn"])
    assert result.exit_code == 2
    assert "did you mean ffn" in result.output


# ------------------------------------------------------------------------------------------------ what is amiss


ROWS = len(DOTS.variants) + len(DOTS.mistakes) + 2  # whatever does nothing, and the one that a test adds
FIRST = DOTS.mistakes[0].__name__


def once_more(A: F, B: F) -> F:
    """The first mistake again."""
    return DOTS.mistakes[0](A, B)


def wrong_in_secret(A: F, B: F) -> F:
    """Right on arrays of the sizes that are public."""
    return A @ B.T + (A.shape not in [case.arguments[0].shape for case in DOTS.public])


def not_wrong(A: F, B: F) -> F:
    """No mistake at all."""
    return A @ B.T


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command says of `pairwise_dots` with one more mistake, of which the release has told `check`."""
    known = answers.find("pairwise_dots")
    assert known

    def prove(mistake: Callable[..., F]) -> str:
        exercise = replace(DOTS, mistakes=(*DOTS.mistakes, mistake))
        given_to = tuple(given(exercise, mistake, case, False) for case in DOTS.public)
        told = replace(known, mistakes=(*known.mistakes, StoredMistake(mistake.__name__, "", given_to, False)))
        monkeypatch.setattr("course.answers.find", lambda _: told)
        monkeypatch.setattr(mutants, "proved", lambda *_: rows(exercise))
        assert mutants.main([exercise], explained=True) == 1
        return " ".join(re.sub("[│┃]", " ", capsys.readouterr().out).split())

    return prove


def test_two_mistakes_that_are_one_are_both_named_and_said_to_be_told_apart_by_nothing(
    said: Callable[..., str],
) -> None:
    text = said(once_more)
    assert f"nothing tells it from {FIRST}: they are one mistake, or a public case is missing" in text
    assert "nothing tells it from once_more:" in text
    assert text.count(f"check names {FIRST} and once_more") == 2
    assert "its loops tell it" not in text
    assert text.endswith(f"2 of {ROWS} in trouble, as the last column says")


@pytest.mark.parametrize(
    ("mistake", "to_do"),
    [(wrong_in_secret, "no public case tells it from a right answer: add one"), (not_wrong, "no probe takes points")],
)
def test_a_mistake_that_costs_nothing_somewhere_comes_with_what_to_do(
    said: Callable[..., str], mistake: Callable[..., F], to_do: str
) -> None:
    text = said(mistake)
    assert to_do in text
    assert text.endswith(f"1 of {ROWS} in trouble, as the last column says")


# -------------------------------------------------------------------------------------------- before the release


@pytest.mark.parametrize(
    "declared",
    [
        replace(DOTS, oracle=FFN.mistakes[0]),
        replace(DOTS, mistakes=DOTS.mistakes[1:]),
        replace(DOTS, public=DOTS.public[1:]),
    ],
)
def test_what_check_does_not_know_yet_is_told_in_a_sentence(declared: Exercise) -> None:
    with pytest.raises(Unreleased, match=rf"`check` does not know {declared.name} as .*: run `make release` first"):
        stored_answers(declared)


def test_the_command_says_so_before_it_proves_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.answers.find", lambda _: None)
    result = CliRunner().invoke(app, ["mutants", "ffn"])
    assert result.exit_code == 1
    assert result.output.strip() == "`check` does not know ffn as it is declared now: run `make release` first."
