"""Block after block, and a LayerNorm at the end.

Each block goes on with the `H` of the one before it, with parameters of its own. It has added its updates already, so
nothing is added around it. In a pre-norm model nobody norms what a block returns: the next one norms what it reads,
and after the last one there is no next, so one LayerNorm stands behind the loop, with the same eps. Inside the loop
it would change what is to go on as it is; and where there are no blocks, it is all that is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.block.block import block
from autograder.exercises.block.layer_norm import layer_norm
from autograder.exercises.block.parts import (
    BY_HAND,
    OTHER,
    SMALL,
    THREE_TOKENS,
    block_at_once,
    drawn_activation,
    drawn_gain,
    drawn_parameters,
    drawn_sizes,
    feed_forward,
)
from autograder.exercises.inputs import causal, normal
from autograder.exercises.model import B, Case, F, case, misses_the_idea, mistake, probe, right
from autograder.exercises.parts import RELU, TANH, Act, attention_of_heads, norm1, norm2, normalised_rows, who_sees_whom

USES = ("block", "layer_norm", "ffn")
Norm = tuple[np.ndarray, np.ndarray]
Layers = list[dict[str, Float[np.ndarray, "..."]]]


def stack(
    X: Float[np.ndarray, "n d"],
    layers: Layers,
    final_norm: tuple[Float[np.ndarray, "d"], Float[np.ndarray, "d"]],
    h: int,
    keep: Bool[np.ndarray, "n n"],
    eps: float,
    act: Act,
) -> Float[np.ndarray, "n d"]:
    """The blocks one after the other, each on the H of the one before, and a LayerNorm at the end."""
    H = X
    for i in range(len(layers)):
        H = block(H, layers[i], h, keep, eps, act)["H"]
    return layer_norm(H, final_norm[0], final_norm[1], eps)


def _stacked(
    rng: np.random.Generator,
    depth: int,
    n: int,
    d: int,
    h: int,
    k: int,
    v: int,
    f: int,
    dtype: str = "float64",
    size: float = 1e3,
) -> tuple[Any, ...]:
    """X, layers, final_norm."""
    layers = [drawn_parameters(rng, d, h, k, v, f, dtype) for _ in range(depth)]
    return normal(rng, n, d, scale=size, dtype=dtype), layers, (drawn_gain(rng, d, dtype), normal(rng, d, dtype=dtype))


def _any_stack(depth: int, n: int, d: int, h: int, k: int, v: int, f: int, dtype: str = "float64") -> Case:
    """A public stack that looks like nothing in particular."""
    rng = np.random.default_rng(3)
    X, layers, norm = _stacked(rng, depth, n, d, h, k, v, f, dtype, 2.0)
    layers = [{name: np.round(array, 2) for name, array in params.items()} for params in layers]
    keep = np.array([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0]], bool)[:n, :n]
    return case(np.round(X, 2), layers, tuple(np.round(array, 2) for array in norm), h, keep, 0.1, TANH)


PUBLIC = (
    case(THREE_TOKENS, [], (np.array([1.0, 2.0]), np.array([0.5, -1.0])), 1, causal(3), 0.5, TANH),
    case(np.array([[1.0, 3.0]]), [BY_HAND], (np.array([1.0, 2.0]), np.array([10.0, 20.0])), 1, causal(1), 0.0, RELU),
    case(THREE_TOKENS, [SMALL, OTHER], (np.array([1.0, 2.0]), np.array([0.5, -1.0])), 1, causal(3), 0.5, TANH),
    case(
        THREE_TOKENS,
        [OTHER, SMALL, BY_HAND],
        (np.array([1.5, 0.5]), np.array([0.0, 1.0])),
        1,
        np.ones((3, 3), bool),
        0.5,
        TANH,
    ),
    _any_stack(1, 2, 3, 1, 2, 1, 2, "float32"),
    _any_stack(3, 4, 5, 2, 3, 2, 6),
)


EPS = 1e-5  # beside tokens of size 1000 eps is nothing, and one case alone asks for it


@probe(1.5)
def stacks(rng: np.random.Generator) -> list[Case]:
    """block after block, each with its own parameters, and the LayerNorm at the end"""
    cases = []
    for depth in (2, 3):
        n, d, h, k, v, f = drawn_sizes(rng)
        cases.append(case(*_stacked(rng, depth, n, d, h, k, v, f), h, causal(n), EPS, drawn_activation(rng)))
    return cases


@probe(0.75)
def few_blocks(rng: np.random.Generator) -> list[Case]:
    """one block, none at all, and one that adds nothing"""
    # One block, none, and three of which the one in the middle adds nothing.
    cases = []
    for depth in (1, 0, 3):
        n, d, h, k, v, f = drawn_sizes(rng)
        X, layers, norm = _stacked(rng, depth, n, d, h, k, v, f)
        if depth == 3:
            layers[1] |= {name: np.zeros_like(layers[1][name]) for name in ("Wo", "W2", "b2")}
        cases.append(case(X, layers, norm, h, causal(n), EPS, drawn_activation(rng)))
    return cases


@probe(0.75, strict=True)
def stacks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a mask that is not causal, an eps that counts, float32"""
    n, d, h, k, v, f = drawn_sizes(rng)
    return [
        case(*_stacked(rng, 2, 1, d, h, k, v, f), h, causal(1), EPS, drawn_activation(rng)),
        case(*_stacked(rng, 2, n, d, h, k, v, f, size=2.0), h, who_sees_whom(rng, n), 0.3, drawn_activation(rng)),
        case(*_stacked(rng, 2, n, d, h, k, v, f, "float32", 2.0), h, causal(n), EPS, drawn_activation(rng)),
    ]


def _through(X: F, layers: Layers, h: int, keep: B, eps: float, act: Act) -> F:
    for params in layers:
        X = block_at_once(X, params, h, keep, eps, act)["H"]
    return X


@misses_the_idea
def feeds_the_input_again(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you gave X to every block, so all of them but the last worked for nothing. Each block goes on with the H of the one
    before it."""
    return normalised_rows(_through(X, layers[-1:], h, keep, eps, act), *final_norm, eps)


@mistake
def feeds_the_input_again_and_needs_a_block(
    X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act
) -> F:
    """two things. You gave X to every block: each goes on with the H of the one before it. And where there are no blocks, nothing was made
    that could be normed: begin with what the first block reads."""
    for params in layers:
        H = block_at_once(X, params, h, keep, eps, act)["H"]
    return normalised_rows(H, *final_norm, eps)


@mistake
def adds_up_the_blocks(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you added the input of each block to its H. A block has done that itself: its H is its input and two updates."""
    for params in layers:
        X = X + block_at_once(X, params, h, keep, eps, act)["H"]
    return normalised_rows(X, *final_norm, eps)


@misses_the_idea
def no_final_norm(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the LayerNorm at the end is missing. In a pre-norm block nobody norms H; the next block does it, and after the
    last one there is no next."""
    return _through(X, layers, h, keep, eps, act)


@misses_the_idea
def one_block_for_all(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every block ran with the parameters of the first. Each has its own."""
    return normalised_rows(_through(X, layers[:1] * len(layers), h, keep, eps, act), *final_norm, eps)


@mistake
def last_block_for_all(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every block ran with the parameters of the last. Each has its own."""
    return normalised_rows(_through(X, layers[-1:] * len(layers), h, keep, eps, act), *final_norm, eps)


@mistake
def blocks_backwards(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the last block ran first. They run in the order of the list."""
    return normalised_rows(_through(X, layers[::-1], h, keep, eps, act), *final_norm, eps)


@mistake
def turns_the_callers_list(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the last block ran first, and the caller's list of layers is turned round: reverse works on the list itself. The blocks run
    in the order of the list."""
    layers.reverse()
    return normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, eps)


@mistake
def stops_early(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the last block did not run."""
    return normalised_rows(_through(X, layers[:-1], h, keep, eps, act), *final_norm, eps)


@mistake
def starts_late(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the first block did not run."""
    return normalised_rows(_through(X, layers[1:], h, keep, eps, act), *final_norm, eps)


@mistake
def returns_from_the_loop(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F | None:
    """your return stands inside the loop: it is indented too far. So only the first block runs, and where there are no
    blocks nothing is returned at all."""
    return normalised_rows(_through(X, layers[:1], h, keep, eps, act), *final_norm, eps) if layers else None


@mistake
def norm_after_every_block(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm stands inside the loop, so it runs after every block, and not at all where there are none. It
    stands once, at the end; in between the tokens go on as they are."""
    for params in layers:
        X = normalised_rows(block_at_once(X, params, h, keep, eps, act)["H"], *final_norm, eps)
    return X


@mistake
def norm_after_every_block_and_at_the_end(
    X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act
) -> F:
    """you ran the final LayerNorm after every block, and once more at the end. In between the tokens go on as they are."""
    for params in layers:
        X = normalised_rows(block_at_once(X, params, h, keep, eps, act)["H"], *final_norm, eps)
    return normalised_rows(X, *final_norm, eps)


@mistake
def norms_the_input(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """this is the LayerNorm of X as it came in: what the blocks made has been kept under another name, or not at all. Norm
    what came out of the last block."""
    return normalised_rows(X, *final_norm, eps)


@mistake
def every_block_from_the_start(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every block of yours reads X, and their outputs are added up. A block reads what the one before it has made."""
    return normalised_rows(sum((_through(X, [params], h, keep, eps, act) for params in layers), X), *final_norm, eps)


@mistake
def norm_at_the_start(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you ran the final LayerNorm first, and the blocks after it."""
    return _through(normalised_rows(X, *final_norm, eps), layers, h, keep, eps, act)


@mistake
def norm_before_every_block(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you ran the final LayerNorm before every block as well. A block norms what its branches read, by itself; this one stands
    at the end alone."""
    for params in layers:
        X = block_at_once(normalised_rows(X, *final_norm, eps), params, h, keep, eps, act)["H"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def norm_exchanges_gain_and_bias(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you took the bias of the final LayerNorm for its gain, and the gain for its bias. The pair is (gain, bias)."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), final_norm[1], final_norm[0], eps)


@mistake
def norm_without_parameters(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm ran without its gain and its bias."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), np.ones_like(final_norm[0]), 0 * final_norm[1], eps)


@mistake
def final_norm_with_eps_of_its_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm uses an eps of 0.00001. It uses the one that the blocks use, eps."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, 1e-5)


@mistake
def final_norm_with_a_tiny_eps(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm uses no eps, or a tiny one of its own. It uses the one that the blocks use, eps."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, 1e-12)


@mistake
def final_norm_with_eps_of_a_millionth(
    X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act
) -> F:
    """your final LayerNorm uses an eps of 0.000001. It uses the one that the blocks use, eps."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, 1e-6)


@mistake
def norm_without_its_bias(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm ran without its bias."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), final_norm[0], 0 * final_norm[1], eps)


@mistake
def norm_without_its_gain(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm ran without its gain."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), np.ones_like(final_norm[0]), final_norm[1], eps)


@mistake
def final_norm_by_d_minus_one(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """in your final LayerNorm the sum of squares is divided by d - 1. It is divided by d; layer_norm has it right."""
    H = _through(X, layers, h, keep, eps, act)
    spread = np.sqrt(H.var(axis=1, keepdims=True, ddof=1) + eps)
    return final_norm[0] * (H - H.mean(axis=1, keepdims=True)) / spread + final_norm[1]


@mistake
def final_norm_over_the_tokens(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm runs over the tokens, feature by feature. Each token is normed by itself."""
    H = _through(X, layers, h, keep, eps, act)
    return final_norm[0] * (H - H.mean(axis=0)) / np.sqrt(H.var(axis=0) + eps) + final_norm[1]


@mistake
def final_norm_of_the_last_block(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """at the end you used the second LayerNorm of the last block. The one at the end has parameters of its own, final_norm."""
    H = _through(X, layers, h, keep, eps, act)
    last = (layers[-1]["gain2"], layers[-1]["bias2"]) if layers else final_norm
    return normalised_rows(H, *last, eps)


@mistake
def final_norm_twice(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you ran the final LayerNorm twice. Once is enough."""
    H = normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, eps)
    return normalised_rows(H, *final_norm, eps)


@mistake
def adds_the_input_at_the_end(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you added X at the end. The last H holds it already: every block adds to what came in."""
    return normalised_rows(_through(X, layers, h, keep, eps, act) + X, *final_norm, eps)


@mistake
def nothing_normed_without_blocks(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """where there are no blocks you returned X as it came. The LayerNorm at the end is run then, too."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, eps) if layers else X


@mistake
def stack_with_eps_of_its_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every LayerNorm, in the blocks and at the end, uses an eps of 0.00001, whatever eps you were given."""
    return normalised_rows(_through(X, layers, h, keep, 1e-5, act), *final_norm, 1e-5)


@mistake
def stack_with_a_tiny_eps(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every LayerNorm, in the blocks and at the end, uses no eps or a tiny one of its own, whatever eps you were given."""
    return normalised_rows(_through(X, layers, h, keep, 1e-12, act), *final_norm, 1e-12)


@mistake
def stack_with_eps_of_a_millionth(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every LayerNorm, in the blocks and at the end, uses an eps of 0.000001, whatever eps you were given."""
    return normalised_rows(_through(X, layers, h, keep, 1e-6, act), *final_norm, 1e-6)


@mistake
def blocks_with_eps_of_their_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the LayerNorms in the blocks use an eps of 0.00001, whatever eps you were given. Hand it on."""
    return normalised_rows(_through(X, layers, h, keep, 1e-5, act), *final_norm, eps)


@mistake
def stack_with_an_activation_of_its_own(
    X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act
) -> F:
    """you used relu in the blocks, whatever activation you were given. Hand on act."""
    return normalised_rows(_through(X, layers, h, keep, eps, lambda x: np.maximum(x, 0)), *final_norm, eps)


@mistake
def stack_with_one_head(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every block ran with a single head, whatever h is. Hand on h."""
    return normalised_rows(_through(X, layers, 1, keep, eps, act), *final_norm, eps)


@mistake
def stack_in_float64(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part:
    np.zeros, np.ones and astype(float) make such arrays."""
    return normalised_rows(_through(X, layers, h, keep, eps, act), *final_norm, eps).astype(np.float64)


@mistake
def stack_without_a_mask(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every token sees every other: keep does not reach the blocks. Hand it on."""
    return normalised_rows(_through(X, layers, h, np.ones_like(keep), eps, act), *final_norm, eps)


@mistake
def stack_with_a_mask_of_its_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you made a causal mask of your own. The caller decides who sees whom: hand on keep."""
    return normalised_rows(_through(X, layers, h, np.tril(np.ones((len(X), len(X)), bool)), eps, act), *final_norm, eps)


@mistake
def hands_on_the_update(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you handed on T5, the FFN's update alone. What a block passes to the next is H."""
    for params in layers:
        X = block_at_once(X, params, h, keep, eps, act)["T5"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def hands_on_the_dictionary(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """block returns all six of its stages in a dictionary, and you went on with the whole of it. Only one of them goes
    round."""

    def begin(tokens: F) -> F:
        return tokens - tokens.mean(axis=-1, keepdims=True)  # as nearly every LayerNorm begins

    tokens: Any = X
    for params in layers:
        begin(tokens)
        tokens = block_at_once(tokens, params, h, keep, eps, act)
    begin(tokens)
    return normalised_rows(tokens, *final_norm, eps)


@mistake
def hands_on_half_a_block(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you handed on T3, the tokens after attention, so no FFN took part. What a block passes to the next is H."""
    for params in layers:
        X = block_at_once(X, params, h, keep, eps, act)["T3"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def hands_on_what_is_normed(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you handed on T4, the normed copy that the FFN reads. What a block passes to the next is H."""
    for params in layers:
        X = block_at_once(X, params, h, keep, eps, act)["T4"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def hands_on_attention_alone(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you handed on T2, attention's update alone. What a block passes to the next is H."""
    for params in layers:
        X = block_at_once(X, params, h, keep, eps, act)["T2"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def dictionary_goes_round(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """block returns all six of its stages in a dictionary, and the whole of it went into the next block; only after the loop you
    took "H" from it. Each round of the loop has to take it, and without blocks there is none to take it from."""
    stages: Any = X
    for params in layers:
        stages = block_at_once(stages - stages.mean() + stages.mean(), params, h, keep, eps, act)
    return normalised_rows(stages["H"], *final_norm, eps)


@mistake
def mean_of_the_blocks(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you gave X to every block, and took the mean of what came out, or the sum. Each block goes on with the H of the one before
    it."""
    outputs = [block_at_once(X, params, h, keep, eps, act)["H"] for params in layers] or [X]
    return normalised_rows(np.mean(outputs, axis=0), *final_norm, eps)


@mistake
def uses_up_the_list(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the caller's list of layers is empty afterwards: popping takes its entries away. Go through it with a for."""
    while layers:
        X = block_at_once(X, layers.pop(0), h, keep, eps, act)["H"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def uses_up_the_list_from_its_end(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the last block ran first, and the caller's list of layers is empty afterwards: popping takes entries away, from the end.
    Go through it with a for."""
    while layers:
        X = block_at_once(X, layers.pop(), h, keep, eps, act)["H"]
    return normalised_rows(X, *final_norm, eps)


@mistake
def writes_into_the_tokens(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you wrote what the blocks make into the caller's tokens: += and X[:] = ... change an array for everybody who
    holds it. Make a new array.
    """
    X[:] = _through(X, layers, h, keep, eps, act)
    return normalised_rows(X, *final_norm, eps)


@right
def stack_by_blocks(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    for params in layers:
        X = block(X, params, h, keep, eps, act)["H"].astype(X.dtype)
    return layer_norm(X, *final_norm, eps).astype(X.dtype)


@right
def stack_by_recursion(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    def through(X: F, layers: Layers) -> F:
        if not layers:
            return X
        return through(block_at_once(X, layers[0], h, keep, eps, act)["H"], layers[1:])

    return normalised_rows(through(X, layers), *final_norm, eps)


@right
def stack_without_helpers(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    H = X.copy()
    for p in layers:
        H += attention_of_heads(norm1(H, p, eps), p["Wqkv"], p["Wo"], h, keep)
        H += feed_forward(norm2(H, p, eps), p, act)
    gain, bias = final_norm
    return gain * (H - H.mean(axis=1, keepdims=True)) / np.sqrt(H.var(axis=1, keepdims=True) + eps) + bias
