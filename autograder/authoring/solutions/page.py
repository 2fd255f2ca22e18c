"""A worked copy as one page of HTML that needs nothing else: pictures and formulas are in it, and no script. By day and by night, on a
phone and by the keyboard it can be read too."""

from __future__ import annotations

from html import escape
from typing import Any

from bs4 import BeautifulSoup
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.mathematics import mathml
from autograder.plugins.colouring import colours

LOOKS = """
:root { color-scheme: light dark;
  --ink: #1d2430; --line: #d9dee6; --ground: #f5f7fa; --mark: #0b57a4; --paper: #fff; --worked: #2b7a3d }
@media (prefers-color-scheme: dark) { :root {
  --ink: #e6edf3; --line: #3d444d; --ground: #161b22; --mark: #79b8ff; --paper: #0d1117; --worked: #6fdd8b } }
body { max-width: 52rem; margin: 2rem auto 6rem; padding: 0 1.25rem; color: var(--ink); background: var(--paper);
  overflow-wrap: break-word; font: 1.03rem/1.6 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 .6em } h1 { margin-top: 0 }
a { color: var(--mark) }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .88em }
:not(pre) > code { background: var(--ground); padding: .1em .3em; border-radius: 3px }
pre { margin: .5em 0; padding: .6em .8em; background: var(--ground); overflow-x: auto; line-height: 1.45 }
.input pre { border-left: 3px solid var(--mark) } .highlight { background: none }
.output_area pre { background: none; border-left: 3px solid var(--line) }
blockquote { margin: 1em 0; padding: .1em 1em; border-left: 3px solid var(--line) }
table { border-collapse: collapse; margin: .5em 0 } th, td { padding: .2em .9em .2em 0; vertical-align: top; text-align: left }
td td { padding-right: .8em }
details { margin: .35em 0; border-left: 3px solid var(--line); padding-left: .8em }
details[open] > summary { margin-bottom: .4em }
summary { cursor: pointer; display: list-item }
img { max-width: 100%; height: auto }
math { font-size: 1.12em } .formula { display: block; margin: 1em 0 } .formula, .wide { overflow: auto hidden }
.celltag_worked { border: 1px solid var(--line); border-left: 3px solid var(--worked); border-radius: 4px; padding: .2em 1.1em .7em; margin: 1em 0 2em }
.celltag_worked details p, .celltag_worked pre { margin: .35em 0 }
@media (max-width: 40em) { body { margin: 1rem auto 3rem; padding: 0 .7rem } .celltag_worked { padding: .1em .6em .5em } }
"""


def as_page(notebook: NotebookNode) -> str:
    """The page; its title is the notebook's first heading."""
    exporter = _Exporter(config=Config({"HTMLExporter": {"template_name": "basic"}}))
    body, _ = exporter.from_notebook_node(notebook)
    title = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}, worked</title>\n<style>{colours()}{LOOKS}</style>\n</head>\n"
        f"<body>\n<main>\n{_within_reach(body)}\n</main>\n</body>\n</html>\n"
    )


def _within_reach(body: str) -> str:
    """The same with all that may be wider than a phone where it can be scrolled, by the keyboard too."""
    soup = BeautifulSoup(body, "html.parser")
    for table in soup.select("table:not(table table)"):
        table.wrap(soup.new_tag("div", attrs={"class": "wide"}))
    for wide in soup.select("pre, .formula, .wide"):
        wide["tabindex"] = "0"
    return str(soup)


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
        return f'<span class="formula">{mathml(body, display=True)}</span>'
