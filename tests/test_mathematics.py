"""Formulas as MathML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import nbformat
import pytest

from autograder.exercises import NOTEBOOKS
from autograder.mathematics import mathml
from autograder.settings import ROOT

CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![$\w])\$([^$\n]+?)\$(?!\$)", re.DOTALL)
COMMAND = re.compile(r"\\[A-Za-z]+")


def formulas(text: str) -> list[str]:
    return [one or other for one, other in FORMULA.findall(CODE.sub("", text))]


class Words(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_formula_of_a_notebook_is_typeset(notebook: str) -> None:
    cells = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    found = [one for cell in cells if cell.cell_type == "markdown" for one in formulas(cell.source)]
    assert found
    for formula in found:
        page = mathml(formula)
        assert page.startswith("<math ")
        assert not COMMAND.search(Words(page).text), formula


def test_words_with_an_underscore_are_written_without_its_backslash() -> None:
    assert Words(mathml(r"\text{split\_heads}(x)")).text == "split_heads(x)"


def test_a_formula_in_a_line_of_its_own_says_so() -> None:
    assert 'display="block"' in mathml("x", display=True)
    assert 'display="inline"' in mathml("x")


def test_a_character_that_the_converter_writes_as_a_reference_is_that_character() -> None:
    assert Words(mathml(r"\underbrace{p}_{\text{loss}}")).text == "p⏟loss"
    assert "&amp;" not in mathml(r"\underbrace{p}_{\text{loss}}")


@pytest.mark.parametrize("formula", [r"\begin{pmatrix} 1", r"x_{", r"\left( x", "}{"])
def test_what_cannot_be_read_is_shown_as_it_was_typed(formula: str) -> None:
    assert Words(mathml(formula)).text == f"${formula}$"


@pytest.mark.parametrize(
    "formula",
    [
        "<script>alert(1)</script>",
        r"\text{<img src=x onerror=alert(1)>}",
        "\\frac{<b>",
        r"&lt;script&gt;",
        r"\text{&#x0003C;img>}",
        r"\text{&#x003C;img>}",
    ],
)
def test_nothing_typed_into_a_formula_becomes_an_element(formula: str) -> None:
    assert not re.search(r"<(script|img|b)\b", mathml(formula))


@pytest.mark.parametrize(
    "formula",
    [
        r"\href{javascript:act()}{x}",
        r"\style{position:fixed;top:0;background:url(https://example.org/act())}{x}",
        r"\class{act()}{x}",
        r"\color{red\" onclick=\"act()}x",
    ],
)
def test_no_formula_leads_away_or_lies_over_other_things(formula: str) -> None:
    found = Attributes(mathml(formula))
    assert found.names <= {"display", "mathcolor", "xmlns"}


class Attributes(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names |= {name for name, _ in attributes}
