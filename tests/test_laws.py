"""The laws that every stage of the course keeps, tried on the solutions as students would write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.modules import Block
from course.parameters import shapes
from course.trial import ranks
from course.trial.observing import observe
from course.trial.values import with_layout

SOURCE = Path(__file__).parents[1] / "source"
EPS = 1e-5
ROUNDING = {"rtol": 1e-10, "atol": 1e-12}

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 7)


@cache
def solutions() -> dict[str, Callable[..., Any]]:
    """Every function that the source notebooks define in their set-up and answer cells."""
    scope: dict[str, Any] = {}
    for path in sorted(SOURCE.glob("*/*.ipynb")):
        for cell in nbformat.read(str(path), as_version=4).cells:
            answer = cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
            if cell.id == "setup" or answer:
                exec(cell.source, scope)
    return scope


def normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng([seed, *shape]).standard_normal(shape)


def weights(seed: int, d: int, k: int, v: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, k)), rng.standard_normal((d, k)), rng.standard_normal((d, v))


@given(seeds, sizes, sizes, sizes, sizes)
def test_one_token_at_a_time_equals_the_loop_equals_the_matrices(seed: int, n: int, d: int, k: int, v: int) -> None:
    f = solutions()
    X, (Wq, Wk, Wv) = normal(seed, n, d), weights(seed, d, k, v)
    one_by_one = np.stack([f["attend_one"](i, X, Wq, Wk, Wv) for i in range(n)])
    loop = f["attend_loop"](X, Wq, Wk, Wv, np.matmul)
    matrices, _ = f["attention"](*f["qkv"](X, Wq, Wk, Wv))
    np.testing.assert_allclose(loop, one_by_one, **ROUNDING)
    np.testing.assert_allclose(matrices, one_by_one, **ROUNDING)


@given(seeds, sizes, sizes, st.floats(-1e4, 1e4))
def test_softmax_rows_sum_to_one_and_ignore_a_shift(seed: int, n: int, m: int, shift: float) -> None:
    softmax, S = solutions()["softmax"], normal(seed, n, m, scale=3.0)
    np.testing.assert_allclose(softmax(S).sum(axis=-1), np.ones(n), **ROUNDING)
    np.testing.assert_allclose(softmax(S + shift), softmax(S), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(softmax(S)[0], solutions()["softmax_1d"](S[0]), **ROUNDING)


@given(seeds, sizes, sizes)
def test_without_a_mask_tokens_permute_with_their_outputs(seed: int, n: int, d: int) -> None:
    f = solutions()
    X, W = normal(seed, n, d), weights(seed, d, d, d)
    order = np.random.default_rng(seed).permutation(n)
    straight, _ = f["attention"](*f["qkv"](X, *W))
    permuted, _ = f["attention"](*f["qkv"](X[order], *W))
    np.testing.assert_allclose(permuted, straight[order], **ROUNDING)


@given(seeds, st.integers(2, 7), sizes)
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
def test_masking_before_softmax_equals_zeroing_and_renormalising_after_it(seed: int, n: int, m: int) -> None:
    f = solutions()
    S = normal(seed, n, m, scale=2.0)
    keep = np.random.default_rng(seed).random((n, m)) < 0.5
    keep[np.arange(n), np.random.default_rng(seed + 1).integers(0, m, n)] = True  # nobody is left with nothing
    before = f["masked_softmax"](S, keep)
    np.testing.assert_allclose(before, f["softmax"](f["mask_scores"](S, keep)), **ROUNDING)
    np.testing.assert_allclose(f["zero_renorm"](f["softmax"](S), keep), before, **ROUNDING)


@given(seeds, sizes, sizes, sizes)
def test_the_two_conventions_hold_the_same_numbers(seed: int, n: int, d: int, k: int) -> None:
    X, W = normal(seed, n, d), normal(seed + 1, d, k)
    left, right = solutions()["to_columns"](X, W)
    np.testing.assert_allclose(left @ right, (X @ W).T, **ROUNDING)


@given(seeds, sizes, sizes, sizes, st.sampled_from(["C", "F", "strided"]))
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
def test_normalized_entropy_lies_between_one_winner_and_no_preference(seed: int, n: int, k: int) -> None:
    Q, K = normal(seed, n, k, scale=2.0), normal(seed + 1, n + 1, k, scale=2.0)
    unscaled, scaled = observe(solutions()["normalized_entropy"], (Q, K)).result
    assert -1e-12 <= unscaled <= scaled + 1e-12 <= 1 + 1e-11


# ---------------------------------------------------------------------------------------------- heads


def random_keep(seed: int, *shape: int) -> np.ndarray:
    """A mask of any kind; some of its rows may keep nothing."""
    return np.random.default_rng([seed, 7]).random(shape) < 0.6


def heads(seed: int, d: int, h: int, k: int, v: int) -> tuple[np.ndarray, ...]:
    """Weights of queries, keys and values, head by head, and of the output."""
    rng = np.random.default_rng([seed, d, h])
    return tuple(rng.standard_normal(s) for s in ((h, d, k), (h, d, k), (h, d, v), (h * v, d)))


def packed(Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray) -> np.ndarray:
    pack = solutions()["pack"]
    return np.hstack([pack(Wq), pack(Wk), pack(Wv)])


@given(seeds, sizes, sizes, st.integers(1, 4), sizes, sizes)
def test_heads_one_by_one_equal_all_heads_at_once_equal_a_batch_of_one(
    seed: int, n: int, d: int, h: int, k: int, v: int
) -> None:
    f = solutions()
    X, keep = normal(seed, n, d), random_keep(seed, n, n)
    *W, Wo = heads(seed, d, h, k, v)
    one_by_one = f["mha_loop"](X, *W, Wo, keep)
    at_once = f["mha"](X, packed(*W), Wo, h, keep)
    params = {"Wqkv": torch.from_numpy(packed(*W)), "Wo": torch.from_numpy(Wo)}
    batched = f["mha_batched"](torch.from_numpy(X[None]), params, h, torch.from_numpy(keep))
    np.testing.assert_allclose(at_once, one_by_one, **ROUNDING)
    np.testing.assert_allclose(batched[0].numpy(), one_by_one, **ROUNDING)


@given(seeds, sizes, st.integers(1, 5), sizes)
def test_splitting_and_merging_undo_each_other(seed: int, n: int, h: int, k: int) -> None:
    f, Z = solutions(), normal(seed, n, h * k)
    np.testing.assert_array_equal(f["merge_heads"](f["split_heads"](Z, h)), Z)
    for head, table in enumerate(f["split_heads"](Z, h)):
        np.testing.assert_array_equal(table, Z[:, head * k : (head + 1) * k])


@given(seeds, sizes, sizes, st.integers(1, 5), sizes)
def test_one_product_with_packed_weights_makes_what_each_heads_own_product_makes(
    seed: int, n: int, d: int, h: int, k: int
) -> None:
    f, X, W = solutions(), normal(seed, n, d), normal(seed, h, d, k)
    np.testing.assert_allclose(f["split_heads"](X @ f["pack"](W), h), np.stack([X @ w for w in W]), **ROUNDING)


@given(seeds, sizes, sizes, st.integers(1, 5), sizes)
def test_the_shares_of_the_heads_add_up_to_the_output(seed: int, n: int, d: int, h: int, v: int) -> None:
    f, outputs, Wo = solutions(), normal(seed, h, n, v), normal(seed, h * v, d)
    np.testing.assert_allclose(f["head_outputs"](outputs, Wo).sum(axis=0), f["merge_heads"](outputs) @ Wo, **ROUNDING)


# ---------------------------------------------------------------------------------------------- the block


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def parameters(seed: int, d: int, h: int, k: int, v: int, f: int) -> dict[str, np.ndarray]:
    """The parameters of one block, none of them 0 or 1."""
    return {name: normal(seed + i, *shape) for i, (name, shape) in enumerate(shapes(d, h, k, v, f).items())}


@given(seeds, sizes, st.integers(2, 7), st.floats(-50, 50), st.floats(0.1, 50))
def test_layer_norm_ignores_where_a_token_lies_and_how_large_it_is(
    seed: int, n: int, d: int, shift: float, size: float
) -> None:
    layer_norm = solutions()["layer_norm"]
    X = normal(seed, n, d)
    X += np.arange(d)  # no token is constant
    gain, bias = normal(seed + 1, d), normal(seed + 2, d)
    once = layer_norm(X, gain, bias, 0.0)
    np.testing.assert_allclose(layer_norm(size * X + shift, gain, bias, 0.0), once, rtol=1e-7, atol=1e-7)
    centre = np.eye(d) - np.ones((d, d)) / d  # a product from the right: by row, and the same for every token
    deviation = np.sqrt(((X @ centre) ** 2).mean(axis=1, keepdims=True))
    np.testing.assert_allclose(once, gain * (X @ centre) / deviation + bias, rtol=1e-9, atol=1e-9)


@given(seeds, sizes, sizes, st.integers(1, 3), sizes, sizes, sizes)
@settings(max_examples=50)
def test_a_block_equals_the_module_that_was_given_its_weights(
    seed: int, n: int, d: int, h: int, k: int, v: int, f: int
) -> None:
    every = solutions()
    params, X, keep = parameters(seed, d, h, k, v, f), normal(seed, n, d), random_keep(seed, n, n)
    module = every["load_numpy"](Block(d, h, k, v, f, eps=1e-5).double(), params)
    with torch.no_grad():
        given_by_torch = module(torch.from_numpy(X[None]), torch.from_numpy(keep))[0].numpy()
    ours = every["block"](X, params, h, keep, 1e-5, relu)["H"]
    np.testing.assert_allclose(given_by_torch, ours, rtol=1e-9, atol=1e-9)


@given(seeds, st.integers(2, 6), sizes, st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=50)
def test_in_a_stack_with_a_causal_mask_a_token_changes_no_output_before_it(
    seed: int, n: int, d: int, h: int, depth: int
) -> None:
    f = solutions()
    layers = [parameters(seed + layer, d, h, 2, 3, 4) for layer in range(depth)]
    final, keep = (normal(seed, d), normal(seed + 1, d)), f["causal_keep"](n)
    X = normal(seed, n, d)
    j = int(np.random.default_rng(seed).integers(1, n))
    changed = X.copy()
    changed[j] += 1.0 + np.arange(d)

    def run(X: np.ndarray) -> np.ndarray:
        return np.asarray(f["stack"](X, layers, final, h, keep, 1e-5, relu))

    np.testing.assert_allclose(run(changed)[:j], run(X)[:j], **ROUNDING)
    np.testing.assert_array_equal(f["influence"](run, X)[np.triu_indices(n, 1)], False)


@given(seeds, sizes, sizes, sizes, sizes)
def test_layer_norm_and_ffn_work_on_each_token_by_itself(seed: int, b: int, n: int, d: int, f: int) -> None:
    s, X = solutions(), normal(seed, b, n, d)
    p = parameters(seed, d, 1, 1, 1, f)
    for work in (
        lambda X: s["layer_norm"](X, p["gain1"], p["bias1"], EPS),
        lambda X: s["ffn"](X, p["W1"], p["b1"], p["W2"], p["b2"], np.tanh),
    ):
        alone = np.array([[work(x) for x in text] for text in X])
        np.testing.assert_allclose(work(X), alone, **ROUNDING)


@given(seeds, st.integers(2, 7), st.integers(2, 7), st.integers(1, 3), sizes, sizes, sizes)
def test_a_block_adds_two_updates_and_shows_no_token_the_future(
    seed: int, n: int, d: int, h: int, k: int, v: int, f: int
) -> None:
    s, X, p = solutions(), normal(seed, n, d), parameters(seed, d, h, k, v, f)
    keep = s["causal_keep"](n)
    stages = s["block"](X, p, h, keep, EPS, np.tanh)
    assert set(stages) == {"T1", "T2", "T3", "T4", "T5", "H"}
    np.testing.assert_allclose(stages["H"], X + stages["T2"] + stages["T5"], **ROUNDING)
    silent = p | {name: np.zeros_like(p[name]) for name in ("Wo", "W2", "b2")}
    np.testing.assert_array_equal(s["block"](X, silent, h, keep, EPS, np.tanh)["H"], X)
    j = int(np.random.default_rng(seed).integers(1, n))
    changed = X.copy()
    changed[j] += normal(seed + 1, d)
    np.testing.assert_allclose(s["block"](changed, p, h, keep, EPS, np.tanh)["H"][:j], stages["H"][:j], **ROUNDING)


@given(seeds, sizes, sizes, st.integers(1, 3), sizes, sizes, sizes, st.integers(0, 3))
def test_without_mask_and_positions_a_stack_moves_its_outputs_along_with_its_tokens(
    seed: int, n: int, d: int, h: int, k: int, v: int, f: int, depth: int
) -> None:
    s, X = solutions(), normal(seed, n, d)
    layers = [parameters(seed + i, d, h, k, v, f) for i in range(depth)]
    rest = ((normal(seed + 7, d), normal(seed + 8, d)), h, np.ones((n, n), bool), 1e-2, np.tanh)
    order = np.random.default_rng(seed).permutation(n)
    straight, permuted = s["stack"](X, layers, *rest), s["stack"](X[order], layers, *rest)
    np.testing.assert_allclose(permuted, straight[order], rtol=1e-7, atol=1e-7)


@given(seeds, sizes, sizes, sizes, sizes)
def test_a_text_is_embedded_as_if_it_were_alone_and_any_of_its_beginnings_too(
    seed: int, b: int, n: int, c: int, d: int
) -> None:
    embed, rng = solutions()["embed"], np.random.default_rng(seed)
    ids, E, P = rng.integers(0, c, (b, n)), normal(seed, c, d), normal(seed + 1, n + 2, d)
    tokens = embed(ids, E, P)
    for item in range(b):
        np.testing.assert_array_equal(embed(ids[item : item + 1], E, P)[0], tokens[item])
    np.testing.assert_array_equal(embed(ids[:, :1], E, P), tokens[:, :1])


@given(seeds, sizes, st.integers(2, 7), st.integers(1, 7), st.floats(-1e4, 1e4))
def test_the_loss_is_log_c_for_even_logits_and_ignores_shifts_the_last_row_and_the_first_word(
    seed: int, b: int, n: int, c: int, shift: float
) -> None:
    loss, rng = solutions()["next_token_loss"], np.random.default_rng(seed)
    ids, logits = rng.integers(0, c, (b, n)), normal(seed, b, n, c, scale=3.0)
    found = loss(logits, ids)
    assert found >= 0
    np.testing.assert_allclose(loss(np.full((b, n, c), shift), ids), np.log(c), atol=1e-12)
    np.testing.assert_allclose(loss(logits + shift * normal(seed + 1, b, n, 1), ids), found, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(np.mean([loss(logits[i : i + 1], ids[i : i + 1]) for i in range(b)]), found, rtol=1e-9)
    other, text = logits.copy(), ids.copy()
    other[:, -1], text[:, 0] = 0.0, 0
    assert loss(other, text) == found


# ---------------------------------------------------------------------------------------------- batches, and the way back


@given(seeds, st.integers(2, 4), sizes, sizes, st.integers(1, 3))
@settings(max_examples=50)
def test_no_item_of_a_batch_sees_another(seed: int, b: int, n: int, d: int, h: int) -> None:
    f, keep = solutions(), torch.from_numpy(random_keep(seed, n, n))
    params = {name: torch.from_numpy(W) for name, W in parameters(seed, d, h, 2, 3, 4).items()}
    X = torch.from_numpy(normal(seed, b, n, d))
    together = f["mha_batched"](X, params, h, keep)
    for item in range(b):
        alone = f["mha_batched"](X[item : item + 1], params, h, keep)
        np.testing.assert_allclose(together[item : item + 1].numpy(), alone.numpy(), **ROUNDING)


@given(seeds, st.integers(1, 4), st.integers(1, 6), st.booleans(), st.booleans())
@settings(max_examples=50)
def test_under_a_combined_mask_an_item_gives_what_it_gives_without_padding(
    seed: int, b: int, n: int, causal: bool, left: bool
) -> None:
    f, d, h = solutions(), 3, b  # as many heads as items: where a mask may be taken for another
    lengths = np.random.default_rng(seed).integers(0, n + 1, b)
    keep = f["combine_keep"](torch.from_numpy(lengths), n, causal, left)
    assert keep.shape == (b, 1, n, n)
    params = {name: torch.from_numpy(W) for name, W in parameters(seed, d, h, 2, 3, 4).items()}
    X = torch.from_numpy(normal(seed, b, n, d))
    padded = f["mha_batched"](X, params, h, keep)
    for item, length in enumerate(map(int, lengths)):
        real = slice(n - length, n) if left else slice(0, length)
        own = torch.from_numpy(f["causal_keep"](length) if causal else np.ones((length, length), bool))
        alone = f["mha_batched"](X[item : item + 1, real], params, h, own)
        np.testing.assert_allclose(padded[item, real].numpy(), alone[0].numpy(), **ROUNDING)


@given(seeds, st.integers(1, 3), st.integers(1, 3), sizes, sizes, sizes, sizes)
def test_the_fused_call_equals_attention_head_by_head(
    seed: int, b: int, h: int, n: int, m: int, k: int, v: int
) -> None:
    f = solutions()
    q, K, V = normal(seed, b, h, n, k), normal(seed + 1, b, h, m, k), normal(seed + 2, b, h, m, v)
    keep = random_keep(seed, n, m)
    fused = f["fused"](*map(torch.from_numpy, (q, K, V, keep))).numpy()
    everything = f["fused"](*map(torch.from_numpy, (q, K, V, np.ones((n, m), bool)))).numpy()
    for item, head in np.ndindex(b, h):
        S = f["scaled_scores"](q[item, head], K[item, head])
        np.testing.assert_allclose(fused[item, head], f["masked_softmax"](S, keep) @ V[item, head], **ROUNDING)
        own, _ = f["attention"](q[item, head], K[item, head], V[item, head])
        np.testing.assert_allclose(everything[item, head], own, **ROUNDING)


@given(seeds, sizes, sizes, sizes, sizes)
def test_the_way_back_is_the_one_that_autograd_takes(seed: int, n: int, m: int, k: int, v: int) -> None:
    f = solutions()
    Q, K, V = (torch.from_numpy(normal(seed + i, *s)) for i, s in enumerate(((n, k), (m, k), (m, v))))
    keep, dO = torch.from_numpy(random_keep(seed, n, m)), torch.from_numpy(normal(seed + 3, n, v))

    def attend(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
        S = (Q @ K.T / k**0.5).masked_fill(~keep, -1e30)
        return S.softmax(dim=-1) * keep @ V

    _, wanted = torch.autograd.functional.vjp(attend, (Q, K, V), dO)
    for ours, theirs in zip(f["attention_backward"](Q, K, V, keep, dO), wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-11)
    S, dP = Q @ K.T, torch.from_numpy(normal(seed + 4, n, m))
    _, dS = torch.autograd.functional.vjp(lambda S: S.softmax(dim=-1), S, dP)
    np.testing.assert_allclose(f["softmax_backward"](S.softmax(dim=-1), dP).numpy(), dS.numpy(), rtol=1e-9, atol=1e-11)


# ---------------------------------------------------------------------------------------------- losses


@given(seeds, st.integers(1, 5), st.integers(1, 6), st.integers(2, 7))
def test_the_mean_of_the_losses_by_position_is_the_loss(seed: int, b: int, n: int, c: int) -> None:
    f, rng = solutions(), np.random.default_rng(seed)
    ids, table = rng.integers(0, c, (b, n + 1)), rng.standard_normal((c, c))
    model = torch.nn.Embedding.from_pretrained(torch.from_numpy(table))
    by_position = f["loss_by_position"](model, torch.from_numpy(ids))
    assert by_position.shape == (n,)
    np.testing.assert_allclose(by_position.mean(), f["next_token_loss"](table[ids], ids), rtol=1e-9)


@given(st.integers(0, 640), st.integers(0, 640), st.integers(0, 320), st.integers(1, 64), st.integers(-8, 8))
def test_a_verdict_grows_with_the_loss_counts_both_edges_as_honest_and_knows_no_unit(
    loss: int, more: int, entropy: int, tol: int, power: int
) -> None:
    """All numbers are 64ths, so that nothing is rounded."""
    verdict, order = solutions()["verdict"], ["leak", "honest", "underfit"]

    def place(loss: int, scale: float = 1 / 64) -> int:
        return order.index(verdict(loss * scale, entropy * scale, tol * scale))

    assert place(loss) <= place(loss + more)
    assert place(loss) == place(loss, 2.0**power)
    assert [place(entropy + edge) for edge in (-tol - 1, -tol, 0, tol, tol + 1)] == [0, 1, 1, 1, 2]


@given(seeds, st.integers(1, 4), st.integers(2, 6), st.integers(2, 7), st.floats(-1e3, 1e3))
def test_the_loss_at_a_position_needs_no_later_symbol_and_no_order_of_texts(
    seed: int, b: int, n: int, c: int, shift: float
) -> None:
    f, rng = solutions(), np.random.default_rng(seed)
    ids, table = torch.from_numpy(rng.integers(0, c, (b, n + 1))), torch.from_numpy(rng.standard_normal((c, c)))
    loss = partial(f["loss_by_position"], torch.nn.Embedding.from_pretrained(table))
    for i in range(n):
        np.testing.assert_allclose(loss(ids[:, : i + 2])[-1], loss(ids)[i], **ROUNDING)
    np.testing.assert_allclose(loss(ids.flip(0)), loss(ids), **ROUNDING)
    shifted = f["loss_by_position"](torch.nn.Embedding.from_pretrained(table + shift), ids)
    np.testing.assert_allclose(shifted, loss(ids), rtol=1e-7, atol=1e-9)


@given(seeds, st.integers(1, 6), sizes, st.integers(1, 4), sizes, sizes)
@settings(max_examples=50)
def test_in_which_order_the_heads_stand_makes_no_difference(seed: int, n: int, d: int, h: int, k: int, v: int) -> None:
    mha, X, keep = solutions()["mha"], normal(seed, n, d), random_keep(seed, n, n)
    Wq, Wk, Wv, Wo = heads(seed, d, h, k, v)
    order = np.random.default_rng(seed).permutation(h)
    moved = Wo.reshape(h, v, d)[order].reshape(h * v, d)
    straight = mha(X, packed(Wq, Wk, Wv), Wo, h, keep)
    np.testing.assert_allclose(mha(X, packed(Wq[order], Wk[order], Wv[order]), moved, h, keep), straight, **ROUNDING)


# ---------------------------------------------------------------------------------------------- several devices


def added_up(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.sum(parts, axis=0))


@given(seeds, sizes, sizes, sizes, st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=50)
def test_both_cuts_of_a_product_give_the_product(seed: int, n: int, d: int, f: int, p: int, share: int) -> None:
    s = solutions()
    X, W = normal(seed, n, d), normal(seed, d, p * share)
    np.testing.assert_allclose(np.hstack([X @ own for own in s["column_shards"](W, p)]), X @ W, **ROUNDING)
    Y, V = normal(seed, n, p * share), normal(seed, p * share, f)
    pairs = zip(s["column_shards"](Y, p), s["row_shards"](V, p), strict=True)
    np.testing.assert_allclose(added_up([y @ own for y, own in pairs]), Y @ V, **ROUNDING)


@given(seeds, sizes, sizes, st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=50)
def test_an_ffn_on_any_number_of_devices_is_the_ffn(seed: int, n: int, d: int, p: int, share: int) -> None:
    s, X, params = solutions(), normal(seed, n, d), parameters(seed, d, 1, 1, 1, p * share)
    layers = [params[name] for name in ("W1", "b1", "W2", "b2")]
    spread = s["mlp_tp"](X, *layers, p, np.tanh, added_up)
    np.testing.assert_allclose(spread, s["ffn"](X, *layers, np.tanh), **ROUNDING)


@given(seeds, st.integers(1, 5), sizes, st.integers(1, 3), st.integers(1, 3), sizes, sizes)
@settings(max_examples=50)
def test_attention_on_any_number_of_devices_is_attention(
    seed: int, n: int, d: int, p: int, share: int, k: int, v: int
) -> None:
    s, h = solutions(), p * share
    X, keep, params = normal(seed, n, d), random_keep(seed, n, n), parameters(seed, d, h, k, v, 1)
    spread = s["mha_tp"](X, params, h, keep, p, added_up)
    np.testing.assert_allclose(spread, s["mha"](X, params["Wqkv"], params["Wo"], h, keep), **ROUNDING)


# ---------------------------------------------------------------------------------------------- several processes


@given(seeds, sizes, sizes, st.sampled_from([(1, 3, 2), (2, 2, 4), (2, 4, 6), (3, 3, 3), (4, 4, 4)]), sizes, sizes)
@settings(max_examples=10)
def test_a_block_is_the_same_in_any_number_of_processes(
    seed: int, n: int, d: int, shared: tuple[int, int, int], k: int, v: int
) -> None:
    p, h, f = shared
    own, X, keep = solutions(), normal(seed, n, d), random_keep(seed, n, n)
    params = parameters(seed, d, h, k, v, f)
    H = own["block"](X, params, h, keep, EPS, np.tanh)["H"]

    def in_one_rank(rank: int, p: int) -> np.ndarray:
        return own["parallel_block"](rank, p, X, params, h, keep, EPS, np.tanh)

    for result in ranks.run(in_one_rank, p):
        np.testing.assert_allclose(result, H, **ROUNDING)
