"""Formulas as MathML, which browsers typeset by themselves: no script, and no network."""

from __future__ import annotations

import re
from html import escape
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element

REFERENCE = re.compile(r"&amp;(#x[0-9A-F]{4,5};)")
"""A character that the converter has written as a reference into its text. Its own way back would turn `&lt;` into `<` too."""
ESCAPED = re.compile(r"\\([_#%&${}])")
"""A character that LaTeX wants a backslash before, also within `\\text`, where the converter leaves it."""
_LOOKS = """
accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height largeop linethickness
lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowalign rowlines rowspacing rspace
scriptlevel separator stretchy symmetric voffset width xmlns
"""
LOOKS = set(_LOOKS.split())
"""What an element of a formula may say of itself. `\\href`, `\\style` and `\\class` say more: they lead away, and lie over other things."""


def mathml(formula: str, display: bool = False) -> str:
    """A formula of LaTeX, without the dollar signs around it, as an element `<math>`.

    Args:
        formula: what somebody typed. What is no LaTeX that can be read is shown as it was typed.
        display: whether it stands in a line of its own.
    """
    try:
        tree = convert_to_element(formula, display="block" if display else "inline")
        for element in tree.iter():
            if element.tag == "mtext" and element.text:
                element.text = ESCAPED.sub(r"\1", element.text)
            for name in element.attrib.keys() - LOOKS:
                del element.attrib[name]
        return REFERENCE.sub(r"&\1", tostring(tree, encoding="unicode"))
    except Exception:  # the converter says so in many ways: IndexError, KeyError, exceptions of its own
        mark = "$$" if display else "$"
        return f"<code>{escape(f'{mark}{formula}{mark}')}</code>"
