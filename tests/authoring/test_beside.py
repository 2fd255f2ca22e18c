"""What lies beside the notebooks of a kit: a home, a reference and a sheet of shapes, which lead somewhere and tell nothing ahead."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from autograder.authoring.kit.notebooks import write_notebooks
from autograder.authoring.staged import staged
from autograder.exercises import NOTEBOOKS
from course.kit.copies import bring
from tests.support.leaks import cells_of, flat, solution_texts

PAGES = ("index.ipynb", "reference.ipynb", "shapes.ipynb")
LAST = "03_causal_mask"
LATER = tuple(name for name in NOTEBOOKS if name > LAST)

every_stage = pytest.mark.parametrize("given", ["00_shapes", LAST, NOTEBOOKS[-1]], indirect=True)


@pytest.fixture(scope="module")
def given(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notebooks of a kit and what lies beside them."""
    folder = tmp_path_factory.mktemp("given")
    write_notebooks(getattr(request, "param", LAST), folder)
    return folder


def text_of(path: Path) -> str:
    return "\n\n".join(cell.source for cell in cells_of(path))


def links(path: Path) -> list[str]:
    texts = (cell.source for cell in cells_of(path) if cell.cell_type == "markdown")
    return [link for text in texts for link in re.findall(r"\]\(([^)\s]+)\)", text) if "//" not in link]


# ------------------------------------------------------------------------------------------------------ where they lead


@every_stage
def test_every_link_leads_to_a_notebook_and_a_place_that_are_there(given: Path) -> None:
    feet = 0
    for path in sorted(given.rglob("*.ipynb")):
        headings = {heading.replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)}
        for link in links(path):
            file, _, place = link.partition("#")
            if file:
                target = (path.parent / file).resolve()
                assert target.is_file(), (path.name, link)
                name = place.removeprefix("cell-id=")
                assert not place or name in {cell.id for cell in cells_of(target)}, (path.name, link)
            else:
                assert place in headings, (path.name, link)
            feet += link == "../index.ipynb"
    assert feet == len(list(given.glob("*/*.ipynb")))


@every_stage
def test_home_has_each_notebook_with_its_title_and_minutes(given: Path) -> None:
    rows = re.findall(r"^\| \[(.+)\]\((.+)\) \| (\d+) \| (\d+) \|$", text_of(given / "index.ipynb"), re.MULTILINE)
    assert [link for _, link, _, _ in rows] == [f"{p.stem}/{p.name}" for p in sorted(given.glob("*/*.ipynb"))]
    for title, link, _, minutes in rows:
        opening = cells_of(given / link)[0].source
        assert opening.startswith(f"# {title}\n")
        assert f"about {minutes} minutes" in opening


@every_stage
def test_reference_and_sheet_lead_back_home(given: Path) -> None:
    for page in ("reference.ipynb", "shapes.ipynb"):
        assert "index.ipynb" in links(given / page), page


def test_the_end_of_a_kit_leads_nowhere_and_a_newer_kit_leads_on(tmp_path: Path) -> None:
    """Also where the student has written in the notebook in the meantime."""
    for last in ("00_shapes", "01_token_loops"):
        write_notebooks(last, tmp_path / last)
    work = tmp_path / "work"
    list(bring(tmp_path / "00_shapes", work))
    own = work / "00_shapes" / "00_shapes.ipynb"
    assert text_of(own).count("next: notebook 01, which a newer kit brings") == 1
    tree = json.loads(own.read_text(encoding="utf-8"))
    next(cell for cell in tree["cells"] if cell["id"] == "mix-rows-solution")["source"] = "mine = 1"
    own.write_text(json.dumps(tree), encoding="utf-8")
    said = list(bring(tmp_path / "01_token_loops", work))
    assert [line.partition(":")[0] for line in said] == ["index", "reference", "shapes", "00_shapes", "01_token_loops"]
    assert not any("both" in line for line in said)
    assert "next: [01 · One token at a time](../01_token_loops/01_token_loops.ipynb)" in text_of(own)
    assert "which a newer kit brings" not in text_of(own)
    assert "mine = 1" in text_of(own)
    assert "01_token_loops/01_token_loops.ipynb" in text_of(work / "index.ipynb")


# ------------------------------------------------------------------------------------------------- nothing ahead of time


def test_nothing_is_told_of_later_notebooks_but_that_they_come(given: Path) -> None:
    later = [*LATER, *(name.partition("_")[0] for name in LATER)]
    for page in PAGES:
        # sizes and dates are no notebooks
        words = re.sub(r"https?://\S+|core dimension \d+|\b\d{4}\b|\d\d MB", "", text_of(given / page))
        assert [name for name in later if re.search(rf"(?<![\d.]){name}\b", words)] == [], page
    assert "comes with a newer kit" in text_of(given / "index.ipynb")
    assert "multi-head" not in text_of(given / "reference.ipynb")


def test_to_whom_has_all_nothing_is_promised(tmp_path: Path) -> None:
    write_notebooks(NOTEBOOKS[-1], tmp_path)
    assert "newer kit" not in text_of(tmp_path / "index.ipynb")
    assert "this is the last notebook" in text_of(tmp_path / NOTEBOOKS[-1] / f"{NOTEBOOKS[-1]}.ipynb")


@every_stage
def test_the_pages_answer_no_exercise(given: Path) -> None:
    for page in PAGES:
        code = [cell.source for cell in cells_of(given / page) if cell.cell_type == "code"]
        assert code == (["from course import progress\n\nprogress()"] if page == "index.ipynb" else [])
        text = flat(text_of(given / page))
        for notebook in NOTEBOOKS:
            for answer in solution_texts(notebook):
                assert f"\n{answer}\n" not in f"\n{text}\n"


PAGE = """# Page

| word | where | what |
|-|-|-|
| a | 00 | x |
| b | 04 | y |
| c | 02, 08 | 07 |
| d | 01 to 05 | z |
| e | 02 to 03, 09 | |

## Messages

### `one`

More in 03: [Heading](../release/03_causal_mask/03_causal_mask.ipynb#Heading)

## Later

### `two`

More in 04: [Heading](../release/04_heads/04_heads.ipynb#Heading)
"""


def test_a_page_is_cut_down_to_what_its_reader_has_come_to() -> None:
    assert staged(PAGE, LAST) == (
        "# Page\n\n| word | where | what |\n|-|-|-|\n| a | 00 | x |\n| c | 02 | 07 |\n| d | 01 to 03 | z |\n| e | 02, 03 |  |\n\n"
        "## Messages\n\n### `one`\n\nMore in 03: [Heading](03_causal_mask/03_causal_mask.ipynb#Heading)\n\n"
    )
