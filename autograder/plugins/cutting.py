"""How much of a notebook its feedback page shows; what is left out is said where it was."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

MOST_CELLS_SHOWN = 2_000
MOST_OUTPUTS_SHOWN = 500  # of one cell
ESCAPE = re.compile("\x1b\\[")
TEXTS = ("text/plain", "text/markdown", "text/latex", "text/vnd.mermaid")
LENGTHS = ("height", "width")
LENGTH = re.compile(r"\d+(?:\.\d+)?(?:px|%)?", re.ASCII)
SETTINGS = ("alt", "height", "isolated", "unconfined", "width")  # of an output, that templates read


@dataclass
class Room:
    """So many of something may be shown at once, and so many on a whole page."""

    each: int
    left: int

    def take(self, wanted: int) -> int:
        given = min(wanted, self.each, self.left)
        self.left -= given
        return given

    def holds(self, wanted: int) -> bool:
        return wanted <= min(self.each, self.left)


class Rooms:
    """What is left to be shown on one page.

    Args:
        sources: characters in cells, of one and of all together.
    """

    def __init__(self, sources: tuple[int, int] = (50_000, 300_000)) -> None:
        self.source = Room(*sources)
        self.text = Room(100_000, 2_000_000)  # characters
        self.codes = Room(2_000, 20_000)  # of colour, in texts
        self.rich = Room(8 << 20, 16 << 20)  # characters of pictures, HTML and so on
        self.tags = Room(50_000, 100_000)
        self.outputs = Room(MOST_OUTPUTS_SHOWN, 4 * MOST_OUTPUTS_SHOWN)


def cut(notebook: NotebookNode, rooms: Rooms | None = None) -> None:
    """Cut a notebook to what a page can show: nbgrader's own cells before others, sources before outputs."""
    rooms = rooms or Rooms()
    notebook.cells = _cells(notebook.cells)
    for cell in sorted(notebook.cells, key=lambda cell: "nbgrader" not in cell.metadata):
        cell.source = _source(cell, rooms)
        if "attachments" in cell:
            cell.attachments = _attachments(cell.attachments, rooms)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _outputs(cell.outputs, rooms)
    if not rooms.rich.holds(_size(notebook.metadata)):
        notebook.metadata.pop("widgets", None)


def _cells(cells: list[NotebookNode]) -> list[NotebookNode]:
    room = Room(len(cells), max(MOST_CELLS_SHOWN - sum("nbgrader" in cell.metadata for cell in cells), 0))
    kept = [cell for cell in cells if "nbgrader" in cell.metadata or room.take(1)]
    if len(kept) < len(cells):
        kept.append(new_markdown_cell(f"**{len(cells) - len(kept):,} more cells are not shown here.**"))
    return kept


def _source(cell: NotebookNode, rooms: Rooms) -> str:
    text: str = cell.source
    given = rooms.source.take(len(text))
    if given == len(text):
        return text
    comment = "# " if cell.cell_type == "code" else ""
    return f"{text[:given]}\n\n{comment}{_more(len(text) - given)}"


def _more(characters: int) -> str:
    return f"… {characters:,} more characters are not shown here."


def _attachments(attachments: NotebookNode, rooms: Rooms) -> NotebookNode:
    kept = NotebookNode()
    for name, pictures in attachments.items():
        size = _size(pictures)
        if rooms.rich.holds(size):
            rooms.rich.take(size)
            kept[name] = pictures
    return kept


def _outputs(outputs: list[NotebookNode], rooms: Rooms) -> list[NotebookNode]:
    given = rooms.outputs.take(len(outputs))
    kept = [_output(output, rooms) for output in outputs[:given]]
    if given < len(outputs):
        kept.append(new_output("stream", text=f"… {len(outputs) - given:,} more outputs are not shown here.\n"))
    return kept


def _output(output: NotebookNode, rooms: Rooms) -> NotebookNode:
    if output.output_type == "stream":
        output.text = _text(output.text, rooms)
    elif output.output_type == "error":
        output.traceback = _text("\n".join(output.traceback), rooms).split("\n")
    else:
        output.data = NotebookNode(_shown(output.data, rooms))
        stated = output.get("metadata", {})
        own = {kind: _settings(stated[kind]) for kind in output.data if kind in stated}
        output.metadata = NotebookNode(_settings(stated) | own)
    return output


def _text(text: str, rooms: Rooms) -> str:
    """The beginning of a text that is as long, and as often changes its colour, as there is room for."""
    kept = text[: rooms.text.take(len(text))]
    codes = [found.start() for found in ESCAPE.finditer(kept)]
    given = rooms.codes.take(len(codes))
    if given < len(codes):
        kept = kept[: codes[given]]
    if len(kept) == len(text):
        return text
    return f"{kept}\x1b[0m\n{_more(len(text) - len(kept))}\n"


def _shown(data: dict[str, Any], rooms: Rooms) -> dict[str, Any]:
    kept = {}
    for kind, content in data.items():
        if kind in TEXTS:
            kept[kind] = _text(content, rooms) if isinstance(content, str) else ""
        elif (isinstance(content, str) or kind.endswith("json")) and _fits(content, rooms):
            kept[kind] = content
    if len(kept) < len(data) and not set(kept) - set(TEXTS):
        note = f"An output of {sum(map(_size, data.values())):,} characters is too large to be shown here."
        kept = {"text/plain": "\n".join([note, *(kept[kind] for kind in ("text/plain",) if kind in kept)])}
    return kept


def _fits(content: Any, rooms: Rooms) -> bool:
    size, tags = _size(content), content.count("<") if isinstance(content, str) else 0
    fits = rooms.rich.holds(size) and rooms.tags.holds(tags)
    if fits:
        rooms.rich.take(size)
        rooms.tags.take(tags)
    return fits


def _size(content: Any) -> int:
    return len(content) if isinstance(content, str) else len(json.dumps(content))


def _settings(stated: Any) -> NotebookNode:
    """Of what came with an output, the settings that templates read, where they are plain values."""
    settings = stated if isinstance(stated, dict) else {}
    plain = {name: value for name, value in settings.items() if isinstance(value, str | int | float)}
    return NotebookNode({name: plain[name] for name in SETTINGS if name in plain and _can_be(name, plain[name])})


def _can_be(name: str, value: str | float) -> bool:
    """Whether a setting can have this value; templates write lengths without quotes."""
    return name not in LENGTHS or LENGTH.fullmatch(str(value)) is not None
