"""The sentences in which a difference is told, and the numbers beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap

import numpy as np

from course.trial.comparing import Certainty, Difference, agrees, faintness
from course.trial.functions import COUNTED_IN_ROWS
from course.trial.observing import REFUSAL, UNRAISED, Observation, Raised
from course.trial.values import ArrayLike, Opaque, Tensor, Value, bare

Axes = str | list[str] | None
"""Axis names of a result: "n m" for an array, ["n k", "n v"] for a tuple of them, None where it is neither."""


EXACTLY = "known mistake gives exactly these answers"
KNOWN_MISTAKE = f"A {EXACTLY}: "
KNOWN_MISTAKE_AND_ERRORS = f"A {EXACTLY} and errors: "
BUT_FOR_FORM = "A known mistake's answers, in another form: "
BUT_FOR_FORM_AND_ERRORS = "A known mistake's answers and errors, in another form: "
PERHAPS = "One mistake that gives answers like these: "
NEARLY = "A known mistake near yours, and wrong in more cases: "
SEVEN_DIGITS_LEFT = "the right value to some seven digits"
SEVEN_DIGITS_FROM, SEVEN_DIGITS_TO = 6.0, 8.5
"""Where float32 ends, in digits: a result worked out with it agrees to so many, most often."""

LOOP_LEFT = "More Python lines run when the input is larger: a loop is left, yours or one inside a helper you call."


PLAIN = "background:none"
"""In place of the stripes that a front end gives to the rows of a table, and of the ground that it gives to code."""


def in_columns(text: str, style: str = "") -> str:
    """A text of several lines as HTML that keeps its columns: where there is too little room it is scrolled, and no line is broken."""
    return f"<pre style='{style}white-space:pre; overflow-x:auto'>{escape(text)}</pre>"


def folded(text: str, width: int) -> str:
    """A text whose sentences are no wider than so many characters; lines that begin with a space, such as a table's, are as they were."""
    lines = text.split("\n")
    return "\n".join(part for line in lines for part in ([line] if line.startswith(" ") else _wrapped(line, width)))


def _wrapped(line: str, width: int) -> list[str]:
    return wrap(line, width, break_long_words=False, break_on_hyphens=False)


def marked_up(text: str) -> str:
    """A sentence as HTML: what stands in backticks is shown as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text))


def recognised(lesson: str, wrong: Iterable[Observation], certainty: Certainty) -> str:
    """What to say of a known mistake that an answer points to.

    Args:
        lesson: what its student reads.
        wrong: the answers that went wrong. Where every one of them is an exception, other mistakes may end in it too; where some
            are, that is said.
        certainty: how surely it does.
    """
    if certainty == "nearly":
        return NEARLY + lesson
    errors = [observed.raised is not None for observed in wrong]
    if certainty == "perhaps" or (errors and all(errors)):
        return PERHAPS + lesson
    if certainty == "exactly":
        return (KNOWN_MISTAKE_AND_ERRORS if any(errors) else KNOWN_MISTAKE) + lesson
    return (BUT_FOR_FORM_AND_ERRORS if any(errors) else BUT_FOR_FORM) + lesson


def explain(
    found: Difference, axes: Axes = None, parameters: Sequence[str] = (), values: bool = True, digits: bool = True
) -> str:
    """One or two sentences on a difference.

    Args:
        found: the difference.
        axes: the names of the result's axes.
        parameters: the names of the function's parameters.
        values: whether the numbers of the case may be told (they may not where the case is hidden).
        digits: whether to say what it points to that only some digits are right.
    """
    where = _where(found.path)
    match found.kind:
        case "not raised":
            returned = f"yours returned {what(found.given)}"
            instead = f", and should raise it: `raise {found.expected}(...)`" if found.expected in returned else ""
            return f"This call should be refused with a {found.expected}; {returned}{instead}."
        case "raised":
            if found.expected:
                return f"This call should be refused with a {found.expected}. {_exception(found.given, values)}"
            refused = found.given.kind == "ValueError" and found.given.source.startswith("raise ")
            return _exception(found.given, values) + (" This call is not one to refuse." if refused else "")
        case "type" if _is_refusal(found.expected):
            return f"This call should be refused with a ValueError; yours returned {what(found.given)}."
        case "type":
            hint = " Is there a return?" if found.given is None else ""
            return f"{where} should be {what(found.expected)}; yours is {what(found.given)}.{hint}"
        case "length":
            parts = "part" if found.expected == 1 else "parts"
            return f"{where} should have {found.expected} {parts}; yours has {found.given}."
        case "keys":
            return f"{where} should have the keys {found.expected}; yours has {found.given}."
        case "shape":
            names = axes_at(axes, found.path)
            named = f" {names} =" if names else ""
            return f"{where} should have the shape{named} {list(found.expected)}; yours has {list(found.given)}."
        case "dtype":
            return f"{where} should be {found.expected}; yours is {found.given}."
        case "changed":
            place = int(found.path[0])
            name = parameters[place] if place < len(parameters) else f"its argument number {place + 1}"
            return f"The call changed {name} in place; the caller still needs it as it was."
        case "count":
            return _spent(str(found.path[0]), int(found.expected), int(found.given), values)
    if _is_refusal(found.expected):
        return f"This call should be refused with a ValueError, raised; yours: {found.given}."
    if _speaks(found.path) and isinstance(found.expected, str):
        told = f" should be {found.expected}; yours is {found.given}." if values else " is not what it should be."
        return where + told
    if isinstance(found.expected, (str, bool)) and values:
        return f"{where} has the right form, and the wrong value: {found.expected!r} was expected, yours is {found.given!r}."
    some = _digits(found) if digits else ""
    if not values:
        return f"{where} has the right form, and {some or _wrong_value(found)}."
    return _in_numbers(found, where) + (f" It has {some}." if some else "")


def _is_refusal(value: Value) -> bool:
    return isinstance(value, str) and value == REFUSAL


def in_common(path: tuple[int | str, ...], holds: str) -> str:
    """The sentence on what all wrong results have in common; see `course.trial.relation`."""
    return f"Where it is wrong, {part_of_result(path)} {holds}."


def part_of_result(path: tuple[int | str, ...]) -> str:
    """What a part of a result is called within a sentence."""
    where = _where(path)
    return where[:1].lower() + where[1:]


def _in_numbers(found: Difference, where: str) -> str:
    if isinstance(found.expected, (np.ndarray, Tensor)):
        expected, given = _told_apart(_entry(found.expected, found.index), _entry(found.given, found.index))
        if not found.index:
            return f"{where} should be {expected}; yours is {given}."
        spot = ", ".join(map(str, found.index))
        return f"{where} has the right shape. Entry [{spot}] should be {expected}; yours is {given}."
    expected, given = _told_apart(found.expected, found.given)
    return f"{where} should be {expected}; yours is {given}."


def _spent(name: str, enough: int, given: int, values: bool) -> str:
    """What to say where a function was asked for too much."""
    rows = name in COUNTED_IN_ROWS
    if not values:
        return (
            f"It hands more rows to {name} than it needs to."
            if rows
            else f"It calls {name} more often than it needs to."
        )
    if rows:
        return f"It hands {given} rows to {name}, all calls together; {enough} are enough."
    return f"It calls {name} {_often(given)}; {f'{_often(enough)} is enough' if enough else 'no call is needed'}."


def _often(times: int) -> str:
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


def _digits(found: Difference) -> str:
    """What to say of a result that is right to about seven digits and no further; "" of any other."""
    faint = faintness(found)
    double = np.asarray(bare(found.expected)).dtype == np.float64
    if not double or not SEVEN_DIGITS_FROM < faint < SEVEN_DIGITS_TO:
        return ""
    return (
        f"{SEVEN_DIGITS_LEFT}: float32 has no more, so something on the way may be float32, or a tiny number was added"
    )


def _wrong_value(found: Difference) -> str:
    expected, given = (np.asarray(bare(some)) for some in (found.expected, found.given))
    numbers = expected.dtype.kind == given.dtype.kind == "f" and expected.shape == given.shape
    if numbers and np.any(np.isnan(given) & ~np.isnan(expected)):
        return "the wrong value: nan, which is not a number, where there should be one"
    if numbers and np.any(np.isinf(given) & np.isfinite(expected)):
        return "the wrong value: inf, which is infinity, where there should be a number"
    return "the wrong value"


def _told_apart(expected: Value, given: Value) -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see that they differ."""
    short = number(expected), number(given)
    if short[0] != short[1] or not (isinstance(expected, float) and isinstance(given, float)):
        return short
    return f"{expected:.12g}", f"{given:.12g}"


def _exception(raised: Raised, values: bool) -> str:
    if raised.kind in UNRAISED:
        return f"{raised.message[:1].upper()}{raised.message[1:]}."
    said = re.sub(r", with gufunc signature \S+|gufunc core with signature \S+ ", "", raised.message).rstrip(". ")
    message = f": {said}" if said and values else ""
    at = f" at line {raised.line} of {raised.function}, `{raised.source}`" if raised.source else ""
    led = (
        f" Line {raised.caller_line} of {raised.caller} led there, `{raised.caller_source}`."
        if raised.caller_source
        else ""
    )
    shapes = f" There {raised.shapes}." if raised.shapes and values else ""
    return f"Your code raises {raised.kind}{message}{at}.{led}{shapes}"


def _speaks(path: tuple[int | str, ...]) -> bool:
    """Whether a harness has named an entry in words of its own: "What rank 0 returned"."""
    return bool(path) and isinstance(path[-1], str) and path[-1][:1].isupper() and " " in path[-1]


def _where(path: tuple[int | str, ...]) -> str:
    if not path:
        return "The result"
    if _speaks(path):
        return str(path[-1])
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth")
    inside = "".join(f", at {part!r}" for part in path[1:]) + "," * (len(path) > 1)
    if isinstance(path[0], str):
        return f"The result's {path[0]!r}{inside}"
    part = f"The {ordinals[path[0]]} part of the result" if path[0] < 6 else f"Part {path[0] + 1} of the result"
    return part + inside


def axes_at(axes: Axes, path: tuple[int | str, ...]) -> str:
    """The names of the axes of a result, or of one part of it: "[n, k]"; "" where they have none."""
    if isinstance(axes, list):
        axes = axes[path[0]] if path and isinstance(path[0], int) and path[0] < len(axes) else ""
    return f"[{', '.join(axes.split())}]" if axes and "_" not in axes.split() else ""


def what(value: Value) -> str:
    """What kind of thing a value is, in a word or two."""
    if isinstance(value, (ArrayLike, Opaque)):
        return value.what
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype.name}"
    if isinstance(value, Tensor):
        return f"a torch tensor of {value.array.dtype.name}"
    if value is None:
        return "None"
    if isinstance(value, (tuple, list, dict)):
        return f"a {type(value).__name__} of {len(value)} part{'s' * (len(value) != 1)}"
    article = "an" if isinstance(value, int) and not isinstance(value, bool) else "a"
    return f"{article} {type(value).__name__}"


def number(x: Value) -> str:
    """A number with as many digits as a reader wants."""
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, float):
        return f"{x:.5g}"
    return str(x)


def _entry(array: np.ndarray | Tensor, index: tuple[int, ...]) -> Value:
    return bare(array)[index].item()


def show(value: Value) -> str:
    """A value as a reader wants to see it, arrays in rows."""
    value = bare(value)
    if isinstance(value, np.ndarray):
        if not value.size:
            return f"nothing, {list(value.shape)}"
        faint = value.dtype.kind == "f" and bool(np.any((value != 0) & (np.abs(value) < 1e-20)))  # no rounding
        return np.array2string(value, precision=4, suppress_small=not faint, threshold=60, max_line_width=72)
    if isinstance(value, (tuple, list)):
        start, end = "()" if isinstance(value, tuple) else "[]"
        one_line = not any(isinstance(part, (np.ndarray, Tensor, ArrayLike, tuple, list, dict)) for part in value)
        return start + (", " if one_line else ",\n ").join(show(part).replace("\n", "\n ") for part in value) + end
    if isinstance(value, dict):
        if not value:
            return "{}, nothing in it"
        return "\n".join(_hanging(f"{key}: ", show(part)) for key, part in value.items())
    if isinstance(value, Opaque):
        return value.what
    return number(value)


def _hanging(label: str, text: str) -> str:
    """A label before the first line of a text, and as much room before the others."""
    return label + text.replace("\n", "\n" + " " * len(label))


def indented(text: str) -> str:
    """A text of several lines, set off from what stands before it."""
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


def side_by_side(expected: Value, given: Value) -> str:
    """Two values next to each other, as plain text."""
    left, right = show(expected).split("\n"), show(given).split("\n")
    width = max(len("expected"), *map(len, left)) + 4
    rows = max(len(left), len(right))
    left += [""] * (rows - len(left))
    right += [""] * (rows - len(right))
    lines = [f"{'expected':<{width}}yours", *(f"{a:<{width}}{b}" for a, b in zip(left, right, strict=True))]
    return "\n".join(line.rstrip() for line in lines)


def side_by_side_html(expected: Value, given: Value) -> str:
    """The same as a table; entries that differ are bold and underlined, so that colour is not needed to find them."""
    if marks_entries(expected, given):
        expected, given = bare(expected), bare(given)
        right = np.atleast_2d(agrees(expected, given))
        left, other = _table(np.atleast_2d(expected), None), _table(np.atleast_2d(given), right)
    else:
        left, other = (in_columns(show(value), f"{PLAIN}; ") for value in (expected, given))
    cell = "<td style='vertical-align:top; text-align:left; padding-right:2em'>"
    row = f"<tr style='{PLAIN}'>"
    head = f"{row}<th style='text-align:left'>expected</th><th style='text-align:left'>yours</th></tr>"
    table = f"<table>{head}{row}{cell}{left}</td>{cell}{other}</td></tr></table>"
    return f"<div style='overflow-x:auto'>{table}</div>"


def marks_entries(expected: Value, given: Value) -> bool:
    """Whether `side_by_side_html` shows the entries that differ."""
    if type(expected) is not type(given) or not (_tabular(bare(expected)) and _tabular(bare(given))):
        return False
    return bare(expected).shape == bare(given).shape and bare(expected).dtype == bare(given).dtype


def _tabular(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.ndim in (1, 2) and value.size <= 64


def _table(array: np.ndarray, right: np.ndarray | None) -> str:
    def entry(i: int, j: int) -> str:
        text = number(array[i, j].item())
        return f"<td>{text}</td>" if right is None or right[i, j] else f"<td><b><u>{text}</u></b></td>"

    rows = ("".join(entry(i, j) for j in range(array.shape[1])) for i in range(array.shape[0]))
    return "<table>" + "".join(f"<tr style='{PLAIN}'>{row}</tr>" for row in rows) + "</table>"
