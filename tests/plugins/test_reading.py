"""Whatever is handed in, what comes out is a notebook with every answer in it that can be read, or a sentence that says why there is none."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.utils import compute_checksum

from autograder.plugins.bounds import MOST_OUTPUTS, Refused
from autograder.plugins.reading import UNREADABLE, Unreadable, notebook_in, reason_in, refused, salvage
from tests.support.counting import calls
from tests.support.sampled import sampled

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
CELL_KEYS = ("cell_type", "source", "metadata", "outputs", "id", "execution_count")
CELL = st.dictionaries(st.sampled_from(CELL_KEYS), JSON | st.just("code"), max_size=6)


def answer(source: Any) -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": "mix_rows_solution"}, "collapsed": True}
    return {"cell_type": "code", "id": "a", "metadata": metadata, "source": source, "outputs": [], "execution_count": 1}


def text_of(*cells: Any, **others: Any) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **others})


DOCUMENT = st.fixed_dictionaries(
    {}, optional={"nbformat": st.integers(1, 5), "cells": JSON, "worksheets": JSON, "x": JSON}
)


@given(st.text() | st.builds(json.dumps, JSON | DOCUMENT))
def test_any_text_becomes_a_notebook_that_can_be_written_or_is_refused(text: str) -> None:
    try:
        notebook = salvage(text)
    except Refused as reason:
        notebook = refused(reason)
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()


@given(st.lists(CELL | JSON, max_size=3), JSON, JSON)
@settings(max_examples=300)
def test_a_good_answer_is_kept_whatever_stands_around_it(around: list[Any], metadata: Any, minor: Any) -> None:
    notebook = salvage(text_of(*around, answer("def mix_rows(W, V): ..."), metadata=metadata, nbformat_minor=minor))
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    assert notebook.cells[-1].source == "def mix_rows(W, V): ..."
    assert notebook.cells[-1].metadata.nbgrader.grade_id == "mix_rows_solution"


def test_a_source_in_lines_is_one_text() -> None:
    assert salvage(text_of(answer(["a = 1\n", "b = 2"]))).cells[0].source == "a = 1\nb = 2"


@pytest.mark.parametrize("source", ["a = 1\r\nb = 2", "a = 1\rb = 2", ["a = 1\r\n", "b = 2"]])
def test_a_cell_left_as_it_was_is_known_as_that_when_windows_has_ended_its_lines(source: Any) -> None:
    (cell,) = salvage(text_of(answer(source))).cells
    assert compute_checksum(cell) == compute_checksum(salvage(text_of(answer("a = 1\nb = 2"))).cells[0])


def test_outputs_and_foreign_metadata_are_left_behind() -> None:
    cell = answer("1") | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "2.0"}]}
    (kept,) = salvage(text_of(cell)).cells
    assert kept.outputs == []
    assert kept.metadata == {"nbgrader": {"grade_id": "mix_rows_solution"}}


def test_a_cell_keeps_its_id_where_it_is_one_and_no_other_cells() -> None:
    odd = ["own", "own", "", "no id", 3, "x" * 65, None]
    cells = salvage(text_of(*(answer("1") | {"id": name} for name in odd))).cells
    assert cells[0].id == "own"
    assert len({cell.id for cell in cells}) == len(odd)
    assert not {cell.id for cell in cells[1:]} & {str(name) for name in odd}


def test_a_notebook_of_format_3_is_read_too() -> None:
    old = nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet(cells=[nbformat.v3.new_code_cell("x = 1")])])
    assert [cell.source for cell in salvage(json.dumps(old)).cells] == ["x = 1"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1, 2", "the file ends too early, it was cut off; open the notebook in JupyterLab, save it, and hand"),
        ('{"cells": [{"source": "x', "the file ends too early"),
        ('{"cells": [], "metadata": {"collapsed": fal', "the file ends too early"),
        ('{"cells": [,]}', "its JSON is broken in line 1"),
        ('{\n<<<<<<< HEAD\n"cells": []\n=======\n>>>>>>> b\n}', "it holds git's conflict marks"),
        ("<html>", "it is a web page, and no notebook"),
        ("import numpy", "it is another kind of file"),
        ('{"a": 1}', "it is no notebook"),
        ("", "the file is empty"),
        ("\0" * 9, "the file is empty"),
    ],
)
def test_of_what_cannot_be_read_a_sentence_says_why(text: str, sentence: str) -> None:
    with pytest.raises(Refused) as refusal:
        notebook_in(text.encode(), True)
    assert str(refusal.value).startswith(f"could not be read: {sentence}")
    assert refusal.value.state == UNREADABLE
    assert "(char " not in str(refusal.value)
    with pytest.raises(Unreadable) as unreadable:
        notebook_in(text.encode(), False)
    assert str(unreadable.value).startswith(f"could not be read: {sentence}")


@pytest.mark.parametrize(
    "reason",
    [
        Refused("this is 01, handed in for 00", "another notebook"),
        Refused("<b> & *c*: which one counts?"),
        Refused("a\nb. A person will look at it.", "x"),
        RuntimeError("it died"),
    ],
)
def test_why_a_submission_was_refused_is_read_again_from_what_is_said_on_top(reason: Exception) -> None:
    notebook = refused(reason)
    nbformat.validate(notebook)
    found = reason_in(notebook.cells)
    assert found is not None
    assert (str(found), found.state) == (str(reason).replace("\n", r"\n"), getattr(reason, "state", ""))


def test_of_a_cell_that_a_student_wrote_no_reason_is_read() -> None:
    assert reason_in(salvage(text_of(answer("1"))).cells) is None


# ------------------------------------------------------------------------------------------------- other courses' notebooks

TIMES = 10
PRINTED = {"output_type": "stream", "name": "stdout", "text": "1"}
SHOWN = {"output_type": "display_data", "data": {"text/plain": "1"}, "metadata": {}}
NO_OUTPUT = {"output_type": "strea", "name": 3}


def other(*cells: Any, **metadata: Any) -> nbformat.NotebookNode:
    return notebook_in(text_of(*cells, metadata=metadata).encode(), False)


def cell(name: str = "a", **parts: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": "1",
        "outputs": [],
        "execution_count": 1,
        **parts,
    }


TEDIOUS: dict[str, list[dict[str, Any]]] = {
    "printed": [cell(outputs=[PRINTED] * MOST_OUTPUTS)],
    "no outputs": [cell(outputs=[NO_OUTPUT] * MOST_OUTPUTS)],
    "one of them none in each cell": [cell(f"a{n}", outputs=[SHOWN, SHOWN, NO_OUTPUT]) for n in range(1_999)],
    "kinds": [cell(outputs=[{**SHOWN, "data": {f"x/{n}": "1" for n in range(300_000)}}])],
    "tags": [cell(metadata={"tags": ["a"] * 300_000})],
    "settings": [cell(f"a{n}", metadata={"name": "", "scrolled": 3, "jupyter": "x"}) for n in range(1_999)],
}


@pytest.mark.parametrize("name", sampled(TEDIOUS, {"printed", "no outputs", "kinds"}.__contains__))
def test_whatever_may_be_handed_in_is_read_soon(name: str) -> None:
    """In ten times the calls that nbformat itself makes for a sound notebook of as many outputs as there may be."""
    sound = text_of(*TEDIOUS["printed"], metadata={})
    usual = calls(lambda: nbformat.validate(nbformat.reads(sound, as_version=4)))
    assert calls(lambda: nbformat.validate(other(*TEDIOUS[name]))) < TIMES * usual


def test_of_another_courses_notebook_only_what_nbformat_refuses_is_left_out() -> None:
    odd = {"tags": ["a", "a"], "name": "", "mine": 1}
    whole = cell("a", outputs=[PRINTED, SHOWN], metadata={"tags": ["a"], "mine": {"b": 1}})
    broken = cell("a", outputs=[PRINTED, NO_OUTPUT], metadata=odd, more=1)
    pasted = {"cell_type": "markdown", "metadata": {}, "source": "x", "attachments": {"a.png": {"image/png": "AAAA"}}}
    wrongly_pasted = {**pasted, "attachments": {"a.png": {"image/png": 3}}}
    notebook = other(whole, broken, pasted, wrongly_pasted, title=4, kernelspec={"name": "x"}, mine=[1])
    nbformat.validate(notebook)
    assert notebook.metadata == {"mine": [1]}
    assert notebook.cells[0] == whole
    assert {**notebook.cells[1], "id": ""} == cell("", outputs=[], execution_count=None, metadata={"mine": 1})
    assert notebook.cells[2].attachments == pasted["attachments"]
    assert "attachments" not in notebook.cells[3]
