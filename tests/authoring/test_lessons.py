"""What a tired student reads in the middle of an exercise: a message is short, and the words of a lesson, and those of a hidden test, have been taught."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from keyword import iskeyword

import numpy as np
import pytest

from autograder.exercises import NOTEBOOKS, every_exercise
from autograder.exercises.model import Exercise, lesson
from autograder.settings import ROOT
from course.answers import find
from course.checking import known
from course.trial.comparing import difference
from course.trial.text import recognised
from course.trial.values import Value, map_leaves
from tests.support.leaks import source_cells
from tests.support.sampled import is_first

MOST_BEFORE_NUMBERS = 60
"""What is read in a quarter of a minute, with how it stands, and how surely it is this mistake."""

BORN_WITHOUT_A_ROW = {"head": 4, "rank": 9}
"""The glossary has these within other words, or as words of the course: "own heads"; "rank", a process there, is a device's number before."""

NO_TERM = {
    "view": "a plain verb and noun; the glossary means the method",
    "loss": "what the last exercise of 05 computes; the glossary means a tensor whose gradients are wanted",
    "weight": "what a key gets, and any matrix of a layer; the glossary means the attribute of a module",
    "bias": "the vector b1 or b2; the glossary means the attribute of a module",
}
"""Names of PyTorch that are plain words, or earlier words of the course, as well."""

SAYS_THAT_IT_COMES_LATER = {"softmax_unasked": "softmax"}
"""Lessons that name, by the word that the student's own code has, what belongs to a later notebook, and say so."""

every = pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)


@cache
def _born() -> list[tuple[int, re.Pattern[str]]]:
    """The glossary's standard words, and numpy's and PyTorch's names for them, each with the notebook in which it stands first."""
    first = dict(BORN_WITHOUT_A_ROW)
    names: dict[str, int] = {}
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").partition("## Letters")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not cells[3][:1].isdigit():
            continue
        notebook = int(cells[3].partition(",")[0])
        # in brackets stands another word, such as (FFN), or a remark of several
        for word in re.sub(r" \((\w+)\)", r", \1", cells[1]).split(", "):
            first.setdefault(re.sub(r" \(.*\)", "", word).removeprefix("a "), notebook)
        for name in re.findall(r"[A-Za-z_]\w+", " ".join(re.findall(r"`[^`]+`", cells[2]))):
            names.setdefault(name, notebook)
    words = [(born, rf"(?i:{re.escape(word)}(?:s|es)?)") for word, born in first.items()]
    told = [(born, re.escape(name)) for name, born in names.items() if not iskeyword(name) and name not in NO_TERM]
    return [(born, re.compile(rf"(?<!\w){pattern}(?!\w)")) for born, pattern in (*words, *told)]


def _ahead(text: str, notebook: int) -> set[str]:
    """The standard words in a text that are born in a later notebook."""
    found = (pattern.search(text) for born, pattern in _born() if born > notebook)
    return {match.group() for match in found if match}


def _lessons(exercise: Exercise) -> dict[str, str]:
    return {mistake.__name__: lesson(mistake) for mistake in exercise.mistakes}


@every
def test_no_message_is_long_before_its_numbers(exercise: Exercise) -> None:
    """What `check` says first to those who made a known mistake."""
    stored = find(exercise.name)
    assert stored is not None
    counted = {}
    for mistake in stored.mistakes:
        pairs = zip(stored.expected, mistake.answers, strict=True)
        wrong = [answer for expected, answer in pairs if difference(expected, answer)]
        said = f"{exercise.name}: not yet. {recognised(mistake.lesson, wrong, 'exactly')}"
        counted[mistake.name] = len(said.split())
    assert {name: words for name, words in counted.items() if words > MOST_BEFORE_NUMBERS} == {}


@pytest.mark.parametrize("exercise", list(filter(is_first, every_exercise())), ids=lambda exercise: exercise.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nor_is_it_where_the_mistake_was_made_in_another_dtype(exercise: Exercise, dtype: type[np.floating]) -> None:
    """Each lesson of those that such answers point to: where they point to several, the student chooses."""

    def cast(leaf: Value) -> Value:
        return leaf.astype(dtype) if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" else leaf

    stored = find(exercise.name)
    assert stored is not None
    counted, named = {}, 0
    for mistake in stored.mistakes:
        with np.errstate(over="ignore"):
            given = [replace(answer, result=map_leaves(cast, answer.result)) for answer in mistake.answers]
        wrong = [one for want, one in zip(stored.expected, given, strict=True) if difference(want, one)]
        mistakes, certainty = known(stored, given)
        named += bool(mistakes)
        for pointed in mistakes:
            said = f"{exercise.name}: not yet. {recognised(pointed.lesson, wrong, certainty)}"
            counted[mistake.name, certainty] = len(said.split())
    assert named
    assert {name: words for name, words in counted.items() if words > MOST_BEFORE_NUMBERS} == {}


@every
def test_no_lesson_needs_a_word_that_is_taught_later(exercise: Exercise) -> None:
    notebook = NOTEBOOKS.index(exercise.notebook)
    ahead = {
        name: _ahead(text, notebook) - {SAYS_THAT_IT_COMES_LATER.get(name)} for name, text in _lessons(exercise).items()
    }
    assert {name: words for name, words in ahead.items() if words} == {}


@every
def test_who_is_told_where_a_float64_may_come_from_is_told_of_a_cast_too(exercise: Exercise) -> None:
    """`np.zeros` is the usual place; a reader whose code has none needs the next."""
    sources = {name: text for name, text in _lessons(exercise).items() if "float64" in text and "np.zeros" in text}
    assert {name: text for name, text in sources.items() if "astype(float)" not in text} == {}


@every
def test_no_line_of_a_hidden_test_needs_a_word_that_is_taught_later(exercise: Exercise) -> None:
    ahead = {probe.shows: _ahead(probe.shows, NOTEBOOKS.index(exercise.notebook)) for probe in exercise.probes}
    assert {line: words for line, words in ahead.items() if words} == {}


@pytest.mark.parametrize(
    ("text", "notebook", "words"),
    [
        ("one mask serves any batch", 2, {"batch"}),
        ("Batches are several texts", 2, {"Batches"}),
        ("one mask serves any batch", 3, set()),
        ("you normed the token, as LayerNorm does", 3, {"LayerNorm"}),
        ("one FFN, or MLP, for all heads", 3, {"FFN", "MLP", "heads"}),
        ("you called scaled_dot_product_attention(Q, K, V)", 4, {"scaled_dot_product_attention"}),
        ("one of the two axes runs backwards", 0, set()),
        ("the weights of a key; True means that it may be seen", 1, set()),
    ],
)
def test_a_word_is_early_before_the_notebook_of_the_glossary(text: str, notebook: int, words: set[str]) -> None:
    assert _ahead(text, notebook) == words


@pytest.mark.parametrize("word", ["mask", "padding", "causal", "dtype", "softmax"])
def test_the_glossary_has_a_word_as_soon_as_a_notebook_uses_it(word: str) -> None:
    texts = [" ".join(cell.source for cell in source_cells(name) if cell.cell_type == "markdown") for name in NOTEBOOKS]
    first = next(i for i, text in enumerate(texts) if re.search(rf"\b{word}\b", re.sub(r"`[^`]*`", "", text), re.I))
    assert _ahead(word, first) == set()
