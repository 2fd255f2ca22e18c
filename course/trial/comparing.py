"""Whether an observation is the one that was expected, and if not, in what it differs first.

Shapes are compared before dtypes, dtypes before values, and nothing is ever broadcast.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from course.trial.observing import Observation
from course.trial.values import ArrayLike, Opaque, Tensor, Value, bare, map_leaves

# How far a result may lie from the expected one, relative to its own size and to the largest entry beside it.
# float64 leaves room for sums in another order and for stored answers of 12 digits; float32 for a few hundred roundings.
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2}

# Lines that one call may run more than another without having a loop in it: a branch, a wrapper inside numpy.
LINES_OF_SLACK = 6

# An entry that differs by this part of the largest difference shows what is wrong as well as any; the first of them is told.
CLEAR = 0.1

M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)

Match = Literal["no", "yes", "tellingly"]
Certainty = Literal["exactly", "but for form", "perhaps", "nearly"]
Kind = Literal["raised", "not raised", "type", "length", "keys", "shape", "dtype", "value", "changed", "count"]

OF_THE_RESULT = ("type", "length", "keys", "shape", "dtype", "value")
"""The kinds whose path leads into the result."""


@dataclass(frozen=True)
class Difference:
    """The first thing in which an answer differs.

    Attributes:
        kind: what differs.
        path: where in the result: () is the result itself, (1,) its second part; for "changed", the argument's position.
        expected, given: the two, in the form that `kind` compares (shapes, dtype names, whole values, counts).
        least: a tolerance below which none went.
    """

    kind: Kind
    path: tuple[int | str, ...] = ()
    expected: Value = None
    given: Value = None
    least: float = 0.0

    @property
    def index(self) -> tuple[int, ...]:
        """For "value" in an array, the first entry that differs clearly. It is asked for of few of the differences that are found."""
        expected, given = bare(self.expected), bare(self.given)
        if self.kind != "value" or not isinstance(expected, np.ndarray):
            return ()
        apart = np.where(agrees(expected, given, self.least), 0.0, _distance(expected, given))
        first = np.unravel_index(int(np.argmax(apart >= CLEAR * apart.max())), expected.shape)
        return tuple(int(i) for i in first)


def difference(expected: Observation, given: Observation) -> Difference | None:
    """The first difference between two observations, or None.

    Counts are budgets: spending less than expected is no difference. "lines" is never compared here, since it
    depends on style; `lines_grow` asks whether there is a loop.
    """
    if expected.raised is not None:
        if given.raised is None:
            return Difference("not raised", (), expected.raised.kind, given.result)
        same = expected.raised.kind == given.raised.kind
        return None if same else Difference("raised", (), expected.raised.kind, given.raised)
    if given.raised is not None:
        return Difference("raised", (), None, given.raised)
    for position, contents in given.changed.items():  # first: a changed argument may be why the result is wrong
        if position not in expected.changed:
            return Difference("changed", (position,), None, contents)
    found = compare(expected.result, given.result)
    if found:
        return found
    for name, budget in expected.counts.items():
        if name != "lines" and given.counts.get(name, 0) > budget:
            return Difference("count", (name,), budget, given.counts[name])
    return None


def match(
    expected: Sequence[Observation],
    given: Sequence[Observation],
    mistaken: Sequence[Observation],
    loops: tuple[bool, bool] = (False, False),
    least: float = 0.0,
) -> Match:
    """Whether answers are those of a mistake, and whether that points to it.

    Args:
        expected, given, mistaken: what a right answer, a student and the mistake give to the same cases.
        loops: whether the student's lines, and the mistake's, grow with the size of the case.
        least: a tolerance below which that of no dtype goes.
    """
    if loops[0] != loops[1] or not same_answers(expected, given, mistaken, least):
        return "no"
    return "tellingly" if loops[0] or any(map(telling, expected, given, mistaken)) else "yes"


def same_answers(
    expected: Sequence[Observation], some: Sequence[Observation], others: Sequence[Observation], least: float = 0.0
) -> bool:
    """Whether two series of answers to the same cases would be told apart by nobody.

    The same results, kinds of exception and changed arguments, the same overspending, and wrong in the same way: where a
    whole number is expected, a float is not the same answer as an integer that is as large. Numbers of a finer dtype than
    the wanted one were often computed in the wanted one, and have no more digits than that.
    """
    each = zip(expected, some, others, strict=True)
    return all(
        _alike(one, other, max(least, coarsest(want.result)))
        and _over(want, one) == _over(want, other)
        and _kinds(want.result, one.result) == _kinds(want.result, other.result)
        for want, one, other in each
    )


class Trial(Protocol[M_contra]):
    """Cases on which an answer was tried, and which pass or fail as a whole, beside what known mistakes answer to them."""

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""

    def match(self, mistake: M_contra) -> Match:
        """Whether a mistake gives these very answers, and whether that points to it."""

    @property
    def size(self) -> int:
        """How many cases these are."""

    def agreement(self, mistake: M_contra) -> int:
        """In how many of the cases a mistake answers in the same way."""

    def in_form(self) -> Trial[M_contra]:
        """These cases, if the student's and the mistakes' answers had the form that was asked for."""


def recognise(mistakes: Sequence[M], trials: Sequence[Trial[M]]) -> tuple[list[M], Certainty]:
    """The mistakes that an answer points to, and how surely.

    Args:
        mistakes: those that can be told from a right answer.
        trials: all that the answer was tried on.

    Returns:
        The mistakes that give the very answers to everything, or that would if it were not for the form of some; "perhaps", where
        no trial tells two of them apart, and where a single trial went wrong, in which many a mistake may look alike. Where there is
        none, those that "nearly" do: the same wherever something went wrong, and in at least half of the other cases; the ones that
        agree with most of these, and none if they are more than two.
    """
    found, certainty = _recognised(mistakes, trials)
    if certainty == "exactly":
        return found, certainty
    recast, again = _recognised(mistakes, [trial.in_form() for trial in trials])
    if again == "exactly":
        return recast, "but for form"
    whole_again = recast and (certainty, again) == ("nearly", "perhaps")
    return (found, certainty) if found and not whole_again else (recast, again)


def _recognised(mistakes: Sequence[M], trials: Sequence[Trial[M]]) -> tuple[list[M], Certainty]:
    """The mistakes that answers point to, as they are, and how surely."""

    def found(mistake: M, some: Iterable[Trial[M]]) -> set[Match]:
        matches: set[Match] = set()
        for trial in some:
            matches.add(trial.match(mistake))
            if "no" in matches:
                break
        return matches

    wrong = [trial for trial in trials if trial.failed]
    right = [trial for trial in trials if not trial.failed]
    among_wrong = [(mistake, found(mistake, wrong)) for mistake in mistakes]  # elsewhere most mistakes are right too
    alike = [(mistake, matches) for mistake, matches in among_wrong if "no" not in matches]
    whole = [(mistake, matches | found(mistake, right)) for mistake, matches in alike]
    every = [mistake for mistake, matches in whole if "tellingly" in matches and "no" not in matches]
    if every:
        return every, "exactly" if len(every) == 1 and len(wrong) != 1 else "perhaps"
    close = [mistake for mistake, matches in alike if "tellingly" in matches]
    agreements = [(mistake, sum(trial.agreement(mistake) for trial in right)) for mistake in close]
    most = max((cases for _, cases in agreements), default=0)
    closest = [mistake for mistake, cases in agreements if cases == most]
    near = len(closest) <= 2 and 2 * most >= sum(trial.size for trial in right)
    return (closest if near else []), "nearly"


def is_sure(certainty: Certainty) -> bool:
    """Whether there is no need to say what else is seen of the answers."""
    return certainty in ("exactly", "but for form")


def telling(expected: Observation, given: Observation, mistaken: Observation) -> bool:
    """Whether a wrong answer that is also a mistake's points to that mistake.

    An exception alone does not, since many mistakes raise the same one; one that names the same sizes or types does, and one that says
    that an array stands where a whole number should.
    """
    if given.raised is None or mistaken.raised is None:
        return difference(expected, given) is not None
    return (
        given.raised.message == mistaken.raised.message
        and re.search(r"\d|'[\w.]+'|only integer scalar arrays", given.raised.message) is not None
    )


def lines_grow(observations: Sequence[Observation]) -> bool:
    """Whether the last, largest case ran more Python lines than the first, beyond what a branch more or less makes.

    Where a call raised, nothing can be said: an exception runs lines of its own.
    """
    if any("lines" not in observed.counts or observed.raised for observed in observations):
        return False
    return observations[-1].counts["lines"] > observations[0].counts["lines"] + LINES_OF_SLACK


def _kinds(expected: Value, given: Value) -> dict[str, Any] | Kind | None:
    """The kind of the first difference, or that in each entry of a dictionary."""
    if isinstance(expected, dict) and isinstance(given, dict):
        return {key: _kinds(value, given.get(key)) for key, value in expected.items()}
    found = compare(expected, given)
    return found.kind if found else None


def _over(expected: Observation, given: Observation) -> dict[str, int]:
    """What was spent, where it was more than the budget."""
    budgets = {name: budget for name, budget in expected.counts.items() if name != "lines"}
    return {name: given.counts[name] for name, budget in budgets.items() if given.counts.get(name, 0) > budget}


@cache
def _tolerance(dtype: np.dtype) -> float:
    return TOLERANCE[dtype.name]


def coarsest(value: Value) -> float:
    """The largest tolerance of the floating-point arrays in a value; 0 where there is none."""
    found = [0.0]

    def note(leaf: Value) -> None:
        array = bare(leaf)
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            found.append(_tolerance(array.dtype))

    map_leaves(note, value)
    return max(found)


def _alike(one: Observation, other: Observation, least: float) -> bool:
    if (one.raised is None) != (other.raised is None) or set(one.changed) != set(other.changed):
        return False
    if one.raised is not None and other.raised is not None:
        return one.raised.kind == other.raised.kind
    if any(compare(one.changed[position], other.changed[position], least=least) for position in one.changed):
        return False
    return compare(one.result, other.result, least=least) is None


def compare(
    expected: Value, given: Value, path: tuple[int | str, ...] = (), least: float = 0.0, beside: float = 0.0
) -> Difference | None:
    """The first difference between two values, or None.

    Args:
        expected, given: the two.
        path: where they stand in what is compared.
        least: a tolerance below which that of no dtype goes.
        beside: the largest number of the list that `expected` stands in: a list of numbers has the roundings of an array.
    """
    if isinstance(expected, (np.ndarray, Tensor, ArrayLike)):
        if type(expected) is not type(given):
            return Difference("type", path, expected, given)
        return _compare_arrays(bare(expected), bare(given), path, least)
    if isinstance(expected, (list, tuple)):
        if type(expected) is not type(given):
            return Difference("type", path, expected, given)
        if len(expected) != len(given):
            return Difference("length", path, len(expected), len(given))
        beside = max(beside, _largest(expected)) if isinstance(expected, list) else 0.0
        pairs = enumerate(zip(expected, given, strict=True))
        return _first(compare(e, g, (*path, i), least, beside) for i, (e, g) in pairs)
    if isinstance(expected, dict):
        if not isinstance(given, dict):
            return Difference("type", path, expected, given)
        if set(expected) != set(given):
            return Difference("keys", path, sorted(expected), sorted(given))
        return _first(compare(expected[key], given[key], (*path, key), least) for key in expected)
    return _compare_scalars(expected, given, path, least, beside)


def _largest(values: Value) -> float:
    """The size of the largest finite number in a list of lists of numbers."""
    if isinstance(values, list):
        return max(map(_largest, values), default=0.0)
    return abs(values) if type(values) is float and math.isfinite(values) else 0.0


def _first(differences: Iterable[Difference | None]) -> Difference | None:
    return next((found for found in differences if found is not None), None)


def _compare_scalars(
    expected: Value, given: Value, path: tuple[int | str, ...], least: float, beside: float
) -> Difference | None:
    if isinstance(given, (np.ndarray, Tensor)) and bare(given).ndim == 0:
        given = bare(given).item()
    number = type(expected) in (int, float)
    if (number and type(given) not in (int, float)) or (type(expected) is int and type(given) is float):
        return Difference("type", path, expected, given)
    if number:
        near = type(expected) is float and _near(expected, float(given), max(TOLERANCE["float64"], least), beside)
        return None if near or expected == given else Difference("value", path, expected, given)
    if type(expected) is not type(given):
        return Difference("type", path, expected, given)
    same = not isinstance(expected, Opaque) and expected == given
    return None if same else Difference("value", path, expected, given)


def _near(expected: float, given: float, relative: float, beside: float) -> bool:
    """`close` of two numbers."""
    if not (math.isfinite(expected) and math.isfinite(given)):
        return expected == given or (math.isnan(expected) and math.isnan(given))
    size = abs(expected)
    return abs(given - expected) <= relative * size + relative * max(size, beside)


def _compare_arrays(
    expected: np.ndarray, given: np.ndarray, path: tuple[int | str, ...], least: float
) -> Difference | None:
    if expected.shape != given.shape:
        return Difference("shape", path, expected.shape, given.shape)
    if expected.dtype != given.dtype:
        return Difference("dtype", path, expected.dtype.name, given.dtype.name)
    if expected.dtype.kind in "biuf" and expected.tobytes() == given.tobytes():  # as most are, and NaN agrees with NaN
        return None
    return None if agrees(expected, given, least).all() else Difference("value", path, expected, given, least)


def _distance(expected: np.ndarray, given: np.ndarray) -> np.ndarray:
    """How far two arrays lie apart, entry by entry; infinitely where one of the two is no finite number."""
    if expected.dtype.kind != "f":
        return np.asarray(expected != given, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(expected.astype(np.float64) - given.astype(np.float64))
    return np.where(np.isfinite(apart), apart, np.inf)


def faintness(found: Difference) -> float:
    """How small a difference in numbers is beside the largest of the numbers expected; 0 for any other difference.

    1e-7 reads as 7: what differs in the seventh digit is hard to see in a table.
    """
    expected, given = bare(found.expected), bare(found.given)
    if found.kind != "value" or not all(np.asarray(some).dtype.kind == "f" for some in (expected, given)):
        return 0.0
    wanted, got = np.asarray(expected, np.float64), np.asarray(given, np.float64)
    same = (wanted == got) | (np.isnan(wanted) & np.isnan(got))
    apart = float(np.where(same, 0.0, _distance(wanted, got)).max(initial=0.0))
    largest = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0))
    return math.log10(largest / apart) if 0 < apart < largest else 0.0


def agrees(expected: np.ndarray, given: np.ndarray, least: float = 0.0) -> np.ndarray:
    """Entry by entry, whether two arrays of one shape and dtype agree within the tolerance of that dtype, or `least` if more."""
    if expected.dtype.kind != "f":
        return np.asarray(expected == given)
    tolerance = max(_tolerance(expected.dtype), least)
    return close(expected.astype(np.float64), given.astype(np.float64), tolerance)


def close(expected: np.ndarray, given: np.ndarray, relative: float, beside: float = 0.0) -> np.ndarray:
    """Entry by entry; NaN agrees with NaN, and an infinity with itself alone."""
    size = np.abs(expected)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(given - expected)
        if np.isfinite(apart).all():  # and so are both
            return np.asarray(apart <= relative * size + relative * size.max(initial=beside))
        largest = size[np.isfinite(expected)].max(initial=beside)
        near = apart <= relative * size + relative * largest
    finite = np.isfinite(expected) & np.isfinite(given)
    exact = (expected == given) | (np.isnan(expected) & np.isnan(given))
    return np.where(finite, near, exact)
