from collections.abc import Callable

import numpy as np
import pytest

from course.trial.cases import case
from course.trial.form import in_form
from course.trial.observing import Observation
from course.trial.relation import relation
from course.trial.values import Tensor, Value

RNG = np.random.default_rng(5)
SIZES = ((4, 3), (5, 2), (3, 7))
WIDE = [(RNG.standard_normal((n, k)), RNG.standard_normal((n, k))) for n, k in SIZES]
PARAMETERS = (("X", "n k"), ("Y", "n k"))


def right(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return X + 2 * Y


def said(wrong: Callable[..., Value], oracle: Callable[..., Value] = right) -> str | None:
    cases = [case(*some) for some in WIDE]
    expected, given = ([Observation(f(*some)) for some in WIDE] for f in (oracle, wrong))
    found = relation(expected, given, cases, PARAMETERS)
    return found and found[1]


def softmax(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)


def with_entry(index: object, value: float) -> Callable[..., np.ndarray]:
    def wrong(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        result = right(X, Y)
        result[index] = value
        return result

    return wrong


def with_mask(keep: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda X, Y: np.where(keep(np.ones(X.shape, bool)), right(X, Y), 5.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda X, Y: Y, "is Y as it was given"),
        (lambda X, Y: right(X, Y).T, "is the right one, turned: its rows are columns"),
        (lambda X, Y: -right(X, Y), "is the right one with the other sign"),
        (lambda X, Y: right(X, Y) / 2, "is the right one times 1/2"),
        (lambda X, Y: right(X, Y) * 0.3, "is the right one times 3/10"),
        (lambda X, Y: right(X, Y) / np.sqrt(X.shape[1]), "is the right one times 1 / √k"),
        (lambda X, Y: right(X, Y) * X.shape[0] / X.shape[1], "is the right one times n / k"),
        (lambda X, Y: right(X, Y) / abs(X).max(), "is the right one times a number, another in every case"),
        (lambda X, Y: right(X, Y) - 1, "is the right one minus 1"),
        (lambda X, Y: right(X, Y) + 2 * X.shape[1], "is the right one plus 2 k"),
        (lambda X, Y: right(X, Y) - X.mean(), "is the right one plus a number, another in every case"),
        (lambda X, Y: right(X, Y) + X, "is the right one plus X"),
        (lambda X, Y: right(X, Y) - 2 * Y, "is X as it was given"),
        (lambda X, Y: right(X, Y) - 3 * Y, "is the right one minus 3 times Y"),
        (lambda X, Y: right(X, Y) + X / X.shape[1], "is the right one plus 1 / k times X"),
        (lambda X, Y: right(X, Y) + X * X.max(), "is the right one plus X times a number, another in every case"),
        (lambda X, Y: right(X, Y) * Y, "is the right one times Y, entry by entry"),
        (lambda X, Y: right(X, Y) / X, "is the right one divided by X, entry by entry"),
        (lambda X, Y: right(X, Y).round(2), "is the right one, rounded to 2 digits behind the point"),
        (lambda X, Y: right(X, Y) ** 2, "is the square of the right one, entry by entry"),
        (lambda X, Y: abs(right(X, Y)), "is the right one without its signs"),
        (lambda X, Y: right(X, Y)[::-1], "is the right one with its rows in reverse order"),
        (lambda X, Y: np.roll(right(X, Y), 1, axis=1), "is the right one with its columns moved on by one place"),
        (lambda X, Y: right(X, Y).cumsum(0), "has in each of its rows the sum of the right ones up to there"),
        (lambda X, Y: np.diff(right(X, Y), axis=0, prepend=0), "lacks in each of its rows the sum of those before it"),
        (lambda X, Y: right(X, Y)[:-1], "is the right one without its last row"),
        (lambda X, Y: np.pad(right(X, Y), [(0, 0), (1, 0)]), "is the right one with a column too many, the first"),
        (lambda X, Y: right(X, Y).sum(0), "is the sum of the right one's rows"),
        (lambda X, Y: right(X, Y)[:, :1], "is the right one's first column alone"),
        (lambda X, Y: right(X, Y) * Y[:, :1], "has the right rows, but each of them times a number of its own"),
        (lambda X, Y: right(X, Y) - X.mean(0), "has the right columns, but each of them plus a number of its own"),
        (lambda X, Y: 0 * X, "is 0 everywhere"),
        (lambda X, Y: X * np.nan, "is nan everywhere"),
        (lambda X, Y: right(X, Y)[-1:] + 0 * X, "has the right last one in place of all its rows"),
        (lambda X, Y: right(X, Y).mean(0) + 0 * X, "has the mean of the right ones in place of all its rows"),
        (with_entry(-1, 0.0), "is right but for its last row, where it has 0"),
        (with_entry((slice(None), 0), np.nan), "is right but for its first column, where it has nan"),
        (with_mask(lambda ones: ~np.eye(*ones.shape, dtype=bool)), "is right but for its diagonal, where it has 5"),
        (with_mask(np.tril), "is right but for what is above its diagonal, where it has 5"),
        (lambda X, Y: np.maximum(right(X, Y), 0) + 3 * np.minimum(right(X, Y), 0), "is right but for the entries that should be below zero"),
        (lambda X, Y: right(X, Y).ravel(), "has the right numbers in the right order, in another shape"),
        (lambda X, Y: np.sort(right(X, Y), axis=0), "has the right numbers in the wrong places"),
    ],
)  # fmt: skip
def test_what_wrong_results_have_in_common_is_seen(wrong: Callable[..., Value], sentence: str) -> None:
    assert said(wrong) == sentence


def test_what_was_added_is_also_found_in_dictionaries_and_among_the_other_parts() -> None:
    b = {"b1": np.array([1.0, -2.0, 0.5]), "W": np.eye(3)}
    cases = [case(RNG.standard_normal((n, 3)), {name: n * one for name, one in b.items()}) for n in (2, 3)]

    def seen(wrong: Callable[..., Value]) -> object:
        expected, given = [], []
        for one in cases:
            X, params = one.arguments
            right = {"T": 2 * X, "H": X**2}
            expected.append(Observation(right))
            given.append(Observation({**right, "H": wrong(right, params)}))
        return relation(expected, given, cases, (("X", "n d"), ("params", "")))

    assert seen(lambda right, params: right["H"] - params["b1"]) == (("H",), "is the right one minus params['b1']")
    assert seen(lambda right, params: right["H"] + right["T"]) == (("H",), "is the right one plus 2 times X")
    assert seen(lambda right, params: right["H"] * right["T"]) == (
        ("H",),
        "is the right one times the result's 'T', entry by entry",
    )


def test_weights_that_add_up_along_another_axis() -> None:
    across = said(lambda X, Y: softmax(X.T, Y).T, softmax)
    assert across == "adds up to 1 along axis 0; the right one does so along axis 1"
    assert (
        said(lambda X, Y: softmax(X, Y) + Y**2, softmax) == "does not add up to 1 along axis 1, as the right one does"
    )


def test_zeros_that_any_slip_leaves_are_told_only_where_nothing_else_is() -> None:
    def kept(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.where(X.min(axis=1, keepdims=True) < X, np.exp(X), 0.0)

    def weights(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return kept(X, Y) / kept(X, Y).sum(axis=1, keepdims=True)

    def one_too_much(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return kept(X, Y) / (1 + kept(X, Y).sum(axis=1, keepdims=True))

    assert said(one_too_much, weights) == "does not add up to 1 along axis 1, as the right one does"
    assert said(lambda X, Y: kept(X, Y) * Y**2, kept) == "is right where it should be 0, and nowhere else"

    def kept_in_short_rows(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return kept(X, Y) if X.shape[1] < 7 else np.exp(X)

    assert said(lambda X, Y: kept_in_short_rows(X, Y) * Y**2, kept_in_short_rows) is None


def test_nothing_is_summed_up_where_a_sum_is_infinite() -> None:
    def first_row_hidden(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        result = right(X, Y)
        result[0] = -np.inf
        return result

    assert said(lambda X, Y: np.full_like(X, -np.inf), first_row_hidden) == "is -inf everywhere"


def test_truth_values() -> None:
    def kept(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return right(X, Y) > 0

    assert said(lambda X, Y: ~kept(X, Y), kept) == "is the opposite of the right one, everywhere"
    assert said(lambda X, Y: kept(X, Y) | (Y > 0), kept) == "is right wherever it should be True"


def test_numbers_in_place_of_truth_values_are_told_where_a_threshold_would_do() -> None:
    def kept(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.abs(right(X, Y)) > 1

    assert said(right, kept) == (
        "holds numbers where True or False is wanted, and larger ones wherever it should be True: a comparison is missing"
    )
    assert said(lambda X, Y: 1 / right(X, Y), kept) is None


def test_counts_are_formulas_of_sizes() -> None:
    sizes = [(2, 3), (5, 4), (7, 9), (3, 8)]
    cases = [case(*some) for some in sizes]
    expected = [Observation(n * k * 6 + n) for n, k in sizes]
    for wrong, sentence in (
        (lambda n, k: (n * k * 6 + n) * 2, "is the right one times 2"),
        (lambda n, k: n * k * 4 + n, "is the right one minus 2 n k"),
        (lambda n, k: n * k * 6, "is the right one minus n"),
    ):
        given = [Observation(wrong(n, k)) for n, k in sizes]
        assert relation(expected, given, cases, (("n", ""), ("k", ""))) == ((), sentence)


def test_a_single_row_that_is_wrong_is_the_last_one_too() -> None:
    def without_the_last(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.concatenate([right(X, Y)[:-1], 0 * X[-1:]])

    given_to = [*WIDE, (WIDE[0][0][:1], WIDE[0][1][:1])]
    expected, given = ([Observation(f(*some)) for some in given_to] for f in (right, without_the_last))
    found = relation(expected, given, [case(*some) for some in given_to], PARAMETERS)
    assert found == ((), "is right but for its last row, where it has 0")


def test_nothing_is_said_of_what_has_nothing_in_common() -> None:
    assert said(lambda X, Y: X - Y * Y) is None
    assert said(lambda X, Y: right(X, Y) * 1.001) is None, "a factor so near to 1 is no slip in a formula"
    assert said(right) is None
    assert said(lambda X, Y: None) is None


def test_it_has_to_hold_in_every_case_that_went_wrong() -> None:
    assert said(lambda X, Y: 2 * right(X, Y) if len(X) != 5 else right(X, Y)) == "is the right one times 2"
    assert said(lambda X, Y: 2 * right(X, Y) if len(X) != 5 else X) is None


def test_the_part_that_differs_is_named_and_form_is_overlooked() -> None:
    cases = [case(*some) for some in WIDE]
    expected = [Observation((X, Tensor(right(X, Y)))) for X, Y in WIDE]
    given = [Observation([X, 2 * right(X, Y).astype(np.float32)]) for X, Y in WIDE]
    recast = [in_form(*pair) for pair in zip(expected, given, strict=True)]
    assert relation(expected, recast, cases, PARAMETERS) == ((1,), "is the right one times 2")


STAGES = [{"T1": X, "T2": Y, "T3": X + Y} for X, Y in WIDE]
EXCHANGED = [stages | {"T2": stages["T3"], "T3": stages["T2"]} for stages in STAGES]


@pytest.mark.parametrize(
    ("expected", "given", "seen"),
    [
        (STAGES, EXCHANGED, (("T2",), "is what the result's 'T3' should be")),
        (
            [tuple(s.values()) for s in STAGES],
            [tuple(s.values()) for s in EXCHANGED],
            ((1,), "is what the third part of the result should be"),
        ),
        (STAGES, [stages | {"T2": 2 * stages["T2"]} for stages in STAGES], (("T2",), "is the right one times 2")),
        ([(1, 2, 3)] * 3, [(1, 3, 2)] * 3, None),  # small numbers may come from anywhere
    ],
)
def test_numbers_of_another_part_are_told(expected: list[Value], given: list[Value], seen: object) -> None:
    cases = [case(*some) for some in WIDE]
    assert relation([*map(Observation, expected)], [*map(Observation, given)], cases, PARAMETERS) == seen
