"""What of a notebook will not count when it is graded, though it runs here: the grader has the file alone, and runs it from the top."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from course.cells import Cell, Notebook, around_definitions, as_run, defines, is_stub, run_from, text

ANSWER = "_solution"
"""What the name of an answer cell adds to the exercise's, which is the name of its test cell."""

IMPORTED = re.compile(r"^[ \t]*(?:from|import) +(\w+)", re.MULTILINE)
NAMED = re.compile(r"""["']([\w ./-]+\.\w+)["']""")


def will_not_count(
    notebook: Notebook, functions: Mapping[str, Any], names: tuple[str, ...], folder: Path
) -> Iterator[str]:
    """What will earn nothing, or be missing, a sentence each.

    Args:
        notebook: as it is handed in.
        functions: what this kernel has of its exercises, by name.
        names: all its exercises.
        folder: where the notebook lies.
    """
    cells = notebook["cells"]
    for name in names:
        if why := _why_not(cells, name, functions.get(name)):
            yield f"{name}: {why}"
    code = "\n".join(text(cell) for cell in cells if cell["cell_type"] == "code")
    for file in sorted({*_modules(code, folder), *_files(code, folder)}):
        yield f"{file} stays here, for the notebook alone is handed in. Paste what you need of it into the notebook."


def _why_not(cells: list[Cell], name: str, function: Any) -> str:
    code = [i for i, cell in enumerate(cells) if cell["cell_type"] == "code" and defines(text(cell), name)]
    if not code:
        for i, cell in enumerate(cells):
            around = around_definitions(text(cell), name) if cell["cell_type"] == "code" else []
            if any(one.startswith("class") for one in around):
                return f"its code is in a class, in cell {i + 1}. Take it out of the class: a function has to stand by itself."
        told = next(
            (i for i, cell in enumerate(cells) if cell["cell_type"] != "code" and defines(text(cell), name)), None
        )
        return "" if told is None else f"its code is in cell {told + 1}, which is one of text. Make it a cell of code."
    judged = _judged(cells, code, name)
    run = [i for i in code if as_run(cells[i]) == run_from(function)] if function is not None else []
    last = next((i for i in reversed(code) if not is_stub(text(cells[i]))), judged)
    if not run and judged < last:
        return f"it is written in cell {judged + 1} and in cell {last + 1}, and what is graded is in cell {judged + 1}, which runs before its test."
    if not run or judged in run:
        return ""
    return (
        f"what you ran last is in cell {run[-1] + 1}, and what is graded is in cell {judged + 1}, which runs before its test. "
        f"Write it into cell {judged + 1}."
    )


def _judged(cells: list[Cell], code: list[int], name: str) -> int:
    """Which cell defines the function that is graded, of those that define one of this name: the last before the test, or any other
    where the cell for the answer has none."""
    answer, test = (_place(cells, each) for each in (f"{name}{ANSWER}", name))
    written = [i for i in code if not is_stub(text(cells[i]))] or code
    if answer is None or answer not in written:
        return written[-1]
    return [i for i in written if i <= answer or (test is not None and i < test)][-1]


def _place(cells: list[Cell], grade_id: str) -> int | None:
    named = (i for i, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)
    return next(named, None)


def _modules(code: str, folder: Path) -> Iterator[str]:
    """The student's own modules beside the notebook that it imports."""
    for name in IMPORTED.findall(code):
        if (folder / f"{name}.py").is_file():
            yield f"{name}.py"
        elif any((folder / name).glob("*.py")):
            yield f"{name}/"


def _files(code: str, folder: Path) -> Iterator[str]:
    """The files beside the notebook that it names."""
    return (name for name in NAMED.findall(code) if not name.endswith(".ipynb") and (folder / name).is_file())
