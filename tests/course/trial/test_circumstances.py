from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course.trial.cases import case
from course.trial.circumstances import circumstances

PARAMETERS = (("X", "n k"), ("keep", "n m"), ("p", ""), ("causal", ""))


def given(n: int = 4, k: int = 3, m: int = 5, p: int = 2, causal: bool = True) -> tuple[Any, ...]:
    keep = np.arange(n * m).reshape(n, m) % 2 == 0
    return np.ones((n, k)), keep, p, causal


def empty_row(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    arguments[1][0] = False
    return arguments


CASES = [
    case(*given()),
    case(*given(n=3, k=3)),
    case(*given(n=1, m=4)),
    case(*given(k=4, m=6, causal=False)),
    case(*given(n=5, k=6)),
    case(*empty_row(given())),
    case(np.ones((2, 3), np.float32), *given(n=2)[1:]),
    case(np.array([[1.0, 800.0, 2.0]] * 4), *given(p=5)[1:]),
]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda X, keep, p, causal: not keep.any(1).all(), "a row of keep is False throughout"),
        (lambda X, keep, p, causal: X.dtype == np.float32, "X is float32"),
        (lambda X, keep, p, causal: X.max() > 100, "there are numbers larger than 100 in X"),
        (lambda X, keep, p, causal: len(keep) == 1, "n is 1"),
        (lambda X, keep, p, causal: not causal, "causal is False"),
        (lambda X, keep, p, causal: X.shape[1] % p > 0, "p does not divide k"),
        (lambda X, keep, p, causal: X.shape[0] != X.shape[1], "n and k are not the same"),
        (lambda X, keep, p, causal: True, ""),
        (lambda X, keep, p, causal: False, ""),
    ],
)
def test_what_the_wrong_cases_have_in_common_is_seen(wrong: Callable[..., bool], sentence: str) -> None:
    assert circumstances(CASES, [wrong(*one.arguments) for one in CASES], PARAMETERS) == sentence


def test_what_may_well_be_chance_is_not_said_of_a_single_case() -> None:
    assert circumstances(CASES[:2], [False, True], PARAMETERS) == ""
    several = [*CASES[:2], *CASES[:2]]
    assert circumstances(several, [True, False] * 2, PARAMETERS) == "n and k are not the same"


@pytest.mark.parametrize(("rows", "sentence"), [(9, "n is more than 4"), (4, "X lies otherwise in memory")])
def test_the_longest_case_is_wrong_for_its_length_rather_than_for_how_it_lies_in_memory(
    rows: int, sentence: str
) -> None:
    turned = case(np.ones((3, rows)).T, *given(n=rows)[1:])
    others = CASES[:4]
    assert circumstances([*others, turned], [False] * 4 + [True], PARAMETERS).startswith(sentence)
