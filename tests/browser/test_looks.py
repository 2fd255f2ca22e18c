"""What check says and what is drawn: light and dark, on a small and a large screen, and at 200 %."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page

from autograder.settings import ROOT
from tests.browser.front_end import LAB, PANEL, Opened
from tests.browser.likeness import assert_looks_like
from tests.browser.paths import assert_mathematics
from tests.browser.server import Server
from tests.browser.visit import visiting
from tests.support.axe import faults
from tests.support.drawn import ROOM

THEMES = ("Light", "Dark")
SIZES = {
    "1280": (1280, 800),
    "1920": (1920, 1080),
    "200 %": (640, 400),
}  # 1280 by 800 dots at 200 % are half as many units
CONTRAST = 4.5  # the least contrast that the guidelines for accessible pages ask of text

WIDE = """
panel => {
    const edge = document.querySelector(`${panel} .jp-Notebook`).getBoundingClientRect().right;
    const outputs = [...document.querySelectorAll(`${panel} .jp-OutputArea-output`)];
    const scrolled = (part, output) => part !== output && part.parentElement !== output &&
        (getComputedStyle(part.parentElement).overflowX === 'auto' || scrolled(part.parentElement, output));
    const beyond = output => part => part.getBoundingClientRect().right > edge + 1 && !scrolled(part, output);
    const wide = output => output.scrollWidth > output.clientWidth + 1 || [output, ...output.querySelectorAll('*')].some(beyond(output));
    return outputs.filter(wide).map(output => output.closest('.jp-Cell').textContent.slice(0, 80));
}
"""
BROKEN = """
panel => {
    const matrices = [...document.querySelectorAll(`${panel} .jp-OutputArea-output.jp-RenderedHTMLCommon pre`)];
    const lines = pre => pre.textContent.split('\\n').length;
    const height = pre => pre.getBoundingClientRect().height - (pre.offsetHeight - pre.clientHeight);
    const broken = pre => height(pre) > (lines(pre) + 0.5) * parseFloat(getComputedStyle(pre).lineHeight);
    return matrices.filter(broken).map(pre => pre.textContent);
}
"""
FAINT = """
([panel, least]) => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const opaque = element => (numbers(getComputedStyle(element).backgroundColor)[3] ?? 1) > 0.5;
    const behind = element => !element ? [255, 255, 255]
        : opaque(element) ? numbers(getComputedStyle(element).backgroundColor) : behind(element.parentElement);
    const linear = part => part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const contrast = element => {
        const [low, high] = [light(numbers(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const own = element => [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const places = ['.jp-OutputArea-output', '.jp-RenderedMarkdown'].map(place => `${panel} ${place} *`).join(', ');
    const texts = [...document.querySelectorAll(places)].filter(element => own(element).length && contrast(element) < least);
    return texts.map(element => element.textContent.slice(0, 80));
}
"""
OURS = ", ".join(f"{PANEL} {place}" for place in (".jp-RenderedMarkdown", ".jp-OutputArea-output"))
"""What notebooks bring; the rest of a panel is JupyterLab's."""
HEADINGS = (
    "panel => [...document.querySelectorAll(`${panel} :is(h1, h2, h3, h4, h5, h6)`)].map(one => Number(one.tagName[1]))"
)
WIDTHS = """
panel => [...document.querySelectorAll(`${panel} .jp-OutputArea-output img`)].map(img => {
    const { paddingLeft, paddingRight } = getComputedStyle(img.closest('.jp-OutputArea-output'));
    const room = img.closest('.jp-OutputArea-output').clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return [room, img.getBoundingClientRect().width, img.naturalWidth];
})
"""


def sources(folder: str, notebook: str) -> dict[str, str]:
    """The text of each cell, by its id."""
    cells = json.loads((ROOT / folder / notebook / f"{notebook}.ipynb").read_text())["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def solved(notebook: str) -> dict[str, str]:
    return {name: text for name, text in sources("source", notebook).items() if name.endswith("-solution")}


def wrong(notebook: str, answer: str, line: str) -> dict[str, str]:
    return {answer: sources("release", notebook)[answer].replace("raise NotImplementedError()", line)}


HALF_WAY = {
    "00_shapes": {
        **wrong("00_shapes", "pairwise-dots-solution", "return Y @ X.T"),
        "guess-products": "guess = 3",
    },
    "03_causal_mask": {
        **solved("03_causal_mask"),
        **wrong("03_causal_mask", "masked-softmax-solution", "return softmax(mask_scores(S, keep))"),
        "guess-gap": "guess_gap = 50",
    },
}
"""Right answers, wrong ones and some not written yet; guesses that were made and one that was not."""

PICTURES = {
    "00_shapes": [
        ("message", "pairwise-dots", "Light"),
        ("progress", "progress", "Light"),
        ("progress", "progress", "Dark"),
        ("message", "pairwise-dots", "Dark"),
    ],
    "03_causal_mask": [("covered", "picture-grid", "Dark"), ("uncovered", "picture-cliff", "Light")],
}
"""The name of each picture that is kept of a notebook, the cell whose output it shows, and the theme."""


@pytest.fixture(scope="module", params=HALF_WAY)
def shown(request: pytest.FixtureRequest, window: Page, server: Server) -> Iterator[Opened]:
    """A notebook half-way, and run."""
    with visiting(window, server) as visit:
        opened = visit.open(request.param, LAB, HALF_WAY[request.param])
        opened.run_all()
        opened.lay_out_everything()
        yield opened


@pytest.mark.parametrize("size", SIZES)
def test_no_row_of_a_matrix_is_broken(shown: Opened, size: str) -> None:
    shown.use_window(*SIZES[size])
    assert shown.page.evaluate(BROKEN, PANEL) == []


@pytest.mark.parametrize("theme", THEMES)
def test_all_text_stands_out_from_what_is_behind_it(shown: Opened, theme: str) -> None:
    shown.use_theme(theme)
    assert_mathematics(shown)
    assert shown.page.evaluate(FAINT, [PANEL, CONTRAST]) == []


@pytest.mark.parametrize("theme", THEMES)
def test_what_a_notebook_brings_can_be_read_by_everybody(shown: Opened, theme: str) -> None:
    shown.use_window(*SIZES["1280"])
    shown.use_theme(theme)
    assert faults(shown.page, OURS) == []


def test_headings_begin_with_the_title_and_leave_no_step_out(shown: Opened) -> None:
    levels = shown.page.evaluate(HEADINGS, PANEL)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(below - above for above, below in pairwise(levels)) <= 1


def test_pictures_have_the_room_that_their_texts_are_measured_for_and_twice_the_dots(shown: Opened) -> None:
    shown.use_window(*SIZES["1280"])
    widths = shown.page.evaluate(WIDTHS, PANEL)
    assert widths
    for room, width, dots in widths:
        assert room == ROOM
        assert width <= room
        assert dots >= 1.99 * width


@pytest.mark.parametrize("size", SIZES)
def test_messages_and_pictures_are_no_wider_than_the_notebook(shown: Opened, size: str) -> None:
    shown.use_window(*SIZES[size])
    assert shown.page.evaluate(WIDE, PANEL) == []


def test_it_looks_as_it_did_when_somebody_looked(shown: Opened, tmp_path: Path) -> None:
    shown.use_window(*SIZES["1280"])
    for name, cell, theme in PICTURES[shown.path.stem]:
        shown.use_theme(theme)
        assert_looks_like(f"{name}-{theme.lower()}", shown.output(cell).screenshot(), tmp_path)
