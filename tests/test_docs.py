"""What README.md and the pages in docs/ say: paths, links, commands and figures are those of this repository."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
from inspect import signature
from pathlib import Path

import pytest
from nbclient import NotebookClient
from typer.main import get_command

from autograder.__main__ import app
from autograder.authoring.measured import kept, table
from autograder.bench import kills
from autograder.engine.given import IN_MEMORY
from autograder.engine.inside.walls import Limits
from autograder.engine.inside.zygote import SECONDS_BETWEEN_LOOKS
from autograder.engine.session import BUSY
from autograder.exercises import NOTEBOOKS, every_exercise
from autograder.grading.folders import LARGEST_COPY
from autograder.plugins.bounds import LARGEST_FILE, MOST_BYTES, MOST_CELLS, MOST_CODE, MOST_OUTPUTS
from autograder.plugins.config import IN_PLACE_OF
from autograder.plugins.executing import JudgedExecute
from autograder.plugins.sandbox import Sandbox
from autograder.problems import FAILED, INTERRUPTED, OTHER_RUN, UNCONFIRMED, USAGE
from autograder.settings import ROOT
from tests.support.checkout import imports, targets, within

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
MADE_BY_USE = ("work/", "class/", "build/")
WIDEST = 120

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of a page's table, row by row, found by the first line of it."""
    lines = iter(page.split("\n"))
    assert heading in lines, heading
    next(lines)
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def prose(page: str) -> list[str]:
    """The lines that are neither code nor a table."""
    without_code = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return [line for line in without_code.split("\n") if not line.startswith(("    ", "|"))]


def anchors(page: Path) -> set[str]:
    """What can stand behind the "#" of a link to a page or a notebook."""
    if page.suffix == ".ipynb":
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        return {found.replace(" ", "-") for text in texts for found in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


# --------------------------------------------------------------------------------------- paths, links and commands


@every_page
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """A path is a word in backticks with a slash in it."""
    named = re.findall(r"`([a-z_.]+/[\w./-]*)`", page.read_text(encoding="utf-8"))
    assert [path for path in named if not path.startswith(MADE_BY_USE) and not (ROOT / path).exists()] == []


@every_page
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    assert links or page.parent == DOCS
    for link in links:
        if link.startswith("https://"):  # no network: whether the page is there is for a person to see
            assert page.name == "sources.md", f"{link} belongs on the page of sources"
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def test_what_the_notebooks_link_to_stands_among_the_sources() -> None:
    sources = set(re.findall(r"\]\((https://[^)\s]+)\)", text("sources.md")))
    named = {
        link
        for path in sorted((ROOT / "source").glob("*/*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
        for link in re.findall(r"https?://[^)\s\"<>]+", "".join(cell["source"]))
    }
    assert named - sources == set()


def test_every_page_can_be_reached_from_the_readme() -> None:
    linked = set(re.findall(r"\]\((docs/[^)#]+\.md)\)", PAGES[0].read_text(encoding="utf-8")))
    assert linked == {page.relative_to(ROOT).as_posix() for page in PAGES[1:]}


@every_page
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    told = page.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:`|^    )make ([a-z-]+)", told, re.MULTILINE)) <= targets()
    assert set(re.findall(r"python -m autograder ([a-z]+)", told)) <= set(get_command(app).commands)  # type: ignore[attr-defined]
    assert [name for name in re.findall(r"python -m ([\w.]+)", told) if importlib.util.find_spec(name) is None] == []


@every_page
def test_lines_are_short_enough_to_read_as_they_are(page: Path) -> None:
    assert [line for line in prose(page.read_text(encoding="utf-8")) if len(line) > WIDEST] == []


# --------------------------------------------------------------------------------------------------- what stands there


def test_the_picture_is_what_check_says_today() -> None:
    drawing = runpy.run_path(str(DOCS / "pictures" / "message.py"))
    assert drawing["PICTURE"].read_text(encoding="utf-8") == drawing["picture"](), "run python docs/pictures/message.py"


def test_the_readme_gives_each_notebook_the_minutes_of_its_title() -> None:
    told = {row[0].strip("`"): row[2] for row in rows(PAGES[0].read_text(), "| notebook | about | minutes | points |")}
    for notebook in NOTEBOOKS:
        cells = json.loads((ROOT / "source" / notebook / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
        title = re.search(r", about (\d+) minutes", "".join(cells[0]["source"]))
        assert title
        assert told[notebook] == title[1]


def test_the_rooms_are_drawn_as_they_import_each_other() -> None:
    (drawn,) = re.findall(r"flowchart BT\n(.*?)```", text("architecture.md"), re.DOTALL)
    arrows = set(re.findall(r"(\w+) (?:-->|-\.->) (\w+)", drawn))
    rooms = {name for arrow in arrows for name in arrow}
    named = {room: "course" if room == "course" else f"autograder.{room}" for room in rooms}
    found = {
        (room, other)
        for room in rooms
        for path in (ROOT / named[room].replace(".", "/")).rglob("*.py")
        for name in imports(path)
        for other in rooms
        if other != room and within(name, {named[other]})
    }
    assert arrows == found


def test_every_room_has_its_line() -> None:
    rooms = {path.parent.relative_to(ROOT) for side in ("autograder", "course") for path in (ROOT / side).rglob("*.py")}
    outer = {f"{room.as_posix()}/" for room in rooms if len(room.parts) == 2} | {"course/", "tests/support/"}
    told = [row[0].strip("`") for row in rows(text("architecture.md"), ROOMS)]
    assert sorted(outer) == sorted(told)


ROOMS = "| room | what it is for | what it does not know |"


def test_the_limits_are_those_that_hold() -> None:
    limits = Sandbox().limits
    assert limits == Limits()
    assert limits.memory == limits.together * 3 // 2
    told = dict(rows(text("operators.md"), "| what | limit |"))
    assert told == {
        "a cell (`c.Execute.timeout`)": f"{NotebookClient.timeout.default_value or JudgedExecute().timeout} s",
        "a notebook (`c.JudgedExecute.notebook_timeout`)": f"{JudgedExecute().notebook_timeout // 60} minutes",
        "memory altogether (`c.Sandbox.memory`, in MiB)": f"{limits.together >> 30} GiB",
        "addresses a process": "half as much again",
        "processes and threads (`c.Sandbox.processes`)": str(limits.processes),
        "each folder that it can write (`c.Sandbox.disk`, in MiB)": f"{limits.disk >> 20} MiB",
        "output (`c.Sandbox.output`, in MiB)": f"{limits.output >> 20} MiB",
        "network (`c.Sandbox.network`, hosts)": ", ".join(limits.network) or "none",
    }
    page = " ".join(text("operators.md").split())
    assert f"{1 / SECONDS_BETWEEN_LOOKS:g} times a second" in page
    assert f"up to {BUSY} times the limit" in page
    assert f"{signature(kills.main).parameters['times'].default} times through each door" in page
    assert f"Up to {IN_MEMORY >> 20} MiB, the smallest first" in page
    assert f"an instructor's file of more than {LARGEST_COPY >> 20} MiB" in page


def test_the_bounds_on_what_is_read_are_those_that_hold() -> None:
    assert dict(rows(text("operators.md"), "| what | bound |")) == {
        "a notebook file": f"{LARGEST_FILE >> 20} MiB",
        "cells": f"{MOST_CELLS:,}",
        "code": f"{MOST_CODE >> 20} MiB",
        "other courses: all files together, without the instructor's": f"{MOST_BYTES >> 20} MiB",
        "other courses: stored outputs": f"{MOST_OUTPUTS:,}",
    }


def test_what_can_be_forged_is_worth_what_is_said() -> None:
    heading = "| exercise | property, as the feedback page names it | points | what can be forged |"
    told = {
        (exercise.strip("`"), shows, float(points))
        for exercise, shows, points, _ in rows(text("operators.md"), heading)
    }
    probes = {(exercise.name, probe.shows, probe.points) for exercise in every_exercise() for probe in exercise.probes}
    assert told <= probes
    counted = {
        (e.name, probe.shows, probe.points) for e in every_exercise() for probe in e.probes if probe.measures == "lines"
    }
    assert counted <= told


def test_the_preprocessors_of_nbgraders_that_others_stand_for_are_named() -> None:
    paragraph = text("another-course.md").partition("## Your own hooks")[2].partition("\n## ")[0]
    assert {*re.findall(r"`([A-Z]\w+)`", paragraph)} == {*IN_PLACE_OF}


def test_the_exit_codes_are_those_of_the_command() -> None:
    codes = [int(code) for code, _ in rows(text("instructors.md"), "| exit code | means |")]
    assert codes == [0, FAILED, USAGE, UNCONFIRMED, OTHER_RUN, INTERRUPTED]


def test_the_table_of_speed_is_that_of_the_last_measuring_in_which_all_scores_were_the_same() -> None:
    assert table(kept()) in text("speed.md")
    assert all(row.same for row in kept())
