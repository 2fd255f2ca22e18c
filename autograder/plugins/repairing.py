"""Bring a submission's cells back to what the gradebook says they are.

nbgrader trusts the metadata in a submitted notebook. Here only the gradebook is believed: which cells there are, of what
type, what they are worth, what the locked ones say. From the submission come the sources of the answer cells and
of the student's own cells, nothing else. No repair decides what a person marks, and none hides an answer given in another cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import compute_checksum

from autograder.plugins.experiments import MARK, names_in, words_in
from autograder.plugins.judges import judge_of
from autograder.plugins.printable import few, printable
from autograder.plugins.reading import NOTES, UNREAD
from autograder.verdicts.cells import ANSWER

REPAIRED = "**Repaired before grading**"
"""How the cell begins that says on top of a notebook what was repaired."""

SETTINGS = ("schema_version", "grade", "solution", "task", "locked", "points")

RELEASED = "released"
"""Among what nbgrader tells of a notebook, what `released_in` finds in its source."""

LOOK_FOR_IT = "*A person looks for the answer in the student's own cells: {}.*"
MISSING = "# this answer was missing"


@dataclass(frozen=True)
class Released:
    """What a notebook was released with beside the gradebook's cells.

    Attributes:
        known: what stands in each cell, and the ids of those with code.
        given: by their names, the cells above the first answer that only import and define: answers may need what they bind.
    """

    known: frozenset[str] = frozenset()
    given: tuple[tuple[str, str], ...] = ()

    def lacking_in(self, cells: Iterable[NotebookNode]) -> bool:
        """Whether not all of the given cells are there as they were released, in order."""
        sources = [_squeezed(source) for _, source in self.given]
        found = [squeezed for cell in cells if cell.cell_type == "code" and (squeezed := _squeezed(cell.source))]
        return [one for one in found if one in sources] != sources


@dataclass(frozen=True)
class OfficialCell:
    """A cell as the gradebook has it."""

    name: str
    cell_type: str
    source: str
    locked: bool
    metadata: dict[str, Any]

    @property
    def by_hand(self) -> bool:
        """Whether it is an answer that a person marks."""
        return bool(self.metadata.get("grade") and self.metadata.get("solution"))


class SourceCell(Protocol):
    """A cell as it was released, wherever that is kept."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def locked(self) -> bool: ...


class Repair(NbGraderPreprocessor):
    """Repair duplicated, missing, retyped and re-pointed cells; drop tags and other metadata; say so on top."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        info = resources["nbgrader"]
        if info["notebook"] not in judge_of(self.config).notebooks:
            return nb, resources
        with self._gradebook(info["db_url"]) as gradebook:
            official = official_cells(gradebook, info["notebook"], info["assignment"])
        told = nb.metadata.pop(NOTES, [])
        if nb.metadata.pop(UNREAD, False):  # of cells that nobody read there is nothing to say
            nb.cells += as_released(official)
            return nb, resources
        nb.cells, notes = repair(nb.cells, official, info.get(RELEASED, Released()))
        notes = few(map(printable, told + notes))
        for note in notes:
            self.log.warning("%s of %s: %s", info["notebook"], info["student"], note)
        tell(nb, notes)
        return nb, resources

    def _gradebook(self, url: str) -> Gradebook:
        return Gradebook(url)


def official_cells(gradebook: Gradebook, notebook: str, assignment: str) -> list[OfficialCell]:
    """The nbgrader cells of a notebook, as they were when the release was made."""
    stored = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: cell.max_score for cell in stored.grade_cells}
    tasks = {cell.name: cell.max_score for cell in stored.task_cells}
    solutions = {cell.name for cell in stored.solution_cells}
    found = []
    for cell in stored.source_cells:
        metadata = {
            "schema_version": 3,
            "grade_id": cell.name,
            "cell_type": cell.cell_type,
            "checksum": cell.checksum,
            "locked": cell.locked,
            "grade": cell.name in points,
            "solution": cell.name in solutions,
            "task": cell.name in tasks,
        }
        worth = points.get(cell.name, tasks.get(cell.name))
        if worth is not None:
            metadata["points"] = worth
        found.append(OfficialCell(cell.name, cell.cell_type, cell.source, cell.locked, metadata))
    return found


def released_in(path: Path) -> Released:
    """What a notebook was released with.

    Args:
        path: the source notebook. Where there is none, all cells pass for a student's own.
    """
    if not path.is_file():
        return Released()
    cells = [(cell, "".join(cell["source"])) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    known = {source.strip() for _, source in cells}
    code = [(cell, cell.get("id", ""), source) for cell, source in cells if cell["cell_type"] == "code"]
    above = takewhile(lambda one: not one[0]["metadata"].get("nbgrader", {}).get("solution"), code)
    given = tuple((name, source) for _, name, source in above if name and not names_in(source).acts)
    return Released(frozenset(known | {name for _, name, _ in code if name}), given)


def tell(nb: NotebookNode, notes: Iterable[str]) -> None:
    """Say on top of a notebook what was put right in it, below what is said there already."""
    listed = "\n".join(f"- {escape(printable(note))}" for note in notes)
    top = next((cell for cell in nb.cells[:2] if cell.source.startswith(REPAIRED)), None)
    if listed and top is not None:
        top.source += f"\n{listed}"
    elif listed:
        nb.cells.insert(0, new_markdown_cell(f"{REPAIRED}\n\n{listed}"))


def repair(
    cells: list[NotebookNode], official: list[OfficialCell], released: Released = Released()
) -> tuple[list[NotebookNode], list[str]]:
    """The cells as they may be graded, and a note on everything that was not as it was released.

    Args:
        official: the cells that the gradebook has.
        released: the other cells.
    """
    notes: list[str] = []
    known = {cell.name: cell for cell in official}
    claims: dict[str, NotebookNode] = {}
    kept: list[NotebookNode] = []
    for place, cell in enumerate(cells):
        name, stated = _claimed(cell), cell.metadata
        cell.metadata = _mark(stated)
        follows = {_claimed(later) for later in cells[place + 1 :]} - set(claims)
        if name in claims and not (counts := _why_the_other(cell, claims[name], known[name], follows)):
            notes.append(f"the cell {name} was there twice; the first one counts, the other is an ordinary cell")
            if cell.source == known[name].source != claims[name].source:  # below the answer it would take its place
                kept.insert(_place(kept, claims[name]), cell)
                continue
        elif name in known:
            if name in claims:
                claims[name].metadata = NotebookNode()
                notes.append(f"the cell {name} was there twice; {counts}")
            cell = _restored(cell, known[name], stated, notes)
            claims[name] = cell
        elif name is not None:
            notes.append(f"{name!r:.60} is not a cell of this assignment; it is graded as an ordinary cell")
        kept.append(cell)
    own = [cell for cell in kept if _is_own(cell, released.known)]
    for cell in official:
        if cell.name not in claims:
            looks = "; a person looks for the answer in other cells" if cell.by_hand else ""
            notes.append(f"the cell {cell.name} was missing; it was put back{looks}")
            _insert(kept, _blank(cell), claims.get(_answer_to(cell.name)))
        elif cell.locked:
            _move_after_answer(kept, claims[cell.name], claims.get(_answer_to(cell.name)), notes)
        elif cell.by_hand and own and claims[cell.name].source == cell.source:
            notes.append(f"the cell {cell.name} is as it was released; a person looks for the answer in other cells")
            claims[cell.name].source += f"\n\n{LOOK_FOR_IT.format('this cell is as it was released')}"
    elsewhere = [cell for cell in kept if _may_hold_answers(cell, known, released.known)]
    _follow_answers_elsewhere(kept, elsewhere, known, notes)
    _put_back_given(kept, released.given, notes)
    return kept, notes


def _put_back_given(kept: list[NotebookNode], given: Iterable[tuple[str, str]], notes: list[str]) -> None:
    """Put given cells that are missing above all others, so that whatever a student binds of the same name counts."""
    missing = [(name, source) for name, source in given if version_of(name, source, kept) is None]
    for place, (name, source) in enumerate(missing):
        retyped = any(cell.get("id") == name for cell in kept)
        notes.append(f"the cell {name} {'had become text' if retyped else 'was missing'}; it was put back")
        kept.insert(place, new_code_cell(source, **({} if retyped else {"id": name})))


def version_of(name: str, source: str, cells: Iterable[NotebookNode]) -> NotebookNode | None:
    """What a student has made of a given cell: the one of its name, or else, as some editors lose these, the first that has half of its
    lines; None where it is missing."""
    code = [cell for cell in cells if cell.cell_type == "code" and "nbgrader" not in cell.metadata]
    lines = _lines(source)
    same = (cell for cell in code if cell.get("id") == name)
    return next(same, next((cell for cell in code if 2 * len(lines & _lines(cell.source)) >= len(lines)), None))


def lost_from(cell: NotebookNode, source: str, cells: Iterable[NotebookNode]) -> list[str]:
    """The names that a given cell bound when it was released, that no cell binds any more and another one has in it."""
    code = [each for each in cells if each.cell_type == "code"]
    used = words_in(each.source for each in code if each is not cell)
    return sorted(name for name in names_in(source).written & used if not any(defines(each, name) for each in code))


def is_same(source: str, released: str) -> bool:
    """Whether a cell is as it was released; how front ends end lines and indent makes no difference."""
    return _squeezed(source) == _squeezed(released)


def _squeezed(source: str) -> str:
    return "".join(source.split())


def _lines(source: str) -> set[str]:
    return {line for each in source.splitlines() if (line := each.strip()) and not line.startswith("#")}


def _is_own(cell: NotebookNode, released: Collection[str]) -> bool:
    """Whether a student has made a cell, or put words of their own into a text."""
    text = cell.source.strip()
    known = text in released or (cell.cell_type == "code" and cell.id in released)
    return bool(text) and not known and "nbgrader" not in cell.metadata


def _may_hold_answers(cell: NotebookNode, known: dict[str, OfficialCell], released: Collection[str]) -> bool:
    """Whether a student has put code into a cell: one of their own, one for another answer, or one that the course gave."""
    official = known.get(_official_name(cell))
    if official is None:
        return cell.cell_type == "code" and cell.source.strip() not in released
    return not official.locked and cell.cell_type == "code" and is_written(cell, official.source)


def _follow_answers_elsewhere(
    kept: list[NotebookNode], elsewhere: list[NotebookNode], known: dict[str, OfficialCell], notes: list[str]
) -> None:
    """Where an answer cell is as it was released, or defines nothing of this name, and another cell does, let the test come after that
    cell: of several after the last, as in a kernel that has run them all."""
    after: dict[int, int] = {}
    for name, answer in known.items():
        test = name.removesuffix(ANSWER)
        if answer.locked or test == name or test not in known:
            continue
        place, cell = next((i, cell) for i, cell in enumerate(kept) if _official_name(cell) == name)
        found = next((other for other in reversed(elsewhere) if other is not cell and defines(other, test)), None)
        written = is_written(cell, answer.source)
        if found is None or (written and defines(cell, test)):
            continue
        moved = not written and place > (there := _place(kept, found))
        if moved:
            kept.insert(there, kept.pop(place))
        judged, there = next(i for i, cell in enumerate(kept) if _official_name(cell) == test), _place(kept, found)
        if judged < there:
            test_cell = kept.pop(judged)
            kept.insert(there + after.get(id(found), 0), test_cell)
            after[id(found)] = after.get(id(found), 0) + 1
            moved = True
        if moved:
            holds = f"the cell {_official_name(found)}" if _official_name(found) else "a cell of your own"
            notes.append(f"the cell {name} has no {test} in it, and {holds} has; that one was judged")


def is_written(cell: NotebookNode, released: str) -> bool:
    """Whether a student has answered in a cell that was released like this. Code that still ends as it did then is not written."""
    if cell.cell_type != "code":
        return cell.source.strip() not in ("", released.strip())
    return _last_line(cell.source) not in ("", _last_line(released))


def _last_line(source: str) -> str:
    """The last line of code that is no comment."""
    lines = (line.strip() for line in reversed(source.splitlines()))
    return next((line for line in lines if line and not line.startswith("#")), "")


def defines(cell: NotebookNode, name: str) -> bool:
    """Whether a cell of code gives something this name, as far as a line tells."""
    binds = rf"^{name} *(?::[^=\n]*)?=(?!=)|^[ \t]*(?:from +\S+ +)?import\b.*\b{name}\b"
    return cell.cell_type == "code" and (
        re.search(binds, cell.source, re.MULTILINE) is not None or "" in _around_definitions(cell.source, name)
    )


def class_with(name: str, cells: Iterable[NotebookNode]) -> str:
    """The class in some cells of code that has a function of this name; "" where there is none."""
    found = (one for cell in cells if cell.cell_type == "code" for one in _around_definitions(cell.source, name))
    return next((around.split()[1] for around in found if around.startswith("class")), "")


def _around_definitions(source: str, name: str) -> list[str]:
    """Of each function of this name, what it is defined in, such as "class Mask" or "def main"; "" where it stands by itself."""
    lines = source.expandtabs().split("\n")
    places = [i for i, line in enumerate(lines) if re.match(rf" *(?:async +)?def +{name}\b", line)]
    return [_around(lines[place::-1]) for place in places]


def _around(upwards: list[str]) -> str:
    """What the first of some lines is in: those that follow stand above it."""
    depth = _depth(upwards[0])
    for line in upwards[1:]:
        if line.strip() and line.strip()[0] not in "#)]}" and _depth(line) < depth:
            depth = _depth(line)
            if around := re.match(r" *(?:async +)?((?:class|def) +\w+)", line):
                return around[1]
    return ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _place(cells: list[NotebookNode], cell: NotebookNode) -> int:
    return next(i for i, other in enumerate(cells) if other is cell)


def _official_name(cell: NotebookNode) -> str:
    name: str = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return name


def _mark(stated: NotebookNode) -> NotebookNode:
    """Of a cell's metadata, what says that it was released as an experiment: it is believed, for it can only leave out that very cell."""
    return NotebookNode({MARK: stated[MARK]} if MARK in stated and "nbgrader" not in stated else {})


def _claimed(cell: NotebookNode) -> str | None:
    stated = cell.metadata.get("nbgrader")
    name = stated.get("grade_id") if isinstance(stated, dict) else None
    return name if isinstance(name, str) else None


def _why_the_other(
    cell: NotebookNode, first: NotebookNode, official: OfficialCell, follows: Collection[str | None]
) -> str:
    """Why of two cells of one name the other counts and not the first, which is so where a kernel would have it; "" where the first does.

    Args:
        follows: the names of the cells below, of which there was none above.
    """
    test = official.name.removesuffix(ANSWER)
    if official.locked or cell.source == official.source:
        return ""
    if first.source == official.source:
        return "the first is as it was released, so the other counts"
    if not defines(cell, test):
        return ""
    if not defines(first, test):
        return f"the first has no {test} in it, so the other counts"
    return "the one right above its test counts, the other is an ordinary cell" if test in follows else ""


def _answer_to(test: str) -> str:
    return f"{test}{ANSWER}"


def _restored(cell: NotebookNode, official: OfficialCell, stated: NotebookNode, notes: list[str]) -> NotebookNode:
    was_released_so = was_released(cell, stated["nbgrader"], official.source)
    if changed := _changed(stated["nbgrader"], official, was_released_so):
        notes.append(f"the cell {official.name} had other settings ({', '.join(changed)}); it has its own again")
    if "skip-execution" in stated.get("tags", ()):
        notes.append(f"the cell {official.name} was tagged skip-execution; it was run all the same")
    if cell.cell_type != official.cell_type:
        if not was_released_so:
            notes.append(f"the cell {official.name} had become {cell.cell_type}; it is {official.cell_type} again")
        make = new_code_cell if official.cell_type == "code" else new_markdown_cell
        cell = make(cell.source)
    if official.locked and cell.source != official.source:
        cell.source = official.source
    cell.metadata["nbgrader"] = NotebookNode(official.metadata)
    return cell


def _changed(stated: dict[str, Any], official: OfficialCell, was_released_so: bool) -> list[str]:
    """The settings of a cell that are not the official ones, where its student may have changed them: not what a release did since."""
    version = stated.get("schema_version")
    is_older = isinstance(version, int) and version < official.metadata["schema_version"]
    changed = [key for key in SETTINGS if stated.get(key) != official.metadata.get(key)]
    changed = [key for key in changed if not (is_older if key == "schema_version" else was_released_so)]
    return [] if changed == ["points"] else changed


def was_released(cell: NotebookNode, stated: dict[str, Any], *sources: str) -> bool:
    """Whether a release gave a cell with these settings, be it an earlier one than today's.

    A release writes a checksum of a cell's source, type, name, kind and points into it. In an answer the source has become another:
    `sources` are tried too.
    """
    for source in (cell.source, *sources):
        released = NotebookNode(cell_type=cell.cell_type, source=source, metadata=NotebookNode(nbgrader=stated))
        with suppress(Exception):  # a submission may say anything
            if compute_checksum(released) == stated.get("checksum"):
                return True
    return False


def as_released(official: list[OfficialCell]) -> list[NotebookNode]:
    """The cells that the gradebook has, where nothing of a submission is graded by itself: what a person's marks belong to."""
    return [_made(cell, cell.source) for cell in official]


def answers_in(official: Iterable[SourceCell]) -> dict[str, str]:
    """By the names of the cells that students fill in, what stands in them as they are released."""
    return {cell.name: cell.source for cell in official if not cell.locked}


def _blank(official: OfficialCell) -> NotebookNode:
    """A missing cell: a locked one as it was released, an answer without anything that could hide one given elsewhere."""
    if official.locked:
        return _made(official, official.source)
    return _made(official, MISSING if official.cell_type == "code" else LOOK_FOR_IT.format("this cell was missing"))


def _made(official: OfficialCell, source: str) -> NotebookNode:
    cell = (new_code_cell if official.cell_type == "code" else new_markdown_cell)(source)
    cell.metadata["nbgrader"] = NotebookNode(official.metadata)
    return cell


def _insert(cells: list[NotebookNode], cell: NotebookNode, after: NotebookNode | None) -> None:
    position = next((i + 1 for i, other in enumerate(cells) if other is after), len(cells))
    cells.insert(position, cell)


def _move_after_answer(
    cells: list[NotebookNode], test: NotebookNode, answer: NotebookNode | None, notes: list[str]
) -> None:
    places = {id(cell): place for place, cell in enumerate(cells)}
    if answer is not None and places[id(test)] < places[id(answer)]:
        cells.pop(places[id(test)])
        _insert(cells, test, answer)
        notes.append(f"the test {test.metadata.nbgrader.grade_id} stood before its answer; it was moved after it")
