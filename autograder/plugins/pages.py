"""Feedback pages: made in a process with limits, made again when marks have changed, and never half written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import FileSystemLoader, Template, pass_context
from nbconvert.exporters import Exporter, HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.filters import Highlight2HTML, ansi2html, strip_ansi, strip_files_prefix
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbformat import NotebookNode, from_dict
from nbformat.reader import NotJSONError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from sqlalchemy.exc import SQLAlchemyError
from traitlets import Bool

from autograder.plugins.cleaning import cleaned
from autograder.plugins.colouring import colours
from autograder.plugins.confining import Exceeded, confined
from autograder.plugins.cutting import cut
from autograder.plugins.extending import extend
from autograder.plugins.judges import Judge, judge_of
from autograder.plugins.opening import take_up, without_copy
from autograder.plugins.outlining import outlined
from autograder.plugins.parts import Parts, typed
from autograder.plugins.rendering import Renderer, typeset
from autograder.plugins.renewing import MADE_OF, Renewal
from autograder.plugins.repairing import official_cells
from autograder.plugins.sharing import Shared
from autograder.plugins.stamping import stamped
from autograder.plugins.verdicts import verdicts_in

LAYOUT = Path(__file__).parent / "page"
KINDS = (
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "text/vnd.mermaid",
    "text/latex",
    "image/png",
    "image/jpeg",
    "text/plain",
)
"""Of what an output offers, the first of these is shown."""

ALL = dict.fromkeys(("include_code", "include_markdown", "include_raw", "include_input", "include_output"), True)
"""What nbconvert's templates ask."""

NO_FAULT_OF_THE_NOTEBOOK = (OSError, NotJSONError, SQLAlchemyError, MissingEntry)


class PageExporter(HTMLExporter):
    """nbgrader's feedback pages, each made in a process of its own, with limits.

    A part of a notebook that cannot be laid out is shown as it was typed. Where all of it cannot be, the page shows the marks.
    A notebook of this course has this course's layout, in which nothing runs, and of which nothing is fetched. Those of other
    courses have nbgrader's; their outputs may need scripts, so of them `sanitize_html` says.
    """

    renew = Bool(True, help="Whether pages whose marks have changed are made again, without force too.").tag(
        config=True
    )

    def __init__(self, config: Any = None, **keywords: Any) -> None:
        super().__init__(config=config, extra_loaders=[FileSystemLoader(LAYOUT)], **keywords)
        if isinstance(self.parent, GenerateFeedback):
            extend(self.parent, Renewal)  # nbgrader asks no other who is skipped
            take_up(self.parent, "autograded")
        self._parts = Parts()
        self._ours = False
        self._colour = Highlight2HTML(pygments_lexer="ipython3", parent=self)
        self._shared = Shared(self._typeset, self._colour, self._judge.at_hand)
        for notebook in ("", *self._judge.notebooks[:1]):
            with suppress(Exception):  # a template that wants more is compiled for each page
                self.from_notebook_node(*_every_part(notebook))

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **keywords: Any
    ) -> tuple[str, dict[str, Any]]:
        assert resources is not None
        info = resources["nbgrader"]
        if isinstance(self.parent, GenerateFeedback):
            without_copy(self.parent, info, Path(filename))
            if info["notebook"] in self._judge.notebooks:
                self._shared.learn(_release(self.parent, info))
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
        self._ours = self._lays_out(resources or {})
        if self._ours:
            return self._laid_out(nb, resources)
        cut(nb)
        return super().from_notebook_node(nb, resources, **keywords)

    def _lays_out(self, resources: dict[str, Any]) -> bool:
        """Whether a page has this course's layout: a notebook of its own, unless the settings name a layout for feedback."""
        return (
            resources.get("nbgrader", {}).get("notebook") in self._judge.notebooks and self.template_name == "feedback"
        )

    def _laid_out(self, nb: NotebookNode, resources: Any) -> tuple[str, dict[str, Any]]:
        """The page of a notebook of this course."""
        verdicts = verdicts_in(nb.cells)
        cut(nb)
        self.register_filter("filter_data_type", _first_kind)
        nb, found = Exporter.from_notebook_node(self, nb, resources)
        found["global_content_filter"] = ALL
        outline = outlined(nb.cells, found["nbgrader"], verdicts, self._judge.public_case)
        return self._page.render(nb=nb, resources=found, outline=outline, styles=styles()), found

    @property
    def _judge(self) -> Judge:
        return judge_of(self.config)

    @cached_property
    def _page(self) -> Template:
        return self.environment.get_template("page.html.j2")

    def _init_resources(self, resources: dict[str, Any]) -> dict[str, Any]:
        """Templates read what is to be cleaned: this course's notebooks. Of others' it is whatever `sanitize_html` says."""
        made: dict[str, Any] = super()._init_resources(resources)
        made["should_sanitize_html"] |= made.get("nbgrader", {}).get("notebook") in self._judge.notebooks
        return made

    # ------------------------------------------------------------------------------- parts of this course's pages

    @pass_context
    def _typeset_cell(self, context: Any, source: str) -> str:
        settings = {
            "attachments": context.get("cell", {}).get("attachments", {}),
            "path": context["resources"]["metadata"].get("path", ""),
        }
        shared = self._shared.text(source)
        return self._parts.shown(source, lambda: self._typeset(source, **settings)) if shared is None else shared

    def _typeset(self, source: str, **settings: Any) -> str:
        return typeset(
            source,
            embed_images=self.embed_images,
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links,
            **self.lexer_options,
            **settings,
        )

    def _coloured_cell(self, source: str, metadata: Any) -> str:
        shared = self._shared.code(source)
        return self._parts.shown(source, lambda: self._colour(source, metadata=metadata)) if shared is None else shared

    # ------------------------------------------------------------------------------------------- parts of any page

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
        clean = partial(cleaned, remote=True) if context.get("resources", {}).get("should_sanitize_html") else str
        return self._parts.shown(source, lambda: clean(MarkdownWithMath(renderer=renderer).render(source)))

    def default_filters(self) -> Any:
        yield from super().default_filters()
        yield "ansi2html", self._ansi2html
        yield "clean_html", self._clean_html
        yield "strip_files_prefix", self._strip_files_prefix
        yield "typeset", self._typeset_cell
        yield "coloured", self._coloured_cell
        yield "sentence", self._judge.sentence

    def register_filter(self, name: str, jinja_filter: Any) -> Any:
        if name == "highlight_code":
            return super().register_filter(name, partial(self._highlight, jinja_filter))
        return super().register_filter(name, jinja_filter)

    def _highlight(self, highlight: Callable[..., str], source: str, **keywords: Any) -> str:
        return self._parts.shown(source, lambda: highlight(source, **keywords))

    def _ansi2html(self, text: str) -> str:
        return self._parts.shown(text, lambda: ansi2html(text), lambda reason: typed(strip_ansi(text), reason))

    def _clean_html(self, element: Any) -> str:
        html = element.decode() if isinstance(element, bytes) else str(element)
        return self._parts.shown(html, lambda: cleaned(html, remote=not self._ours))

    def _strip_files_prefix(self, text: str) -> str:
        return self._parts.shown(text, lambda: strip_files_prefix(text), lambda _: text)


@cache
def styles() -> str:
    """What this course's pages look like, by day and by night."""
    return colours() + (LAYOUT / "page.css").read_text(encoding="utf-8")


def _first_kind(data: Any) -> list[str]:
    """The kind of an output that is shown, if any can be."""
    return [kind for kind in KINDS if kind in data][:1]


def _release(converter: GenerateFeedback, info: dict[str, Any]) -> Path:
    """Where the release of a notebook is."""
    course = converter.coursedir
    return Path(course.format_path(course.release_directory, ".", info["assignment"])) / f"{info['notebook']}.ipynb"


def _every_part(name: str) -> tuple[NotebookNode, dict[str, Any]]:
    """A notebook that takes a page through its templates and filters, so that every fork finds them ready."""
    data = {"text/plain": "1", "text/html": "<b>1</b>"}
    outputs = [new_output("stream", text="\x1b[1m1"), new_output("execute_result", data), new_output("error")]
    cells = [new_markdown_cell("# 1\n*a* $b$ `c`\n\n|a|b|\n|-|-|\n|1|2|"), new_code_cell("a = 1", outputs=outputs)]
    metadata = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    info = {"notebook": name, "score": 0, "max_score": 0, "late_penalty": 0}
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
