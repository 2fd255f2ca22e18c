"""What `check` compares with: the same files from every processor, and other ones where an answer is another."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograder.authoring.answers as made_answers
from autograder.authoring.answers import alike, describe, write_answers
from autograder.exercises import NOTEBOOKS, every_exercise, exercise_named, names_in
from autograder.exercises.model import Exercise
from autograder.settings import ROOT
from course import answers
from course.answers import INDEX
from course.trial.functions import public_function
from course.trial.observing import Observation, Raised
from course.trial.values import Opaque, Tensor, Value, bare, layout, map_leaves, to_json

STORED = ROOT / "course" / "answers"
NOTEBOOK = "05_block"

Entry = dict[str, Any]


def observed(result: Value = None, **rest: Any) -> Any:
    """An observation as a file holds it."""
    return json.loads(json.dumps(to_json(Observation(result, **rest).to_value())))


def row(*numbers: float, dtype: str = "float64") -> np.ndarray:
    return np.array(numbers, dtype)


# ------------------------------------------------------------------------------------------------ what is alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row(1, 2), row(1 + 1e-11, 2)),
        (row(1, 5.2e-15), row(1, 5.8e-15)),
        (row(1, 5.2e-15), row(1, 0)),
        (row(1, 0.0), row(1, -0.0)),
        (row(1, math.nan, math.inf), row(1 + 1e-11, math.nan, math.inf)),
        (row(4.81323575974, dtype="float32"), row(4.8132352829, dtype="float32")),
        (row(1, 2, dtype="float16"), row(1.001, 2, dtype="float16")),
        (Tensor(row(1, 2)), Tensor(row(1, 2 + 1e-11))),
        (0.25, 0.25 + 1e-12),
        ([1.0, 5.2e-15], [1.0, 5.8e-15]),
        ([[1.0], [5.2e-15]], [[1.0], [5.8e-15]]),
        ({"a": (row(1, 2), [1.0])}, {"a": (row(1, 2 + 1e-11), [1.0 + 1e-12])}),
    ],
    ids=repr,
)
def test_what_differs_in_last_digits_is_alike(one: Value, other: Value) -> None:
    assert alike(observed(one), observed(other))
    assert alike(observed(changed={0: one}), observed(changed={0: other}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (row(1, 2), row(1 + 1e-7, 2)),
        (row(1e-12), row(2e-12)),
        (row(0), row(1e-300)),
        (row(1, 2), row(1, 2, dtype="float32")),
        (row(1, 2), row(1, 2, 2)),
        (row(1, 2), np.array([[1.0, 2.0]])),
        (row(1, 2), Tensor(row(1, 2))),
        (row(1, 2), [1.0, 2.0]),
        (row(1, 2), np.array([1, 2])),
        (np.array([1, 0]), np.array([True, False])),
        (np.array([2**62]), np.array([2**62 + 1])),
        (row(math.nan), row(math.inf)),
        (row(math.inf), row(-math.inf)),
        (row(1, math.nan), row(1, 2)),
        (1, 1.0),
        (1, True),
        (0.25, 0.25 + 1e-6),
        (1e-15, 2e-15),
        ((1.0, 5.2e-15), (1.0, 5.8e-15)),
        ({"a": 1.0, "b": 5.2e-15}, {"a": 1.0, "b": 5.8e-15}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("0.1 of 3", "0.2 of 3"),
        (Opaque("a list of 3"), Opaque("a list of 4")),
        (None, 0),
        ([1.0], (1.0,)),
    ],
    ids=repr,
)
def test_everything_else_is_not(one: Value, other: Value) -> None:
    assert not alike(observed(one), observed(other))
    assert not alike(observed(other), observed(one))


def test_text_and_counts_have_to_be_the_same_whatever_numbers_they_hold() -> None:
    raised = [observed(raised=Raised("ValueError", f"the rows sum to {total}")) for total in (1.0, 1.0000000001)]
    assert not alike(*raised)
    assert not alike(observed(1, counts={"project": 3}), observed(1, counts={"project": 4}))


def test_functions_among_the_arguments_are_compared_by_what_they_were_made_with() -> None:
    def stored(gain: float) -> Any:
        return {"function": public_function("project", gain=gain).to_json()}

    assert alike(stored(2.0), stored(2.0 + 1e-12))
    assert not alike(stored(2.0), stored(2.5))
    assert not alike(stored(2.0), observed(2.0))


# ------------------------------------------------------------------------------------------------- what is written


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Write the answers of one exercise, changed as told, over those that are stored; what the file then says."""
    exercise = exercise_named(NOTEBOOK, "ffn")
    fresh = json.dumps(describe(exercise))
    (tmp_path / "stored" / NOTEBOOK).mkdir(parents=True)
    monkeypatch.setattr(made_answers, "exercises_in", lambda _: [exercise])

    def write(change: Callable[[Entry], object] = lambda _: None, stored: bytes | None = None) -> str:
        entry = json.loads(fresh)
        change(entry)
        monkeypatch.setattr(made_answers, "describe", lambda _: entry)
        before = written_before().encode() if stored is None else stored
        (tmp_path / "stored" / NOTEBOOK / "ffn.json").write_bytes(before)
        write_answers(tmp_path / "made", tmp_path / "stored", (NOTEBOOK,))
        return (tmp_path / "made" / NOTEBOOK / "ffn.json").read_text()

    return write


def written_before() -> str:
    """The file as it is committed."""
    return (STORED / NOTEBOOK / "ffn.json").read_text()


def jolt(tree: Any, by: float) -> Any:
    """A tree with every number of its float arrays another one, relative to itself."""
    if isinstance(tree, dict) and str(tree.get("dtype", "")).startswith("<f"):
        return {**tree, "numbers": [x * (1 + by) if isinstance(x, float) else x for x in tree["numbers"]]}
    if isinstance(tree, dict):
        return {key: jolt(part, by) for key, part in tree.items()}
    return [jolt(part, by) for part in tree] if isinstance(tree, list) else tree


def jolted(entry: Entry, by: float) -> None:
    entry |= jolt(entry, by)


def test_another_processors_digits_leave_the_file_as_it_is_to_the_byte(written: Callable[..., str]) -> None:
    assert written(lambda entry: jolted(entry, 1e-11)) == written_before()


def test_a_finer_wrong_answer_is_alike_to_the_digits_of_the_right_one(written: Callable[..., str]) -> None:
    def change(entry: Entry) -> None:
        (finer,) = (mistake for mistake in entry["mistakes"] if mistake["name"] == "ffn_in_float64")
        assert '"<f8"' in json.dumps(finer["answers"])
        single = [i for i, answer in enumerate(entry["expected"]) if '"<f4"' in json.dumps(answer)]
        for i in single:
            finer["answers"][i] = jolt(finer["answers"][i], 1e-7)
        assert single

    assert written(change) == written_before()


def test_a_changed_answer_is_written_and_all_else_stays(written: Callable[..., str]) -> None:
    another = json.loads(written_before())
    jolted(another, 1e-2)

    def change(entry: Entry) -> None:
        jolted(entry, 1e-11)
        entry["expected"][1] = another["expected"][1]

    now, before = json.loads(written(change)), json.loads(written_before())
    assert now["expected"][1] == another["expected"][1] != before["expected"][1]
    assert [*now["expected"][:1], *now["expected"][2:]] == [*before["expected"][:1], *before["expected"][2:]]
    assert now["mistakes"] == before["mistakes"]
    assert now["cases"] == before["cases"]


def test_a_new_mistake_moves_no_digit_of_the_others(written: Callable[..., str]) -> None:
    def change(entry: Entry) -> None:
        jolted(entry, 1e-11)
        entry["mistakes"].insert(0, {**entry["mistakes"][0], "name": "a_new_one"})

    now, before = json.loads(written(change)), json.loads(written_before())
    assert now["mistakes"][0]["name"] == "a_new_one"
    assert now["mistakes"][1:] == before["mistakes"]


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.update(points=9.0),
        lambda entry: entry["parameters"].reverse(),
        lambda entry: entry["mistakes"][0].update(lesson="another"),
        lambda entry: entry["mistakes"][0].update(loops=True),
        lambda entry: entry["mistakes"].reverse(),
        lambda entry: entry["cases"].pop(),
        lambda entry: entry["cases"][0].update(harness="twice"),
    ],
)
def test_what_is_no_number_is_written_as_it_is_made(
    written: Callable[..., str], change: Callable[[Entry], object]
) -> None:
    assert written(change) != written_before()


@pytest.mark.parametrize(
    "stored",
    [b"", b"[", b"[]", b"3", b"[3]", b'["ffn"]', b'{"name": "ffn"}', b'{"name": "ffn", "cases": [3]}', b"\xff"],
)
def test_a_file_that_is_none_of_ours_is_written_anew(written: Callable[..., str], stored: bytes) -> None:
    assert written(stored=stored) == written(stored=b"{}")


def test_what_stands_in_an_entry_and_is_no_answer_is_written_anew(written: Callable[..., str]) -> None:
    entry = json.loads(written_before())
    entry["expected"] = [3 for _ in entry["expected"]]
    now, made = json.loads(written(stored=json.dumps(entry).encode())), json.loads(written(stored=b"{}"))
    assert now["expected"] == made["expected"]


def test_each_case_and_each_mistake_is_a_line_of_its_own(written: Callable[..., str]) -> None:
    entry = json.loads(written_before())
    lines = [line.removesuffix(",") for line in written().splitlines()]
    assert {json.dumps(one, ensure_ascii=False) for part in ("cases", "mistakes") for one in entry[part]} <= set(lines)


def test_the_index_lists_every_notebook_and_exercise_in_order(tmp_path: Path) -> None:
    write_answers(tmp_path, STORED, ())
    assert (tmp_path / INDEX).read_bytes() == (STORED / INDEX).read_bytes()
    assert answers.notebooks() == NOTEBOOKS
    assert [answers.names(notebook) for notebook in NOTEBOOKS] == [names_in(notebook) for notebook in NOTEBOOKS]


# --------------------------------------------------------------------------------------------- what check hands over


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_check_hands_over_arrays_that_lie_in_memory_as_declared(exercise: Exercise) -> None:
    stored = answers.find(exercise.name)
    assert stored is not None
    for declared, kept in zip(exercise.public, stored.cases, strict=True):
        orders: list[list[str]] = [[], []]
        for case, found in zip((declared, kept), orders, strict=True):
            for argument in case.arguments:
                map_leaves(
                    lambda leaf, found=found: found.append(layout(bare(leaf))) if is_array(leaf) else None, argument
                )
        assert orders[0] == orders[1]


def is_array(leaf: Value) -> bool:
    return isinstance(bare(leaf), np.ndarray)
