"""Markdown on a feedback page: formulas are typeset without a script, and what somebody typed becomes no formula's element."""

from __future__ import annotations

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder.exercises import NOTEBOOKS
from autograder.plugins.rendering import typeset
from autograder.settings import ROOT


def laid_out(source: str) -> BeautifulSoup:
    return BeautifulSoup(typeset(source), "html.parser")


def test_formulas_are_elements_that_browsers_typeset() -> None:
    soup = laid_out("Let $a<b$ and\n\n$$\\frac{1}{2}$$\n\n\\begin{pmatrix}1&2\\end{pmatrix}")
    assert [math["display"] for math in soup.find_all("math")] == ["inline", "block", "block"]
    assert [math.text for math in soup.find_all("math")] == ["a<b", "12", "(12)"]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_no_dollar_and_no_command_of_a_notebook_is_left(notebook: str) -> None:
    for cell in nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            soup = laid_out(cell.source)
            for code in soup.find_all(["code", "pre"]):
                code.decompose()
            assert "$" not in soup.text
            assert "\\" not in soup.text


def test_formulas_within_html_are_typeset_and_code_is_left() -> None:
    soup = laid_out("<details><summary>$a &lt; b$</summary>$$c$$ <code>$d$</code></details>")
    assert [math.text for math in soup.find_all("math")] == ["a<b", "c"]
    assert soup.code.text == "$d$"


def test_links_lead_into_the_page_or_to_the_web_and_never_to_a_file_that_is_not_there() -> None:
    soup = laid_out("[a](#a) [b](https://b) [Home](../index.ipynb) [02](../02_matrices/02_matrices.ipynb#x)")
    assert [link["href"] for link in soup.find_all("a")] == ["#a", "https://b"]
    assert soup.text.split() == ["a", "b", "Home", "02"]


def test_headings_go_under_the_pages_own() -> None:
    assert [heading.name for heading in laid_out("# a\n## b\n###### c").find_all(["h1", "h2", "h3", "h6"])] == [
        "h2",
        "h3",
        "h6",
    ]


TYPED = [
    "<math><mi>x</mi></math>",
    "<math><mtext><style><img src=x onerror=act()></style></mtext></math>",
    "<math><annotation-xml encoding='text/html'><script>act()</script></annotation-xml></math>",
    "<math><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=act()&gt;'>",
    "<svg><math>$x$</math></svg>",
    "<math href='javascript:act()'>$x$</math>",
]


@pytest.mark.parametrize("source", TYPED)
def test_no_element_of_mathematics_that_was_typed_gets_through(source: str) -> None:
    soup = laid_out(source)
    assert [math.text for math in soup.find_all("math")] == (["x"] if "$x$" in source else [])
    assert not soup.find_all(["style", "script", "annotation-xml", "mglyph", "svg", "mtext"])
    assert not [element for element in soup.find_all(True) if {"onerror", "href", "src"} & element.attrs.keys()]


INTO_ATTRIBUTES = [
    '<div title="\n\n$x$\n\n" onclick="act()">y</div>',
    "<div title='\n\n$x onclick=act()$\n\n'>y</div>",
    '<img alt="$x$" src="y.png">',
    '![a $x$ b](y.png "$z$")',
    "[a](<http://example.org/$x$>)",
    '<a href="http://example.org/\n\n$x" onclick="act()$\n\n">y</a>',
]


@pytest.mark.parametrize("source", INTO_ATTRIBUTES)
def test_a_formula_within_an_attribute_opens_nothing(source: str) -> None:
    soup = laid_out(source)
    assert not [element for element in soup.find_all(True) if "onclick" in element.attrs]
    for element in soup.find_all(["div", "img", "a"]):
        assert element.attrs.keys() <= {"title", "alt", "src", "href"}
    assert not soup.select("[title] > mi, a > mrow")


def test_a_picture_says_a_formula_as_it_was_typed() -> None:
    assert laid_out("![a $x$ b](y.png)").img["alt"] == "a x b"


def test_nobody_can_type_what_stands_for_a_formula() -> None:
    first, second = typeset("$x$"), typeset("$x$")
    assert first == second  # the word that was drawn is not left
    soup = laid_out('$y$ <span class="-0">0</span> <span class="0">0</span>')
    assert [math.text for math in soup.find_all("math")] == ["y"]
    assert [span.text for span in soup.find_all("span")] == ["0", "0"]
