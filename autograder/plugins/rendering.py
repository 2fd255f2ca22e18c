"""Markdown as HTML: pictures from the notebook's own folder alone, and formulas that need no script."""

from __future__ import annotations

import mimetypes
import re
import secrets
from html import escape, unescape
from pathlib import Path
from typing import Any

from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath

from autograder.mathematics import mathml
from autograder.plugins.cleaning import cleaned

LARGEST_PICTURE = 8 << 20
LOWEST_HEADING = 6
IN_HTML = re.compile(
    r"<(?:(?P<code>code|pre)\b)?[^<>]*+>|\$\$(?P<block>[^$]++)\$\$|(?<![\\$])\$(?P<inline>[^$\n]++)\$(?!\$)"
)
"""In HTML within Markdown, which Markdown leaves alone: tags, of which code is left alone up to its end, and formulas."""

BEYOND_FILES = re.compile(r"#|[A-Za-z][A-Za-z0-9+.-]*:")


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


class Typesetter(Renderer):
    """Headings go under the page's own, tables are scrolled where they are too wide, and a mark stands for each formula until the HTML
    around it has been cleaned.

    So MathML is what `mathml` makes, and never what somebody typed: to `cleaned` an element `<math>` is as unknown as ever. Nobody can
    type such a mark, since it holds a word that is drawn when the text is there; and as an element, it is no part of an attribute.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(escape=False, **settings)
        self._word = secrets.token_hex(16)
        self._formulas: list[str] = []

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        return super().heading(text, min(level + 1, LOWEST_HEADING), **attributes)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link, but for one to a file: what lay beside the notebook does not lie beside its page."""
        return str(super().link(text, url, title)) if BEYOND_FILES.match(url) else text

    def block_math(self, body: str) -> str:
        return self._mark(body, f'<span class="formula" tabindex="0">{mathml(body, display=True)}</span>')

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def inline_math(self, body: str) -> str:
        return self._mark(body, mathml(body))

    def table(self, text: str) -> str:
        return f'<div class="{self._word}"><table>\n{text}</table></div>\n'

    def block_html(self, html: str) -> str:
        html = super().block_html(html)
        made, at, open_ended = [], 0, set()
        while found := IN_HTML.search(html, at):
            made += [html[at : found.start()], self._within_html(found)]
            at, code = found.end(), found["code"]
            if code and code not in open_ended:
                end = html.find(f"</{code}>", at)
                if end < 0:
                    open_ended.add(code)
                else:
                    made.append(html[at:end])
                    at = end
        return "".join([*made, html[at:]])

    def _within_html(self, found: re.Match[str]) -> str:
        if found["block"]:
            return self.block_math(unescape(found["block"]))
        return self.inline_math(unescape(found["inline"])) if found["inline"] else found[0]

    def _mark(self, typed: str, formula: str) -> str:
        self._formulas.append(formula)
        return f'<span class="{self._word}-{len(self._formulas) - 1}">{escape(typed)}</span>'

    def finished(self, html: str) -> str:
        """The cleaned HTML, with each formula in its place, and tables that a keyboard can scroll."""
        html = html.replace(f'<div class="{self._word}">', '<div class="wide" tabindex="0">')
        mark = re.compile(f'<span class="{self._word}-([0-9]+)">[^<]*</span>')
        return mark.sub(lambda found: self._formulas[int(found[1])], html)


def typeset(source: str, **settings: Any) -> str:
    """Markdown as HTML in which nothing runs, with its formulas as MathML.

    Args:
        settings: of nbconvert's `IPythonRenderer`.
    """
    typesetter = Typesetter(**settings)
    return typesetter.finished(cleaned(MarkdownWithMath(renderer=typesetter).render(source)))
