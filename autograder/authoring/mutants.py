"""The proof of the hidden tests: every known mistake loses marks and is named, no right answer does, and doing nothing earns nothing.

`python -m autograder mutants` prints the table and exits non-zero on a survivor, a wrong name, a false rejection, or points for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from types import FunctionType
from typing import Any

from rich.console import Console
from rich.table import Table

from autograder.authoring.notebook_code import as_written
from autograder.authoring.proofs import Checkout, keep, recall
from autograder.exercises import every_exercise, exercise_named, folder_of
from autograder.exercises.model import Exercise, Implementation, about_the_idea, equivalence, known_by_its_answers
from autograder.judging import Paper, Verdict, judge_here
from autograder.judging.idle import IDLE
from autograder.judging.interview import FORM_KEEPS
from course import answers
from course.answers import StoredExercise, StoredMistake
from course.checking import examine
from course.client import answer
from course.trial import ranks
from course.trial.comparing import difference, lines_grow, same_answers
from course.trial.form import only_form
from course.trial.link import unhurried
from course.trial.text import SEVEN_DIGITS_LEFT

SEEDS = (1, 20, 300)
RESTS_ON = (
    "autograder/authoring/mutants.py",
    "autograder/authoring/notebook_code.py",
    "autograder/judging",
    "course/checking.py",
    "course/client.py",
)
"""What the proof of every exercise rests on, besides the exercise and its answers."""
NOTHING, LOOPS = -1, 0  # what tells two mistakes apart where no public case does
CONSTANTS: tuple[Any, ...] = True, False, 0, 1.0, [], {}
MANY = 6  # mistakes, which are counted rather than named
SURVIVES = "no probe takes points from it: add a hidden case, or declare it equivalent"
PASSES = "no public case tells it from a right answer: add one"


@dataclass(frozen=True)
class Row:
    """One implementation and what became of it; `trouble` is empty where all is as it should be.

    Attributes:
        killers: for a mistake, the places of the probes that take points from it, from 1, in whatever seed.
    """

    exercise: str
    name: str
    role: str
    result: str
    trouble: str = ""
    killers: tuple[int, ...] = ()


def rows(exercise: Exercise, seeds: Sequence[int] = SEEDS, digits: bool = False) -> list[Row]:
    """What the hidden test and the public check make of every implementation of one exercise.

    Args:
        digits: of the mistakes, only those of which last digits decide. The others are told from right answers by the numbers that
            they give, and these are compared with what is stored wherever answers are made anew.
    """
    papers = {seed: Paper(exercise, seed) for seed in seeds}
    # Threads take a fraction of the time of processes, and tests show that they answer alike.
    with ranks.simulated():
        right = [_right(exercise, papers, variant) for variant in exercise.variants]
        mistakes = [one for one in exercise.mistakes if not digits or equivalence(one) or not known_by_its_answers(one)]
        idle = [] if digits else [_idle(exercise, papers)]
        return right + [_mistake(exercise, papers, mistake) for mistake in mistakes] + idle


def _rows_of(notebook: str, name: str, seeds: tuple[int, ...], digits: bool) -> list[Row]:
    return rows(exercise_named(notebook, name), seeds, digits)


def proved(exercises: Sequence[Exercise], seeds: Sequence[int], digits: bool = False) -> list[Row]:
    """The rows of these exercises; of those that were proved here before, on what is still the same, as they were then."""
    found: dict[str, list[Row]] = {}
    new: dict[str, tuple[Exercise, str, str]] = {}
    checkout = Checkout()
    for exercise in exercises:
        place = f"{exercise.notebook}/{exercise.name}"
        module = f"{folder_of(exercise.notebook).replace('.', '/')}/{exercise.name}.py"
        rests_on = checkout.digest([*RESTS_ON, module, f"course/answers/{place}.json", f"source/{exercise.notebook}"])
        what = f"mutants/{place}-{'-'.join(map(str, seeds))}{'-digits' * digits}"
        if kept := recall(what, rests_on):
            found[exercise.name] = [Row(**{**row, "killers": tuple(row["killers"])}) for row in kept]
        else:
            new[exercise.name] = exercise, what, rests_on
    places = [(exercise.notebook, name, tuple(seeds), digits) for name, (exercise, _, _) in new.items()]
    for (_, name, *_), some in zip(places, _in_processes(places), strict=True):
        found[name] = some
        if not any(row.trouble for row in some):
            keep(*new[name][1:], [asdict(row) for row in some])
    return [row for exercise in exercises for row in found[exercise.name]]


def _in_processes(places: Sequence[tuple[str, str, tuple[int, ...], bool]]) -> Iterable[list[Row]]:
    """The rows of each of these exercises, from as many processes as there are cores; what has most mistakes is begun first."""
    if len(places) < 2:
        yield from (_rows_of(*place) for place in places)
        return
    # torch first: on a busy machine its import alone may take longer than one call of an answer may.
    with ProcessPoolExecutor(
        min(len(places), os.cpu_count() or 1), get_context("spawn"), import_module, ("torch",)
    ) as pool:
        longest_first = sorted(places, key=lambda place: -len(exercise_named(*place[:2]).mistakes))
        begun = {place: pool.submit(_rows_of, *place) for place in longest_first}
        yield from (begun[place].result() for place in places)


def as_student(exercise: Exercise, implementation: Implementation) -> Implementation:
    """A copy with the exercise's name and globals of its own, as if it stood in a notebook."""
    assert isinstance(implementation, FunctionType)
    copy = FunctionType(
        implementation.__code__, dict(implementation.__globals__), exercise.name, implementation.__defaults__
    )
    copy.__kwdefaults__ = implementation.__kwdefaults__
    return copy


def _judged(papers: Iterable[Paper], implementation: Implementation) -> Iterator[Verdict]:
    """The verdicts on an implementation: on the first paper as the code that a notebook has of it, on others as it is here."""
    for place, paper in enumerate(papers):
        function = as_student(paper.exercise, implementation) if place else as_written(paper.exercise, implementation)
        yield judge_here(function, paper, answer, unhurried)


def _right(exercise: Exercise, papers: dict[int, Paper], variant: Implementation) -> Row:
    for seed, verdict in zip(papers, _judged(papers.values(), variant), strict=True):
        if verdict.outcome != "passed":
            return Row(exercise.name, variant.__name__, "right", verdict.outcome, f"rejected (seed {seed}):\n{verdict}")
    public = examine(as_student(exercise, variant))
    trouble = "" if public else f"rejected by check:\n{public}"
    return Row(exercise.name, variant.__name__, "right", "full marks", trouble)


def _mistake(exercise: Exercise, papers: dict[int, Paper], mistake: Implementation) -> Row:
    name, reason = mistake.__name__, equivalence(mistake)
    verdicts = [*_judged(papers.values(), mistake)]
    survived = [verdict for verdict in verdicts if verdict.score == verdict.points]
    if reason:
        right = len(survived) == len(papers) and bool(examine(as_student(exercise, mistake)))
        trouble = "" if right else "declared equivalent, yet it can be told from a right answer"
        return Row(exercise.name, name, "equivalent", reason, trouble)
    if survived:
        return Row(exercise.name, name, "mistake", "survived", SURVIVES)
    killers = tuple(sorted({i for v in verdicts for i, f in enumerate(v.findings, 1) if f.earned < f.points}))
    scores, points = sorted({verdict.score for verdict in verdicts}), verdicts[0].points
    result = f"{scores[-1]:g} of {points:g}, killed by probe {', '.join(map(str, killers))}"
    wanted = [name] if known_by_its_answers(mistake) else []
    named = {"the hidden test": next((list(v.mistakes) for v in verdicts if list(v.mistakes) != wanted), wanted)}
    public = examine(as_student(exercise, mistake))
    troubles = [PASSES] if public else []
    named |= {} if public else {"check": list(public.mistakes)}
    troubles += [
        f"{who} names {' and '.join(names) or 'no mistake'}" for who, names in named.items() if names != wanted
    ]
    if not wanted and SEVEN_DIGITS_LEFT not in public.text:
        troubles.append(f"check does not say {SEVEN_DIGITS_LEFT!r}")
    if len(scores) > 1:
        troubles.append(f"its points depend on the draw: {', '.join(f'{score:g}' for score in scores)}")
    if about_the_idea(mistake) and scores[-1] > points / 2:
        troubles.append("it misses the idea, and keeps more than half")
    if not about_the_idea(mistake) and scores[-1] < FORM_KEEPS * points and _of_form(papers, mistake):
        troubles.append("it is a matter of form, and loses more than a quarter")
    return Row(exercise.name, name, "mistake", result, "; ".join(troubles), killers)


def _idle_answers(exercise: Exercise) -> Iterator[tuple[str, Implementation]]:
    """Answers that do nothing: those of `IDLE`, each argument handed back, and a few constants."""
    yield from ((idle.__name__, idle) for idle in IDLE)
    for place, parameter in enumerate(exercise.signature.parameters):
        yield f"returning {parameter}", partial(_handed_back, place)
    for constant in CONSTANTS:
        yield f"returning {constant!r}", partial(_constant, constant)


def _handed_back(place: int, /, *arguments: Any, **_: Any) -> Any:
    return arguments[place]


def _constant(value: Any, /, *_: Any, **__: Any) -> Any:
    return value


def _idle(exercise: Exercise, papers: dict[int, Paper]) -> Row:
    paying = {
        f"{name} earns {verdict.score:g} (seed {seed})"
        for seed, paper in papers.items()
        for name, idle in _idle_answers(exercise)
        if (verdict := judge_here(idle, paper, answer, unhurried)).score
    }
    return Row(exercise.name, "whatever does nothing", "idle", "earns nothing", "; ".join(sorted(paying)))


def _of_form(papers: dict[int, Paper], mistake: Implementation) -> bool:
    """Whether all that a mistake answers is right but for its form."""
    for paper, sheet in ((each, sheet) for each in papers.values() for sheet in each.sheets):
        lines = sheet.probe.measures == "lines"
        answers = [paper.given(mistake, case, lines) for case in sheet.cases]
        if lines and lines_grow(answers):
            return False
        wanted = [paper.expected(case) for case in sheet.cases]
        if any(difference(*pair) and not only_form(*pair) for pair in zip(wanted, answers, strict=True)):
            return False
    return True


class Unreleased(Exception):
    """`check` has not been told yet what an exercise declares; the message says what to do."""


def stored_answers(exercise: Exercise) -> StoredExercise:
    """What `check` knows of an exercise.

    Raises:
        Unreleased: it has other cases or mistakes than are declared now, or none.
    """
    stored = answers.find(exercise.name)
    declared = [mistake.__name__ for mistake in exercise.mistakes if known_by_its_answers(mistake)]
    if (
        stored is None
        or [mistake.name for mistake in stored.mistakes] != declared
        or len(stored.cases) != len(exercise.public)
    ):
        raise Unreleased(f"`check` does not know {exercise.name} as it is declared now: run `make release` first.")
    return stored


class Unknown(Exception):
    """A name that is that of nothing here; the message says what may be meant."""


def chosen(names: Collection[str]) -> list[Exercise]:
    """The exercises of these names, and all of a notebook where a name is one's; every exercise where there are no names.

    Raises:
        Unknown: there is no such exercise and no such notebook; the message suggests what may be meant.
    """
    every = list(every_exercise())
    known_names = {name for exercise in every for name in (exercise.notebook, exercise.name)}
    for name in names:
        if name not in known_names:
            near = get_close_matches(name, sorted(known_names), n=3, cutoff=0.4)
            meant = f"; did you mean {' or '.join(near)}?" if near else f"; there are {', '.join(sorted(known_names))}"
            raise Unknown(f"there is no exercise or notebook {name!r}{meant}")
    return [exercise for exercise in every if not names or {exercise.notebook, exercise.name} & set(names)]


def main(
    exercises: Sequence[Exercise], seeds: Sequence[int] = SEEDS, explained: bool = False, digits: bool = False
) -> int:
    """Print the table and its totals; the exit code is 1 where anything is amiss.

    Args:
        exercises: which are proved.
        seeds: what the hidden cases are drawn from, once from each.
        explained: also say which probe kills which mistake, and which public case tells it from which other.
        digits: only what last digits decide, as for `rows`.

    Raises:
        Unreleased: `make release` has to come first.
    """
    for exercise in exercises:
        stored_answers(exercise)
    every = proved(exercises, seeds, digits)
    table = Table(show_lines=False)
    for heading in ("exercise", "implementation", "role", "result", "trouble"):
        table.add_column(heading, overflow="fold")
    for row in every:
        table.add_row(row.exercise, row.name, row.role, row.result, row.trouble)
    console = Console(width=150)
    console.print(table)
    for exercise in exercises if explained else ():
        mistakes = [row for row in every if row.exercise == exercise.name and row.role == "mistake"]
        console.print("\n".join(explanation(exercise, mistakes)), markup=False, highlight=False, soft_wrap=True)
    troubled = sum(bool(row.trouble) for row in every)
    fine = f"{len(every)} answers of {len(exercises)} exercises, as they should be" if digits else totals(exercises)
    console.print(f"{troubled} of {len(every)} in trouble, as the last column says" if troubled else fine)
    return 1 if troubled else 0


def explanation(exercise: Exercise, mistakes: Sequence[Row]) -> Iterator[str]:
    """Which probes kill each mistake of an exercise, and which public case is the first that tells it from each other one."""
    stored = stored_answers(exercise)
    yield f"\n{exercise.name}"
    for place, probe in enumerate(exercise.probes, 1):
        yield f"  probe {place}, {probe.points:g} points: {probe.shows}"
    for row in mistakes:
        yield f"  {row.name}"
        yield f"    loses points to {'probe' if row.killers else 'no probe'} {', '.join(map(str, row.killers))}".rstrip()
        one = next((mistake for mistake in stored.mistakes if mistake.name == row.name), None)
        if one is None:
            yield f"    known by how many digits are right: {SEVEN_DIGITS_LEFT}"
            continue
        if PASSES in row.trouble:
            yield f"    {PASSES}"
        apart: dict[int, list[str]] = {}
        for other in stored.mistakes:
            if other is not one:
                apart.setdefault(_apart(stored, one, other), []).append(other.name)
        for case, others in sorted(apart.items()):
            if case == NOTHING:
                yield f"    nothing tells it from {', '.join(others)}: they are one mistake, or a public case is missing"
            else:
                told = "its loops tell it" if case == LOOPS else f"case {case} tells it"
                yield f"    {told} from {', '.join(others) if len(others) < MANY else f'{len(others)} others'}"


def _apart(stored: StoredExercise, one: StoredMistake, other: StoredMistake) -> int:
    """The first public case, from 1, to which two mistakes give different answers; else LOOPS, or NOTHING."""
    each = zip(stored.expected, one.answers, other.answers, strict=True)
    case = next((i for i, (want, a, b) in enumerate(each, 1) if not same_answers([want], [a], [b])), None)
    return case or (LOOPS if one.loops != other.loops else NOTHING)


def totals(exercises: Collection[Exercise]) -> str:
    """How much there is to prove; the README says the same of all exercises."""
    mistakes = [mistake for exercise in exercises for mistake in exercise.mistakes]
    equivalents = sum(equivalence(mistake) is not None for mistake in mistakes)
    variants = sum(len(exercise.variants) for exercise in exercises)
    return (
        f"{len(exercises)} exercise{'s' * (len(exercises) != 1)}, {len(mistakes) - equivalents} mistakes that lose marks and are named, "
        f"{equivalents} equivalent, {variants} right answers in other styles that keep full marks"
    )
