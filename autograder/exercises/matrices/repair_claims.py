"""Claims about shapes, each to be left or refuted by arrays.

A claim about all arrays falls with one example on which both sides can be computed and differ. Sizes that all differ
refute three at once: an output is as wide as a value, the root is of the width of a query, and a token's own value
belongs to its sum. `Q @ K` cannot be computed there, which shows nothing; with m = k it runs and gives other numbers,
unless the keys are their own transpose. Two claims hold, for a reason: each of the n·m sums takes k products and k
additions, and turning `A[i] @ V` turns both factors and their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right

VIEW = "claims"
Witness = tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "m k"], Float[np.ndarray, "m v"]]
Verdicts = dict[str, Any]


def repair_claims() -> dict[str, Witness | None]:
    """Each claim: None where it holds, or arrays on which its two sides differ."""
    Q = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])
    K = np.array([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0]])
    V = np.array(
        [[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 5.0, 1.0], [1.0, 1.0, 4.0, 0.0, 2.0]]
    )
    square = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    return {
        "no_transpose": (Q, square, V[:3]),
        "output_width": (Q, K, V),
        "one_width": (Q, K, V),
        "flops": None,
        "not_itself": (Q, K, V),
        "rows_by_transpose": None,
    }


PUBLIC = (case(),)


def _all_different() -> tuple[F, F, F]:
    """Queries [2, 3], keys [4, 3], values [4, 5]: no two sizes are equal, no entry is special."""
    Q = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 1.0]])
    K = np.array([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [1.0, 1.0, 2.0]])
    V = np.array(
        [[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 5.0, 1.0], [1.0, 1.0, 4.0, 0.0, 2.0]]
    )
    return Q, K, V


def _repaired() -> Verdicts:
    w, (Q, _, V) = _all_different(), _all_different()
    square = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    return {
        "no_transpose": (Q, square, V[:3]),
        "output_width": w,
        "one_width": w,
        "flops": None,
        "not_itself": w,
        "rows_by_transpose": None,
    }


FALSE = tuple(name for name, witness in _repaired().items() if witness is not None)
TRUE = tuple(name for name, witness in _repaired().items() if witness is None)


@probe(0.375, part=FALSE)
def refuted(rng: np.random.Generator) -> list[Case]:
    """{part}: refuted by arrays on which its sides differ, or rightly left"""
    return [case()]


@probe(0.75, part=TRUE)
def left_to_stand(rng: np.random.Generator) -> list[Case]:
    """{part}: refuted by arrays on which its sides differ, or rightly left"""
    return [case()]


@mistake
def coincidence_for_proof() -> Verdicts:
    """you let Q @ K stand. It runs where m = k, and even gives the right shape there, but other numbers: compare the two sides
    entry by entry."""
    return {**_repaired(), "no_transpose": None}


@mistake
def only_where_it_cannot_run() -> Verdicts:
    """your arrays do not refute Q @ K: it cannot be computed on them at all. That leaves open whether it is right where it can: take m = k."""
    return {**_repaired(), "no_transpose": _all_different()}


def _all_equal() -> tuple[F, F, F]:
    """All sizes 2."""
    return np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[1.0, 3.0], [2.0, 1.0]]), np.array([[1.0, 5.0], [3.0, 0.0]])


@mistake
def symmetric_keys() -> Verdicts:
    """your witness against Q @ K has keys that equal their own transpose (the identity, for one), and there the two
    sides agree. Take keys without that symmetry."""
    Q, _, _ = _all_equal()
    return {**_repaired(), "no_transpose": (Q, np.eye(2), np.ones((2, 1)))}


@mistake
def twelve_is_not_sixteen() -> Verdicts:
    """you refuted the operation count. The claim counts a multiplication together with an addition as two, also where
    nothing is added yet. By that rule, which is the one of notebook 00, both sides agree on all arrays."""
    return {**_repaired(), "flops": _all_equal()}


@mistake
def output_as_wide_as_a_query() -> Verdicts:
    """you let it stand that an output is as wide as a query. An output row is a mixture of rows of V: whose width
    does it have?"""
    return {**_repaired(), "output_width": None}


@mistake
def one_width_for_all() -> Verdicts:
    """you let one width do for all. In most models k = v, and that is a choice: nothing in the formula compares a
    value with a key."""
    return {**_repaired(), "one_width": None}


@mistake
def witnesses_with_equal_widths() -> Verdicts:
    """your witnesses have k = v where the claim is about widths, and both sides agree there. What is claimed for all
    sizes must be tried where the sizes differ."""
    return {**_repaired(), "output_width": _all_equal(), "one_width": _all_equal()}


@mistake
def output_with_equal_widths() -> Verdicts:
    """your witness against the output's width has k = v, and both sides agree there. What is claimed for all sizes must be tried where the
    sizes differ."""
    return {**_repaired(), "output_width": _all_equal()}


@mistake
def root_with_equal_widths() -> Verdicts:
    """your witness against one width for all has k = v, and both sides agree there. What is claimed for all sizes must be tried where the
    sizes differ."""
    return {**_repaired(), "one_width": _all_equal()}


@mistake
def equal_widths_and_the_count_refused() -> Verdicts:
    """two things. Where a claim is about widths, your witness has k = v, and both sides agree there. And you refuted the operation count, which
    is right by the rule that it states."""
    return {**_repaired(), "output_width": _all_equal(), "one_width": _all_equal(), "flops": _all_equal()}


@mistake
def both_widths_hold() -> Verdicts:
    """you let both claims about widths stand. In most models k = v, and that is a choice: an output is as wide as a value, and the root is that
    of the width of a query."""
    return {**_repaired(), "output_width": None, "one_width": None}


@mistake
def leaves_itself_out() -> Verdicts:
    """you let j ≠ i stand. A token attends to itself as well, often most of all: what is missing from the sum if it
    does not?"""
    return {**_repaired(), "not_itself": None}


@mistake
def nothing_to_leave_out() -> Verdicts:
    """your witness against j ≠ i leaves nothing out: the terms with j = i are zero in it, by their values, or by weights so small that a
    float is 0 there. A missing zero changes no sum."""
    Q, K, V = _all_different()
    hollow = V.copy()
    hollow[: len(Q)] = 0.0
    return {**_repaired(), "not_itself": (Q, K, hollow)}


@mistake
def transposed_rows_refused() -> Verdicts:
    """you refused VᵀAᵢ. It is row i of AV written as a column: transposing a product turns both factors and their
    order."""
    return {**_repaired(), "rows_by_transpose": _all_different()}


@mistake
def count_and_coincidence() -> Verdicts:
    """two things. You let Q @ K stand, which runs where m = k and gives other numbers. And you refuted the operation count, which is right by
    the rule that it states."""
    return {**_repaired(), "no_transpose": None, "flops": _all_equal()}


@mistake
def transpose_and_coincidence() -> Verdicts:
    """two things. You let Q @ K stand, which runs where m = k and gives other numbers. And you refused VᵀAᵢ, which is row i of AV written as
    a column."""
    return {**_repaired(), "no_transpose": None, "rows_by_transpose": _all_different()}


@mistake
def transposes_mixed_up() -> Verdicts:
    """two things. On your arrays against Q @ K it cannot be computed: take m = k. And you refused VᵀAᵢ, which is row i of AV
    written as a column: compare its two sides entry by entry."""
    return {**_repaired(), "no_transpose": _all_different(), "rows_by_transpose": _all_different()}


@mistake
def itself_and_coincidence() -> Verdicts:
    """two things. You let Q @ K stand, which runs where m = k and gives other numbers. And you let j ≠ i stand: what is missing from the sum
    without it?"""
    return {**_repaired(), "no_transpose": None, "not_itself": None}


@mistake
def itself_and_one_width() -> Verdicts:
    """two things. You let one width do for all, and nothing in the formula compares a value with a key. And you let j ≠ i stand: what is missing
    from the sum without it?"""
    return {**_repaired(), "one_width": None, "not_itself": None}


@mistake
def one_witness_for_all_four() -> Verdicts:
    """two things. Where all sizes differ Q @ K cannot be computed, and such arrays do not say whether it is right where it can: take m =
    k. And you refuted the operation count, which is right by the rule that it states."""
    return {**_repaired(), "no_transpose": _all_different(), "flops": _all_different()}


@misses_the_idea
def everything_holds() -> Verdicts:
    """you let all six stand. Try each on arrays whose sizes all differ; where one side cannot be computed on them, make two sizes
    equal so that it can, and compare the numbers."""
    return dict.fromkeys(_repaired())


@misses_the_idea
def everything_is_false() -> Verdicts:
    """you refuted all six. Two of the claims have equal sides on your arrays, and on all others. A witness has to make the
    sides differ; where no arrays do, the claim holds."""
    return {name: witness or _all_different() for name, witness in _repaired().items()}


@mistake
def nothing_but_coincidences() -> Verdicts:
    """you let the three claims about shapes stand. Where all sizes are equal each of them runs, and every shape
    fits; let the sizes differ."""
    return {**_repaired(), "no_transpose": None, "output_width": None, "one_width": None}


@mistake
def yes_and_no() -> Verdicts:
    """you answered with True and False. A claim that holds is answered with None, and one that does not with arrays
    that show it."""
    return {name: entry is None for name, entry in _repaired().items()}


@mistake
def no_and_yes() -> Verdicts:
    """you answered with True and False, True for what is false. A claim that holds is answered with None, and one that does not with arrays that
    show it."""
    return {name: None if entry is None else True for name, entry in _repaired().items()}


@mistake
def words_for_witnesses() -> Verdicts:
    """you chose the right four, and answered them with words or numbers. A claim that does not hold is answered with arrays that show it."""
    return {name: entry and "false" for name, entry in _repaired().items()}


@mistake
def without_values() -> Verdicts:
    """you chose the right four, and your witnesses are of two arrays. There are three: queries, keys and values, also where the claim has
    nothing to do with values."""
    return {name: entry and entry[:2] for name, entry in _repaired().items()}


@mistake
def keys_first() -> Verdicts:
    """your witnesses have keys and queries in each other's place, so there are not as many keys as values. The order is (Q, K, V)."""
    return {name: entry and (entry[1], entry[0], entry[2]) for name, entry in _repaired().items()}


@mistake
def values_first() -> Verdicts:
    """your witnesses have values and queries in each other's place, so queries are not as wide as keys. The order is (Q, K, V)."""
    return {name: entry and (entry[2], entry[1], entry[0]) for name, entry in _repaired().items()}


@mistake
def only_what_is_false() -> Verdicts:
    """you handed in the four that are false. All six have an entry: those that hold are answered with None."""
    return {name: entry for name, entry in _repaired().items() if entry is not None}


@mistake
def only_what_holds() -> Verdicts:
    """you handed in the two that hold. All six have an entry: those that are false are answered with arrays that show it."""
    return {name: entry for name, entry in _repaired().items() if entry is None}


@mistake
def not_even_witnesses() -> Verdicts:
    """you chose the right four, but what you hand in against them are no witnesses. A witness is three NumPy arrays
    with two axes each; queries and keys are equally wide, and there are as many values as keys."""
    return {name: entry and [part.tolist() for part in entry] for name, entry in _repaired().items()}


@right
def repaired_with_one_witness() -> Verdicts:
    return _repaired()


@right
def repaired_at_random() -> Verdicts:
    rng = np.random.default_rng(5)
    n, m, k, v = 3, 5, 2, 4
    w = (rng.standard_normal((n, k)), rng.standard_normal((m, k)), rng.standard_normal((m, v)))
    square = (rng.standard_normal((n, k)), rng.standard_normal((k, k)), rng.standard_normal((k, v)))
    holds = dict.fromkeys(("flops", "rows_by_transpose"))
    return {**dict.fromkeys(_repaired(), w), "no_transpose": square, **holds}


@right
def repaired_with_small_witnesses() -> Verdicts:
    one = np.ones((1, 1))
    Q, K, V = _all_equal()
    wide = (one, one, np.ones((1, 2)))
    return {
        "rows_by_transpose": None,
        "flops": None,
        "no_transpose": (Q, K, V),
        "output_width": wide,
        "one_width": wide,
        "not_itself": (one, one, one),
    }


@right
def repaired_with_counting_numbers() -> Verdicts:
    Q, K, V = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3), np.arange(20.0).reshape(4, 5)
    square = Q, np.arange(9.0).reshape(3, 3), V[:3]
    return {**dict.fromkeys(_repaired(), (Q, K, V)), "no_transpose": square, **dict.fromkeys(TRUE)}


@right
def repaired_with_large_integers() -> Verdicts:
    rng = np.random.default_rng(0)
    Q, K, V = (rng.integers(-9, 10, shape) for shape in ((4, 3), (5, 3), (5, 2)))
    square = Q, K[:3], V[:3]
    return {**dict.fromkeys(_repaired(), (Q, K, V)), "no_transpose": square, **dict.fromkeys(TRUE)}


@right
def repaired_with_whole_numbers() -> Verdicts:
    return {
        name: entry and [np.round(2 * part).astype(np.int64) for part in entry] for name, entry in _repaired().items()
    }
