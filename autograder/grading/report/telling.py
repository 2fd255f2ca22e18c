"""What the report says, in the order in which it is read: which exercises went wrong, who lost what, who is an exception."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from autograder.grading.report.counting import Spread
from autograder.grading.report.gathering import Gathered, Guesses
from autograder.grading.report.grouping import Group, groups
from autograder.grading.report.lines import FOR_A_PERSON, GRADED, LOOK_AGAIN, NOT_ATTEMPTED, NOT_GRADED, Line, sentences
from autograder.grading.report.quoting import names, quoted
from autograder.plugins.saving import of_tests

ALARMING = ("crashed", "timed out", "tampered", "grader fault")
UNREMARKABLE = ("passed", "partly", "wrong", "raised", GRADED, LOOK_AGAIN, *ALARMING)
MOST_QUOTED = 12
"""Groups of an exercise of which the report shows an example."""

MOST_TOLD = 5
"""Known mistakes of an exercise that the report shows unasked; the rarer ones are folded."""

MOST_GUESSES = 12
OTHER = "something else"


@dataclass(frozen=True)
class Share:
    """Some of those who are graded.

    Attributes:
        what: what they have in common.
        lesson: what each of them reads, or the judge says.
        of: how many there are altogether.
    """

    what: str
    students: tuple[str, ...]
    of: int
    lesson: str = ""

    @property
    def share(self) -> float:
        return len(self.students) / (self.of or 1)


@dataclass(frozen=True)
class About:
    """One exercise, or question.

    Attributes:
        mistakes: who made which, the most frequent first.
        errors: whose test ended how, where no judge tells mistakes.
        outcomes: who neither solved nor got wrong what was asked: did not run, and so on.
        blank: who answered nothing.
        waiting: who has no score before a person decides.
        is_open: whether it is a question that nobody has marked yet.
        unrecognised: who is wrong in a way that no known mistake is.
        same: of these, the most who gave the same.
    """

    name: str
    spread: Spread
    mistakes: list[Share]
    errors: list[Share]
    outcomes: list[Share]
    blank: Share
    waiting: Share
    is_open: bool
    unrecognised: Share
    same: Share

    @property
    def most(self) -> Share:
        """The most frequent mistake: one that is known, an error, or an answer without a name; nobody's where nobody made any."""
        return max([*self.mistakes, *self.errors, *self.outcomes, self.same], key=lambda one: len(one.students))

    @property
    def recognised(self) -> int:
        """How many made a known mistake."""
        return len({student for one in self.mistakes for student in one.students})

    @property
    def earned(self) -> float:
        """The mean, as a part of what there was to earn."""
        return self.spread.mean / self.spread.of if self.spread.of else 1.0


@dataclass(frozen=True)
class Alike:
    """Wrong answers that no mistake is known for, and that gave the same.

    Attributes:
        example: one of them as code; "" where none is shown.
        missed: the properties that it lost marks for.
        note: what the judge says of it.
    """

    exercise: str
    students: tuple[str, ...]
    score: float | None
    points: float
    example: str
    missed: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Unusual:
    """What is not as usual, and of whom it is said in which words."""

    what: str
    said: list[tuple[str, tuple[str, ...]]]

    @property
    def count(self) -> int:
        return len({student for _, students in self.said for student in students})


def exercises(gathered: Gathered, anonymous: bool = False) -> list[About]:
    """Every exercise, those that went worst first.

    Args:
        anonymous: leave out what an error said to one student alone, which may be anything.
    """
    largest = {group.exercise: group for group in reversed(groups(gathered.lines))}
    told = [_about(gathered, name, points, largest.get(name), anonymous) for name, points in gathered.columns.items()]
    return sorted(told, key=lambda about: about.earned)


def _about(gathered: Gathered, name: str, points: float, same: Group | None, anonymous: bool) -> About:
    own = [line for line in gathered.lines if line.exercise == name and line.graded]
    every = len(own)

    def share(what: str, some: Iterable[Line], lesson: str = "") -> Share:
        return Share(what, tuple(line.student for line in some), every, lesson)

    def shares(keys: Callable[[Line], tuple[str, ...]], lesson: Callable[[str], str] = lambda _: "") -> list[Share]:
        found = dict.fromkeys(key for line in own for key in keys(line))
        made = [share(key, (line for line in own if key in keys(line)), lesson(key)) for key in found]
        return sorted(made, key=lambda one: -len(one.students))

    def message(error: str) -> str:
        """What most of those read whose test ended so."""
        said = Counter(line.message for line in own if line.error == error).most_common(1)
        return "".join(text for text, count in said if count > 1 or not anonymous)

    def outcome(line: Line) -> tuple[str, ...]:
        is_told = line.outcome in UNREMARKABLE or line.is_blank or line.waits or line.solved
        return () if is_told else (line.outcome,)

    blank = [line for line in own if line.is_blank]
    waiting = [line for line in own if line.waits]
    return About(
        name,
        Spread(points, tuple(line.score for line in own if line.score is not None)),
        shares(lambda line: line.mistakes, lambda mistake: gathered.lessons.get((name, mistake), "")),
        shares(lambda line: (line.error,) if line.error and not line.is_blank else (), message),
        shares(outcome),
        share(NOT_ATTEMPTED, blank),
        share(FOR_A_PERSON, waiting),
        bool(waiting) and len(waiting) + len(blank) == len(own),
        share("not recognised", (line for line in own if line.unrecognised)),
        share("the same answer, not recognised", same.lines if same else (), same.example.note if same else ""),
    )


def alike(gathered: Gathered, anonymous: bool) -> dict[str, list[Alike]]:
    """By exercise, the groups of wrong answers that nobody has a name for, the largest first.

    Args:
        anonymous: show no code in which a name of its author stands.
    """
    found: dict[str, list[Alike]] = {}
    for group in groups(gathered.lines):
        own = found.setdefault(group.exercise, [])
        line = group.example
        code = _example(gathered, group.lines, anonymous) if len(own) < MOST_QUOTED else ""
        own.append(Alike(group.exercise, tuple(group.students), line.score, line.points, code, line.missed, line.note))
    return found


def _example(gathered: Gathered, lines: Iterable[Line], anonymous: bool) -> str:
    for line in lines:
        code = quoted(line.code)
        if code and not (anonymous and names(code, (line.student, gathered.names.get(line.student, "")))):
            return code
    return ""


def guessed(guesses: Guesses, anonymous: bool) -> dict[str, int]:
    """The most frequent guesses, and the others together.

    Args:
        anonymous: put with the others what one student alone wrote, which may be anything.
    """
    often = {
        value: count for value, count in guesses.counted.items() if not anonymous or count > 1 or value == guesses.told
    }
    shown = dict(list(often.items())[:MOST_GUESSES])
    rest = sum(guesses.counted.values()) - sum(shown.values())
    return shown | ({OTHER: rest} if rest else {})


def passed_and_lost(gathered: Gathered) -> list[Share]:
    """Who had passed `check` and lost marks in the hidden test, by exercise and what they lost them for; the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in gathered.lines:
        if line.missed and not line.solved and line.exercise in gathered.checked.get(line.student, ()):
            found.setdefault((line.exercise, "; ".join(line.missed)), []).append(line.student)
    of = {
        name: sum(name in passed for passed in gathered.checked.values()) for name in dict.fromkeys(e for e, _ in found)
    }
    made = [Share(exercise, tuple(students), of[exercise], lost) for (exercise, lost), students in found.items()]
    return sorted(made, key=lambda one: -len(one.students))


def to_mend(gathered: Gathered) -> list[str]:
    """What is to be mended in tests of a course without a judge."""
    return of_tests(note for _, own in sorted(gathered.said.notes.items()) for note in own)


def unusual(gathered: Gathered) -> list[Unusual]:
    """Whoever is to be looked at, or spoken to; only what there is."""
    handed_in = set(gathered.handed_in)
    lines = [line for line in gathered.lines if line.student in handed_in]
    failed = gathered.said.failed
    rostered = any(gathered.names.values())
    said = [(who, note) for who, own in sorted(gathered.said.notes.items()) for note in sentences(own)]
    notes = [(who, note) for who, note in said if not of_tests([note])]
    found = [
        _unusual("Could not be graded", failed.items()),
        *(
            _unusual(outcome.capitalize(), ((line.student, line.exercise) for line in lines if line.outcome == outcome))
            for outcome in ALARMING
        ),
        _unusual(
            "Not graded yet",
            ((line.student, "") for line in lines if line.outcome == NOT_GRADED and line.student not in failed),
        ),
        _unusual(
            "Did not run",
            (
                (line.student, f"{line.exercise}, {line.outcome.partition(': ')[2]}")
                for line in lines
                if line.outcome.startswith("did not run")
            ),
        ),
        _unusual(
            "Wait for a person",
            ((line.student, line.why or f"{line.exercise}, {_waits(line)}") for line in lines if line.by_hand),
        ),
        _unusual("Repaired, renamed, moved away or stopped", notes),
        _unusual(
            "Late", ((who, str(gathered.late[who])) for who in gathered.handed_in if str(gathered.late.get(who, "")))
        ),
        _unusual(
            "Not on the roster (the gradebook has no name for them)",
            ((who, "") for who in gathered.handed_in if rostered and not gathered.names.get(who)),
        ),
        _unusual("Handed in nothing", ((who, "") for who in gathered.students if who not in handed_in)),
    ]
    return [one for one in found if one.said]


def _waits(line: Line) -> str:
    return line.outcome if line.outcome in (FOR_A_PERSON, LOOK_AGAIN) else f"{FOR_A_PERSON}: {line.outcome}"


def _unusual(what: str, said: Iterable[tuple[str, str]]) -> Unusual:
    together: dict[str, dict[str, None]] = {}
    for student, text in said:
        together.setdefault(text, {})[student] = None
    return Unusual(what, [(text, tuple(students)) for text, students in together.items()])
