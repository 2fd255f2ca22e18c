"""The whole block, its six stages by name.

Each half reads a normed copy and adds what it finds to what was there: attention reads T1 and its update goes on top
of `X`, the FFN reads T4 and its update goes on top of T3. The sum itself is never normed, so where both halves add
nothing, H is `X`, and that is what lets blocks be stacked. Adding to T1 or T4 would put the normed copy in the place
of the tokens; norming T2 alone, or giving the FFN T3, lets it read something else. Each LayerNorm has a gain and a
bias of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.block.ffn import ffn
from autograder.exercises.block.layer_norm import layer_norm
from autograder.exercises.block.parts import (
    BY_HAND,
    OTHER,
    SMALL,
    THREE_TOKENS,
    Stages,
    block_at_once,
    drawn_activation,
    drawn_parameters,
    drawn_sizes,
    feed_forward,
    staged,
)
from autograder.exercises.inputs import causal, normal
from autograder.exercises.model import B, Case, F, case, misses_the_idea, mistake, probe, right
from autograder.exercises.parts import (
    RELU,
    TANH,
    Act,
    attention_of_heads,
    head_for_token,
    norm1,
    norm2,
    normalised_rows,
    softmax_of_kept,
    who_sees_whom,
)
from course.parameters import Params
from course.trial.functions import Function

USES = ("layer_norm", "ffn")


def block(
    X: Float[np.ndarray, "n d"],
    params: Params,
    h: int,
    keep: Bool[np.ndarray, "n n"],
    eps: float,
    act: Act,
) -> dict[str, Float[np.ndarray, "n d"]]:
    """T1 = LN(X), T2 = MHA(T1), T3 = T2 + X, T4 = LN(T3), T5 = FFN(T4), H = T5 + T3."""
    stages = {name: np.zeros(X.shape) for name in ("T1", "T2", "T3", "T4", "T5", "H")}
    stages["T1"][:] = layer_norm(X, params["gain1"], params["bias1"], eps)
    for i in range(len(X)):
        for a in range(h):
            stages["T2"][i] += head_for_token(i, a, stages["T1"], params["Wqkv"], params["Wo"], h, keep)
        stages["T3"][i] = [update + x for update, x in zip(stages["T2"][i], X[i], strict=True)]
    stages["T4"][:] = layer_norm(stages["T3"], params["gain2"], params["bias2"], eps)
    stages["T5"][:] = ffn(stages["T4"], params["W1"], params["b1"], params["W2"], params["b2"], act)
    for i in range(len(X)):
        stages["H"][i] = [update + x for update, x in zip(stages["T5"][i], stages["T3"][i], strict=True)]
    return stages


def _with_large_scores(X: F, params: Params, h: int, act: Function, eps: float = 0.1) -> Case:
    """Gains so large that scores are in the thousands."""
    return case(X, params | {"gain1": 400.0 * params["gain1"]}, h, causal(len(X)), eps, act)


TWO_HEADS: Params = {
    "Wqkv": np.array(
        [
            [1.0, 0.0, 0.5, -1.0, 1.0, 0.0, 2.0, 0.5],
            [0.0, 1.0, 1.0, 0.5, 0.0, 1.0, -1.0, 1.0],
            [0.5, -1.0, 0.0, 1.0, -0.5, 2.0, 0.0, -1.0],
        ]
    ),
    "Wo": np.array([[1.0, 0.0, 0.5], [0.0, 1.0, -1.0], [0.5, -0.5, 1.0], [1.0, 1.0, 0.0]]),
    "W1": np.array([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.5]]),
    "b1": np.array([0.5, -0.25]),
    "W2": np.array([[1.0, 0.5, -1.0], [-0.5, 1.0, 2.0]]),
    "b2": np.array([0.1, 0.2, -0.3]),
    "gain1": np.array([1.0, 1.5, 0.5]),
    "bias1": np.array([0.0, 0.5, -0.5]),
    "gain2": np.array([2.0, 0.5, 1.0]),
    "bias2": np.array([0.25, 0.0, 1.0]),
}


def _any_block(n: int, d: int, h: int, k: int, v: int, f: int, dtype: str = "float64") -> Case:
    """A public block that looks like nothing in particular; its parameters come in no order to speak of."""
    rng = np.random.default_rng(7)
    drawn = drawn_parameters(rng, d, h, k, v, f, dtype)
    keep = np.array([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0]], bool)[:n, :n]
    X = np.round(normal(rng, n, d, scale=2.0, dtype=dtype), 2)
    return case(X, {name: np.round(drawn[name], 2) for name in sorted(drawn)}, h, keep, 0.1, TANH)


PUBLIC = (
    case(np.array([[1.0, 3.0]]), BY_HAND, 1, causal(1), 0.0, RELU),
    case(THREE_TOKENS, SMALL, 1, causal(3), 0.5, TANH),
    _with_large_scores(THREE_TOKENS, OTHER, 1, TANH),
    case(
        np.array([[1.0, 0.0, -1.0], [0.5, 2.0, 0.0], [-1.0, 1.0, 1.5], [0.0, 0.5, -2.0]]),
        TWO_HEADS,
        2,
        np.array(
            [
                [True, False, False, True],
                [True, True, False, False],
                [False, False, False, False],
                [False, True, True, True],
            ]
        ),
        0.25,
        TANH,
    ),
    _any_block(2, 3, 1, 2, 1, 2, "float32"),
    _any_block(4, 5, 2, 3, 2, 7),
)


EPS, LARGE = 1e-5, 1e3  # beside tokens of that size eps is nothing, and one probe alone asks for it


@probe(2.5)
def blocks(rng: np.random.Generator) -> list[Case]:
    """all six stages, all sizes different"""
    cases = []
    for keep_for, heads in ((causal, 3), (lambda n: np.ones((n, n), bool), 2)):
        n, d, h, k, v, f = drawn_sizes(rng, heads)
        X, params = normal(rng, n, d, scale=LARGE), drawn_parameters(rng, d, h, k, v, f)
        cases.append(case(X, params, h, keep_for(n), EPS, drawn_activation(rng)))
    return cases


@probe(0.75)
def zeroed_sublayers(rng: np.random.Generator) -> list[Case]:
    """where attention and FFN add nothing, H is X"""
    # Attention and FFN that add nothing; then each of them alone.
    cases = []
    for zeros in (("Wo", "W2", "b2"), ("Wo",), ("W2", "b2")):
        n, d, h, k, v, f = drawn_sizes(rng)
        params = drawn_parameters(rng, d, h, k, v, f)
        params |= {name: np.zeros_like(params[name]) for name in zeros}
        cases.append(case(normal(rng, n, d, scale=LARGE), params, h, causal(n), EPS, drawn_activation(rng)))
    return cases


@probe(1.0)
def masked_blocks(rng: np.random.Generator) -> list[Case]:
    """masks that are not causal, a token that may see nothing, and parameters in another order"""
    cases = []
    for _ in range(2):
        n, d, h, k, v, f = drawn_sizes(rng)
        keep = who_sees_whom(rng, n)
        params = drawn_parameters(rng, d, h, k, v, f)
        shuffled = {name: params[name] for name in reversed(params)}
        cases.append(case(normal(rng, n, d, scale=LARGE), shuffled, h, keep, EPS, drawn_activation(rng)))
    return cases


@probe(0.75)
def small_tokens(rng: np.random.Generator) -> list[Case]:
    """tokens so small that eps counts"""
    n, d, h, k, v, f = drawn_sizes(rng)
    params = drawn_parameters(rng, d, h, k, v, f)
    return [case(normal(rng, n, d, scale=0.1), params, h, causal(n), 0.02, drawn_activation(rng))]


@probe(1.0, strict=True)
def blocks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, all sizes equal, float32, arrays that are not contiguous"""
    n, d, h, k, v, f = drawn_sizes(rng)
    even = 2 * int(rng.integers(2, 4))
    return [
        case(
            normal(rng, 1, d, scale=LARGE),
            drawn_parameters(rng, d, h, k, v, f),
            h,
            causal(1),
            EPS,
            drawn_activation(rng),
        ),
        _with_large_scores(
            normal(rng, n, d, scale=1000 * LARGE), drawn_parameters(rng, d, h, k, v, f), h, drawn_activation(rng), EPS
        ),
        case(
            normal(rng, even, even, scale=LARGE),
            drawn_parameters(rng, even, 2, even // 2, even // 2, even),  # n = d = f = h * k = h * v
            2,
            causal(even),
            EPS,
            drawn_activation(rng),
        ),
        case(
            normal(rng, n, d, scale=2.0, dtype="float32"),
            drawn_parameters(rng, d, h, k, v, f, "float32"),
            h,
            causal(n),
            EPS,
            drawn_activation(rng),
        ),
        case(
            normal(rng, n, d, scale=LARGE, order="strided"),
            drawn_parameters(rng, d, h, k, v, f, order="F"),
            h,
            np.asfortranarray(causal(n)),
            EPS,
            drawn_activation(rng),
        ),
    ]


def _plain_exponentials(S: F, keep: B) -> F:
    """Softmax as it stands in books; a row that keeps nothing is all 0."""
    E = np.exp(np.where(keep, S, -np.inf))
    return np.asarray(E / np.where(keep.any(axis=-1, keepdims=True), E.sum(axis=-1, keepdims=True), 1))


@mistake
def attention_overflows(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T2 is NaN where scores are large: e to a score of 1000 is more than a computer can hold, and infinity over infinity
    is not a number. mha, which has been carried over, subtracts the largest score first."""
    T1 = norm1(X, params, eps)
    with np.errstate(over="ignore", invalid="ignore"):
        T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep, weigh=_plain_exponentials)
        T3 = T2 + X
        T4 = norm2(T3, params, eps)
        T5 = feed_forward(T4, params, act)
        return staged(T1, T2, T3, T4, T5, T5 + T3)


@misses_the_idea
def post_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """this is the post-norm block of the first transformer, which norms after each addition. Here each half
    norms what goes into it, and what it adds to stays as it is."""
    T1 = attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep)
    T2 = T1 + X
    T3 = norm1(T2, params, eps)
    T4 = feed_forward(T3, params, act)
    T5 = T4 + T3
    return staged(T1, T2, T3, T4, T5, norm2(T5, params, eps))


@mistake
def post_norm_under_these_names(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """this is the post-norm block of the first transformer: your LayerNorms stand after the additions, and attention and
    FFN read what is on the line. Here each of them reads a normed copy, T1 and T4, and no norm touches T3 or H."""
    T2 = attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep)
    T3 = norm1(T2 + X, params, eps)
    T5 = feed_forward(T3, params, act)
    return staged(X, T2, T3, T3, T5, norm2(T5 + T3, params, eps))


def _wired(
    X: F,
    params: Params,
    h: int,
    keep: B,
    eps: float,
    act: Act,
    attention_of: str = "T1",
    first_update: str = "T2",
    past_attention: str = "X",
    norm2_of: str = "T3",
    ffn_of: str = "T4",
    second_update: str = "T5",
    past_ffn: str = "T3",
    norm: Callable[[F, int], F] | None = None,
) -> Stages:
    """A right block, unless one of these is wrong: what attention, the second norm and the FFN read, which updates are added to what
    goes past attention and past the FFN, and the norm of a table and its number."""
    norm = norm or (lambda Z, i: normalised_rows(Z, params[f"gain{i}"], params[f"bias{i}"], eps))
    at = {"X": X, "T1": norm(X, 1)}
    at["T2"] = attention_of_heads(at[attention_of], params["Wqkv"], params["Wo"], h, keep)
    at["T3"] = at[first_update] + at[past_attention]
    at["T4"] = norm(at[norm2_of], 2)
    at["T5"] = feed_forward(at[ffn_of], params, act)
    at["H"] = at[second_update] + at[past_ffn]
    return {name: at[name] for name in at if name != "X"}


@mistake
def residual_from_the_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T2 to T1. It is the tokens themselves, X, that go past attention unchanged, not their normed
    copy."""
    return _wired(X, params, h, keep, eps, act, past_attention="T1")


@mistake
def second_residual_from_the_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T5 to T4. What goes past the FFN unchanged is T3, not its normed copy."""
    return _wired(X, params, h, keep, eps, act, past_ffn="T4")


@mistake
def second_norm_in_place_of_the_ffn(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T5 and added T4 to T3 instead. It is the FFN's output that is added."""
    return _wired(X, params, h, keep, eps, act, second_update="T4")


@mistake
def first_norm_in_place_of_attention(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T2 and added T1 to X instead. It is attention's output that is added."""
    return _wired(X, params, h, keep, eps, act, first_update="T1")


@mistake
def no_first_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your T1 is X as it came. The first LayerNorm, with gain1 and bias1, comes before attention."""
    return _wired(X, params, h, keep, eps, act, norm=lambda Z, i: Z if i == 1 else norm2(Z, params, eps))


@mistake
def no_second_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your T4 is T3 as it came. The second LayerNorm, with gain2 and bias2, comes before the FFN."""
    return _wired(X, params, h, keep, eps, act, norm=lambda Z, i: norm1(Z, params, eps) if i == 1 else Z)


@mistake
def activation_around_the_ffn(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you applied the activation to what the FFN gives. It stands inside, between the two layers, and `ffn` has it there already."""
    T1 = norm1(X, params, eps)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T3 = T2 + X
    T4 = norm2(T3, params, eps)
    T5 = act(feed_forward(T4, params, act))
    return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def ffn_of_what_is_not_normed(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T4 and gave the FFN T3 instead. (A well-known textbook has the same slip in a sentence; its equations
    are right.)"""
    return _wired(X, params, h, keep, eps, act, ffn_of="T3")


@mistake
def attention_of_what_is_not_normed(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T1 and gave attention X instead."""
    return _wired(X, params, h, keep, eps, act, attention_of="X")


@misses_the_idea
def nobody_reads_the_norms(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T1 and T4, and nothing reads them: attention is given X, and the FFN is given T3."""
    return _wired(X, params, h, keep, eps, act, attention_of="X", ffn_of="T3")


@mistake
def ffn_of_the_first_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you gave the FFN T1. It reads T4, which holds what attention has found as well."""
    return _wired(X, params, h, keep, eps, act, ffn_of="T1")


@mistake
def ffn_of_the_update(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you gave the FFN T2, attention's update alone. It reads T4, the normed copy of the sum."""
    return _wired(X, params, h, keep, eps, act, ffn_of="T2")


@mistake
def norms_the_first_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm looks at T1. It norms what the FFN is to read, which is the sum T3."""
    return _wired(X, params, h, keep, eps, act, norm2_of="T1")


@mistake
def updates_without_the_tokens(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T5 to T2. What runs past the FFN is T3: T2 and the tokens."""
    return _wired(X, params, h, keep, eps, act, past_ffn="T2")


@mistake
def norms_the_end(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you normed H once more. A pre-norm block hands H on as it is: the next block norms what it reads, and a stack has one LayerNorm at
    its end."""
    stages = block_at_once(X, params, h, keep, eps, act)
    return {**stages, "H": norm2(stages["H"], params, eps)}


@misses_the_idea
def loses_attention(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T5 to X. What attention has found, T2, is lost on that path: the FFN's update goes on top of T3, which
    holds both."""
    return _wired(X, params, h, keep, eps, act, past_ffn="X")


@mistake
def adds_the_input_again(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added X a second time at the end. T3 holds it already."""
    stages = block_at_once(X, params, h, keep, eps, act)
    return {**stages, "H": stages["T5"] + stages["T3"] + X}


@mistake
def no_first_residual(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """the first addition is missing: your T3 is T2 alone. Attention makes an update, and without the addition it replaces
    what it was to update."""
    T1 = norm1(X, params, eps)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T4 = norm2(T2, params, eps)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T2, T4, T5, T5 + T2)


@mistake
def no_second_residual(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """the second addition is missing: your H is T5 alone, so the FFN replaces what it was to update."""
    stages = block_at_once(X, params, h, keep, eps, act)
    return {**stages, "H": stages["T5"]}


@misses_the_idea
def no_residuals(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both additions are missing. Attention and FFN make updates, and each of them replaces what it was to update."""
    T1 = norm1(X, params, eps)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T4 = norm2(T2, params, eps)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T2, T4, T5, T5)


@mistake
def norms_the_update(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm looks at T2, the update alone. It norms what the FFN is to read, which is the sum T3."""
    return _wired(X, params, h, keep, eps, act, norm2_of="T2")


@mistake
def halves_side_by_side(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm looks at X, so the FFN does not see what attention found. Some models do run the two halves
    side by side like that. Here the FFN comes after attention, and T4 is made from T3."""
    return _wired(X, params, h, keep, eps, act, norm2_of="X")


@mistake
def first_norm_shared(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms use gain1 and bias1. Each has parameters of its own."""
    return block_at_once(X, {**params, "gain2": params["gain1"], "bias2": params["bias1"]}, h, keep, eps, act)


@mistake
def second_norm_shared(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms use gain2 and bias2. Each has parameters of its own."""
    return block_at_once(X, {**params, "gain1": params["gain2"], "bias1": params["bias2"]}, h, keep, eps, act)


@mistake
def norms_exchanged(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you exchanged the two LayerNorms: number 1 stands before attention, number 2 before the FFN."""
    gains = {"gain1": params["gain2"], "gain2": params["gain1"]}
    biases = {"bias1": params["bias2"], "bias2": params["bias1"]}
    return block_at_once(X, {**params, **gains, **biases}, h, keep, eps, act)


@mistake
def first_gain_and_bias_exchanged(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """gain and bias of the first LayerNorm are exchanged."""
    exchanged = {"gain1": params["bias1"], "bias1": params["gain1"]}
    return block_at_once(X, {**params, **exchanged}, h, keep, eps, act)


@mistake
def second_gain_and_bias_exchanged(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """gain and bias of the second LayerNorm are exchanged."""
    exchanged = {"gain2": params["bias2"], "bias2": params["gain2"]}
    return block_at_once(X, {**params, **exchanged}, h, keep, eps, act)


@mistake
def gains_and_biases_exchanged(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """gain and bias are exchanged, in both LayerNorms."""
    exchanged = {f"{a}{i}": params[f"{b}{i}"] for a, b in (("gain", "bias"), ("bias", "gain")) for i in "12"}
    return block_at_once(X, {**params, **exchanged}, h, keep, eps, act)


@mistake
def second_norm_with_the_first_bias(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm has its own gain, and the bias of the first."""
    exchanged = {"bias2": params["bias1"]}
    return block_at_once(X, {**params, **exchanged}, h, keep, eps, act)


@mistake
def second_norm_with_the_first_gain(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm has its own bias, and the gain of the first."""
    exchanged = {"gain2": params["gain1"]}
    return block_at_once(X, {**params, **exchanged}, h, keep, eps, act)


@mistake
def norms_without_parameters(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms ran without their gains and biases."""
    one, none = np.ones(X.shape[1], X.dtype), np.zeros(X.shape[1], X.dtype)
    plain = {"gain1": one, "bias1": none, "gain2": one, "bias2": none}
    return block_at_once(X, {**params, **plain}, h, keep, eps, act)


@mistake
def norms_over_the_tokens(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms run over the tokens, feature by feature, so tokens meet in them, and see the future. (With one
    token alone the variance is 0 then, and with eps = 0 that gives NaN.) Each token is normed by itself, over its own
    features.
    """

    def over_tokens(Z: F, i: int) -> F:
        spread = np.sqrt(Z.var(axis=0, keepdims=True) + eps)
        return np.asarray(params[f"gain{i}"] * (Z - Z.mean(axis=0)) / spread + params[f"bias{i}"])

    return _wired(X, params, h, keep, eps, act, norm=over_tokens)


@mistake
def norms_over_everything(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms take one mean and one variance of the whole table. Each token has its own."""

    def at_once(Z: F, i: int) -> F:
        return np.asarray(params[f"gain{i}"] * (Z - Z.mean()) / np.sqrt(Z.var() + eps) + params[f"bias{i}"])

    return _wired(X, params, h, keep, eps, act, norm=at_once)


@mistake
def eps_of_its_own(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms use an eps of 0.00001, whatever eps they were given."""
    return block_at_once(X, params, h, keep, 1e-5, act)


@mistake
def second_eps_of_its_own(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm uses an eps of 0.00001. Both use the eps that the block was given."""
    T1 = norm1(X, params, eps)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T3 = T2 + X
    T4 = norm2(T3, params, 1e-5)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def first_eps_of_its_own(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your first LayerNorm uses an eps of 0.00001. Both use the eps that the block was given."""
    stages = block_at_once(X, params, h, keep, eps, act)
    T1 = norm1(X, params, 1e-5)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T3 = T2 + X
    T4 = norm2(T3, params, eps)
    T5 = feed_forward(T4, params, act)
    return {**stages, **staged(T1, T2, T3, T4, T5, T5 + T3)}


@mistake
def eps_of_a_millionth(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms use an eps of 0.000001, whatever eps they were given."""
    return block_at_once(X, params, h, keep, 1e-6, act)


@mistake
def tiny_eps(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms use a tiny eps of their own, about 0.00000001, whatever eps they were given."""
    return block_at_once(X, params, h, keep, 1e-8, act)


@mistake
def no_eps(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms use no eps, or one so small that it counts for nothing. They use the eps that the block was given."""
    return block_at_once(X, params, h, keep, 0.0, act)


@mistake
def norms_by_d_minus_one(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """in your LayerNorms the sum of squares is divided by d - 1. It is divided by d; layer_norm has it right."""

    def sampled(Z: F, i: int) -> F:
        centred = Z - Z.mean(axis=1, keepdims=True)
        spread = np.sqrt(Z.var(axis=1, keepdims=True, ddof=1) + eps)
        return np.asarray(params[f"gain{i}"] * centred / spread + params[f"bias{i}"])

    return _wired(X, params, h, keep, eps, act, norm=sampled)


@mistake
def eps_outside_the_roots(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """in your LayerNorms eps is added to the deviation, outside the root. It is added to the variance; layer_norm has it
    right."""

    def outside(Z: F, i: int) -> F:
        spread = Z.std(axis=1, keepdims=True) + eps
        return np.asarray(params[f"gain{i}"] * (Z - Z.mean(axis=1, keepdims=True)) / spread + params[f"bias{i}"])

    return _wired(X, params, h, keep, eps, act, norm=outside)


@mistake
def norms_without_centring(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms never subtract the mean; that is RMSNorm. layer_norm has it right."""

    def root_mean_square(Z: F, i: int) -> F:
        spread = np.sqrt((Z**2).mean(axis=1, keepdims=True) + eps)
        return np.asarray(params[f"gain{i}"] * Z / spread + params[f"bias{i}"])

    return _wired(X, params, h, keep, eps, act, norm=root_mean_square)


@mistake
def causal_whatever_the_mask(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you made a causal mask of your own. The caller decides who sees whom: hand on keep."""
    return block_at_once(X, params, h, np.tril(np.ones((len(X), len(X)), bool)), eps, act)


@mistake
def no_mask(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """every token sees every other: keep does not reach attention."""
    return block_at_once(X, params, h, np.ones((len(X), len(X)), bool), eps, act)


@mistake
def mask_turned(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you turned the mask: your row i says who may see token i. Row i of keep says whom token i may see."""
    return block_at_once(X, params, h, keep.T, eps, act)


@mistake
def mask_inverted(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you inverted the mask. True means: may attend."""
    return block_at_once(X, params, h, ~keep, eps, act)


@mistake
def nan_where_nothing_is_seen(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T2 is NaN for a token that may see nothing. mha, which has been carried over, gives it zeros."""
    with np.errstate(invalid="ignore"):
        T1 = norm1(X, params, eps)
        T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
        T2 = np.where(keep.any(axis=1, keepdims=True), T2, np.nan).astype(X.dtype)
        T3 = T2 + X
        T4 = norm2(T3, params, eps)
        T5 = feed_forward(T4, params, act)
        return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def means_where_nothing_is_seen(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T2 is a plain mean of the values for a token that may see nothing: its scores are all the same large negative number. mha,
    which has been carried over, gives it zeros."""
    T1 = norm1(X, params, eps)
    open_rows = keep | ~keep.any(axis=1, keepdims=True)
    level = keep.any(axis=1, keepdims=True)

    def weigh(scores: F, _: B) -> F:
        return softmax_of_kept(np.where(level, scores, 0), open_rows)

    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep, weigh=weigh)
    T3 = T2 + X
    T4 = norm2(T3, params, eps)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def one_head(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """attention runs with a single head, whatever h is."""
    return block_at_once(X, params, 1, keep, eps, act)


@mistake
def two_heads_always(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """attention runs with two heads, whatever h is."""
    return block_at_once(X, params, 2, keep, eps, act)


@mistake
def relu_whatever_act_is(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you used relu in the FFN, whatever activation you were given. Hand on act."""
    return block_at_once(X, params, h, keep, eps, lambda x: np.maximum(x, 0))


@mistake
def tanh_whatever_act_is(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you used tanh in the FFN, whatever activation you were given. Hand on act."""
    return block_at_once(X, params, h, keep, eps, np.tanh)


@mistake
def ffn_without_activation(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your FFN has no activation: both its layers together are one product. Hand on act."""
    return block_at_once(X, params, h, keep, eps, lambda x: x)


@mistake
def ffn_without_its_last_bias(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """b2 is missing in your FFN."""
    return block_at_once(X, {**params, "b2": 0 * params["b2"]}, h, keep, eps, act)


@mistake
def ffn_without_its_first_bias(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """b1 is missing in your FFN."""
    return block_at_once(X, {**params, "b1": 0 * params["b1"]}, h, keep, eps, act)


@mistake
def ffn_without_biases(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """b1 and b2 are missing in your FFN."""
    return block_at_once(X, {**params, "b1": 0 * params["b1"], "b2": 0 * params["b2"]}, h, keep, eps, act)


@mistake
def ffn_adds_what_it_read(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your T5 holds T4 as well: the FFN added what it read. T5 is what the two layers give, and what is added to it is T3, in
    H."""
    stages = block_at_once(X, params, h, keep, eps, act)
    T5 = stages["T5"] + stages["T4"]
    return {**stages, "T5": T5, "H": T5 + stages["T3"]}


@mistake
def block_in_float64(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part:
    np.zeros, np.ones and astype(float) make such arrays."""
    stages = block_at_once(X, params, h, keep, eps, act)
    return {name: stage.astype(np.float64) for name, stage in stages.items()}


@mistake
def adds_into_the_tokens(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added attention's update into the caller's tokens. += changes an array for everybody who holds it. Make a new
    one."""
    T1 = norm1(X, params, eps)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T3 = X
    T3 += T2
    T4 = norm2(T3, params, eps)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def adds_into_T2(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T3 and T2 hold the same numbers in your dictionary. T2 is what attention gives, alone. Either you added X to it at once, or
    += has changed one array that both names stand for."""
    T1 = norm1(X, params, eps)
    T3 = T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T3 += X
    T4 = norm2(T3, params, eps)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def adds_into_T3(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """H and T3 hold the same numbers in your dictionary. T3 is what stands on the line before the FFN. Either you put the sum of both
    under both names, or += has changed one array that both names stand for."""
    stages = block_at_once(X, params, h, keep, eps, act)
    H = stages["T3"]
    H += stages["T5"]
    return {**stages, "H": H}


@mistake
def adds_into_T5(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """H and T5 hold the same numbers in your dictionary. T5 is what the FFN gives, alone. Either you added T3 to it at once, or += has
    changed one array that both names stand for."""
    stages = block_at_once(X, params, h, keep, eps, act)
    H = stages["T5"]
    H += stages["T3"]
    return {**stages, "H": H}


@mistake
def both_updates_hold_the_line(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T2 and T5 hold the updates with the line added already. T2 is what attention gives, alone, and T5 what the FFN gives; the
    line is added in T3 and in H."""
    stages = block_at_once(X, params, h, keep, eps, act)
    return {**stages, "T2": stages["T3"], "T5": stages["H"]}


@mistake
def adds_the_line_twice(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T2 holds X already, and T3 adds it once more: the tokens stand twice in the sum. T2 is what attention gives, alone."""
    T1 = norm1(X, params, eps)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep) + X
    T3 = T2 + X
    T4 = norm2(T3, params, eps)
    T5 = feed_forward(T4, params, act)
    return staged(T1, T2, T3, T4, T5, T5 + T3)


@mistake
def uses_up_the_parameters(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you took entries out of the caller's dictionary: popping removes them. Look them up with square brackets."""
    stages = block_at_once(X, params, h, keep, eps, act)
    params.clear()
    return stages


@mistake
def parameters_by_position(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you took the parameters in the order in which they lie in the dictionary. That order is no promise: ask for each by its
    name."""
    names = ("Wqkv", "Wo", "W1", "b1", "W2", "b2", "gain1", "bias1", "gain2", "bias2")
    return block_at_once(X, dict(zip(names, params.values(), strict=False)), h, keep, eps, act)


@mistake
def weights_handed_over_in_another_order(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """a weight or a bias has been handed over in the place of another, to mha or to ffn: compare your two calls with the
    first lines of these functions, argument by argument."""
    mixed = params | {"Wqkv": params["Wo"], "Wo": params["Wqkv"]}
    return block_at_once(X, mixed, h, keep, eps, act)


@mistake
def mask_handed_over_for_the_heads(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """an array stands where mha asks for the number of heads. Compare your call with the first line of mha, argument by
    argument: the heads come before the mask."""
    T1 = norm1(X, params, eps)
    attention_of_heads(T1, params["Wqkv"], params["Wo"], keep, h)  # type: ignore[arg-type]
    return {}


@mistake
def norms_get_eps_first(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms are handed eps before gain and bias. Compare the calls with the first line of layer_norm."""
    with np.errstate(invalid="ignore", divide="ignore"):
        moved = [normalised_rows(X, np.asarray(eps), params["gain1"], params["bias1"])]  # type: ignore[arg-type]
        T2 = attention_of_heads(moved[0], params["Wqkv"], params["Wo"], h, keep)
        T3 = T2 + X
        moved.append(normalised_rows(T3, np.asarray(eps), params["gain2"], params["bias2"]))  # type: ignore[arg-type]
        T5 = feed_forward(moved[1], params, act)
        return staged(moved[0], T2, T3, moved[1], T5, T5 + T3)


@mistake
def only_the_end(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you returned H alone. All six stages are asked for, by name, so that one can see where a block goes wrong."""
    return block_at_once(X, params, h, keep, eps, act)["H"]


@mistake
def stages_without_names(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> tuple[F, ...]:
    """you returned the six stages one after the other, without their names. Return a dictionary."""
    return tuple(block_at_once(X, params, h, keep, eps, act).values())


@right
def block_by_parts(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    T1 = layer_norm(X, params["gain1"], params["bias1"], eps).astype(X.dtype)
    T2 = attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep)
    T3 = X + T2
    T4 = layer_norm(T3, params["gain2"], params["bias2"], eps).astype(X.dtype)
    T5 = ffn(T4, params["W1"], params["b1"], params["W2"], params["b2"], act).astype(X.dtype)
    return {"T1": T1, "T2": T2, "T3": T3, "T4": T4, "T5": T5, "H": T3 + T5}


@right
def block_without_helpers(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    out: Stages = {}
    out["H"] = X
    for norm, names in (("1", ("T1", "T2", "T3")), ("2", ("T4", "T5", "H"))):
        Z = out["H"] if norm == "1" else out["T3"]
        centred = Z - Z.mean(axis=1, keepdims=True)
        normed = centred / (centred.var(axis=1, keepdims=True) + eps) ** 0.5
        out[names[0]] = normed * params[f"gain{norm}"] + params[f"bias{norm}"]
        if norm == "1":
            out[names[1]] = attention_of_heads(out[names[0]], params["Wqkv"], params["Wo"], h, keep)
        else:
            hidden = act(out[names[0]] @ params["W1"] + params["b1"])
            out[names[1]] = hidden @ params["W2"] + params["b2"]
        out[names[2]] = Z + out[names[1]]
    return out


@right
def block_by_unpacking(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    W1, b1, W2, b2 = (params[name] for name in ("W1", "b1", "W2", "b2"))
    T1 = normalised_rows(X, params["gain1"], params["bias1"], eps)
    T3 = X + (T2 := attention_of_heads(T1, params["Wqkv"], params["Wo"], h, keep))
    T4 = normalised_rows(T3, params["gain2"], params["bias2"], eps)
    H = T3 + (T5 := act(T4 @ W1 + b1) @ W2 + b2)
    return {"H": H, "T5": T5, "T4": T4, "T3": T3, "T2": T2, "T1": T1}
