"""What the loop costs, with keys and values hoisted out of it and without.

A product of `[a, b]` and `[b, c]` costs 2abc. So a projection of one token costs 2dk or 2dv, a score 2k, and a
weighted value 2v. Both loops make n queries, n² scores and n² weighted values. Only keys and values differ: n of each
where they are hoisted, n² where every query makes them anew, which is why the literal loop does not cost n times as
much as the other. Nothing is divided, so the count stays a whole number, however large.
"""

from __future__ import annotations

import numpy as np

from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, case, misses_the_idea, mistake, probe, right


def loop_flops(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """Multiplications and additions of attention over n tokens, counted by walking through the loops."""
    vector_times_matrix = {width: sum(2 for _ in range(d) for _ in range(width)) for width in (k, v)}
    flops = 0
    if hoisted:
        for _ in range(n):  # every key and every value, once
            flops += vector_times_matrix[k] + vector_times_matrix[v]
    for _ in range(n):  # every query
        flops += vector_times_matrix[k]
        for _ in range(n):  # every token it looks at
            if not hoisted:
                flops += vector_times_matrix[k] + vector_times_matrix[v]
            flops += 2 * k  # the score
            flops += 2 * v  # its part in the mix
    return flops


PUBLIC = (
    case(2, 3, 4, 5, True),
    case(2, 3, 4, 5, False),
    case(10, 6, 3, 7, True),
    case(10, 6, 3, 7, False),
    case(1, 5, 2, 3, True),
    case(1, 5, 2, 3, False),
    case(1024, 768, 64, 64, True),
    case(1023, 767, 65, 63, False),
)


@probe(0.5)
def hoisted_counts(rng: np.random.Generator) -> list[Case]:
    """the hoisted loop, all sizes different"""
    return [case(*sizes(rng, 4, low=3, high=40), True) for _ in range(2)]


@probe(1.0)
def literal_counts(rng: np.random.Generator) -> list[Case]:
    """the literal loop, all sizes different"""
    return [case(*sizes(rng, 4, low=3, high=40), False) for _ in range(2)]


@probe(0.5)
def counts_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, and the sizes of real models, in both loops"""
    small = sizes(rng, 3)
    # with odd sizes half of each count is odd, so that no float32 holds it
    n, d, k, v = (2 * int(rng.integers(low, low + 60)) + 1 for low in (450, 350, 30, 20))
    return [case(*some, hoisted) for some in ((1, *small), (n, d, k, v)) for hoisted in (True, False)]


def _count(n: int, d: int, k: int, v: int, hoisted: bool, queries: int = 1, pairs: int | None = None) -> int:
    """The count by formula, with so many projections of each query, and so many pairs of a query and a token."""
    rows = n if hoisted else n * n
    return 2 * n * queries * d * k + 2 * rows * d * (k + v) + 2 * (n * n if pairs is None else pairs) * (k + v)


@mistake
def multiply_add_is_one(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted a multiplication and the addition after it as one. They are two FLOPs."""
    return _count(n, d, k, v, hoisted) // 2


@mistake
def counted_twice(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you have twice as much as there is: the 2 for a multiplication and its addition came in twice."""
    return 2 * _count(n, d, k, v, hoisted)


@mistake
def one_addition_fewer(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted k - 1 additions for k products, which is exact. The rule of this course is 2 for each product, as
    if every sum started from zero."""
    keys_and_values = n * (2 * d - 1) * (k + v) * (1 if hoisted else n)
    return keys_and_values + n * (2 * d - 1) * k + n * n * (2 * k - 1) + n * (2 * n - 1) * v


@mistake
def one_addition_fewer_in_dot_products(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """for a projection and for a score you counted one addition fewer than products, 2d - 1 and 2k - 1. That is exact, and not the rule
    of this course: 2 for each product, as if every sum started from zero."""
    return one_addition_fewer_in_projections(n, d, k, v, hoisted) - n * n


@mistake
def one_addition_fewer_in_projections(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """for a projection you counted one addition fewer than products, 2d - 1. That is exact, and not the rule of this course: 2 for each
    product, as if every sum started from zero."""
    return _count(n, d, k, v, hoisted) - n * k - (n if hoisted else n * n) * (k + v)


@mistake
def one_addition_fewer_in_scores(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """for a score you counted one addition fewer than products, 2k - 1. That is exact, and not the rule of this course: 2 for each
    product, as if every sum started from zero."""
    return _count(n, d, k, v, hoisted) - n * n


@mistake
def one_addition_fewer_in_mixes(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """for a mix you counted one addition fewer than products, 2n - 1 for each of its numbers. That is exact, and not the rule of this
    course: 2 for each product, as if every sum started from zero."""
    return _count(n, d, k, v, hoisted) - n * v


@mistake
def one_addition_fewer_but_for_scores(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """for a projection and for a mix you counted one addition fewer than products. That is exact, and not the rule of this course: 2 for
    each product, as if every sum started from zero."""
    return one_addition_fewer_in_projections(n, d, k, v, hoisted) - n * v


@mistake
def one_operation_fewer_for_each_pair(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """for a score and for a weighted value you counted one operation fewer than there are, 2k - 1 and 2v - 1. The rule of this course is 2
    for each product, as if every sum started from zero."""
    return _count(n, d, k, v, hoisted) - 2 * n * n


@mistake
def each_query_meets_one_token(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted n scores and n weighted values in all. Each of the n queries meets all n tokens."""
    return _count(n, d, k, v, hoisted, pairs=n)


@mistake
def each_pair_once(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you let each token meet itself and those before it only. That is what notebook 03 is about; here every query meets all n
    tokens."""
    return _count(n, d, k, v, hoisted, pairs=n * (n + 1) // 2)


@misses_the_idea
def never_hoisted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted keys and values n times in both loops. Hoisted means that they are computed once, before the
    loop."""
    return _count(n, d, k, v, False)


@misses_the_idea
def always_hoisted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted keys and values once in both loops. The literal loop computes all n of them again for every
    query."""
    return _count(n, d, k, v, True)


@mistake
def flag_turned_round(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """the two loops are exchanged: hoisted=True is the one that computes keys and values once."""
    return _count(n, d, k, v, not hoisted)


@mistake
def query_recomputed_too(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the query n times for each query in the literal loop. It stands outside the inner loop even there:
    one query vector for each turn of the outer one."""
    return _count(n, d, k, v, hoisted, queries=1 if hoisted else n)


@mistake
def everything_n_times(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you took the literal loop to cost n times the hoisted one. Only keys and values are computed n times as often; queries, scores and
    mixes are as many as before."""
    return _count(n, d, k, v, True) * (1 if hoisted else n)


@mistake
def values_computed_once(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted the keys again for each query, and the values once. The literal loop computes
    both again."""
    return _count(n, d, k, v, hoisted) - (0 if hoisted else 2 * n * (n - 1) * d * v)


@mistake
def keys_computed_once(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted the values again for each query, and the keys once. The literal loop computes
    both again."""
    return _count(n, d, k, v, hoisted) - (0 if hoisted else 2 * n * (n - 1) * d * k)


@mistake
def keys_of_others_only(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted keys and values of n - 1 tokens for each query. The query's own token has a key and a value
    as well, made with all the others."""
    return _count(n, d, k, v, hoisted) - (0 if hoisted else 2 * n * d * (k + v))


@mistake
def once_more_before_the_loop(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted keys and values once before the loop and n times in it. They are computed in it only."""
    return _count(n, d, k, v, hoisted) + (0 if hoisted else 2 * n * d * (k + v))


@mistake
def no_mix(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the mixes: for each of the n queries, n values of width v are weighted and added up."""
    return _count(n, d, k, v, hoisted) - 2 * n * n * v


@mistake
def no_scores(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the scores: each of the n queries meets n keys of width k."""
    return _count(n, d, k, v, hoisted) - 2 * n * n * k


@mistake
def projections_alone(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the projections alone. Scores and mixes are work too."""
    return _count(n, d, k, v, hoisted, pairs=0)


@mistake
def no_queries(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the queries. Each token is projected three times: to a query, a key and a value."""
    return _count(n, d, k, v, hoisted, queries=0)


@mistake
def two_projections(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out one of the three projections: that to a value."""
    return _count(n, d, k, v, hoisted) - 2 * (n if hoisted else n * n) * d * v


@mistake
def no_keys(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out one of the three projections: that to a key."""
    return _count(n, d, k, v, hoisted) - 2 * (n if hoisted else n * n) * d * k


@mistake
def scores_of_width_d(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted d products for a score and for a mixed value. Scores compare vectors of width k and the mix adds
    vectors of width v."""
    return _count(n, d, k, v, hoisted) + 2 * n * n * (2 * d - k - v)


@mistake
def only_scores_of_width_d(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted d products for a score. A score compares a query and a key, which are k wide."""
    return _count(n, d, k, v, hoisted) + 2 * n * n * (d - k)


@mistake
def pairs_without_their_two(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """the projections are right, and scores and mixes are half of what they cost: their multiplications and additions are two FLOPs each time
    as well."""
    return _count(n, d, k, v, hoisted) - n * n * (k + v)


@mistake
def mixes_without_their_two(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted a weighted value as v operations. Each of its v numbers is multiplied, and added to the mix: two."""
    return _count(n, d, k, v, hoisted) - n * n * v


@mistake
def values_as_wide_as_keys(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you took values to be as wide as keys. They have a width of their own, v, when they are made and when they are mixed."""
    return _count(n, d, k, k, hoisted)


@mistake
def values_made_as_wide_as_keys(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you took values to be as wide as keys when they are made: three projections of the same cost. A value has a width of its own, v."""
    return _count(n, d, k, v, hoisted) + 2 * (n if hoisted else n * n) * d * (k - v)


@mistake
def mixes_as_wide_as_keys(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you took values to be as wide as keys when they are mixed. A value has a width of its own, v."""
    return _count(n, d, k, v, hoisted) + 2 * n * n * (k - v)


@mistake
def widths_exchanged(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you exchanged k and v: queries and keys are k wide, values are v wide."""
    return _count(n, d, v, k, hoisted)


@mistake
def softmax_counted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted something for each score beyond the score: softmax, it seems, with three operations for each. Softmax and scaling are
    left out here."""
    return _count(n, d, k, v, hoisted) + 3 * n * n


@mistake
def scaling_counted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted one operation for each score beyond the score: the division by √k, perhaps. Softmax and scaling are left out here."""
    return _count(n, d, k, v, hoisted) + n * n


@mistake
def scaling_and_softmax_counted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted something for each score beyond the score: softmax and scaling, it seems, with four operations in all. They are left
    out here."""
    return _count(n, d, k, v, hoisted) + 4 * n * n


@mistake
def softmax_counted_as_two(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted two operations for each score beyond the score: for softmax, perhaps, or for a sum counted by itself. Softmax and scaling
    are left out here."""
    return _count(n, d, k, v, hoisted) + 2 * n * n


@mistake
def softmax_counted_as_five(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted five operations for each score beyond the score: for softmax, perhaps. Softmax and scaling are left out here."""
    return _count(n, d, k, v, hoisted) + 5 * n * n


@mistake
def not_itself(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you let each query meet n - 1 tokens. A token meets itself too."""
    return _count(n, d, k, v, hoisted, pairs=n * (n - 1))


@mistake
def pairs_of_pairs(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted all n times n scores and mixes again for every query. Each query has n of them, in both loops."""
    return _count(n, d, k, v, hoisted, pairs=n * n if hoisted else n * n * n)


@mistake
def one_query_only(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the work of one query. There are n of them."""
    return _count(n, d, k, v, False) // n if not hoisted else 2 * n * d * (k + v) + 2 * d * k + 2 * n * (k + v)


@mistake
def rows_for_flops(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted projected rows. Each of them costs `2dk` or `2dv` FLOPs, and scores and mixes come on top."""
    return 3 * n if hoisted else n + 2 * n * n


@mistake
def whole_numbers_of_32_bits(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """your numbers have 32 bits, which end at about two billion and go on from the negative end. Python's own `int` has no end."""
    return (_count(n, d, k, v, hoisted) + 2**31) % 2**32 - 2**31


@mistake
def through_float32(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """on the way your count is a float32, which keeps seven digits. Python's own `int` keeps all."""
    return int(np.float32(_count(n, d, k, v, hoisted)))


@mistake
def flops_as_float(n: int, d: int, k: int, v: int, hoisted: bool) -> float:
    """the number is right, and it is a float. A count is a whole number: no division is needed to get it."""
    return float(_count(n, d, k, v, hoisted))


@mistake
def flops_as_text(n: int, d: int, k: int, v: int, hoisted: bool) -> str:
    """you returned text. The number itself is asked for."""
    return str(_count(n, d, k, v, hoisted))


@right
def flops_by_formula(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    rows = n if hoisted else n * n
    return 2 * n * d * k + 2 * rows * d * (k + v) + 2 * n * n * (k + v)


@right
def flops_by_parts(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    projection = {"query": 2 * d * k, "key": 2 * d * k, "value": 2 * d * v}
    per_query = projection["query"] + n * 2 * k + n * 2 * v
    tables = n * (projection["key"] + projection["value"])
    return n * per_query + tables if hoisted else n * (per_query + tables)


@right
def flops_as_numpy_integer(n: int, d: int, k: int, v: int, hoisted: bool) -> np.integer:
    return np.int64(2 * n) * (d * k + (n if not hoisted else 1) * d * (k + v) + n * (k + v))
