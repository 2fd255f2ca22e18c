"""The page that a kit opens on, in JupyterLab: how far one is, the ways to the notebooks and back, and what lies beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from autograder.authoring.kit.notebooks import write_notebooks
from tests.browser.attempts import ATTEMPTS
from tests.browser.front_end import PATIENCE, Opened
from tests.browser.server import TOKEN, Server, serving
from tests.browser.visit import Visit

LAST = "01_token_loops"
FIRST = ATTEMPTS["00_shapes"]
TITLE = "00 · Reading a matrix product"


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    given = tmp_path_factory.mktemp("given")
    write_notebooks(LAST, given)
    with serving(tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("home"), given) as started:
        yield started


@pytest.fixture
def home(visit: Visit) -> Opened:
    """The page that opens where a student starts."""
    visit.page.goto(visit.server.url(""))
    expect(visit.page).to_have_url(re.compile(r"/lab/tree/index\.ipynb"))
    return Opened(visit.page, visit.server.work / "index.ipynb")


def test_from_home_to_an_answer_and_back_to_how_far_it_is(home: Opened) -> None:
    home.run("progress")
    assert "Nothing was checked yet." in home.said("progress")
    home.output("progress").get_by_role("link", name=TITLE).first.click()
    notebook = Opened(home.page, home.path.parent / "00_shapes" / "00_shapes.ipynb")
    expect(notebook.cell(FIRST.answer)).to_be_in_viewport()
    notebook.run("setup")
    notebook.replace_last_line(FIRST.answer, FIRST.right)
    notebook.run(FIRST.answer, FIRST.check)
    notebook.save()
    foot = notebook.cell("closing")
    foot.scroll_into_view_if_needed()
    foot.get_by_role("link", name="Home", exact=True).click()
    again = Opened(home.page, home.path)
    again.run("progress")
    expect(again.output("progress")).to_contain_text("1 of 3 checks passed")
    expect(again.output("progress")).to_contain_text("Next: mix_rows in")
    assert again.trouble() == []


def test_a_message_is_looked_up_and_leads_to_where_it_is_explained(home: Opened) -> None:
    home.cell("next").get_by_role("link", name="Reference").click()
    reference = Opened(home.page, home.path.parent / "reference.ipynb")
    link = reference.cell("stuck").get_by_role("link", name="What holds for every exercise").first
    link.scroll_into_view_if_needed()
    link.click()
    notebook = Opened(home.page, home.path.parent / "00_shapes" / "00_shapes.ipynb")
    expect(notebook.cell("title")).to_be_attached()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_sheet_of_shapes_is_one_page_when_it_is_printed(browser: Browser, server: Server, paper: str) -> None:
    """JupyterLab prints what nbconvert makes of a notebook."""
    write_notebooks("10_capstone", server.work / "all")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.origin}/nbconvert/html/all/shapes.ipynb?download=false&token={TOKEN}")
    expect(page.locator("td")).to_have_count(22)
    printed = page.pdf(format=paper)
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
