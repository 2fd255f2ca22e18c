"""A large class as the report finds it once it is graded, made up in no time."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from autograder.exercises import exercises_in
from autograder.exercises.model import lesson
from autograder.grading.lateness import Late
from autograder.grading.noting import Said
from autograder.grading.report.gathering import Gathered, Guesses
from autograder.grading.report.lines import FOR_A_PERSON, NOTHING, Line

NOTEBOOK = "03_causal_mask"
PAPER = 123456789


def a_class(students: int, seed: int = 1) -> Gathered:
    """A class in which everything happens: known and unknown mistakes, crashes, lateness, repairs, and nothing handed in."""
    drawn = random.Random(seed)
    exercises = exercises_in(NOTEBOOK)
    ids = [f"s{number:04}" for number in range(students)]
    names = {who: "" if number % 90 == 1 else f"First{number} Last-{number}" for number, who in enumerate(ids)}
    lines = [
        Line(who, each.name, None, NOTHING, (), each.points)
        if number % 50 == 7
        else _line(drawn, who, each.name, each.points, [m.__name__ for m in each.mistakes])
        for number, who in enumerate(ids)
        for each in exercises
    ]
    return Gathered(
        NOTEBOOK,
        datetime(2026, 3, 1, 18, 30, tzinfo=UTC),
        lines,
        {each.name: each.points for each in exercises},
        "1.2.3",
        "abcdef01",
        {who: Late(None, 3600.0 * (number // 20 + 1), 1.0) for number, who in enumerate(ids) if number % 20 == 3},
        names,
        Said(
            {ids[0]: "handed in essay.docx; what is wanted is 03_causal_mask.ipynb"},
            {who: [f"`{exercises[0].name}` was there twice"] for who in ids[::25]},
            dict.fromkeys(ids, PAPER),
        ),
        {(each.name, m.__name__): lesson(m) for each in exercises for m in each.mistakes},
        {who: frozenset(each.name for each in exercises if drawn.random() < 0.5) for who in ids},
        (Guesses("guess_grid", '"a", "b" or "c"', '"c"', {'"c"': students // 2, '"a"': students // 5}),),
        {who: f"../feedback/{who}/{NOTEBOOK}/{NOTEBOOK}.html" for who in ids},
    )


def _line(drawn: random.Random, who: str, name: str, points: float, mistakes: list[str]) -> Line:
    chance = drawn.random()
    if chance < 0.5:
        return Line(who, name, points, "passed", (), points)
    if chance < 0.75:
        mistake = mistakes[min(int(drawn.expovariate(0.4)), len(mistakes) - 1)]
        return Line(who, name, points / 2, "partly", (mistake,), points, missed=("all sizes",))
    if chance < 0.9:
        factor = drawn.choice([2, 2, 2, 3, 3, drawn.randrange(10, 1000)])
        code = f"# by {who}\ndef {name}(A, keep):\n    '''First1 wrote this.'''\n    B = A * keep\n    return {factor} * B / B.sum()\n"
        note = f"Each number is the right one times {factor}, as `B` is."
        missed = ("all sizes", "keeps float32")
        return Line(who, name, 0.0, "wrong", (), points, missed=missed, note=note, alike=f"{factor}", code=code)
    if chance < 0.91:
        return Line(who, name, None, FOR_A_PERSON, (), points, by_hand=True)
    said = drawn.choice(["not attempted", "crashed", "timed out", "did not run: SyntaxError, line 1"])
    return Line(who, name, 0.0, said, (), points)
