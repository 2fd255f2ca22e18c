"""A renderer of formulas for Sphinx that needs no script: MathML, which browsers typeset by themselves."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from autograder.mathematics import mathml


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the renderer known, which `html_math_renderer` then names."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(page: HTML5Translator, node: nodes.math_block) -> None:
    page.body.append(f'<span class="formula">{mathml(node.astext(), display=True)}</span>')
    raise nodes.SkipNode
