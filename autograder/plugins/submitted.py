"""What was handed in for one of the course's own notebooks: that notebook, or something else, which waits for a person.

Both doors ask here, and so does `collect`. Of other courses' submissions nbgrader says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from nbformat import NotebookNode

from autograder.plugins.bounds import MOST_NAMES, Beyond, Refused, below, content, entries, together
from autograder.plugins.judges import Judge
from autograder.plugins.printable import printable
from autograder.plugins.reading import LISTED, UNREADABLE, notebook_in
from autograder.plugins.repairing import is_written
from autograder.verdicts.cells import ANSWER

ANOTHER = "another notebook"
NO_CELL = "no cell of it"
NO_NOTEBOOK = "no notebook"
SEVERAL = "several files"

NOTEBOOK = ".ipynb"
ASKED = re.compile(r"\b(?:check|judge)\((\w+)\)")
"""How a test cell names its exercise, also where its metadata is lost."""
DEFINED = re.compile(r"^[ \t]*(?:async +)?def +(\w+)", re.MULTILINE)
MOST_NAMED = 4

Answers = Mapping[str, str]
"""By the names of the cells that students fill in, what stands in them as they are released."""


def notebook_of(data: bytes, notebook: str, judge: Judge) -> NotebookNode:
    """The notebook that was handed in.

    Args:
        data: what the file holds.
        notebook: which one of the judge's it should be.

    Raises:
        Refused: it cannot be read, or is another, or none of this course.
    """
    found = notebook_in(data, True)
    _refuse_another(found.cells, notebook, judge)
    return found


def why_none(data: bytes, notebook: str, judge: Judge) -> str:
    """Why a person has to look at what a file holds, in a sentence; "" where it is the notebook, or none that the judge knows."""
    try:
        if notebook in judge.notebooks:
            notebook_of(data, notebook, judge)
    except Refused as reason:
        return str(reason)
    return ""


def may_be(data: bytes, notebook: str, judge: Judge) -> bool:
    """Whether a file may be meant for a notebook: it is that one, or cannot be read."""
    try:
        notebook_of(data, notebook, judge)
    except Refused as reason:
        return reason.state not in (ANOTHER, NO_CELL)
    return True


def file_of(folder: Path, notebook: str, judge: Judge, answers: Callable[[], Answers]) -> Path:
    """The file of a submission that is graded. Nothing is moved.

    The notebook of the right name counts, unless it is as it was released and another one beside it has answers. Where there is
    none of that name, a single one of another name counts, if it is of this assignment.

    Args:
        folder: a submission.
        notebook: the one of the judge's that was asked for.
        answers: is asked only where there are several notebooks.

    Raises:
        Refused: there is none that counts, or a person has to say which does.
        OSError: the folder cannot be read.
    """
    asked = folder / f"{notebook}{NOTEBOOK}"
    if folder.is_symlink():
        raise Refused(f"{UNREADABLE}: its folder is a link", UNREADABLE)
    if asked.is_symlink() or (asked.exists() and not asked.is_file()):
        raise Refused(f"{UNREADABLE}: {asked.name} is a link, or no plain file", UNREADABLE)
    if asked.exists():
        _refuse_untouched(asked, judge, answers)
        return asked
    found = sorted(path for path in folder.glob(f"*{NOTEBOOK}") if path.is_file() and not path.is_symlink())
    candidates = found or _in_folders(folder)
    if len(candidates) > 1:
        raise Refused(f"handed in {_named(candidates, folder)}, and no {asked.name}: which one counts?", SEVERAL)
    if not found:
        raise Refused(_handed_in_instead(folder, asked.name), NO_NOTEBOOK)
    notebook_of(content(found[0]), notebook, judge)
    return found[0]


def _refuse_another(cells: Iterable[NotebookNode], notebook: str, judge: Judge) -> None:
    """See to it that a notebook is the one that was asked for, by its cells' names; where none has a name, by what they ask and define.

    Raises:
        Refused: it is another one, or none of this course.
    """
    names = {other: _names(judge, other) for other in judge.notebooks}
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    claimed, defined = _claimed(cells), set(DEFINED.findall(code))
    for found in (claimed, set(ASKED.findall(code)) | (defined & names[notebook])):
        if found & names[notebook]:
            return
        if known := [other for other in names if found & names[other]]:
            most = max(known, key=lambda other: len(found & names[other]))
            raise Refused(f"this is {most}, handed in for {notebook}", ANOTHER)
    raise Refused(f"no cell of {notebook} is in it", NO_CELL)


def _names(judge: Judge, notebook: str) -> set[str]:
    """What the cells of a notebook are called that are filled in or graded."""
    exercises = judge.exercises(notebook)
    return {*exercises, *(f"{name}{ANSWER}" for name in exercises), *judge.questions(notebook)}


def _claimed(cells: Iterable[NotebookNode]) -> set[str]:
    return {name for cell in cells if isinstance(name := cell.metadata.get("nbgrader", {}).get("grade_id"), str)}


def _refuse_untouched(asked: Path, judge: Judge, answers: Callable[[], Answers]) -> None:
    """Have a person say which file counts where the one that was asked for has no answer in it, and another one has.

    Raises:
        Refused: so it is, or there is more beside it than is looked through.
        OSError: a folder cannot be read.
    """
    folder = asked.parent
    alone = not any(
        entry.name != asked.name and (entry.name.endswith(NOTEBOOK) or entry.is_dir(follow_symlinks=False))
        for entry in entries(folder, MOST_NAMES)
    )
    if alone or _answered(asked, asked.stem, judge, answers()) is not False:
        return
    plain = (Path(entry.path) for entry in below(folder) if entry.is_file(follow_symlinks=False))
    beside = [path for path in plain if path.suffix == NOTEBOOK and path != asked]
    together(path.lstat().st_size for path in beside)
    worked_on = [path for path in beside if _answered(path, asked.stem, judge, answers())]
    if worked_on:
        which = f"{_named(worked_on, folder)} beside it {'has' if len(worked_on) == 1 else 'have'} answers"
        raise Refused(f"{asked.name} is as it was released, and {which}: which one counts?", SEVERAL)


def _answered(path: Path, notebook: str, judge: Judge, answers: Answers) -> bool | None:
    """Whether a notebook has an answer in it; None where it is not this one."""
    try:
        cells = notebook_of(content(path), notebook, judge).cells
    except (Refused, OSError):
        return None
    return any(
        is_written(cell, answers[name])
        for cell in cells
        for name in _claimed([cell]) | {f"{name}{ANSWER}" for name in DEFINED.findall(cell.source)}
        if name in answers
    )


def _in_folders(folder: Path) -> list[Path]:
    """The notebooks in the folders of a submission, as far as these are looked through."""
    found: list[Path] = []
    with suppress(Beyond):
        for entry in below(folder, lambda name: name.startswith(".")):
            if entry.name.endswith(NOTEBOOK) and entry.is_file(follow_symlinks=False):
                found.append(Path(entry.path))
    return sorted(found)


def _handed_in_instead(folder: Path, asked: str) -> str:
    """What was handed in where no notebook lies in a submission's folder."""
    found: list[Path] = []
    with suppress(Beyond):
        for entry in below(folder):
            if not entry.is_dir(follow_symlinks=False) and entry.name not in LISTED:
                found.append(Path(entry.path))
    if not found:
        return "handed in no file"
    if any(path.suffix == NOTEBOOK for path in found):
        return f"handed in {_named(found, folder)}, and no {asked}"
    return (
        f"handed in {_named(found, folder)}, {'which is no notebook' if len(found) == 1 else 'which are no notebooks'}"
    )


def _named(paths: list[Path], folder: Path) -> str:
    """Files in a sentence, as many of them as one still reads."""
    names = [printable(str(path.relative_to(folder))) for path in paths[:MOST_NAMED]]
    more = len(paths) - len(names)
    if more:
        names.append(f"{more:,} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
