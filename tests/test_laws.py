"""The laws that every stage of the course keeps, tried on the solutions as students would write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from course.observing import observe
from course.values import with_layout

SOURCE = Path(__file__).parents[1] / "source"
ROUNDING = {"rtol": 1e-10, "atol": 1e-12}

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 7)


@cache
def solutions() -> dict[str, Callable[..., Any]]:
    """Every function that the source notebooks define in their set-up and answer cells."""
    scope: dict[str, Any] = {}
    for path in sorted(SOURCE.glob("*/*.ipynb")):
        for cell in nbformat.read(str(path), as_version=4).cells:
            if cell.id == "setup" or cell.metadata.get("nbgrader", {}).get("solution"):
                exec(cell.source, scope)
    return scope


def normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng([seed, *shape]).standard_normal(shape)


def weights(seed: int, d: int, k: int, v: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, k)), rng.standard_normal((d, k)), rng.standard_normal((d, v))


@given(seeds, sizes, sizes, sizes, sizes)
@settings(deadline=None)
def test_one_token_at_a_time_equals_the_loop_equals_the_matrices(seed: int, n: int, d: int, k: int, v: int) -> None:
    f = solutions()
    X, (Wq, Wk, Wv) = normal(seed, n, d), weights(seed, d, k, v)
    one_by_one = np.stack([f["attend_one"](i, X, Wq, Wk, Wv) for i in range(n)])
    loop = f["attend_loop"](X, Wq, Wk, Wv, np.matmul)
    matrices, _ = f["attention"](*f["qkv"](X, Wq, Wk, Wv))
    np.testing.assert_allclose(loop, one_by_one, **ROUNDING)
    np.testing.assert_allclose(matrices, one_by_one, **ROUNDING)


@given(seeds, sizes, sizes, st.floats(-1e4, 1e4))
@settings(deadline=None)
def test_softmax_rows_sum_to_one_and_ignore_a_shift(seed: int, n: int, m: int, shift: float) -> None:
    softmax, S = solutions()["softmax"], normal(seed, n, m, scale=3.0)
    np.testing.assert_allclose(softmax(S).sum(axis=-1), np.ones(n), **ROUNDING)
    np.testing.assert_allclose(softmax(S + shift), softmax(S), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(softmax(S)[0], solutions()["softmax_1d"](S[0]), **ROUNDING)


@given(seeds, sizes, sizes)
@settings(deadline=None)
def test_without_a_mask_tokens_permute_with_their_outputs(seed: int, n: int, d: int) -> None:
    f = solutions()
    X, W = normal(seed, n, d), weights(seed, d, d, d)
    order = np.random.default_rng(seed).permutation(n)
    straight, _ = f["attention"](*f["qkv"](X, *W))
    permuted, _ = f["attention"](*f["qkv"](X[order], *W))
    np.testing.assert_allclose(permuted, straight[order], **ROUNDING)


@given(seeds, st.integers(2, 7), sizes)
@settings(deadline=None)
def test_with_a_causal_mask_a_token_changes_no_output_before_it(seed: int, n: int, d: int) -> None:
    f = solutions()
    X, W = normal(seed, n, d), weights(seed, d, d, d)
    j = int(np.random.default_rng(seed).integers(1, n))
    changed = X.copy()
    changed[j] += 10.0

    def causal(X: np.ndarray) -> np.ndarray:
        Q, K, V = f["qkv"](X, *W)
        return np.asarray(f["masked_softmax"](f["scaled_scores"](Q, K), f["causal_keep"](n)) @ V)

    np.testing.assert_array_equal(causal(changed)[:j], causal(X)[:j])
    np.testing.assert_array_equal(f["influence"](causal, X)[np.triu_indices(n, 1)], False)


@given(seeds, sizes, sizes)
@settings(deadline=None)
def test_masking_before_softmax_equals_zeroing_and_renormalising_after_it(seed: int, n: int, m: int) -> None:
    f = solutions()
    S = normal(seed, n, m, scale=2.0)
    keep = np.random.default_rng(seed).random((n, m)) < 0.5
    keep[np.arange(n), np.random.default_rng(seed + 1).integers(0, m, n)] = True  # nobody is left with nothing
    before = f["masked_softmax"](S, keep)
    np.testing.assert_allclose(before, f["softmax"](f["mask_scores"](S, keep)), **ROUNDING)
    np.testing.assert_allclose(f["zero_renorm"](f["softmax"](S), keep), before, **ROUNDING)


@given(seeds, sizes, sizes, sizes)
@settings(deadline=None)
def test_the_two_conventions_hold_the_same_numbers(seed: int, n: int, d: int, k: int) -> None:
    X, W = normal(seed, n, d), normal(seed + 1, d, k)
    left, right = solutions()["to_columns"](X, W)
    np.testing.assert_allclose(left @ right, (X @ W).T, **ROUNDING)


@given(seeds, sizes, sizes, sizes, st.sampled_from(["C", "F", "strided"]))
@settings(deadline=None)
def test_every_pair_and_every_mixture_are_the_same_product_read_twice(
    seed: int, n: int, m: int, d: int, order: str
) -> None:
    f = solutions()
    A, B = with_layout(normal(seed, n, d), order), with_layout(normal(seed + 1, m, d), order)
    np.testing.assert_allclose(f["pairwise_dots"](A, B), f["mix_rows"](A, B.T), **ROUNDING)


@given(sizes, sizes, sizes, sizes)
def test_counted_flops_are_those_of_the_products(n: int, d: int, k: int, v: int) -> None:
    """Q = XWq, K = XWk, V = XWv, QKᵀ and AV cost 2mkn each; for one token there is nothing to hoist."""
    products = 2 * n * d * k + 2 * n * d * k + 2 * n * d * v + 2 * n * k * n + 2 * n * n * v
    assert solutions()["loop_flops"](n, d, k, v, True) == products
    assert solutions()["loop_flops"](1, d, k, v, False) == solutions()["loop_flops"](1, d, k, v, True)


@given(seeds, sizes, sizes)
@settings(deadline=None)
def test_saturation_lies_between_one_winner_and_no_preference(seed: int, n: int, k: int) -> None:
    Q, K = normal(seed, n, k, scale=2.0), normal(seed + 1, n + 1, k, scale=2.0)
    unscaled, scaled = observe(solutions()["saturation"], (Q, K)).result
    assert -1e-12 <= unscaled <= scaled + 1e-12 <= 1 + 1e-11
