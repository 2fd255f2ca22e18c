"""What formgrader shows to whoever marks by hand: formulas that need no network, and what the instructor wrote beside an answer.

Formgrader makes its pages by nbconvert's `HTMLExporter`, with the settings of that name in `nbgrader_config.py`.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import pass_context
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.coursedir import CourseDirectory

from autograder.plugins.confining import Exceeded, confined
from autograder.plugins.cutting import Rooms, cut
from autograder.plugins.rendering import typeset

SOURCES = 20_000, 150_000
"""Characters in cells that a page shows, of one and of all together: the server itself lays out code."""
SHORT = 2_000
"""Characters of a text that is laid out where the server is."""
SECONDS = 10.0
"""For the longer texts of one page together."""
SECONDS_LEFT = "seconds left for long texts"
MODEL = "model_answer"
"""In the metadata of a cell that was put there for whoever marks."""

MARKS = re.compile(r"^.*(BEGIN|END) (SOLUTION|MARK SCHEME).*\n?", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)


class BesideAnswers(Preprocessor):
    """Puts the model answer after each answer that a person marks, with the tables of its question, which say what earns points.

    It does so on formgrader's pages alone, by what only these are told. Nobody's page of feedback has any of it.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        if "submission_id" not in resources:
            return nb, resources
        cut(nb, Rooms(SOURCES))
        notes = self._notes(resources["assignment_id"], resources["notebook_id"])
        cells = []
        for cell in nb.cells:
            cell.metadata.pop(MODEL, None)
            cells.append(cell)
            for output in cell.get("outputs", []):
                _typeset_latex(output.get("data", {}), resources)
            if note := notes.get(cell.metadata.get("nbgrader", {}).get("grade_id", "")):
                cells.append(new_markdown_cell(note, metadata={MODEL: True}))
        nb.cells = cells
        return nb, resources

    def _notes(self, assignment: str, notebook: str) -> dict[str, str]:
        """By grade_id, what the instructor's own notebook has for answers that a person marks."""
        course = CourseDirectory(config=self.config)
        path = Path(course.format_path(course.source_directory, ".", assignment)) / f"{notebook}.ipynb"
        try:
            source = nbformat.read(path, as_version=4)
        except Exception as error:  # formgrader shows the submission all the same
            self.log.warning("There are no model answers to show: %s cannot be read: %s", path, error)
            return {}
        notes, question = {}, ""
        for cell in source.cells:
            given = cell.metadata.get("nbgrader", {})
            if given.get("task") or (given.get("grade") and given.get("solution")):
                notes[given["grade_id"]] = _note(cell, question)
            elif cell.cell_type == "markdown" and HEADING.search(cell.source):
                question = cell.source
        return notes


def _note(cell: NotebookNode, question: str) -> str:
    answer = MARKS.sub("", cell.source).strip()
    shown = f"```python\n{answer}\n```" if cell.cell_type == "code" else answer
    tables = "\n\n".join(TABLE.findall(question))
    return f"#### Model answer\n\n{shown}" + (f"\n\n#### What earns the points\n\n{tables}" if tables else "")


def _typeset_latex(data: dict[str, Any], resources: dict[str, Any]) -> None:
    """Show an output that is LaTeX as the formula that it is."""
    if "text/latex" in data and "text/html" not in data:
        data["text/html"] = _laid_out("".join(data["text/latex"]), resources)


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """The filter of that name in nbconvert's templates, by which nothing runs, and formulas are MathML.

    Args:
        context: what the template knows, of which `cell` and `resources` are looked at.
        source: Markdown.
    """
    cell, resources = context.get("cell", {}), context.get("resources", {})
    path = resources.get("metadata", {}).get("path", "")
    shown = _laid_out(source, resources, attachments=cell.get("attachments", {}), path=path)
    return f'<div class="model-answer">{shown}</div>' if cell.get("metadata", {}).get(MODEL) else shown


def _laid_out(source: str, resources: dict[str, Any], **settings: Any) -> str:
    """A text as HTML; one that cannot be laid out, or not in time, is shown as it was typed, and hides no others.

    A long text is laid out in a process of its own: what it costs is bounded, and holds up nobody else for long.
    """
    work = partial(typeset, source, **settings)
    try:
        return work() if len(source) <= SHORT else _in_time(work, resources)
    except Exception as error:
        reason = str(error) if isinstance(error, Exceeded) else type(error).__name__
        return f"<p>({reason}: shown as it was typed.)</p><pre>{escape(source)}</pre>"


def _in_time(work: Callable[[], str], resources: dict[str, Any]) -> str:
    left = resources.get(SECONDS_LEFT, SECONDS)
    if left <= 0:
        raise Exceeded("the texts above it took too much time")
    began = time.monotonic()
    try:
        return confined(work, math.ceil(left))
    finally:
        resources[SECONDS_LEFT] = left - (time.monotonic() - began)
