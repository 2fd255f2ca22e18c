"""The course as pages to read: nothing is answered, nothing leads nowhere, and nothing comes from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from copy import copy
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

import autograder.authoring.site as site_room
from autograder.__main__ import run
from autograder.authoring.kit import library
from autograder.authoring.site import make_site, notebooks
from autograder.authoring.site.charts import as_tables
from autograder.authoring.site.notebooks import AUTHORS_OWN, CARRIED_OVER, page
from autograder.authoring.site.pages import ABOUT, assemble
from autograder.exercises import NOTEBOOKS
from autograder.problems import Problem
from autograder.settings import ROOT
from tests.support.leaks import Secret, cells_of, flat, functions, leaked, solution_texts
from tests.support.whole_site import whole_site

every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS)
LISTED = [name for names in ABOUT.values() for name in names]
READ = [*(f"notebooks/{notebook}" for notebook in NOTEBOOKS), *(name.removesuffix(".md") for name in LISTED), "index"]
every_page = pytest.mark.parametrize("name", READ)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole_site(tmp_path_factory)


@cache
def whole(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def ids(page: Path) -> set[str]:
    return {str(tag["id"]) for tag in whole(page).select("[id]")}


def article(site: Path, name: str) -> Tag:
    """What a page says, without what stands around it on every page."""
    found = whole(site / f"{name}.html").find("article")
    assert isinstance(found, Tag)
    return found


def released(notebook: str) -> list[str]:
    """The code that students get, cell by cell."""
    path = ROOT / "release" / notebook / f"{notebook}.ipynb"
    return [cell.source for cell in cells_of(path) if cell.cell_type == "code"]


def shown(part: Tag, place: str) -> list[str]:
    return [found.get_text().strip("\n") for found in part.select(place)]


# ------------------------------------------------------------------------------------------------- nothing is answered


@every_notebook
def test_all_code_of_a_page_is_what_students_get(site: Path, notebook: str) -> None:
    code = shown(article(site, f"notebooks/{notebook}"), ".cell_input pre")
    assert code == [cell.strip("\n") for cell in released(notebook) if cell]


@every_notebook
def test_nothing_on_a_page_is_an_answer_of_this_notebook_or_a_later_one(site: Path, notebook: str) -> None:
    """Answers of earlier notebooks stand where a notebook carries them over, and nowhere else."""
    part = article(site, f"notebooks/{notebook}")
    released = cells_of(ROOT / "release" / notebook / f"{notebook}.ipynb")
    carried = [cell.source.strip("\n") for cell in released if cell.id == CARRIED_OVER]
    for block in shown(part, "pre"):
        assert secrets_in(block, before=notebook if block in carried else "") == []
    assert answers_in(part, but=carried) == []


@pytest.mark.parametrize("name", [*(name.removesuffix(".md") for name in LISTED), "index"])
def test_the_pages_about_the_course_hold_no_answer(site: Path, name: str) -> None:
    part = article(site, name)
    found = [secret for block in shown(part, "pre") for _, secret in secrets_in(block)]
    assert [secret for secret in found if secret.role != "mistake"] == []
    assert answers_in(part) == []


def secrets_in(block: str, before: str = "") -> list[tuple[str, Secret]]:
    """What `leaked` finds, where the block is code."""
    try:
        return leaked(block, before)
    except SyntaxError:
        return []


def answers_in(part: Tag, but: Iterable[str] = ()) -> list[str]:
    """The texts of solutions in a page, without those in some of its cells."""
    text = "\n".join([*shown(part, "pre"), part.get_text("\n")])
    for cell in but:
        text = text.replace(cell, "")
    return [one for notebook in NOTEBOOKS for one in solution_texts(notebook) if f"\n{one}\n" in f"\n{flat(text)}\n"]


def printed(notebook: str) -> set[str]:
    """The functions whose code stands in an output, by normal form."""
    found = set()
    for cell in page(notebook).cells:
        for text in (output.get("text", "") for output in cell.get("outputs", ())):
            if begins := re.search(r"^ *(class|def) ", text, re.MULTILINE):
                found |= {form for _, form in functions(dedent(text[begins.start() :]))}
    return found


def test_functions_that_outputs_show_are_in_the_kit_up_to_there() -> None:
    """Of what is in a kit, tests/authoring/test_kits.py asks what it answers."""
    shows = {notebook: printed(notebook) for notebook in NOTEBOOKS}
    assert sum(map(bool, shows.values())) >= 3
    for notebook, forms in shows.items():
        kit = [file for file in library(NOTEBOOKS[: NOTEBOOKS.index(notebook) + 1]) if file.endswith(".py")]
        assert not forms or forms <= {form for file in kit for _, form in functions((ROOT / file).read_text())}


@every_notebook
def test_what_the_author_has_passed_is_not_told(site: Path, notebook: str) -> None:
    assert "checks pass" not in " ".join(shown(article(site, f"notebooks/{notebook}"), ".output"))
    assert [cell for cell in page(notebook).cells if AUTHORS_OWN in cell.source and cell.get("outputs")] == []


def test_a_site_up_to_a_notebook_holds_no_later_one(tmp_path: Path) -> None:
    assemble(tmp_path / "pages", NOTEBOOKS[:4])
    assert sorted(path.stem for path in (tmp_path / "pages" / "notebooks").iterdir()) == [*NOTEBOOKS[:4]]
    first = (tmp_path / "pages" / "index.md").read_text()
    assert [notebook for notebook in NOTEBOOKS if notebook in first] == [*NOTEBOOKS[:4]]


def test_a_site_for_students_has_no_page_for_others(tmp_path: Path) -> None:
    assemble(tmp_path, NOTEBOOKS[:4], students=True)
    pages = {path.stem for path in tmp_path.rglob("*.md")}
    assert pages == {"glossary", "index", "shapes", "sources", "students", "stuck"}
    sides = re.findall("^:caption: (.*)$", (tmp_path / "index.md").read_text(), re.MULTILINE)
    assert sides == ["Notebooks", "Taking the course"]
    named = {
        name for path in tmp_path.rglob("*.md") for name in re.findall(r"\((?:\.\./|docs/)*(\w+)\.md", path.read_text())
    }
    assert named <= pages


def test_neither_sources_nor_notebooks_lie_beside_the_pages(site: Path) -> None:
    assert [path for path in site.rglob("*") if path.suffix in (".ipynb", ".md", ".py", ".rst")] == []
    assert list(site.rglob("_sources/*")) == []


# -------------------------------------------------------------------------------------------- pictures, hints, guesses


@every_notebook
def test_the_stored_pictures_are_shown_with_their_alternative_texts(site: Path, notebook: str) -> None:
    source = json.loads((ROOT / "source" / notebook / f"{notebook}.ipynb").read_text())["cells"]
    outputs = [output for cell in source for output in cell.get("outputs", ())]
    stored = ["".join(output.get("data", {}).get("text/plain", "")) for output in outputs]
    alts = [alt.removeprefix("[Picture] ") for alt in stored if alt.startswith("[Picture] ")]
    assert alts
    pictures = article(site, f"notebooks/{notebook}").select(".cell_output img")
    assert [picture["alt"] for picture in pictures] == alts
    assert all((site / "notebooks" / str(picture["src"])).is_file() for picture in pictures)


def test_a_cell_that_the_source_has_no_more_is_shown_without_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(folder: str, notebook: str) -> NotebookNode:
        found = nbformat.read(ROOT / folder / notebook / f"{notebook}.ipynb", as_version=4)
        found.cells = [cell for cell in found.cells if folder == "release" or cell.id != "picture-pairs"]
        return found

    monkeypatch.setattr(notebooks, "_read", read)
    (left,) = [cell for cell in page("00_shapes").cells if cell.id == "picture-pairs"]
    assert left.outputs == []


@every_notebook
def test_what_waits_for_a_guess_is_folded_and_nothing_else(site: Path, notebook: str) -> None:
    left_open = re.compile(r"^(guess\w*) = None\b", re.MULTILINE)
    guesses = {name for cell in released(notebook) for name in left_open.findall(cell)}
    cells = [cell for cell in article(site, f"notebooks/{notebook}").select(".cell") if cell.select(".cell_output")]
    waits = [bool(guesses & set(re.findall(r"\w+", shown(cell, ".cell_input pre")[0]))) for cell in cells]
    assert any(waits)
    assert [bool(cell.select("details .cell_output")) for cell in cells] == waits
    assert not article(site, f"notebooks/{notebook}").select("details[open]")


@every_notebook
def test_hints_and_what_is_carried_over_are_folded(site: Path, notebook: str) -> None:
    part = article(site, f"notebooks/{notebook}")
    summaries = [summary.get_text() for summary in part.select("details > summary")]
    text = "".join(cell.source for cell in page(notebook).cells if cell.cell_type == "markdown")
    assert sum(said.startswith("Hint") for said in summaries) == text.count("<summary>Hint")
    carried = [cell for cell in page(notebook).cells if cell.id == CARRIED_OVER]
    assert len(part.select("details.above-input pre")) == len(carried)


@every_notebook
def test_formulas_are_typeset(site: Path, notebook: str) -> None:
    part = copy(article(site, f"notebooks/{notebook}"))
    assert part.select("math")
    for code in part.select("pre, code"):
        assert not code.get_text().startswith("$")
        code.decompose()
    assert not re.search(r"\$[^$]+\$|\\[a-z]{2,}|&#x", part.get_text())


# ----------------------------------------------------------------------------------------------------- links and files


@every_page
def test_every_link_inside_the_site_leads_somewhere(site: Path, name: str) -> None:
    here = site / f"{name}.html"
    for tag in whole(here).select("[href], [src]"):
        link = str(tag.get("href") or tag.get("src"))
        split = urlsplit(link)
        if split.scheme or link in ("", "#"):
            assert tag.name == "a" or not split.scheme, link
            continue
        target = (here.parent / unquote(split.path)).resolve() if split.path else here
        assert target.is_file(), link
        assert target.is_relative_to(site.resolve()), link
        if split.fragment and target.suffix == ".html":
            assert unquote(split.fragment) in ids(target), link


def test_styles_and_scripts_name_no_other_place(site: Path) -> None:
    for path in [*site.rglob("*.css"), *(site / "_static").glob("*.js")]:
        for link in re.findall(r"url\([\"']?([^)\"']+)|@import [\"']([^\"']+)", path.read_text(encoding="utf-8")):
            assert not re.match(r"(https?:)?//", "".join(link)), path


def test_every_page_of_the_docs_is_in_the_site() -> None:
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")} | {"CONTRIBUTING.md"} == {
        *LISTED
    }
    assert len(LISTED) == len(set(LISTED))


def test_a_link_to_a_file_that_is_not_in_the_site_is_text(site: Path) -> None:
    assert "](CHANGELOG.md)" in (ROOT / "CONTRIBUTING.md").read_text()
    part = article(site, "CONTRIBUTING")
    assert "CHANGELOG" in part.get_text()
    assert not [link for link in part.select("a") if "CHANGELOG" in str(link)]


@every_page
def test_headings_are_in_order(site: Path, name: str) -> None:
    levels = [int(heading.name[1]) for heading in article(site, name).select("h1, h2, h3, h4, h5, h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_first_page_lists_the_notebooks_as_the_readme_does(site: Path) -> None:
    readme = re.findall(r"^\| `(\w+)` \|[^|]*\| (\d+) \| ([\d.]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    rows = article(site, "index").select("tbody tr")
    listed = [(str(row.a["href"]), *(cell.get_text() for cell in row.select("td")[1:])) for row in rows if row.a]
    assert listed == [(f"notebooks/{notebook}.html", points, minutes) for notebook, minutes, points in readme]
    titles = [article(site, f"notebooks/{notebook}").find("h1") for notebook in NOTEBOOKS]
    assert [row.a.get_text() for row in rows if row.a] == [
        next(title.strings) for title in titles if isinstance(title, Tag)
    ]


# -------------------------------------------------------------------------------------------------------- flowcharts


def test_a_flowchart_is_a_table_of_its_arrows(site: Path) -> None:
    rows = [[cell.get_text() for cell in row.select("td")] for row in article(site, "docs/architecture").select("tr")]
    assert ["authoring", "→", "exercises"] in rows
    assert ["course", "⇢", "judging"] in rows
    assert ["source/ notebooks with solutions", "→ make release", "release/ what students get"] in rows
    assert ["the judge", "↔ arrays over a socket", "a submission’s process, between two walls"] in rows


@pytest.mark.parametrize("chart", ["flowchart LR\n    a --> b\n    subgraph one\n", "pie\n    a --> b\n"])
def test_of_another_chart_there_is_the_text(chart: str) -> None:
    assert as_tables(f"Before.\n\n```mermaid\n{chart}```\n") == f"Before.\n\n```text\n{chart}```\n"


# --------------------------------------------------------------------------------------------------------- the command


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(SystemExit) as ended:
        run(["site", "--upto", "00", "--to", str(tmp_path)])
    assert ended.value.code == 2
    assert (
        capsys.readouterr().err.strip()
        == f"{tmp_path} holds something else than a site: name another folder with --to."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_notebook_that_there_is_not_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["site", "--upto", "77", "--to", str(tmp_path / "site")])
    assert "there is no notebook '77'" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "site").exists()


@pytest.fixture
def one_page(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A site that has a single page, with this text, in which stands which notebooks were asked for."""
    text = ["# Alone"]

    def instead(to: Path, taken: tuple[str, ...], students: bool) -> None:
        to.mkdir()
        (to / "index.md").write_text("\n".join([*text, "", *taken, "for students" * students]))

    monkeypatch.setattr(site_room, "assemble", instead)
    return text


@pytest.mark.parametrize(
    ("words", "last"), [(["--upto", "3", "--students"], 4), (["--upto", "00_shapes"], 1), ([], len(NOTEBOOKS))]
)
def test_the_command_takes_the_notebooks_up_to_one(
    words: list[str], last: int, one_page: list[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["site", *words, "--to", str(tmp_path / "site")])
    assert not ended.value.code
    told = (tmp_path / "site" / "index.html").read_text()
    assert [notebook for notebook in NOTEBOOKS if notebook in told] == [*NOTEBOOKS[:last]]
    assert ("for students" in told) == ("--students" in words)


def test_a_page_with_a_fault_is_named_and_the_earlier_site_stays(
    one_page: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as many machines of CI do
    (tmp_path / site_room.MADE).write_text("earlier")
    one_page.append("\n[nowhere](nowhere.md)")
    with pytest.raises(Problem, match=r"mend what is named:\nindex.md:3: WARNING: .*nowhere"):
        make_site("00_shapes", tmp_path)
    assert (tmp_path / site_room.MADE).read_text() == "earlier"


def test_an_earlier_site_is_replaced_as_a_whole(one_page: list[str], tmp_path: Path) -> None:
    for name in (site_room.MADE, "gone.html"):
        (tmp_path / name).write_text("earlier")
    make_site("00_shapes", tmp_path)
    assert "Alone" in (tmp_path / "index.html").read_text()
    assert not (tmp_path / "gone.html").exists()
