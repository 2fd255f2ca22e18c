"""What a wrong result may have to do with the right one: the rules that `relation` goes through, in this order, the most telling first.

A rule looks at all cases that went wrong, and says what holds in every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from course.trial.comparing import TOLERANCE, close
from course.trial.form import SEVEN_DIGITS
from course.trial.formula import constant, formula

EVIDENCE = 3  # different numbers, in all cases together, for which a rule about every entry has to hold
ROUNDED_TO = 5  # digits behind the point: what is rounded to more is told by its digits
PLAIN = 1e-2  # a factor that is nearer to 1 is no slip in a formula


@dataclass(frozen=True)
class Wrong:
    """A case that went wrong in its numbers.

    Attributes:
        expected, given: the two results, or the parts of them that differ.
        sizes: how large n, k, h and so on are.
        arguments: the arrays that were given, by name.
        parts: what the other parts of the result should be, by what they are called.
    """

    expected: np.ndarray
    given: np.ndarray
    sizes: dict[str, int]
    arguments: dict[str, np.ndarray]
    parts: dict[str, np.ndarray]

    @property
    def alike(self) -> bool:
        """Whether an entry of the one stands beside each of the other."""
        return self.expected.shape == self.given.shape

    @property
    def numbers(self) -> bool:
        """Whether they are alike, finite, and no truth values."""
        both = self.expected, self.given
        return self.alike and all(some.dtype.kind in "if" and bool(np.isfinite(some).all()) for some in both)

    def near(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Entry by entry, whether two arrays of one shape agree within the rounding of the expected one's dtype."""
        relative = max(SEVEN_DIGITS, TOLERANCE.get(self.expected.dtype.name, 0.0))
        return close(one.astype(np.float64), other.astype(np.float64), relative)

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two arrays agree, in their shapes and in every entry."""
        return one.shape == other.shape and bool(np.all(self.near(one, other)))


Rule = Callable[[Sequence[Wrong]], str]
"""What holds in all of these cases, as a sentence goes on that begins "The result"; "" where it does not hold."""

Region = tuple[str, Callable[[Wrong], np.ndarray]]
"""What a result is right in, as a sentence goes on that begins "is right", and the entries that are not in it."""

RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """Mark a rule; its turn comes after those above it."""
    RULES.append(function)
    return function


@rule
def _as_given(cases: Sequence[Wrong]) -> str:
    """An argument that comes back as it was."""
    names = [name for name in cases[0].arguments if all(_is(case, name) for case in cases)]
    return f"is {names[0]} as it was given" if names else ""


def _is(case: Wrong, name: str) -> bool:
    return name in case.arguments and case.same(case.arguments[name], case.given)


@rule
def _turned(cases: Sequence[Wrong]) -> str:
    """The same entries, their axes in another order."""
    axes = cases[0].expected.ndim
    if any(case.expected.ndim != axes or case.given.ndim != axes for case in cases):
        return ""
    for order in list(permutations(range(axes)))[1:]:
        if all(case.same(case.expected.transpose(order), case.given) for case in cases):
            return "is the right one, turned: " + (
                "its rows are columns" if axes == 2 else "its axes stand in another order"
            )
    return ""


@rule
def _times(cases: Sequence[Wrong]) -> str:
    """One factor for every entry: a number, or a formula of sizes."""
    if not _enough(cases):
        return ""
    factors = [_factor(case.expected, case.given) for case in cases]
    if not all(case.same(factor * case.expected, case.given) for factor, case in zip(factors, cases, strict=True)):
        return ""
    if any(abs(factor - 1) < PLAIN or factor == 0 for factor in factors):
        return ""
    if all(abs(factor + 1) < PLAIN for factor in factors):
        return "is the right one with the other sign"
    said = formula(factors, [case.sizes for case in cases], counts=(1,))
    if said:
        return f"is the right one times {said}"
    return "is the right one times a number, another in every case" if cases[0].expected.ndim else ""


@rule
def _plus(cases: Sequence[Wrong]) -> str:
    """One number that is added to every entry."""
    if not _enough(cases):
        return ""
    offsets = [float((case.given - case.expected).flat[0]) for case in cases]
    if not all(case.same(case.expected + offset, case.given) for offset, case in zip(offsets, cases, strict=True)):
        return ""
    said = formula(list(map(abs, offsets)), [case.sizes for case in cases], counts=(1, 2, 3, 4))
    if said and len({offset > 0 for offset in offsets}) == 1:
        return f"is the right one {'plus' if offsets[0] > 0 else 'minus'} {said}"
    return "is the right one plus a number, another in every case" if cases[0].expected.ndim else ""


@rule
def _and_another(cases: Sequence[Wrong]) -> str:
    """An argument, or another part of the result, that was added or left out, or that every entry was multiplied by or divided by."""
    if not _enough(cases):
        return ""
    for name in {**cases[0].arguments, **cases[0].parts}:
        pairs = [(case, other) for case in cases if (other := _beside(case, name)) is not None]
        if len(pairs) < len(cases) or not _several(other for _, other in pairs):
            continue
        counts = [_factor(other, case.given - case.expected) for case, other in pairs]
        if all(
            abs(count) > PLAIN and case.same(case.expected + count * other, case.given)
            for count, (case, other) in zip(counts, pairs, strict=True)
        ):
            said = formula(list(map(abs, counts)), [case.sizes for case in cases], counts=(1,))
            if not said or len({count > 0 for count in counts}) > 1:
                return f"is the right one plus {name} times a number, another in every case"
            return f"is the right one {'plus' if counts[0] > 0 else 'minus'} {'' if said == '1' else f'{said} times '}{name}"
        if all(case.same(case.expected * other, case.given) for case, other in pairs):
            return f"is the right one times {name}, entry by entry"
        if all(case.same(case.expected, case.given * other) for case, other in pairs):
            return f"is the right one divided by {name}, entry by entry"
    return ""


def _beside(case: Wrong, name: str) -> np.ndarray | None:
    """An argument, or another part of the result, as it is lined up with the result; None where it cannot be."""
    array = case.arguments.get(name, case.parts.get(name))
    if array is None or array.dtype.kind not in "if" or array.size < 2 or not np.isfinite(array).all():
        return None
    lined_up = (
        array.ndim <= case.expected.ndim and array.shape == case.expected.shape[case.expected.ndim - array.ndim :]
    )
    return np.broadcast_to(array.astype(np.float64), case.expected.shape) if lined_up else None


@rule
def _opposite(cases: Sequence[Wrong]) -> str:
    """True where it should be False, and the other way round."""
    truths = all(case.alike and case.expected.dtype == case.given.dtype == np.bool_ for case in cases)
    return (
        "is the opposite of the right one, everywhere"
        if truths and all(np.array_equal(~c.expected, c.given) for c in cases)
        else ""
    )


@rule
def _rounded(cases: Sequence[Wrong]) -> str:
    """Every number, to so many digits behind the point."""
    if not all(case.alike and case.expected.dtype.kind == case.given.dtype.kind == "f" for case in cases):
        return ""
    for digits in range(1, ROUNDED_TO + 1):
        if all(case.same(np.round(case.expected.astype(np.float64), digits), case.given) for case in cases):
            return f"is the right one, rounded to {digits} digit{'s' * (digits > 1)} behind the point"
    return ""


@rule
def _how_much(cases: Sequence[Wrong]) -> str:
    """Numbers in place of truth values, which one threshold would make the right ones."""
    kinds = all(case.alike and case.expected.dtype == np.bool_ and case.given.dtype.kind in "iuf" for case in cases)
    if not kinds:
        return ""
    yes, no = (
        np.concatenate([abs(case.given[case.expected == truth]).ravel() for case in cases]) for truth in (True, False)
    )
    told = "holds numbers where True or False is wanted, and larger ones wherever it should be True: a comparison is missing"
    return told if yes.size and no.size and yes.min() > no.max() else ""


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "is the square of the right one, entry by entry": np.square,
    "is the root of the right one, entry by entry": np.sqrt,
    "is 1 divided by the right one, entry by entry": np.reciprocal,
    "is the exponential of the right one": np.exp,
    "is the logarithm of the right one": np.log,
    "is the right one without its signs": np.abs,
    "is the right one, rounded": np.round,
    "is the right one, rounded down": np.floor,
    "is the right one with zeros in place of all that is below zero": lambda x: np.maximum(x, 0.0),
    "is 1 minus the right one": lambda x: 1 - x,
}


@rule
def _function(cases: Sequence[Wrong]) -> str:
    """Every entry is one function of the right one."""
    if not _enough(cases):
        return ""
    for said, function in FUNCTIONS.items():
        if all(case.same(function(case.expected.astype(np.float64)), case.given) for case in cases):
            return said
    return ""


@rule
def _moved(cases: Sequence[Wrong]) -> str:
    """Rows or columns in reverse, moved on by one, or summed up on the way."""
    for axis in _axes(cases):
        each = _plural(_each(cases[0], axis))
        if all(case.same(np.flip(case.expected, axis), case.given) for case in cases):
            return f"is the right one with its {each} in reverse order"
        for step in (1, -1):
            if all(case.same(np.roll(case.expected, step, axis), case.given) for case in cases):
                return f"is the right one with its {each} moved on by one place"
        if not all(case.numbers for case in cases):  # in sums infinity is lost, and truth values are numbers
            continue
        if all(case.same(case.expected.cumsum(axis), case.given) for case in cases):
            return f"has in each of its {each} the sum of the right ones up to there"
        if all(case.same(case.expected, case.given.cumsum(axis)) for case in cases):
            return f"lacks in each of its {each} the sum of those before it"
    return ""


@rule
def _shorter(cases: Sequence[Wrong]) -> str:
    """Something is missing at an end, or too much, or was summed up."""
    for axis in _axes(cases):
        each = _each(cases[0], axis)
        for end, rest in (("first", slice(1, None)), ("last", slice(None, -1))):
            cut = (slice(None),) * axis + (rest,)
            if all(case.same(case.expected[cut], case.given) for case in cases):
                return f"is the right one without its {end} {each}"
            if all(case.same(case.expected, case.given[cut]) for case in cases):
                return f"is the right one with a {each} too many, the {end}"
    for axis in range(min(case.expected.ndim for case in cases)):
        each = _each(cases[0], axis)
        for keeping in (False, True):
            for said, reduced in _reductions(axis, keeping):
                if all(case.same(reduced(case.expected), case.given) for case in cases):
                    return said.format(each=each, many=_plural(each))
    return ""


def _reductions(axis: int, keeping: bool) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    yield "is the sum of the right one's {many}", lambda x: x.sum(axis, keepdims=keeping)
    yield "is the mean of the right one's {many}", lambda x: x.mean(axis, keepdims=keeping)
    for end, place in (("first", 0), ("last", -1)):
        yield (
            f"is the right one's {end} {{each}} alone",
            lambda x, p=place: (  # type: ignore[misc]
                np.expand_dims(x.take(p, axis), axis) if keeping else x.take(p, axis)
            ),
        )


@rule
def _all_alike(cases: Sequence[Wrong]) -> str:
    """What should differ, and does not."""
    if not all(case.alike and case.expected.size > 1 for case in cases):
        return ""
    if all(_constant(case.given) and not _constant(case.expected) for case in cases):
        values = {constant(case.given.flat[0].item()) for case in cases}
        return f"is {values.pop()} everywhere" if len(values) == 1 else "has one number in all its entries"
    for axis in _axes_of_several(cases):
        if all(_repeats(case.given, axis) and not _repeats(case.expected, axis) for case in cases):
            many = _plural(_each(cases[0], axis))
            for end, place in (("first", 0), ("last", -1)):
                if all(case.same(case.expected.take(place, axis), case.given.take(0, axis)) for case in cases):
                    return f"has the right {end} one in place of all its {many}"
            if all(case.same(case.expected.mean(axis), case.given.take(0, axis)) for case in cases):
                return f"has the mean of the right ones in place of all its {many}"
            return f"has {many} that are all the same; the right ones differ"
    return ""


def _constant(array: np.ndarray) -> bool:
    return bool(np.all(array == array.flat[0]) or np.all(np.isnan(array)))


def _repeats(array: np.ndarray, axis: int) -> bool:
    return array.shape[axis] > 1 and bool(np.allclose(array, array.take([0], axis), rtol=1e-6, atol=0, equal_nan=True))


@rule
def _by_vectors(cases: Sequence[Wrong]) -> str:
    """Each row, or each column, is right up to a factor or a number that is added to it."""
    if not _enough(cases):
        return ""
    for axis in _axes_of_several(cases):
        many = [(np.moveaxis(c.expected, axis, 0), np.moveaxis(c.given, axis, 0), c) for c in cases]
        if sum(len(one) for one, _, _ in many) < EVIDENCE or any(_thin(one) for one, _, _ in many):
            continue
        each = _each(cases[0], axis)
        pairs = [(e, g, case) for one, other, case in many for e, g in zip(one, other, strict=True)]
        factors = [_factor(e, g) for e, g, _ in pairs]
        offsets = [float((g - e).flat[0]) for e, g, _ in pairs]
        if _matters(factors, 1.0) and all(
            case.same(factor * e, g) for factor, (e, g, case) in zip(factors, pairs, strict=True)
        ):
            return f"has the right {_plural(each)}, but each of them times a number of its own"
        if _matters(offsets, 0.0) and all(
            case.same(e + offset, g) for offset, (e, g, case) in zip(offsets, pairs, strict=True)
        ):
            return f"has the right {_plural(each)}, but each of them plus a number of its own"
    return ""


def _matters(values: Sequence[float], neutral: float) -> bool:
    """Whether most of these change what they are applied to, and none makes it vanish."""
    changing = sum(abs(value - neutral) > PLAIN for value in values)
    return 2 * changing > len(values) and (neutral == 0 or 0.0 not in values)


def _thin(vectors: np.ndarray) -> bool:
    """Whether the vectors hold too little to say of two that one is a multiple of the other."""
    return bool(np.any((vectors != 0).reshape(len(vectors), -1).sum(axis=1) < 2))


@rule
def _but_for(cases: Sequence[Wrong]) -> str:
    """Right in one region, and wrong in the rest of it."""
    return _right_in(cases, _regions(cases))


def _right_in(cases: Sequence[Wrong], regions: Iterable[Region]) -> str:
    """The first of these regions outside which all is right, where what is wrong fills most of it."""
    if not all(case.alike for case in cases):
        return ""
    right = [case.near(case.expected, case.given) for case in cases]
    if not any(some.any() for some in right):
        return ""
    for said, region in regions:
        places = [region(case) for case in cases]
        if any(np.any(~ok & ~place) for ok, place in zip(right, places, strict=True)):
            continue
        if all(place.all() for place in places):  # a single row is the last as well, and says nothing alone
            continue
        inside, wrong = sum(int(place.sum()) for place in places), sum(int((~ok).sum()) for ok in right)
        if 2 * wrong > inside or cases[0].expected.dtype.kind == "b":
            return f"is right {said}{_filled(cases, right, said)}"
    return ""


def _filled(cases: Sequence[Wrong], right: Sequence[np.ndarray], said: str) -> str:
    """What stands in all the wrong places, where that is one number."""
    if cases[0].expected.dtype.kind == "b":
        return ""
    values = {constant(x.item()) for case, ok in zip(cases, right, strict=True) for x in case.given[~ok]}
    return (
        f"{', where' if said.startswith('but for') else '; elsewhere'} it has {values.pop()}"
        if len(values) == 1
        else ""
    )


def _regions(cases: Sequence[Wrong]) -> Iterator[Region]:
    axes = _axes(cases)
    if cases[0].expected.dtype.kind == "b":
        yield "wherever it should be True", lambda c: ~c.expected
        yield "wherever it should be False", lambda c: c.expected
    for axis in axes:
        each = _each(cases[0], axis)
        for end, place in (("first", 0), ("last", -1)):
            yield f"but for its {end} {each}", lambda c, a=axis, p=place: _at(c, a, p)  # type: ignore[misc]
    if len(axes) >= 2:
        yield "but for its diagonal", lambda c: _index(c, lambda i, j: i == j)
        yield "but for what is above its diagonal", lambda c: _index(c, lambda i, j: i < j)
        yield "but for what is below its diagonal", lambda c: _index(c, lambda i, j: i > j)
        yield "on its diagonal alone", lambda c: _index(c, lambda i, j: i != j)
        yield "above its diagonal alone", lambda c: _index(c, lambda i, j: i >= j)
        yield "below its diagonal alone", lambda c: _index(c, lambda i, j: i <= j)
    for axis in axes:
        each = _each(cases[0], axis)
        for end, place in (("first", 0), ("last", -1)):
            yield f"in its {end} {each} alone", lambda c, a=axis, p=place: ~_at(c, a, p)  # type: ignore[misc]
    if cases[0].expected.dtype.kind == "b":
        return
    yield "but for the entries that should be 0", lambda c: c.expected == 0
    yield "but for the entries that should be nan", lambda c: np.isnan(c.expected)
    yield "but for the entries that should be infinite", lambda c: np.isinf(c.expected)
    yield "but for the entries that should be below zero", lambda c: c.expected < 0
    if any(np.any(case.expected < 0) for case in cases):
        yield "but for the entries that should be above zero", lambda c: c.expected > 0


def _at(case: Wrong, axis: int, place: int) -> np.ndarray:
    region = np.zeros(case.expected.shape, bool)
    region[(slice(None),) * axis + (place,)] = True
    return region


def _index(case: Wrong, region: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    rows, columns = case.expected.shape[-2:]
    return np.broadcast_to(region(np.arange(rows)[:, None], np.arange(columns)), case.expected.shape)


@rule
def _sums(cases: Sequence[Wrong]) -> str:
    """Weights that add up to 1 along another axis than they should, or along none."""
    if not all(case.numbers and case.expected.dtype.kind == "f" for case in cases):
        return ""
    for axis in _axes(cases):
        if not all(_to_one(case.expected, axis) for case in cases) or any(_to_one(c.given, axis) for c in cases):
            continue
        for other in _axes(cases):
            if other != axis and all(_to_one(case.given, other) for case in cases):
                return f"adds up to 1 along axis {other}; the right one does so along axis {axis}"
        return f"does not add up to 1 along axis {axis}, as the right one does"
    return ""


@rule
def _where_nothing_is(cases: Sequence[Wrong]) -> str:
    """Right where it should be 0, in every case: little to say of what only its size is wrong with, so that other rules come first."""
    if any(case.expected.dtype.kind == "b" or np.any(case.expected < 0) or np.all(case.expected) for case in cases):
        return ""
    return _right_in(cases, [("where it should be 0, and nowhere else", lambda c: c.expected != 0)])


def _to_one(array: np.ndarray, axis: int) -> bool:
    return bool(np.all(array >= 0) and np.allclose(array.sum(axis), 1, atol=1e-4)) and array.shape[axis] > 1


@rule
def _reordered(cases: Sequence[Wrong]) -> str:
    """The right numbers in another shape, or in other places."""
    if any(case.expected.size != case.given.size or case.expected.size < EVIDENCE for case in cases):
        return ""
    if all(case.same(case.expected.ravel(), case.given.ravel()) for case in cases):
        return "has the right numbers in the right order, in another shape"
    if not all(case.same(np.sort(case.expected, axis=None), np.sort(case.given, axis=None)) for case in cases):
        return ""
    if cases[0].expected.dtype.kind == "b":
        return ""
    return "has the right numbers in the wrong places"


# ------------------------------------------------------------------------------------------- what several rules ask


def _enough(cases: Sequence[Wrong]) -> bool:
    """Whether there are numbers enough for a rule about every one of them."""
    return all(case.numbers and np.any(case.expected) for case in cases) and _several(case.expected for case in cases)


def _several(arrays: Iterable[np.ndarray]) -> bool:
    """Whether there are numbers enough in these, which differ, and are not 0."""
    found: set[float] = set()
    for number in (x for array in arrays for x in array.flat if x):
        found.add(float(f"{number:.6g}"))
        if len(found) == EVIDENCE:
            return True
    return False


def _factor(expected: np.ndarray, given: np.ndarray) -> float:
    """By what the one is to be multiplied to come nearest to the other; 0 where it is zero."""
    one, other = expected.astype(np.float64).ravel(), given.astype(np.float64).ravel()
    square = float(one @ one)
    return float(one @ other) / square if square else 0.0


def _axes(cases: Sequence[Wrong]) -> range:
    """The axes that all the results have, wanted and given."""
    counts = {some.ndim for case in cases for some in (case.expected, case.given)}
    return range(counts.pop()) if len(counts) == 1 else range(0)


def _axes_of_several(cases: Sequence[Wrong]) -> range:
    """The same, where there are more than one."""
    axes = _axes(cases)
    return axes if len(axes) > 1 else range(0)


def _each(case: Wrong, axis: int) -> str:
    words = {1: ("entry",), 2: ("row", "column")}.get(case.expected.ndim)
    return words[axis] if words else f"slice of axis {axis}"


def _plural(each: str) -> str:
    return {"entry": "entries"}.get(each) or each.replace("slice", "slices", 1) + ("" if " " in each else "s")
