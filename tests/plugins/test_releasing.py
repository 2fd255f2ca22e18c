"""The last steps of a release, on cells of their own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder.plugins.config import Releasing, plug_in
from autograder.plugins.releasing import BlankGuesses, ClearAnswers, ReadOnlyTexts, Stable

SETTINGS = Config({"Judge": {"name": "autograder.this_course.JUDGE"}})
OURS = {"nbgrader": {"notebook": "00_shapes"}}


def guess_cell(source: str, **metadata: Any) -> NotebookNode:
    return new_notebook(cells=[new_code_cell(source, id="guess", metadata={"tags": ["prediction"], **metadata})])


@pytest.mark.parametrize(
    ("written", "released"),
    [
        ('guess = "b"  # "a", "b" or "c"?', 'guess = None  # "a", "b" or "c"?'),
        ("guess = 5", "guess = None"),
        ("guess_low = 0.1  # low\nguess_high = 9", "guess_low = None  # low\nguess_high = None"),
        ("n = 3\nguess = n", "n = 3\nguess = None"),
    ],
)
def test_a_guess_is_blanked_and_its_question_stays(written: str, released: str) -> None:
    notebook, _ = BlankGuesses(config=SETTINGS).preprocess(guess_cell(written), OURS)
    assert notebook.cells[0].source == released


def test_a_prediction_without_a_guess_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the prediction cell guess has no line `guess = \.\.\.`"):
        BlankGuesses(config=SETTINGS).preprocess(guess_cell("answer = 5"), OURS)


def test_other_cells_keep_what_is_assigned_in_them() -> None:
    notebook = new_notebook(cells=[new_code_cell("guess = 5", id="a")])
    assert BlankGuesses(config=SETTINGS).preprocess(notebook, OURS)[0].cells[0].source == "guess = 5"


def test_a_text_is_read_only_and_where_students_write_is_not() -> None:
    answer = new_markdown_cell("YOUR ANSWER HERE", id="why", metadata={"nbgrader": {"grade_id": "why", "grade": True}})
    notebook = new_notebook(cells=[new_markdown_cell("A hint.", id="hint"), answer, new_code_cell("1", id="try")])
    read, _ = ReadOnlyTexts(config=SETTINGS).preprocess(notebook, OURS)
    assert [cell.metadata.get("editable", True) for cell in read.cells] == [False, True, True]


def test_only_listed_metadata_leave_the_house() -> None:
    cell = new_code_cell("1", id="one", execution_count=7, outputs=[new_output("stream", text="out")])
    cell.metadata.update(tags=["x"], collapsed=True, editable=False, nbgrader={"grade_id": "one"})
    kernel = {"name": "mine", "display_name": "mine"}
    notebook = new_notebook(cells=[cell], metadata={"kernelspec": kernel, "authors": ["me"], "widgets": {}})
    stable, _ = Stable(config=SETTINGS).preprocess(notebook, OURS)
    assert stable.cells[0].metadata == {"editable": False, "nbgrader": {"grade_id": "one"}}
    assert (stable.cells[0].outputs, stable.cells[0].execution_count) == ([], None)
    assert stable.metadata == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


@pytest.mark.parametrize(
    ("written", "released"),
    [
        ({"source_hidden": True}, {"source_hidden": True}),
        ({"source_hidden": False}, None),
        ({"outputs_hidden": True}, None),
    ],
)
def test_code_that_is_folded_stays_folded(written: dict[str, bool], released: dict[str, bool] | None) -> None:
    notebook = new_notebook(cells=[new_code_cell("1", id="one", metadata={"jupyter": written})])
    stable, _ = Stable(config=SETTINGS).preprocess(notebook, OURS)
    assert stable.cells[0].metadata.get("jupyter") == released


@pytest.mark.parametrize("ids", [("a", "a"), ("A", "b"), ("a_b", "c"), ("", "b"), (None, "b")])
def test_cell_ids_that_are_not_unique_plain_words_are_refused(ids: tuple[str | None, str]) -> None:
    notebook = new_notebook(cells=[new_markdown_cell("x"), new_markdown_cell("x")])
    for cell, name in zip(notebook.cells, ids, strict=True):
        cell["id"] = name
    with pytest.raises(ValueError, match="these cell ids are not unique words of a-z, 0-9 and -"):
        Stable(config=SETTINGS).preprocess(notebook, OURS)


# ----------------------------------------------------------------------------------------- pictures in a model answer

PICTURE = {"image/png": "iVBORw0KGgo="}
ASKED, ANSWERED = "See ![a](attachment:task.png).", "It is ![b](attachment:answer%20b.png)."
REGION = f"{ASKED}\n<!-- BEGIN SOLUTION -->\n{ANSWERED}\n<!-- END SOLUTION -->"
TWICE = REGION.replace("It is", "As in ![a](attachment:task.png), it is")


@pytest.mark.parametrize(
    ("text", "stays"),
    [(ANSWERED, []), (f"{ASKED}\n{ANSWERED}", []), (REGION, ["task.png"]), (TWICE, ["task.png"]), (ASKED, [])],
    ids=["an answer", "all of it an answer", "a part of it an answer", "shown in both", "no answer's"],
)
@pytest.mark.parametrize("judge", ["", "autograder.this_course.JUDGE"], ids=["any course", "this course"])
def test_of_an_answer_the_pictures_go_with_the_text_as_stock_takes_that(
    text: str, stays: list[str], judge: str
) -> None:
    settings = {"schema_version": 3, "grade": True, "solution": True, "locked": False, "task": False, "points": 1}
    cell = new_markdown_cell(text, metadata={"nbgrader": {**settings, "grade_id": "why"}})
    cell["attachments"] = dict.fromkeys(("task.png", "answer b.png", "task.png.png"), PICTURE)
    stock, ours = (new_notebook(cells=[deepcopy(cell)]) for _ in range(2))
    ClearSolutions().preprocess(stock, {})
    config = Config()
    plug_in(config, judge)
    (name,) = (one for one in config.GenerateAssignment.preprocessors if one.endswith("ClearAnswers"))
    import_item(name)().preprocess(ours, {})
    assert ours.cells[0].source == stock.cells[0].source
    assert list(ours.cells[0].get("attachments", {})) == stays


def test_the_pictures_of_other_cells_stay() -> None:
    notebook = new_notebook(cells=[new_markdown_cell("Nothing.", attachments={"a.png": PICTURE})])
    ClearAnswers().preprocess(notebook, {})
    assert list(notebook.cells[0].attachments) == ["a.png"]


def test_nbgraders_own_list_is_the_one_that_other_courses_have() -> None:
    """With ours in the place of what clears answers."""
    stock = [f"nbgrader.preprocessors.{one.__name__}" for one in GenerateAssignment().preprocessors]
    assert [*Releasing.defaults["preprocessors"]] == stock
