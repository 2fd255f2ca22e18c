"""What an attack is, what became of it, and the ways in which one can have succeeded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nbformat import NotebookNode

POINTS = (2.0, 2.0, 3.0)
ROW = "attack"  # what a row of the table is recorded under

Door = Literal["stock", "unwalled", "heard", "mended"]
"""Where an attack is shown to work: by nbgrader's own rules; in a process without walls; or, for forged replies, which no
judge believes, that they are heard is shown by handing them in on top of right answers. What once worked against the engine itself is "mended":
there is nowhere left to show it."""

Verdicts = tuple[str, str, str]
PASSED: Verdicts = ("passed", "passed", "passed")
WRONG: Verdicts = ("wrong", "wrong", "wrong")
PARTLY: Verdicts = ("partly", "partly", "partly")


@dataclass(frozen=True)
class Outcome:
    """What became of one submission.

    Attributes:
        scores: what the gradebook has, exercise by exercise; None where it has nothing.
        verdicts: what the judge said of each; "not judged" where there is no verdict.
        waiting: exercises that wait for a person.
        said: all that the graded notebook shows, but for tracebacks, which quote the source.
        loot: whether the secret is in it.
        size: bytes of the graded notebook and of what lies beside it.
        altered: whether what the attack was after is no longer as it was.
        called: whether it was heard on a socket outside.
        killed: whether its canary, a process that is none of its own, is dead or stopped.
        survivors: processes of its own that were left when the class was done.
        others: whether the student who comes last in the class has all marks.
    """

    scores: tuple[float | None, ...]
    verdicts: tuple[str, ...]
    waiting: tuple[str, ...]
    said: str
    loot: bool
    size: int
    altered: bool
    called: bool
    killed: bool
    survivors: int
    others: bool


Succeeded = Callable[[Outcome], bool]


Make = Callable[[NotebookNode, Path, Path], object]


@dataclass(frozen=True)
class Attack:
    """A tiny submission, named after what it tries.

    Attributes:
        name: the student who hands it in.
        tries: in one sentence.
        works: where it succeeds.
        succeeded: whether it did.
        answers: what it answers; the right answers where it says nothing.
        first: a cell in front of all others.
        last: a cell after all others.
        make: what it does to the notebook, given also where it is handed in and where the secret is.
        ends: the verdicts that it gets behind the walls.
        target: the file that it is after; {root}, {home} and {file} stand for the course's folder, the grader's home and its
            own file outside.
        alone: where it works it ends the run, so it is handed in beside one honest student only.
        endless: a cell of it never comes to an end by itself, so it is handed in where no cell has long.
    """

    name: str
    tries: str
    works: Door
    succeeded: Succeeded
    answers: dict[str, str] = field(default_factory=dict)
    first: str = ""
    last: str = ""
    make: Make | None = None
    ends: Verdicts = PASSED
    target: str = "{file}"
    alone: bool = False
    endless: bool = False

    @property
    def earns(self) -> tuple[float, ...]:
        """What its honest work is worth."""
        share = {"passed": 1.0, "partly": 0.75}  # right, but for an argument written into
        return tuple(p * share.get(verdict, 0.0) for p, verdict in zip(POINTS, self.ends, strict=True))


def earned(outcome: Outcome) -> bool:
    """It has marks, though its answers are wrong or were never given."""
    return any(outcome.scores)


def more(outcome: Outcome) -> bool:
    """The first exercise, which is wrong, has marks."""
    return bool(outcome.scores[0])


def last_earned(outcome: Outcome) -> bool:
    """The last exercise, whose test by stock rules is this course's judge in the student's process, has marks."""
    return bool(outcome.scores[-1])


def last_whole(outcome: Outcome) -> bool:
    """The last exercise has all its marks."""
    return outcome.scores[-1] == POINTS[-1]


def ungraded(outcome: Outcome) -> bool:
    """There is no mark where there should be one."""
    return None in outcome.scores


def loot(outcome: Outcome) -> bool:
    """The notebook shows what no submission may ever come to know."""
    return outcome.loot


def ended_the_run(outcome: Outcome) -> bool:
    return not outcome.others


def lost_what_was_earned(outcome: Outcome) -> bool:
    """The first exercise was right, and what was done after it took the mark away."""
    return outcome.scores[0] != POINTS[0]


def altered(outcome: Outcome) -> bool:
    return outcome.altered


def called(outcome: Outcome) -> bool:
    return outcome.called


def killed(outcome: Outcome) -> bool:
    return outcome.killed


def survived(outcome: Outcome) -> bool:
    return outcome.survivors > 0


def says(text: str) -> Succeeded:
    """The notebook shows what could only be shown if it worked."""
    return lambda outcome: text in outcome.said


def larger_than(size: int) -> Succeeded:
    """The graded work fills the instructor's disk."""
    return lambda outcome: outcome.size > size


def failed_some(outcome: Outcome) -> bool:
    """Right answers were not taken for what they are: the forgery was heard by the judge."""
    return outcome.verdicts != PASSED
