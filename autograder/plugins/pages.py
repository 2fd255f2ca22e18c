"""Feedback pages: made in a process with limits, made again when marks have changed, and never half written."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.filters import ansi2html, strip_ansi, strip_files_prefix
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode, from_dict
from nbformat.reader import NotJSONError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from sqlalchemy.exc import SQLAlchemyError
from traitlets import Bool

from autograder.exercises import NOTEBOOKS, exercises_in, tasks_in
from autograder.plugins.cleaning import cleaned
from autograder.plugins.confining import Exceeded, OutOfTime, confined, processor_time
from autograder.plugins.cutting import cut
from autograder.plugins.extending import extend
from autograder.plugins.opening import take_up, without_copy
from autograder.plugins.renewing import MADE_OF, Renewal
from autograder.plugins.repairing import official_cells
from autograder.plugins.stamping import stamped

PART_SECONDS = 5.0
ALL_PARTS_SECONDS = 20.0
LARGEST_PICTURE = 8 << 20
MOST_DEATHS = 4
STYLE = "summary { display: list-item } .rendered_html th, .rendered_html td { padding: 0 1em 0 0 }"
NO_FAULT_OF_THE_NOTEBOOK = (OSError, NotJSONError, SQLAlchemyError, MissingEntry)


class PageExporter(HTMLExporter):
    """nbgrader's feedback pages, each made in a process of its own, with limits.

    A part of a notebook that cannot be laid out is shown as it was typed. Where all of it cannot be, the page shows the marks.
    Nothing in a notebook of this course runs on its page; other courses' outputs may need scripts, so of theirs `sanitize_html` says.
    """

    renew = Bool(True, help="Whether pages whose marks have changed are made again, without force too.").tag(
        config=True
    )

    def __init__(self, config: Any = None, **keywords: Any) -> None:
        super().__init__(config=config, **keywords)
        if isinstance(self.parent, GenerateFeedback):
            extend(self.parent, Renewal)  # nbgrader asks no other who is skipped
            take_up(self.parent, self.parent.coursedir.autograded_directory)
        self._parts = Parts()
        with suppress(Exception):  # a template that wants more is compiled for each page
            self.from_notebook_node(*_every_part())

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        assert resources is not None
        info = resources["nbgrader"]
        if isinstance(self.parent, GenerateFeedback):
            without_copy(self.parent, info, Path(filename))
        try:
            page, found = self._made(filename, resources)
        except NO_FAULT_OF_THE_NOTEBOOK:
            raise
        except Exception as error:
            reason = str(error) if isinstance(error, Exceeded) else f"{type(error).__name__}: {error}"
            self.log.warning("%s of %s: the page shows marks only: %.300r", info["notebook"], info["student"], reason)
            page, found = confined(lambda: self._bare_page(f"{reason:.300}", resources))
        return stamped(page, info[MADE_OF]), ResourcesDict(**found)

    def _made(self, filename: str, resources: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The page; where its process dies of one part, again without that part."""
        self._parts = Parts(confined=True)
        while True:
            try:
                return confined(lambda: _portable(*super(PageExporter, self).from_filename(filename, resources)))
            except Exceeded as error:
                if not self._parts.leave_out(str(error)):
                    raise

    def _bare_page(self, reason: str, resources: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return _portable(*self.from_notebook_node(_bare(reason, resources["nbgrader"]), resources))

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        cut(nb)
        page, found = super().from_notebook_node(nb, resources, **keywords)
        return _with_names((resources or {}).get("nbgrader", {}).get("notebook", ""), page), found

    def _init_resources(self, resources: dict[str, Any]) -> dict[str, Any]:
        """Templates read what is to be cleaned: this course's notebooks. Of others' it is whatever `sanitize_html` says."""
        made: dict[str, Any] = super()._init_resources(resources)
        made["should_sanitize_html"] |= made.get("nbgrader", {}).get("notebook") in NOTEBOOKS
        return made

    # ------------------------------------------------------------------------------------------- parts of a page

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        renderer = Renderer(
            escape=False,
            attachments=context.get("cell", {}).get("attachments", {}),
            embed_images=self.embed_images,
            path=context.get("resources", {}).get("metadata", {}).get("path", ""),
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links,
            **self.lexer_options,
        )
        clean = cleaned if context.get("resources", {}).get("should_sanitize_html") else str
        return self._parts.shown(source, lambda: clean(MarkdownWithMath(renderer=renderer).render(source)))

    def default_filters(self) -> Any:
        yield from super().default_filters()
        yield "ansi2html", self._ansi2html
        yield "clean_html", self._clean_html
        yield "strip_files_prefix", self._strip_files_prefix

    def register_filter(self, name: str, jinja_filter: Any) -> Any:
        if name == "highlight_code":
            return super().register_filter(name, partial(self._highlight, jinja_filter))
        return super().register_filter(name, jinja_filter)

    def _highlight(self, highlight: Callable[..., str], source: str, **keywords: Any) -> str:
        return self._parts.shown(source, lambda: highlight(source, **keywords))

    def _ansi2html(self, text: str) -> str:
        return self._parts.shown(text, lambda: ansi2html(text), lambda reason: _typed(strip_ansi(text), reason))

    def _clean_html(self, element: Any) -> str:
        html = element.decode() if isinstance(element, bytes) else str(element)
        return self._parts.shown(html, lambda: cleaned(html))

    def _strip_files_prefix(self, text: str) -> str:
        return self._parts.shown(text, lambda: strip_files_prefix(text), lambda _: text)


class Parts:
    """The parts of one page, numbered as they come: those that cannot be laid out are shown as they were typed.

    Args:
        confined: whether this is a process of its own, whose processor time is watched; of a part that it dies of, this one hears.
    """

    def __init__(self, confined: bool = False) -> None:
        self._confined = confined
        self._seconds = ALL_PARTS_SECONDS
        self._number = 0
        self._begun = RawValue("i", 0)  # the number of the part that is being laid out, or 0; shared with forks
        self._left_out: dict[int, str] = {}

    def shown(self, text: str, convert: Callable[[], str], instead: Callable[[str], str] | None = None) -> str:
        """What a converter makes of a part, or else what is to stand there for a reason: a sentence and the text."""
        if not self._confined:
            return convert()
        self._number += 1
        reason = self._left_out.get(self._number, "")
        if not reason:
            began = time.process_time()
            self._begun.value = self._number
            try:
                with processor_time(max(min(PART_SECONDS, self._seconds), 0.01)):
                    return convert()
            except OutOfTime:
                reason = "it takes too much time"
            except MemoryError:
                reason = "it takes too much memory"
            except RecursionError:
                reason = "it is nested too deeply"
            except Exception as error:
                reason = f"{type(error).__name__}: {error!s:.200}"
            finally:
                self._begun.value = 0
                self._seconds -= time.process_time() - began
        return instead(reason) if instead else _typed(text, reason)

    def leave_out(self, reason: str) -> bool:
        """Where a fork died of a part, have the next one leave it out; give back whether that is worth a try."""
        number = self._begun.value
        if not number or len(self._left_out) == MOST_DEATHS:
            return False
        self._begun.value = 0
        self._left_out[number] = reason
        return True


def _with_names(notebook: str, page: str) -> str:
    """nbgrader's page; of a notebook of this course, with its exercises' names in the index, and with marks on what unfolds."""
    names = {exercise.name: "Test cell" for exercise in exercises_in(notebook)}
    names |= {task.name: "Written response" for task in tasks_in(notebook)}
    for name, called in names.items():
        page = page.replace(f'<a href="#{name}">{called}</a>', f'<a href="#{name}">{name}</a>', 1)
    return page.replace("</head>", f"<style>{STYLE}</style></head>", 1) if names else page


def _typed(text: str, reason: str) -> str:
    sentence = f"This part of your notebook could not be shown: {reason}. As it was typed:"
    return f"<p><b>{escape(sentence)}</b></p><pre>{escape(text)}</pre>"


class Renderer(IPythonRenderer):
    """nbconvert's, which shows no file but a picture from the notebook's own folder, and misses none."""

    def image(self, text: str, url: str, title: str | None = None) -> str:
        try:
            return super().image(text, url, title)
        except (InvalidNotebook, StopIteration):
            return f"<b>(The picture {escape(url)} is not in this notebook.)</b>"

    def _src_to_base64(self, src: str) -> str | None:
        return super()._src_to_base64(src) if self._may_be_embedded(src) else None

    def _may_be_embedded(self, src: str) -> bool:
        """Whether this is a picture of the folder itself: no link, no notebook, nothing from elsewhere."""
        kind, _ = mimetypes.guess_type(src)
        try:
            folder = Path(self.path).resolve(strict=True)
            path = folder / src
            plain = path.resolve(strict=True) == path and path.is_relative_to(folder) and path.is_file()
            return plain and path.stat().st_size <= LARGEST_PICTURE and (kind or "").startswith("image/")
        except (OSError, ValueError, RuntimeError):  # a name that no file can have, or links in a circle
            return False


def _every_part() -> tuple[NotebookNode, dict[str, Any]]:
    """A notebook that takes a page through its templates and filters, so that every fork finds them ready."""
    data = {"text/plain": "1", "text/html": "<b>1</b>"}
    outputs = [new_output("stream", text="\x1b[1m1"), new_output("execute_result", data), new_output("error")]
    cells = [new_markdown_cell("# 1\n*a* $b$ `c`\n\n|a|b|\n|-|-|\n|1|2|"), new_code_cell("a = 1", outputs=outputs)]
    metadata = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    info = {"notebook": "", "score": 0, "max_score": 0, "late_penalty": 0}
    notebook = nbformat.reads(nbformat.writes(new_notebook(cells=cells, metadata=metadata)), as_version=4)
    return notebook, {"nbgrader": info, "inlining": {"css": []}}


def _portable(page: str, resources: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A page without half characters, with what its writer reads; templates also have functions, which cannot travel."""
    return page.encode(errors="replace").decode(), {
        name: value for name, value in resources.items() if not callable(value)
    }


def _bare(reason: str, info: dict[str, Any]) -> NotebookNode:
    """A notebook with the cells that have marks or comments, and nothing of what was written into them."""
    with Gradebook(info["db_url"]) as gradebook:
        official = official_cells(gradebook, info["notebook"], info["assignment"])
    note = (
        f"**Your notebook could not be shown on this page: {escape(reason)}.** Your marks are below; "
        "for the rest, ask whoever marks this course."
    )
    cells = [new_markdown_cell(note)]
    for cell in official:
        make, comment = (new_code_cell, "# ") if cell.cell_type == "code" else (new_markdown_cell, "")
        cells.append(make(f"{comment}This part could not be shown.", metadata={"nbgrader": cell.metadata}))
    return from_dict(new_notebook(cells=cells))
