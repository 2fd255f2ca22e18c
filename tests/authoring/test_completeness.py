"""What an exercise lacks is said in sentences, and no exercise of this course lacks anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.authoring.completeness import SCOLDING, faults, lacking, unshown
from autograder.authoring.sheet import SHEET, off_the_sheet, with_results
from autograder.exercises import every_exercise, exercise_called
from autograder.exercises.model import Case, Exercise, case, equivalent, probe

FINE = "The axis d has to go, so the product is `X @ W`, of shape `[n, k]`, and n rows stay as they are. " * 3


@pytest.fixture
def complete() -> Exercise:
    exercise = exercise_called("mix_rows")
    assert exercise
    return exercise


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_no_exercise_lacks_anything(exercise: Exercise) -> None:
    assert lacking(exercise) == []


@pytest.mark.parametrize(("count", "has"), [(0, "0 mistakes"), (1, "1 mistake"), (2, "2 mistakes")])
def test_too_few_mistakes_are_counted_with_how_many_are_needed(complete: Exercise, count: int, has: str) -> None:
    @equivalent("no input tells it")
    def same() -> None:
        """it is."""

    (line,) = lacking(replace(complete, mistakes=(*complete.mistakes[:count], same)))
    assert line.startswith(f"mix_rows has {has}; it needs 3, one for each of three students of the sample class.")


def test_what_no_public_case_shows_is_named() -> None:
    @probe(1.0)
    def surprising(rng: np.random.Generator) -> list[Case]:
        """something new"""
        return [case({"W": np.zeros((2, 0), np.float32)}), case({"W": np.zeros(3)})]

    def rows(params: dict[str, np.ndarray]) -> None: ...

    public = (case({"W": np.zeros((2, 2))}),)
    exercise = Exercise(rows, "00_shapes", public, surprising.probes, (), ())  # type: ignore[attr-defined]
    assert unshown(exercise) == [
        "rows: hidden cases have W in float32, and no public case has: add a public case",
        "rows: hidden cases have W with 1 axes, and no public case has: add a public case",
        "rows: hidden cases have W with an axis of length 0, and no public case has: add a public case",
    ]


def test_a_docstring_that_is_too_long_or_blames_is_named_with_its_mistake(complete: Exercise) -> None:
    def rambling() -> None: ...

    def blaming() -> None:
        """nobody asked for that."""

    rambling.__doc__ = "and " * 51
    assert lacking(replace(complete, mistakes=(*complete.mistakes, rambling, blaming))) == [
        "mix_rows: the docstring of rambling has 51 words; 50 can be taken in.",
        "mix_rows: the docstring of blaming blames its reader: 'nobody asked'.",
    ]


@pytest.mark.parametrize(
    ("text", "scolds"),
    [
        ("Nobody asked for that: the weights need not add up to 1.", True),
        ("PyTorch records a graph that nobody asked for.", True),
        ("And no one has asked whether p divides h.", True),
        ("Nobody looks at padding, not even padding.", False),
        ("An array is asked for.", False),
    ],
)
def test_a_scolding_is_known_by_its_words(text: str, scolds: bool) -> None:
    assert bool(SCOLDING.search(text)) is scolds


# ------------------------------------------------------------------------------------------------------ the sheet of shapes


def test_what_an_exercise_takes_and_the_sheet_does_not_have_is_said_with_what_may_be_meant(complete: Exercise) -> None:
    sheet = SHEET.read_text(encoding="utf-8")
    (line,) = off_the_sheet(complete, sheet.replace("`S, A [n, m]`", "`S [n, m]`"))
    assert line == (
        "docs/shapes.md, row 00: write `A [n, m]`, which mix_rows takes, or give it the name of such an array there: S."
    )


@pytest.mark.parametrize("stands", ["", "`mix_rows [n]`, "])
def test_what_an_exercise_returns_is_written_onto_the_sheet(complete: Exercise, stands: str) -> None:
    sheet = SHEET.read_text(encoding="utf-8")
    other = sheet.replace("`mix_rows [n, v]`, ", stands)
    assert (
        list(off_the_sheet(complete, other))
        == ["docs/shapes.md, row 00: write `mix_rows [n, v]`, which it returns."][: not stands]
    )
    assert list(off_the_sheet(complete, with_results(other))) == []
    assert with_results(sheet) == sheet


# --------------------------------------------------------------------------------------------------------------- the reason


def test_no_two_exercises_say_the_same() -> None:
    whys = [exercise.why for exercise in every_exercise()]
    assert len(set(whys)) == len(whys)


def test_a_good_reason_has_no_fault() -> None:
    assert faults(FINE) == []


def test_what_is_amiss_with_a_reason_is_said_with_its_exercise(complete: Exercise) -> None:
    assert lacking(replace(complete, why="")) == [
        "mix_rows, why in the docstring of its file: 0 words; 40 to 120 are asked for.",
        "mix_rows, why in the docstring of its file: 0 sentences; two to five are asked for.",
    ]


@pytest.mark.parametrize(
    ("why", "fault"),
    [
        ("", "0 words; 40 to 120 are asked for"),
        (FINE * 3, "9 sentences; two to five are asked for"),
        (FINE.replace("so the", "so obviously the"), "says 'obviously'"),
        (FINE.replace("`X @ W`", "X @ W"), "code without backticks: @"),
        (FINE.replace("`[n, k]`", "np.ones"), "code without backticks: p.o"),
    ],
)
def test_what_is_amiss_is_told(why: str, fault: str) -> None:
    assert fault in faults(why)
