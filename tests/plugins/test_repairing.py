"""Whatever became of a notebook's cells, the gradebook's cells are all there, once, and say what they were released with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.plugins.repairing import OfficialCell, Released, released_in, repair
from course.cells import defines


def settings_of(name: str, points: float | None) -> dict[str, Any]:
    stated = {"schema_version": 3, "grade_id": name, "grade": points is not None, "locked": points is not None}
    return {**stated, "solution": points is None, "task": False} | ({} if points is None else {"points": points})


OFFICIAL = [
    OfficialCell("f_solution", "code", "def f(): raise NotImplementedError()", False, settings_of("f_solution", None)),
    OfficialCell("f", "code", "check(f)\njudge(f)", True, settings_of("f", 2.0)),
    OfficialCell("g_solution", "code", "def g(): raise NotImplementedError()", False, settings_of("g_solution", None)),
    OfficialCell("g", "code", "check(g)\njudge(g)", True, settings_of("g", 3.0)),
]
NAMES = [official.name for official in OFFICIAL]


def handed_in(name: Any, cell_type: str = "code", source: str = "x", **others: Any) -> NotebookNode:
    known = next((official for official in OFFICIAL if official.name == name), OFFICIAL[0])
    metadata = {"nbgrader": {**known.metadata, "grade_id": name}, **others}
    return nbformat.from_dict({"id": "a", "cell_type": cell_type, "source": source, "metadata": metadata})


HONEST = [handed_in(official.name, source="answer") for official in OFFICIAL]
ANY_CELL = st.builds(
    lambda name, cell_type, source, stated, tags: nbformat.from_dict(
        {"id": "a", "cell_type": cell_type, "source": source, "metadata": {"nbgrader": stated(name), "tags": tags}}
    ),
    st.sampled_from([*NAMES, "h", 3, None]),
    st.sampled_from(["code", "markdown", "raw"]),
    st.sampled_from(["2.0", "def f(): return 1"]),
    st.sampled_from(
        [
            lambda name: {"grade_id": name, "points": 100, "grade": True},
            lambda name: name,
            lambda name: {"grade_id": [name]},
        ]
    ),
    st.lists(st.sampled_from(["skip-execution", "x"])),
)


def named(cells: list[NotebookNode]) -> dict[str, NotebookNode]:
    found = [cell for cell in cells if "nbgrader" in cell.metadata]
    assert sorted(cell.metadata.nbgrader.grade_id for cell in found) == sorted(NAMES)
    return {cell.metadata.nbgrader.grade_id: cell for cell in found}


@given(st.lists(ANY_CELL, max_size=8))
def test_every_released_cell_is_there_once_as_it_was_released(cells: list[NotebookNode]) -> None:
    kept, _ = repair(cells, OFFICIAL)
    for official in OFFICIAL:
        cell = named(kept)[official.name]
        assert cell.cell_type == official.cell_type
        assert cell.metadata == {"nbgrader": official.metadata}
        assert cell.source == official.source or not official.locked


@given(st.lists(ANY_CELL, max_size=8))
def test_every_cell_that_was_handed_in_is_kept_and_has_no_other_metadata(cells: list[NotebookNode]) -> None:
    kept, _ = repair(cells, OFFICIAL)
    assert len(kept) >= len(cells)
    assert all(set(cell.metadata) <= {"nbgrader"} for cell in kept)


@given(st.permutations(HONEST))
def test_every_test_stands_after_its_answer(cells: list[NotebookNode]) -> None:
    kept, _ = repair([nbformat.from_dict(cell) for cell in cells], OFFICIAL)
    order = [cell.metadata.nbgrader.grade_id for cell in kept]
    assert order.index("f_solution") < order.index("f")
    assert order.index("g_solution") < order.index("g")


def test_an_honest_notebook_is_left_as_it_is_and_nothing_is_said() -> None:
    kept, notes = repair([nbformat.from_dict(cell) for cell in HONEST], OFFICIAL)
    assert [cell.metadata.nbgrader.grade_id for cell in kept] == NAMES
    assert [cell.source for cell in kept] == ["answer", OFFICIAL[1].source, "answer", OFFICIAL[3].source]
    assert notes == []


def test_every_repair_is_told_in_a_sentence() -> None:
    cells = [
        handed_in("f"),
        handed_in("f_solution", cell_type="markdown", tags=["skip-execution"]),
        handed_in("f_solution"),
        handed_in("g_solution"),
        handed_in("extra"),
    ]
    cells[0].metadata.nbgrader |= {"points": 50, "grade": False}
    _, notes = repair(cells, OFFICIAL)
    assert notes == [
        "the cell f had other settings (grade, points); it has its own again",
        "the cell f_solution was tagged skip-execution; it was run all the same",
        "the cell f_solution had become markdown; it is code again",
        "the cell f_solution was there twice; the first one counts, the other is an ordinary cell",
        "'extra' is not a cell of this assignment; it is graded as an ordinary cell",
        "the test f stood before its answer; it was moved after it",
        "the cell g was missing; it was put back",
    ]


def released(official: OfficialCell, **settings: Any) -> NotebookNode:
    """A cell as a release with other settings gave it, with the checksum that this wrote into it."""
    cell = handed_in(official.name, settings.pop("kind", "code"), official.source)
    cell.metadata.nbgrader |= settings
    cell.metadata.nbgrader.checksum = compute_checksum(cell)
    return cell


@pytest.mark.parametrize(
    "settings",
    [
        {"points": 1.5},
        {"schema_version": 2, "points": 1.5},
        {"grade": False, "task": True},
        {"solution": True, "locked": False, "points": 1.5},
        {"kind": "markdown"},
    ],
)
@pytest.mark.parametrize("official", OFFICIAL, ids=lambda one: one.name)
def test_what_a_later_release_changed_is_no_repair_worth_telling(
    official: OfficialCell, settings: dict[str, Any]
) -> None:
    old = [released(one, **(settings if one is official else {})) for one in OFFICIAL]
    old[0].source = "def f(): return 1"  # the student's answer
    cells, notes = repair(old, OFFICIAL)
    assert named(cells)[official.name].metadata.nbgrader == official.metadata
    assert named(cells)["f_solution"].source == "def f(): return 1"
    assert notes == []


def test_points_alone_are_never_told_and_other_settings_that_no_release_gave_are() -> None:
    cells = [released(one) for one in OFFICIAL]
    cells[1].metadata.nbgrader.points = 50
    cells[3].metadata.nbgrader |= {"locked": False, "points": 50}
    _, notes = repair(cells, OFFICIAL)
    assert notes == ["the cell g had other settings (locked, points); it has its own again"]


def test_a_missing_answer_hides_no_answer_given_in_a_cell_of_ones_own() -> None:
    kept, _ = repair([handed_in(None, source="def f(): return 1"), handed_in("f")], OFFICIAL)
    assert named(kept)["f_solution"].source == "# this answer was missing"


def test_a_missing_test_is_put_right_after_its_answer() -> None:
    kept, _ = repair([handed_in("f_solution"), handed_in("g_solution"), handed_in("g")], OFFICIAL)
    assert [cell.metadata.nbgrader.grade_id for cell in kept] == ["f_solution", "f", "g_solution", "g"]


OWN = "def f(): return 1"
STUB, TEST = OFFICIAL[0].source, OFFICIAL[1].source


def sources_of(*cells: NotebookNode) -> tuple[list[str], list[str]]:
    """What stands in the repaired cells of the first exercise, in order, and the notes."""
    kept, notes = repair([*cells, *[nbformat.from_dict(cell) for cell in HONEST[2:]]], OFFICIAL)
    return [cell.source for cell in kept[: len(cells)]], notes


@pytest.mark.parametrize(
    "order", [(STUB, TEST, OWN), (OWN, STUB, TEST), (TEST, OWN, STUB), (STUB, OWN, TEST), (OWN, TEST, STUB)]
)
def test_an_answer_in_a_cell_of_ones_own_is_judged_wherever_it_stands(order: tuple[str, ...]) -> None:
    made = {STUB: handed_in("f_solution", source=STUB), TEST: handed_in("f"), OWN: handed_in(None, source=OWN)}
    sources, notes = sources_of(*(made[one] for one in order))
    assert sources == [STUB, OWN, TEST]
    in_order = order == (STUB, OWN, TEST)
    assert [note for note in notes if "own" in note] == (
        [] if in_order else ["the cell f_solution has no f in it, and a cell of your own has; that one was judged"]
    )


@pytest.mark.parametrize(
    "own",
    [
        "f = lambda: 1",
        "async def f(): ...",
        "from helpers import f",
        "from helpers import (g, f)",
        "f: int = 3",
        "%time x = 1\nimport f",
        "if True:\n    def f(): ...",
        "class Mask:\n    def f(): ...\n\ntry:\n    def f(): ...\nfinally: pass",
    ],
)
def test_whatever_defines_it_counts(own: str) -> None:
    cells = handed_in("f_solution", source=STUB), handed_in("f"), handed_in(None, source=own)
    assert sources_of(*cells)[0] == [STUB, own, TEST]
    assert defines(own, "f"), "as handing in sees it"


@pytest.mark.parametrize(
    "own",
    [
        "f()",
        "# def f(): ...",
        "f == 3",
        "def ff(): ...",
        "g.f = 3",
        "print('f = 3')",
        "class Mask:\n    x = 1\n\n    @staticmethod\n    def f(): ...",
        "class Mask:\n\tif x:\n\t\tdef f(): ...",
        "def main(\n    x,\n):\n    async def f(): ...",
    ],
)
def test_what_does_not_define_it_does_not(own: str) -> None:
    cells = handed_in("f_solution", source=STUB), handed_in("f"), handed_in(None, source=own)
    sources, notes = sources_of(*cells)
    assert sources == [STUB, TEST, own]
    assert not defines(own, "f")
    assert notes == []


def test_an_answer_in_its_own_cell_counts_whatever_is_tried_below() -> None:
    answer = "def f():\n    return 2"
    cells = handed_in("f_solution", source=answer), handed_in("f"), handed_in(None, source=OWN)
    assert sources_of(*cells) == ([answer, TEST, OWN], [])


def test_of_several_the_last_counts_and_tests_keep_their_order() -> None:
    both = "def f(): return 1\ndef g(): return 2"
    cells = [handed_in(one.name, source=one.source) for one in OFFICIAL]
    kept, _ = repair([*cells, handed_in(None, source=OWN), handed_in(None, source=both)], OFFICIAL)
    assert [cell.source for cell in kept[2:]] == [OWN, both, TEST, OFFICIAL[3].source]


def test_answers_in_each_others_cells_are_judged_where_they_stand() -> None:
    f, g = "def f(): return 1", "def g(): return 2"
    cells = handed_in("f_solution", source=g), handed_in("f"), handed_in("g_solution", source=f), handed_in("g")
    kept, notes = repair(list(cells), OFFICIAL)
    assert [cell.source for cell in kept] == [g, f, TEST, OFFICIAL[3].source]
    assert notes == ["the cell f_solution has no f in it, and the cell g_solution has; that one was judged"]


def test_answers_that_all_stand_in_the_first_cell_are_judged_there() -> None:
    both = "def f(): return 1\ndef g(): return 2"
    cells = [handed_in(one.name, source=one.source) for one in OFFICIAL]
    cells[0].source = both
    kept, notes = repair(cells, OFFICIAL)
    assert [cell.source for cell in kept] == [OFFICIAL[2].source, both, TEST, OFFICIAL[3].source]
    assert notes == ["the cell g_solution has no g in it, and the cell f_solution has; that one was judged"]


def test_an_answer_written_into_a_cell_that_the_course_gave_counts() -> None:
    cells = [handed_in(one.name, source=one.source) for one in OFFICIAL]
    given = nbformat.from_dict({"id": "guess", "cell_type": "code", "source": OWN, "metadata": {}})
    kept, notes = repair([given, *cells], OFFICIAL, Released(frozenset({"guess", "guess = None"})))
    assert [cell.source for cell in kept[:3]] == [STUB, OWN, TEST]
    assert len(notes) == 1


def test_a_cell_of_the_release_is_no_answer() -> None:
    cells = [handed_in(one.name, source=one.source) for one in OFFICIAL]
    kept, notes = repair([*cells, handed_in(None, source=OWN)], OFFICIAL, Released(frozenset({OWN})))
    assert [cell.source for cell in kept] == [*(one.source for one in OFFICIAL), OWN]
    assert notes == []


ASKED = OfficialCell(
    "why", "markdown", "YOUR ANSWER HERE", False, {**settings_of("why", 3.0), "solution": True, "locked": False}
)
TEXT = nbformat.from_dict({"id": "b", "cell_type": "markdown", "source": "Because.", "metadata": {}})


@pytest.mark.parametrize(
    ("source", "released", "waits"),
    [("YOUR ANSWER HERE", (), True), ("YOUR ANSWER HERE", ("Because.",), False), ("", (), True), ("Mine.", (), True)],
)
def test_a_question_is_as_released_only_where_no_other_cell_can_be_its_answer(
    source: str, released: tuple[str, ...], waits: bool
) -> None:
    cell = nbformat.from_dict(
        {"id": "a", "cell_type": "markdown", "source": source, "metadata": {"nbgrader": dict(ASKED.metadata)}}
    )
    kept, _ = repair([cell, nbformat.from_dict(TEXT)], [ASKED], Released(frozenset(released)))
    assert (kept[0].source != ASKED.source) is waits


def test_a_question_that_was_missing_is_not_put_back_as_it_was_released() -> None:
    kept, notes = repair([], [ASKED])
    assert kept[0].source != ASKED.source
    assert notes == ["the cell why was missing; it was put back; a person looks for the answer in other cells"]


def test_where_an_answer_was_written_into_a_copy_the_copy_counts() -> None:
    released = handed_in("f_solution", source=OFFICIAL[0].source)
    cells, notes = repair([released, handed_in("f_solution", source="def f(): return 1"), *HONEST[1:]], OFFICIAL)
    assert named(cells)["f_solution"].source == "def f(): return 1"
    assert notes == ["the cell f_solution was there twice; the first is as it was released, so the other counts"]


GIVEN = (("setup", "import numpy as np\nfrom course import check"), ("carried-over", "def softmax(S):\n    return S"))
"""Cells that a course gives, by their ids."""
GIVEN_CELLS = [
    nbformat.from_dict({"id": name, "cell_type": "code", "source": source, "metadata": {}}) for name, source in GIVEN
]


def with_given(*cells: NotebookNode) -> tuple[list[NotebookNode], list[str]]:
    own = [nbformat.from_dict(cell) for cell in (*cells, *HONEST)]
    return repair(own, OFFICIAL, Released(given=GIVEN))


def test_a_given_cell_that_is_missing_is_put_back_above_what_a_student_binds() -> None:
    own = handed_in(None, source="def softmax(S): return 2 * S")
    kept, notes = with_given(GIVEN_CELLS[0], own)
    assert [cell.source for cell in kept[:3]] == [GIVEN[1][1], GIVEN[0][1], own.source]
    assert notes == ["the cell carried-over was missing; it was put back"]
    assert Released(given=GIVEN).lacking_in(kept), "what it needs is not above it"


def test_a_given_cell_that_is_there_is_left_as_its_student_wrote_it() -> None:
    changed = nbformat.from_dict({**GIVEN_CELLS[0], "source": f"import math\n{GIVEN[0][1]}"})
    nameless = nbformat.from_dict({**changed, "id": "x1"})
    for first in (GIVEN_CELLS[0], changed, nameless):
        kept, notes = with_given(first, GIVEN_CELLS[1])
        assert len(kept) == 2 + len(HONEST)
        assert notes == []
        assert Released(given=GIVEN).lacking_in(kept) is (first is not GIVEN_CELLS[0])


def test_given_are_the_cells_above_the_first_answer_that_import_and_define_alone(tmp_path: Path) -> None:
    sources = ["import numpy as np", "print(1)", "def f(): pass"]
    cells = [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": [one]} for i, one in enumerate(sources)]
    answer = {**cells[0], "id": "answer", "metadata": {"nbgrader": {"solution": True}}}
    path = tmp_path / "source.ipynb"
    path.write_text(
        json.dumps({"cells": [*cells[:2], {**cells[0], "cell_type": "markdown"}, cells[2], answer, cells[2]]})
    )
    found = released_in(path)
    assert found.given == (("c0", sources[0]), ("c2", sources[2]))
    assert found.known == {*sources, "c0", "c1", "c2", "answer"}


F1, F2 = "def f(): return 1", "def f(): return 2"


@pytest.mark.parametrize(
    ("order", "judged", "says"),
    [
        ((F1, TEST, F2), F1, "the first one counts, the other is an ordinary cell"),
        ((TEST, F1, F2), F1, "the first one counts, the other is an ordinary cell"),
        ((F1, F2, TEST), F2, "the one right above its test counts, the other is an ordinary cell"),
        ((F1, STUB, TEST), F1, "the first one counts, the other is an ordinary cell"),
        (("print(1)", F2, TEST), F2, "the first has no f in it, so the other counts"),
        (("print(1)", TEST, F2), F2, "the first has no f in it, so the other counts"),
        ((F1, "    return 1", TEST), F1, "the first one counts, the other is an ordinary cell"),
        ((STUB, TEST, F2), F2, "the first is as it was released, so the other counts"),
    ],
)
def test_of_two_cells_of_one_name_the_one_that_is_said_to_count_is_judged(
    order: tuple[str, ...], judged: str, says: str
) -> None:
    made = [handed_in("f" if source == TEST else "f_solution", source=source) for source in order]
    kept, notes = repair([*made, *[nbformat.from_dict(cell) for cell in HONEST[2:]]], OFFICIAL)
    sources = [cell.source for cell in kept]
    defining = [one for one in sources[: sources.index(TEST)] if one.startswith("def f")]
    assert defining[-1] == judged
    assert named(kept)["f_solution"].source == judged
    assert f"the cell f_solution was there twice; {says}" in notes
