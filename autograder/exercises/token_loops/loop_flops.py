"""What the loop costs, with keys and values hoisted out of it and without."""

from __future__ import annotations

import numpy as np

from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, case, mistake, probe, right


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
)


@probe(0.5)
def hoisted_counts(rng: np.random.Generator) -> list[Case]:
    """the hoisted loop, all sizes different"""
    return [case(*sizes(rng, 4, low=2, high=40), True) for _ in range(2)]


@probe(1.0)
def literal_counts(rng: np.random.Generator) -> list[Case]:
    """the literal loop, all sizes different"""
    return [case(*sizes(rng, 4, low=2, high=40), False) for _ in range(2)]


@probe(0.5)
def counts_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, and larger sizes, in both loops"""
    small, large = sizes(rng, 4), sizes(rng, 4, low=40, high=80)
    return [case(1, *small[1:], hoisted) for hoisted in (True, False)] + [
        case(*large, hoisted) for hoisted in (True, False)
    ]


@mistake
def multiply_add_is_one(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted a multiplication and the addition after it as one. They are two FLOPs."""
    return loop_flops(n, d, k, v, hoisted) // 2


@mistake
def one_addition_fewer(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted k - 1 additions for k products, which is exact. The rule of this course is 2 for each product, as
    if every sum started from zero."""
    keys_and_values = n * (2 * d - 1) * (k + v) * (1 if hoisted else n)
    return keys_and_values + n * (2 * d - 1) * k + n * n * (2 * k - 1) + n * (2 * n - 1) * v


@mistake
def each_query_meets_one_token(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted n scores and n weighted values in all. Each of the n queries meets all n tokens."""
    projections = 2 * n * d * (2 * k + v) if hoisted else 2 * n * d * k + 2 * n * n * d * (k + v)
    return projections + 2 * n * (k + v)


@mistake
def never_hoisted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted keys and values n times in both loops. Hoisted means that they are computed once, before the
    loop."""
    return loop_flops(n, d, k, v, False)


@mistake
def always_hoisted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted keys and values once in both loops. The literal loop computes all n of them again for every
    query."""
    return loop_flops(n, d, k, v, True)


@mistake
def flag_turned_round(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """the two loops are exchanged: hoisted=True is the one that computes keys and values once."""
    return loop_flops(n, d, k, v, not hoisted)


@mistake
def query_recomputed_too(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the query n times for each query in the literal loop. It stands outside the inner loop even there:
    one query vector for each turn of the outer one."""
    return loop_flops(n, d, k, v, hoisted) + (0 if hoisted else 2 * n * (n - 1) * d * k)


@mistake
def values_computed_once(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted the keys again for each query, and the values once. The literal loop computes
    both again."""
    return loop_flops(n, d, k, v, hoisted) - (0 if hoisted else 2 * n * (n - 1) * d * v)


@mistake
def no_mix(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the mix of the values: n weights times n rows of width v."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * n * v


@mistake
def no_scores(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the scores: n queries times n keys of width k."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * n * k


@mistake
def no_queries(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the queries. Each token is projected three times: to a query, a key and a value."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * d * k


@mistake
def scores_of_width_d(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted d products for a score and for a mixed value. Scores compare vectors of width k and the mix adds
    vectors of width v."""
    return loop_flops(n, d, k, v, hoisted) + 2 * n * n * (2 * d - k - v)


@mistake
def not_itself(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you let each query meet n - 1 tokens. A token meets itself too."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * (k + v)


@mistake
def one_query_only(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the work of one query. There are n of them."""
    return loop_flops(n, d, k, v, False) // n if not hoisted else 2 * n * d * (k + v) + 2 * d * k + 2 * n * (k + v)


@mistake
def flops_as_float(n: int, d: int, k: int, v: int, hoisted: bool) -> float:
    """the number is right, and it is a float. A count is a whole number: no division is needed to get it."""
    return float(loop_flops(n, d, k, v, hoisted))


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
