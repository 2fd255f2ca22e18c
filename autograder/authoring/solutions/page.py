"""A worked copy as one page of HTML that needs nothing else: pictures and formulas are in it, and no script."""

from __future__ import annotations

from html import escape
from typing import Any

from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograder.mathematics import mathml

LOOKS = """
:root { color-scheme: light; --ink: #1d2430; --faint: #5b6472; --line: #d9dee6; --ground: #f5f7fa; --mark: #0b57a4 }
body { max-width: 52rem; margin: 2rem auto 6rem; padding: 0 1.25rem; color: var(--ink); background: #fff;
  font: 1.03rem/1.6 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 .6em } h1 { margin-top: 0 }
a { color: var(--mark) }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .88em }
:not(pre) > code { background: var(--ground); padding: .1em .3em; border-radius: 3px }
pre { margin: .5em 0; padding: .6em .8em; background: var(--ground); overflow-x: auto; line-height: 1.45 }
.input pre { border-left: 3px solid var(--mark) }
.output_area pre { background: none; border-left: 3px solid var(--line) }
blockquote { margin: 1em 0; padding: .1em 1em; border-left: 3px solid var(--line); color: #333c49 }
table { border-collapse: collapse; margin: .5em 0 } th, td { padding: .2em .9em .2em 0; vertical-align: top; text-align: left }
td td { padding-right: .8em }
details { margin: .35em 0; border-left: 3px solid var(--line); padding-left: .8em }
details[open] > summary { margin-bottom: .4em }
summary { cursor: pointer; display: list-item }
img { max-width: 100%; height: auto }
math { font-size: 1.12em } math[display="block"] { margin: 1em 0; overflow-x: auto }
.celltag_worked { border: 1px solid var(--line); border-left: 3px solid #2b7a3d; border-radius: 4px; padding: .2em 1.1em .7em; margin: 1em 0 2em }
.celltag_worked details p, .celltag_worked pre { margin: .35em 0 }
"""


def as_page(notebook: NotebookNode) -> str:
    """The page; its title is the notebook's first heading."""
    exporter = _Exporter(config=Config({"HTMLExporter": {"template_name": "basic"}}))
    body, _ = exporter.from_notebook_node(notebook)
    title = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
    colours = HtmlFormatter().get_style_defs(".highlight")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}, worked</title>\n<style>{LOOKS}{colours}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


class _Exporter(HTMLExporter):
    """nbconvert's plainest page, with formulas as MathML and without numbers before cells."""

    exclude_input_prompt = True
    exclude_output_prompt = True
    exclude_anchor_links = True

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        return MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True)).render(source)


class _Renderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        return mathml(body)

    def block_math(self, body: str) -> str:
        return mathml(body, display=True)
