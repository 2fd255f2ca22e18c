"""The sheet of shapes, `docs/shapes.md`: what exercises take and return, in a row for each notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator

from autograder.exercises import NOTEBOOKS, exercise_called, exercises_in
from autograder.exercises.model import Exercise, parameter_axes, result_axes
from autograder.settings import ROOT

SHEET = ROOT / "docs" / "shapes.md"
ROW = re.compile(r"^\| (\d\d) \| (.*) \|$", re.MULTILINE)
ARRAY = re.compile(r"`([^`\[]*?) ?\[([^`]+?)\](?:, \[[^`]*\])*`")
OTHER_WORDS: dict[tuple[str, str], str] = {
    ("Wo", "e, d"): "h·v, d",
    ("Wqkv", "d, u"): "d, h·(2k+v)",
    ("Z", "n, e"): "n, h·k",
}
"""What an annotation says shorter. (Three dots on the sheet are any number of axes, also none.)"""


def with_results(text: str) -> str:
    """The sheet with what every exercise returns: one that its row does not have comes last in it. Where a row says it in words of its
    own, "six of `[n, d]`", it stays as it is."""
    return ROW.sub(_with_results, text)


def _with_results(found: re.Match[str]) -> str:
    number, row = found.groups()
    for notebook in NOTEBOOKS:
        for exercise in exercises_in(notebook) if notebook.startswith(f"{number}_") else ():
            entry = _entry(exercise)
            stated = re.search(rf"`{exercise.name} (\[[^`]*\])`", row)
            if stated and not all(f"[{axes}]" in stated[1] for axes in _results(exercise)):
                row = row.replace(stated[0], entry)
            elif entry and not _has(row, exercise):
                row = f"{row}, {entry}"
    return f"| {number} | {row} |"


def off_the_sheet(exercise: Exercise, text: str | None = None) -> Iterator[str]:
    """What an exercise takes and returns, and the sheet does not have, in sentences.

    Args:
        exercise: of the course.
        text: of the sheet, if not as it lies in the checkout.
    """
    known: dict[str, set[str]] = {}
    row = ""
    for number, row in ROW.findall(SHEET.read_text(encoding="utf-8") if text is None else text):
        for names, axes in ARRAY.findall(row):
            for name in names.split(", "):
                known.setdefault(name, set()).add(axes)
        if exercise.notebook.startswith(f"{number}_"):
            break
    write = f"docs/shapes.md, row {exercise.notebook.partition('_')[0]}: write"
    for name, axes in ((name, _as_written(axes)) for name, axes in parameter_axes(exercise)):
        wanted = OTHER_WORDS.get((name, axes), axes)
        if axes not in ("", "...") and "_" not in axes and not {wanted, f"..., {wanted}"} & known.get(name, set()):
            same = sorted(other for other, shapes in known.items() if wanted in shapes and not exercise_called(other))
            called = f", or give it the name of such an array there: {', '.join(same)}" if same else ""
            yield f"{write} `{name} [{wanted}]`, which {exercise.name} takes{called}."
    for axes in _results(exercise):
        if not _has(row, exercise) or ("_" not in axes and f"[{axes}]" not in row):
            yield f"{write} {_entry(exercise)}, which it returns."


def _has(row: str, exercise: Exercise) -> bool:
    return re.search(rf"`{exercise.name}\b", row) is not None


def _entry(exercise: Exercise) -> str:
    """How a row has what an exercise returns: "`qkv [n, k], [n, k], [n, v]`"; "" where that is no array."""
    shapes = ", ".join(f"[{axes}]" for axes in _results(exercise))
    return f"`{exercise.name} {shapes}`" if shapes else ""


def _results(exercise: Exercise) -> list[str]:
    """The axes of each array that an exercise returns, as the sheet writes them."""
    axes = result_axes(exercise)
    return [*filter(None, map(_as_written, axes if isinstance(axes, list) else [axes or ""]))]


def _as_written(axes: str) -> str:
    """An annotation's axes as the sheet writes them: "..., n, h·v" for "*b n h*v"."""
    return ", ".join("..." if one.startswith(("*", "...")) else one.replace("*", "·") for one in axes.split())
