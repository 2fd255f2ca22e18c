"""Which answers are called alike, whatever their names and layout, and which are not."""

from __future__ import annotations

import shutil

import pytest

from autograder.grading.database import opened
from autograder.grading.likeness import alike, sides
from autograder.grading.likeness.canonical import canonical
from autograder.grading.likeness.page import make_page
from autograder.problems import Problem
from tests.support.quick_class import NAME, QuickClass

STUB = 'def f(X, W):\n    """Sums."""\n    raise NotImplementedError()\n'
SHORT = "def f(X, W):\n    return (X @ W).sum(axis=-1)\n"
ODD = """def f(X, W):
    total = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(W.shape[1]):
            total[i] += 0.5 * X[i] @ W[:, j] * 2
    return total
"""
COPIED = '''def f(tokens: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """My own words."""
    # first an empty result
    out: np.ndarray = np.zeros(len(tokens))
    for row in range(len(tokens)):

        for column in range(weight.shape[1]):
            out[row] += 0.5 * tokens[row] @ weight[:, column] * 2  # and back
    return out
'''


def a_class(**answers: str) -> dict[str, dict[str, str]]:
    return {f"s{number}": {"f": SHORT} for number in range(30)} | {who: {"f": code} for who, code in answers.items()}


def test_names_comments_annotations_and_layout_are_taken_away() -> None:
    assert canonical(ODD) == canonical(COPIED)
    assert canonical("x = 1 +  # odd") == "x = 1 +  "


@pytest.mark.parametrize("source", ["x = " + "+".join(["1"] * 1_000), "x = a" + ".b()" * 1_000])
def test_what_is_deep_is_made_canonical_like_anything_else(source: str) -> None:
    assert canonical(source).startswith("_0 = ")


def test_what_is_deeper_than_python_reads_is_compared_as_it_stands() -> None:
    source = f"x = {'(' * 5_000}"
    assert canonical(source) == source


def test_who_wrote_what_nobody_else_did_is_told_and_shown_as_it_was_written() -> None:
    answers = a_class(ada=ODD, ben=COPIED)
    (pair,) = alike(answers, {"f": STUB})
    assert pair.students == ("ada", "ben")
    assert pair.share == 1
    assert list(sides(pair, answers)) == [("f", ODD, COPIED)]


def test_what_many_wrote_is_no_likeness() -> None:
    assert alike(a_class(), {"f": STUB}) == []


def test_what_was_handed_out_is_no_likeness() -> None:
    assert alike(a_class(ada=ODD, ben=ODD), {"f": ODD}) == []


def test_what_was_handed_out_is_no_likeness_where_an_answer_is_no_python_either() -> None:
    given = ODD.replace(
        "    total", '    """What is asked for, in many words that everybody was given."""\n    total', 1
    )
    assert alike(a_class(ada=f"{given}\n```", ben=f"{given}\n)"), {"f": given}) == []


def test_an_own_answer_is_like_nobodys() -> None:
    own = "def f(X, W):\n    return np.array([np.dot(x, W).sum() for x in X], dtype=X.dtype)\n"
    assert [pair.students for pair in alike(a_class(ada=ODD, ben=COPIED, cleo=own), {"f": STUB})] == [("ada", "ben")]


def test_an_answer_that_is_no_python_is_compared_as_it_stands() -> None:
    broken = ODD.replace("for i in", "for i on")
    (pair,) = alike(a_class(ada=broken, ben=broken), {"f": STUB})
    assert pair.students == ("ada", "ben")


def test_the_page_of_a_graded_class_keeps_what_was_typed_as_text(quick_class: QuickClass) -> None:
    odd = "total = 0\nfor each in '<b>', 2:\n    total += 3 * len(str(each)) - 1\nprint(total)"
    course = quick_class(ada=odd, ben=odd.replace("each", "one"), cleo="1", dan="2")
    for student in ("ada", "ben", "cleo", "dan"):
        folder = course.folder("autograded", student, NAME)
        shutil.copytree(course.folder("submitted", student, NAME), folder)
    with opened(course) as book:
        book.add_student("ada", first_name="Ada", last_name="O'Neil")
    path, pairs = make_page(course, NAME)
    page = path.read_text()
    assert pairs == 1
    assert "1. Ada O&#x27;Neil (ada) and ben" in page
    assert (
        page.index("<table>")
        < page.index("<a href='#p1'>Ada O&#x27;Neil (ada) and ben</a>")
        < page.index("<section id='p1'>")
    )
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "cleo" not in page


def test_without_two_graded_submissions_it_says_what_to_do(quick_class: QuickClass) -> None:
    with pytest.raises(Problem, match="two graded submissions are needed"):
        make_page(quick_class(ada="2"), NAME)
