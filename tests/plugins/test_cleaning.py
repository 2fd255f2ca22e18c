"""HTML on feedback pages: what acts is gone, and honest work looks as it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup, Comment
from nbconvert.filters import markdown2html

from autograder.exercises import NOTEBOOKS
from autograder.plugins.cleaning import cleaned
from autograder.settings import ROOT

ACTS = [
    "<script>act()</script>",
    "<script>act()",
    "<!--><script>act()</script>",
    "<script type='text/x-mathjax-config'>act()</script>",
    "<svg><script>act()</script></svg>",
    "<svg onload=act()>",
    "<math><style><img src=x onerror=act()></style></math>",
    "<noscript><p title='</noscript><img src=x onerror=act()>'>",
    "<template><script>act()</script></template>",
    "<title></title><img/src/onerror=act()>",
    "<details open ontoggle=act()>",
    "<a href='java\nscript:act()'>x</a>",
    "<a href=' da\tta:text/html,act()'>x</a>",
    "<img src='data:text/html,act()'>",
    "<video src=javascript:act()></video>",
    "<iframe src=act()></iframe><object data=act()></object><embed src=act()>",
    "<form action=act()><input onfocus=act() autofocus><button formaction=act()></form>",
    "<meta http-equiv=refresh content='0;act()'><base href=act()><link href=act()>",
    "<style>body { display: none }</style>",
    "<div style='position: fixed; top: 0; background: url(act())'>x</div>",
]
HARMLESS = [
    "<p>$a &lt; b$ &amp; \\(c\\) &nbsp;</p>",
    '<img alt="a" src="data:image/png;base64,AAAA" style="max-width: 100%;">',
    '<span class="ansi-red-fg">red</span>',
    '<h2 id="a">a<a class="anchor-link" href="#a">¶</a></h2>',
    '<table class="dataframe"><thead><tr style="text-align: right;"><th>a</th></tr></thead></table>',
    '<a href="https://example.org/a?b=1&amp;c=2">x</a>',
]


FETCHES = [
    "<img src=https://example.org/a.png alt=a>",
    "<img src=//example.org/a.png>",
    "<img src=a.png>",
    "<audio src=https://example.org/a></audio><video poster=https://example.org/a><source src=https://example.org/b></video>",
    "<p style='cursor: url(https://example.org/a), auto'>x</p>",
    "<p style='list-style-type: url(\"https://example.org/a\")'>x</p>",
    "<p style='cursor: u\\72l(https://example.org/a)'>x</p>",
    "<p style='border: image-set(\"https://example.org/a\" 1x)'>x</p>",
    "<table background=https://example.org/a><tr><td background=https://example.org/a></table>",
    "<svg><image href=https://example.org/a /></svg>",
]


@pytest.mark.parametrize("html", FETCHES)
def test_nothing_is_fetched(html: str) -> None:
    left = BeautifulSoup(cleaned(html), "html.parser").find_all(True)
    assert not [element for element in left if "example.org" in str(element.attrs) or element.get("src") == "a.png"]


def test_where_pictures_may_be_fetched_they_are_and_nothing_else() -> None:
    html = '<img src="https://example.org/a.png"><p style="cursor: url(https://example.org/a)">x</p>'
    assert cleaned(html, remote=True) == '<img src="https://example.org/a.png"><p style="">x</p>'


def test_no_part_of_an_answer_has_a_name_that_the_page_gives_to_its_own() -> None:
    html = '<b id="graded--mix_rows">x</b><a name="Graded--mix_rows">x</a><b id="mine">x</b>'
    assert cleaned(html) == '<b>x</b><a>x</a><b id="mine">x</b>'


@pytest.mark.parametrize("html", ACTS)
def test_what_acts_is_gone(html: str) -> None:
    left = BeautifulSoup(cleaned(html), "html.parser").find_all(True)
    assert {element.name for element in left} <= {"a", "details", "div", "img", "p", "video"}
    assert {name for element in left for name in element.attrs} <= {"open", "src", "style", "title"}
    assert not [element for element in left if "act()" in f"{element.get('src')} {element.get('style')}"]


@pytest.mark.parametrize("html", HARMLESS)
def test_what_does_not_stays(html: str) -> None:
    assert tree(cleaned(html)) == tree(html)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_this_courses_texts_and_outputs_look_as_they_did(notebook: str) -> None:
    for html in laid_out(notebook):
        assert tree(cleaned(html)) == tree(html)


def laid_out(notebook: str) -> Iterator[str]:
    for cell in nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown":
            yield markdown2html(cell.source)
        for output in cell.get("outputs", []):
            yield output.get("data", {}).get("text/html", "")


def tree(html: str) -> list[Any]:
    """What a browser makes of some HTML: the elements, what they are told, and the texts between them."""
    soup = BeautifulSoup(html, "html.parser")
    for body in soup.find_all("tbody"):  # which a browser adds
        body.unwrap()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    soup.smooth()
    return [
        told(element) if getattr(element, "name", None) else " " if element.isspace() else str(element)
        for element in soup.descendants
    ]


def told(element: Any) -> tuple[str, dict[str, str]]:
    attributes = {name: str(value) for name, value in element.attrs.items()}
    style = [setting.split(":") for setting in attributes.pop("style", "").split(";") if setting.strip()]
    return element.name, attributes | {name.strip(): value.strip() for name, value in style}
