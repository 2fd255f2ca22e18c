"""The proof of the hidden tests: every known mistake loses marks and is named, and no right answer does.

`python -m autograder.mutants` prints the table and exits non-zero on a survivor, a wrong name or a false rejection.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from types import FunctionType

from rich.console import Console
from rich.table import Table

from autograder.exercises import every_exercise, exercise_named
from autograder.exercises.model import Exercise, Implementation, equivalence
from autograder.judging import Verdict, judge_here
from course import answers, ranks
from course.checking import examine, known
from course.client import answer
from course.views import seen

SEEDS = (1, 20, 300)


@dataclass(frozen=True)
class Row:
    """One implementation and what became of it; `trouble` is empty where all is as it should be."""

    exercise: str
    name: str
    role: str
    result: str
    trouble: str = ""


def rows(exercise: Exercise) -> list[Row]:
    """What the hidden test and the public check make of every implementation of one exercise."""
    with ranks.simulated():  # threads take a fraction of the time, and tests show that processes answer alike
        right = [_right(exercise, variant) for variant in exercise.variants]
        return right + [_mistake(exercise, mistake) for mistake in exercise.mistakes]


def _rows_of(notebook: str, name: str) -> list[Row]:
    return rows(exercise_named(notebook, name))


def as_student(exercise: Exercise, implementation: Implementation) -> Implementation:
    """A copy with the exercise's name and globals of its own, as if it stood in a notebook."""
    assert isinstance(implementation, FunctionType)
    copy = FunctionType(
        implementation.__code__, dict(implementation.__globals__), exercise.name, implementation.__defaults__
    )
    copy.__kwdefaults__ = implementation.__kwdefaults__
    return copy


def _judged(exercise: Exercise, implementation: Implementation, seed: int) -> Verdict:
    return judge_here(as_student(exercise, implementation), exercise, answer, seed)


def _right(exercise: Exercise, variant: Implementation) -> Row:
    for seed in SEEDS:
        verdict = _judged(exercise, variant, seed)
        if verdict.outcome != "passed":
            return Row(
                exercise.name, variant.__name__, "variant", verdict.outcome, f"rejected (seed {seed}):\n{verdict}"
            )
    public = examine(as_student(exercise, variant))
    trouble = "" if public else f"rejected by check:\n{public}"
    return Row(exercise.name, variant.__name__, "variant", "full marks", trouble)


def _mistake(exercise: Exercise, mistake: Implementation) -> Row:
    name, reason = mistake.__name__, equivalence(mistake)
    verdicts = [_judged(exercise, mistake, seed) for seed in SEEDS]
    survived = [verdict for verdict in verdicts if verdict.score == verdict.points]
    if reason:
        right = len(survived) == len(SEEDS) and bool(examine(as_student(exercise, mistake)))
        trouble = "" if right else "declared equivalent, yet it can be told from a right answer"
        return Row(exercise.name, name, "equivalent", reason, trouble)
    if survived:
        return Row(exercise.name, name, "mistake", "survived", "survives the hidden test")
    killers = sorted({i for v in verdicts for i, f in enumerate(v.findings, 1) if f.earned < f.points})
    score = max(verdict.score for verdict in verdicts)
    result = f"{score:g} of {verdicts[0].points:g}, killed by probe {', '.join(map(str, killers))}"
    trouble = ""
    for verdict in verdicts:
        if verdict.mistakes != (name,):
            trouble = f"named {verdict.mistakes} by the hidden test"
    public = _public_names(exercise, mistake)
    if public is None:
        trouble += " passes the public check"
    elif public != [name]:
        trouble += f" named {public} by check"
    return Row(exercise.name, name, "mistake", result, trouble.strip())


def _public_names(exercise: Exercise, mistake: Implementation) -> list[str] | None:
    """The names that `check` gives this mistake, or None where it passes."""
    student = as_student(exercise, mistake)
    if examine(student):
        return None
    stored = answers.find(exercise.name)
    assert stored is not None
    observed = [seen(stored.view, case.run(student, stored.vectorised)) for case in stored.cases]
    return [named.name for named in known(stored, observed)[0]]


def main() -> int:
    """Print the table and its totals; the exit code is 1 where anything is amiss."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        places = ((exercise.notebook, exercise.name) for exercise in every_exercise())
        every = [row for found in pool.map(_rows_of, *zip(*places, strict=True)) for row in found]
    table = Table(show_lines=False)
    for heading in ("exercise", "implementation", "role", "result", "trouble"):
        table.add_column(heading, overflow="fold")
    for row in every:
        table.add_row(row.exercise, row.name, row.role, row.result, row.trouble)
    console = Console(width=150)
    console.print(table)
    troubled = sum(bool(row.trouble) for row in every)
    console.print(f"{totals()}; {troubled} in trouble")
    return 1 if troubled else 0


def totals() -> str:
    """How much there is to prove; the README says the same."""
    exercises = list(every_exercise())
    mistakes = [mistake for exercise in exercises for mistake in exercise.mistakes]
    equivalents = sum(equivalence(mistake) is not None for mistake in mistakes)
    variants = sum(len(exercise.variants) for exercise in exercises)
    return (
        f"{len(exercises)} exercises, {len(mistakes) - equivalents} mistakes that lose marks and are named, "
        f"{equivalents} equivalent, {variants} right answers in other styles that keep full marks"
    )


if __name__ == "__main__":
    sys.exit(main())
