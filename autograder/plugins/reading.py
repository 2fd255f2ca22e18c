"""Take a submission in: keep out what does not belong, and make a notebook of whatever was handed in.

One that is refused becomes an empty notebook with a note on top, and waits for a person. `Repair` then fills in the released
cells, so that a person can give marks, the student gets a feedback page that says what happened, and nobody else's grading stops.
"""

from __future__ import annotations

import fnmatch
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from html import escape, unescape
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeGuard
from uuid import uuid4

import nbformat
from nbformat import NotebookNode, reader, validator
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.coursedir import CourseDirectory

from autograder.plugins.bounds import (
    FEWER_OUTPUTS,
    LARGEST_FILE,
    MOST_CELLS,
    MOST_CODE,
    MOST_FILES,
    MOST_NAMES,
    MOST_OUTPUTS,
    MOST_VALUES,
    Beyond,
    Refused,
    below,
    entries,
    size,
    together,
    too_large,
)
from autograder.plugins.experiments import MARK
from autograder.plugins.handing_in import NO_TIME, TIMESTAMP, is_in_doubt, is_short_text, only_copy, says_a_time
from autograder.plugins.printable import printable
from autograder.plugins.releasing import PYTHON
from autograder.plugins.returning import SECRET, is_secret
from autograder.plugins.structure import QUARANTINE, Structure

log = logging.getLogger(__name__)

LISTED = (TIMESTAMP, SECRET)
NOT_ASKED_FOR = "this assignment asks for no such file"
UNREADABLE = "could not be read"
NO_FILE = f"{UNREADABLE}: it is missing, or a link, or a folder"
WITH_IDS = (4, 5)
"""The first format of notebooks whose cells have ids."""
AROUND = "\ufeff \t\r\n"
"""What may stand before and behind a notebook's JSON: some editors write a byte-order mark."""
AGAIN = "open the notebook in JupyterLab, save it, and hand it in again"
CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
OTHER_FILES = {"<": "a web page", "PK\x03\x04": "a zip file", "%PDF": "a PDF"}
"""By how their text begins, files that are handed in as notebooks."""
JSON_WORDS = ("true", "false", "null")
LONGEST_REASON = 80
HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""How JSON writes half of a character; where both halves follow each other, they are one."""
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LEFT_OUT = "left out"
"""Among what nbgrader tells of a notebook, what `lying_beside` says of its submission."""
MOST_TOLD = 10
"""How many files that do not belong are named one by one."""


def quarantine(course: CourseDirectory, assignment: str, notebooks: list[str], judged: Collection[str]) -> None:
    """Move links, large files and unlisted files out of a submission before nbgrader copies it.

    Of assignments that no judge knows only what nbgrader could not copy, or should not, is moved: links, pipes, names that are not
    UTF-8, a `timestamp.txt` that is no short text. All go to a folder `quarantine` beside `submitted`, where nothing is lost.
    Nothing is raised; the log says what went wrong.

    Args:
        course: whose submission it is.
        notebooks: the paths that nbgrader found in the submission, which are mended here.
        judged: the assignments that the course's judge knows.
    """
    structure, ours = Structure.of(course), assignment if assignment in judged else ""
    for path in {os.path.dirname(notebook) for notebook in notebooks}:
        place = structure.whose("submitted", assignment, path)
        if place is None:
            continue
        folder = place.folder
        try:
            if ours and (found := only_copy(folder, ours)):
                student = printable(place.student)
                log.warning("%s: %s is read as %s.ipynb", student, printable(found.name), ours)
            clear(folder, structure.folder(QUARANTINE, place.student, assignment), ours)
            if ours:  # a missing one is read as such; nbgrader asks its gradebook about each other
                notebooks[:] = [name for name in notebooks if Path(name).stem == ours or os.path.lexists(name)]
        except OSError as error:
            log.error("could not clear %s of files that do not belong: %s", printable(str(folder)), error)
        except Refused:  # whoever reads it says so
            pass


def clear(folder: Path, kept: Path, ours: str, only: Callable[[str], bool] = lambda name: True) -> None:
    """Move to quarantine what does not belong into a submission's folder.

    Args:
        folder: the submission.
        kept: its folder in quarantine.
        ours: its assignment, where that is one that the course's judge knows; else "".
        only: which names of what is unwanted to move.

    Raises:
        Beyond: there is more in it than is looked through.
        OSError: something cannot be moved.
    """
    moved = [(name, reason) for name, reason in unwanted(folder, ours).items() if only(name)]
    for name, reason in moved[:MOST_TOLD]:
        path, to = folder / name, kept.with_name(f"{kept.name}.link") if name == "." else kept / name
        log.warning("%s was moved to %s: %s", printable(str(path)), printable(str(_move(path, to))), reason)
    for name, _ in moved[MOST_TOLD:]:
        _move(folder / name, kept / name)
    if len(moved) > MOST_TOLD:
        log.warning("%d more of %s were moved to %s too", len(moved) - MOST_TOLD, folder, kept)


def _move(path: Path, to: Path) -> Path:
    while os.path.lexists(to):
        to = to.parent.with_name(f"{to.parent.name}~") / to.name
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, to)
    return to


def lying_beside(folder: Path, kept: Path, assignment: str) -> tuple[str, ...]:
    """What lies, or lay until it was moved to quarantine, beside the notebook of a submission to one of this course's; some, where it is much.

    Args:
        folder: the submission.
        kept: what of it is in quarantine.
        assignment: its name.
    """
    found: set[str] = set()
    for place in (folder, *(path for path in kept.parent.glob("*") if path.name.rstrip("~") == kept.name)):
        with suppress(OSError, Refused):
            found |= {entry.name for entry in entries(place, MOST_NAMES)} if not place.is_symlink() else set()
    return tuple(sorted(found - {f"{assignment}.ipynb", *LISTED})[:MOST_FILES])


def unwanted(folder: Path, ours: str) -> dict[str, str]:
    """What does not belong into a submission's folder, by relative path, and why; "." is the folder itself.

    Of an assignment that the course's judge knows (`ours`, its name, else "") a folder that was not asked for is one thing, whatever is in it. Of others', which may ask for
    any, all that is below is looked at.

    Raises:
        Beyond: there is more in it than is looked through.
        OSError: it cannot be read.
    """
    if folder.is_symlink():
        return {".": "it is a link"}
    found = {}
    copy = only_copy(folder, ours) if ours else None
    for entry in entries(folder, MOST_NAMES) if ours else below(folder):
        if copy and entry.name == copy.name:
            continue
        reason = _unwanted(entry) or (ours and _not_asked_for(entry, ours)) or ""
        name = os.path.relpath(entry.path, folder)
        if name == TIMESTAMP and not reason and not _has_a_time(folder / name, ours):
            reason = NO_TIME
        if reason and not any(parent in found for parent in map(str, Path(name).parents)):
            found[name] = reason
    return found


def _has_a_time(path: Path, ours: str) -> bool:
    """Whether nothing is amiss with a `timestamp.txt`: of other courses', what nbgrader does not read is nbgrader's to refuse."""
    return says_a_time(path) if ours else is_short_text(path) and not is_in_doubt(path)


def _unwanted(entry: os.DirEntry[str]) -> str:
    """Why something does not belong into any submission; "" where it may."""
    if entry.is_symlink():
        return "it is a link"
    if not (entry.is_file() or entry.is_dir()):
        return "it is not a plain file"
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8, so it was left out"
    notebook = entry.name.endswith(".ipynb")  # who reads it says why it cannot be read
    return "" if notebook or os.access(entry.path, os.R_OK) else "it cannot be read"


def _not_asked_for(entry: os.DirEntry[str], assignment: str) -> str:
    """Why something does not belong into a submission of this course; "" where it does."""
    if entry.name == f"{assignment}.ipynb":
        return ""
    if entry.name not in LISTED:
        return NOT_ASKED_FOR
    if entry.name == SECRET and not is_secret(Path(entry.path)):
        return "it is not what `nbgrader submit` writes"
    return f"it is larger than {size(LARGEST_FILE)}" if entry.is_file() and entry.stat().st_size > LARGEST_FILE else ""


def files_in(folder: Path, ignore: Sequence[str], given: Collection[str]) -> list[str]:
    """The relative paths of the files that another course's submission brings, without notebooks and without the instructor's.

    Args:
        folder: the submission.
        ignore: file patterns that nbgrader leaves behind (`CourseDirectory.ignore`).
        given: the relative paths of the instructor's files, which take the place of what the submission has there.

    Raises:
        Beyond: there is more in it than is looked through, or than is read, notebooks and all.
        OSError: a folder cannot be read.
    """

    def skipped(name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in (*ignore, "*.ipynb"))

    found: dict[str, int] = {}
    for entry in below(folder, skipped):
        name = os.path.relpath(entry.path, folder)
        if entry.is_file(follow_symlinks=False) and name not in given:
            found[name] = entry.stat(follow_symlinks=False).st_size
    notebooks = {
        path.name: status.st_size for path in folder.glob("*.ipynb") if S_ISREG((status := path.lstat()).st_mode)
    }
    for name, count in notebooks.items():
        if count > LARGEST_FILE:
            raise too_large(name, LARGEST_FILE)
    together([*found.values(), *notebooks.values()])
    return sorted(found)


def why_not_read(error: Exception) -> str:
    """A sentence on a submission that was not read."""
    if isinstance(error, OSError) and error.strerror:
        return printable(f"{Path(os.fsdecode(error.filename or '')).name} could not be read: {error.strerror}")
    return printable(str(error))


def notebook_in(data: bytes, ours: bool) -> NotebookNode:
    """The notebook that some bytes are, made valid.

    Raises:
        Refused: there is more in it than is read; or it is this course's, and no notebook.
        Unreadable: it is another course's, and no notebook.
    """
    if data.count(b",") > MOST_VALUES:
        raise Beyond(f"the notebook holds more than {MOST_VALUES:,} values; {FEWER_OUTPUTS}")
    encoding = json.detect_encoding(data)
    text = data.decode(encoding, errors="replace").strip(AROUND)
    try:
        if not ours:
            data.decode(encoding)
        notebook = salvage(text) if ours else _other(text)
    except RecursionError:
        raise Beyond("the notebook's JSON has too many brackets in one another") from None
    except Refused:
        raise
    except Exception as error:
        raise Unreadable(why_no_notebook(text, error)) from None
    code = sum(len(cell.source) for cell in notebook.cells if cell.cell_type == "code")
    if code > MOST_CODE:
        raise Beyond(f"the notebook's code is longer than {size(MOST_CODE)}")
    return notebook


class Unreadable(ValueError):
    """Another course's file that is no notebook; the message is a sentence that says what it is instead, and what to do."""


def why_no_notebook(text: str, error: Exception) -> str:
    """What a file is that is no notebook, what its student does about it, and in brackets what was raised.

    Args:
        text: what it holds.
    """
    with suppress(RecursionError):
        try:
            json.loads(text)
        except json.JSONDecodeError as broken:
            error = broken
    if not text.strip("\0\ufffd"):
        return f"{UNREADABLE}: the file is empty; {AGAIN}"
    at = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    said = " ".join(f"{type(error).__name__}: {getattr(error, 'msg', error)}".split())
    return printable(f"{UNREADABLE}: {_instead(text, error)}; {AGAIN} ({said[:LONGEST_REASON]}{at})")


def _instead(text: str, error: Exception) -> str:
    """What a file is, or what happened to it, that holds something and is no notebook."""
    if CONFLICT.search(text):
        return "it holds git's conflict marks (<<<<<<<, =======, >>>>>>>), so settle the conflict"
    for begins, what in OTHER_FILES.items():
        if text.startswith(begins):
            return f"it is {what}, and no notebook"
    if not isinstance(error, json.JSONDecodeError):
        return "it is no notebook, for it has other parts than a notebook has"
    if not text.startswith(("{", "[")):
        return "it is another kind of file, and no notebook"
    rest = text[error.pos :]
    if not rest or error.msg.startswith("Unterminated") or any(word.startswith(rest) for word in JSON_WORDS):
        return "the file ends too early, it was cut off"
    return f"its JSON is broken in line {error.lineno}, as after a change in a text editor"


def salvage(text: str) -> NotebookNode:
    """A valid notebook with every cell of `text` that is one: its source, type, id, nbgrader's metadata, and its mark as an experiment or as skipped.

    Outputs are left behind: what was printed elsewhere is not graded here. What a student should read of it stands in the
    notebook's metadata, under `notes`.

    Args:
        text: what was handed in.

    Raises:
        Refused: there are too many cells, or it is no notebook.
        RecursionError: too many brackets stand in one another.
    """
    try:
        text = _without_halves(text)
        tree = json.loads(text)
        if not isinstance(tree, dict) or not isinstance(tree.get("cells"), list):
            tree = nbformat.reads(text, as_version=4)  # an older format, or none
        if len(tree["cells"]) > MOST_CELLS:
            raise Beyond(f"the notebook has more than {MOST_CELLS:,} cells")
        seen: set[str] = set()
        cells = [_salvage_cell(cell, seen) for cell in tree["cells"]]
        rebuilt = new_notebook(cells=[cell for cell in cells if cell], metadata=PYTHON)  # which is validated there
    except (Beyond, RecursionError):
        raise
    except Exception as error:  # nbformat raises a dozen kinds, some from libraries of its own
        raise Refused(why_no_notebook(text, error), UNREADABLE) from None
    if any(isinstance(cell, dict) and not _valid_tags(cell.get("metadata")) for cell in tree["cells"]):
        rebuilt.metadata[NOTES] = [ODD_TAGS]
    return rebuilt


NOTES = "notes"
UNREAD = "unread"
ODD_TAGS = (
    "some cells had tags that no notebook can have: the same one twice, one with a comma, an empty one, or one that is no "
    "text; tags were left out, which costs nothing"
)
SKIPPED = "skip-execution"


def _valid_tags(metadata: Any) -> bool:
    tags = metadata.get("tags", []) if isinstance(metadata, dict) else []
    return _texts(tags) and len(set(tags)) == len(tags) and all(tag and "," not in tag for tag in tags)


def _id(own: Any, seen: set[str]) -> str:
    """A cell's own id, if it is one and no other's."""
    named = own if isinstance(own, str) and CELL_ID.fullmatch(own) and own not in seen else uuid4().hex[:8]
    seen.add(named)
    return named


def _salvage_cell(cell: Any, seen: set[str]) -> NotebookNode | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    lines = cell.get("source")
    source = lines if isinstance(lines, str) else "".join(lines) if _texts(lines) else None
    if source is None:
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n")  # as the release ends its lines, and Python reads them
    new = _new_cell("code" if cell["cell_type"] == "code" else "markdown", source, _id(cell.get("id"), seen))
    metadata = cell.get("metadata")
    if isinstance(metadata, dict):
        if isinstance(metadata.get("nbgrader"), dict):
            new.metadata["nbgrader"] = NotebookNode(_plain(metadata["nbgrader"]))
        if isinstance(metadata.get("tags"), list) and SKIPPED in metadata["tags"]:
            new.metadata["tags"] = [SKIPPED]
        if isinstance(metadata.get(MARK), str):
            new.metadata[MARK] = metadata[MARK]
    attached = cell.get("attachments")
    if new.cell_type == "markdown" and isinstance(attached, dict):
        images = {name: _images(bundle) for name, bundle in attached.items() if isinstance(bundle, dict)}
        new["attachments"] = nbformat.from_dict(images)
    return new


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that are single values; nbgrader has no others."""
    return {name: value for name, value in settings.items() if isinstance(value, (str, int, float, bool, type(None)))}


def _new_cell(cell_type: str, source: str, name: str) -> NotebookNode:
    """What nbformat's `new_code_cell` and `new_markdown_cell` make, without their check of each cell: 0.3 ms."""
    made = NotebookNode(cell_type=cell_type, id=name, metadata=NotebookNode(), source=source)
    if cell_type == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def _images(bundle: dict[str, Any]) -> dict[str, str]:
    """The pictures among what is pasted into a cell."""
    return {kind: data for kind, data in bundle.items() if kind.startswith("image/") and isinstance(data, str)}


def _texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _other(text: str) -> NotebookNode:
    """Another course's notebook, in nbformat's present version, mended.

    Raises:
        Beyond: there are too many cells, or outputs.
        Exception: it is no notebook.
    """
    notebook = reader.reads(_without_halves(text))
    cells = [cell for sheet in notebook.get("worksheets", [notebook]) for cell in sheet.get("cells", [])]
    if len(cells) > MOST_CELLS:
        raise Beyond(f"the notebook has more than {MOST_CELLS:,} cells")
    stored = [cell.get("outputs") for cell in cells]
    if sum(len(outputs) for outputs in stored if isinstance(outputs, list)) > MOST_OUTPUTS:
        raise Beyond(f"the notebook has more than {MOST_OUTPUTS:,} stored outputs; {FEWER_OUTPUTS}")
    for cell in cells if validator.get_version(notebook) < (4, 0) else ():
        cell["outputs"] = []  # nbformat would look at each, and there was no nbgrader yet
    return mended(nbformat.convert(notebook, 4))


def _without_halves(text: str) -> str:
    """Some JSON in which each half character, as half an emoji is, has become a question mark: no file can be written with one."""
    if not HALF.search(text):
        return text
    return json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace").decode()


def mended(notebook: NotebookNode) -> NotebookNode:
    """Another course's notebook without what nbformat refuses and no answer depends on: metadata, ids, records of earlier runs.

    What nbformat says of a whole notebook takes little time where it finds no fault; only where it does is each part looked at.
    """
    version = validator.get_version(notebook)
    if not isinstance(notebook.get("metadata"), dict):
        notebook["metadata"] = NotebookNode()
    for cell in notebook.cells:
        for name in cell.keys() - CELL_PARTS:
            del cell[name]
        if not isinstance(cell.get("metadata"), dict):
            cell["metadata"] = NotebookNode()
    _identify(notebook.cells, version)
    if not _is_valid(version, notebook):
        _keep_valid(notebook.metadata, NOTEBOOK_SETTINGS, lambda one: _is_valid(version, {"metadata": one}))
        for cell in notebook.cells:
            if not _is_valid(version, {"cells": [cell]}):
                _mend(cell, version)
    return notebook


def as_read(notebook: NotebookNode) -> NotebookNode:
    """What nbformat reads of a notebook that a preprocessor has left in memory: nodes all through, and each cell with an id of its own."""
    read = nbformat.from_dict(notebook)
    _identify(read.cells, validator.get_version(read))
    return read


def _identify(cells: Sequence[NotebookNode], version: tuple[int, int]) -> None:
    seen: set[str] = set()
    for cell in cells:
        own = cell.pop("id", None)
        if version >= WITH_IDS:
            cell["id"] = _id(own, seen)


CELL_PARTS = {"attachments", "cell_type", "execution_count", "id", "metadata", "outputs", "source"}
NOTEBOOK_SETTINGS = ("authors", "kernelspec", "language_info", "orig_nbformat", "title")
CELL_SETTINGS = ("collapsed", "execution", "format", "jupyter", "name", "scrolled", "tags")
"""The metadata of notebooks and of cells that nbformat asks anything of."""


def _mend(cell: NotebookNode, version: tuple[int, int]) -> None:
    kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "raw") else "markdown"

    def fits(**parts: Any) -> bool:
        empty = _new_cell(kind, "", "empty")
        if version < WITH_IDS:
            del empty["id"]
        return _is_valid(version, {"cells": [{**empty, **parts}]})

    _keep_valid(cell.metadata, CELL_SETTINGS, lambda one: fits(metadata=one))
    record = {"outputs": cell.get("outputs"), "execution_count": cell.get("execution_count")}
    if kind == "code" and not fits(**record):  # `--no-execute` keeps it
        cell["outputs"], cell["execution_count"] = [], None
    if "attachments" in cell and not (kind != "code" and fits(attachments=cell.attachments)):
        del cell["attachments"]


def _keep_valid(metadata: dict[str, Any], names: tuple[str, ...], valid: Callable[[dict[str, Any]], bool]) -> None:
    for name in names:
        if name in metadata and not valid({name: metadata[name]}):
            del metadata[name]


def _is_valid(version: tuple[int, int], parts: dict[str, Any]) -> bool:
    """Whether nbformat takes a notebook, of which these parts are given; of what is wrong it is not asked, which takes long."""
    notebook = {"nbformat": version[0], "nbformat_minor": version[1], "metadata": {}, "cells": [], **parts}
    try:
        validator.get_validator(*version).validate(notebook)
    except (nbformat.ValidationError, KeyError, TypeError, AttributeError, ValueError):
        return False
    return True


def refused(reason: Exception) -> NotebookNode:
    """A notebook that says why a person will look at what was handed in."""
    notebook = new_notebook(metadata={**PYTHON, UNREAD: True})
    say_why(notebook, reason)
    return notebook


NOT_GRADED = "**This could not be graded automatically"
WHY = re.compile(
    rf"{re.escape(NOT_GRADED)}(?:: (?P<state>[^*]+))?\.\*\* (?P<sentence>.*) A person will look at it\.", re.DOTALL
)


def say_why(notebook: NotebookNode, reason: Exception) -> None:
    """Say on top of a notebook why a person will look at it."""
    state = UNREADABLE if isinstance(reason, OSError) else getattr(reason, "state", "")
    told = as_sentence(reason)
    named = f": {state}" if state and not told.startswith(state) else ""
    note = new_markdown_cell(f"{NOT_GRADED}{named}.** {escape(told)} A person will look at it.")
    if (notebook.nbformat, notebook.nbformat_minor) < WITH_IDS:
        del note["id"]
    notebook.cells.insert(0, note)


def as_sentence(reason: Exception) -> str:
    """Why a submission was refused, with what ends a sentence."""
    told = why_not_read(reason)
    return told if told.endswith("?") else f"{told}."


def reason_in(cells: Sequence[NotebookNode]) -> Refused | None:
    """What `say_why` has said on top of a graded notebook; None where it has said nothing."""
    found = WHY.fullmatch(cells[0].source) if cells and cells[0].cell_type == "markdown" else None
    if found is None:
        return None
    told = unescape(found["sentence"]).removesuffix(".")
    return Refused(told, found["state"] or (UNREADABLE if told.startswith(UNREADABLE) else ""))
