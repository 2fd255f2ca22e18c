"""Which outputs of a model move when a token moves: a test for leaks.

Each token is moved by itself, in a fresh copy, and the outputs that differ from the first run fill its column of the
map. Its features move by different amounts from 1 to 2. The same amount for all would be taken away by a model that
centres its tokens, amounts that cancel would escape one that adds features up, and a multiple would escape a
LayerNorm. An output has moved if any of its features has, up or down, by more than 10⁻⁹: far above rounding, 10⁻¹²,
and far below the faintest leak, 10⁻⁶.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, normal, sizes
from autograder.exercises.model import B, Case, F, case, misses_the_idea, mistake, probe, right
from course.trial.functions import Function, public_function

Model = Callable[[np.ndarray], np.ndarray]
# A planted leak moves an output by 1e-6 or more, rounding moves it by 1e-12 or less.
MOVES = 1e-9


def influence(
    f: Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "n v"]], X: Float[np.ndarray, "n d"]
) -> Bool[np.ndarray, "n n"]:
    """Entry (i, j) is True where output i of f moves when token j of X moves."""
    n, d = X.shape
    uneven = np.array([0.9 + 0.7 * math.sin(2.0 * x + 1.0) for x in range(d)])
    nudges = [1.0 * uneven, -0.5 * uneven, *(0.7 * row for row in np.eye(d)), -1.3 * uneven[::-1]]
    at_rest = np.array(f(X.copy()), np.float64)
    moves = np.zeros((n, n), bool)
    for j in range(n):
        for nudge in nudges:
            moved = X.copy()
            for x in range(d):
                moved[j, x] += nudge[x]
            outputs = np.array(f(moved), np.float64)
            for i in range(n):
                if max(abs(outputs[i] - at_rest[i])) > MOVES:
                    moves[i, j] = True
    return moves


def _mixer(A: list[list[float]], X: list[list[float]], dtype: str = "float64", **parameters: object) -> Case:
    return case(public_function("mixer", A=np.array(A), **parameters), np.array(X, dtype))


PUBLIC = (
    # tokens of one feature, as in the example by hand
    _mixer([[1.0, 0.0], [1.0, 1.0]], [[1.0], [2.0]], reads=np.array([[1.0, -0.5]])),
    # however a token moves, its outputs fall where A is positive and rise where it is negative; so in the case after it
    _mixer(
        [[1.0, 0.0], [-0.5, 1.0]],
        [[1.0, -1.0, -0.75, 0.75], [2.0, -2.0, -1.5, 1.5]],
        normed=True,
        reads=np.array([[0.28], [-0.28], [-0.21], [0.21]]),
    ),
    _mixer(
        [[-1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, -0.5, 1.0]],
        [[2.0, -2.0, -1.5, 1.5], [1.0, -1.0, -0.75, 0.75], [4.0, -4.0, -3.0, 3.0]],
        normed=True,
        reads=np.array([[0.28], [-0.28], [-0.21], [0.21]]),
    ),
    # an honest model
    _mixer([[1.0, 0.0], [-2.0, 1.0]], [[0.6, -0.7, 0.1], [0.9, 0.3, -0.9]], centred=True),
    # the sum of a token's features is all that is read; one token is zero
    _mixer(
        [[1.0, 0.0], [1.0, 1.0]],
        [[0.6, -0.3, 0.1, 0.2], [0.0, 0.0, 0.0, 0.0]],
        reads=np.array([[0.5, -0.25], [0.5, -0.25], [0.5, -0.25], [0.5, -0.25]]),
    ),
    # a leak so faint that a move of about 1 makes little more than a millionth of it
    _mixer(
        [[20.0, 1.6e-6], [20.0, 20.0]],
        [[0.6, 0.1], [0.1, -0.1]],
        reads=np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]),
    ),
    # one as faint, into two of many output features, of which one always rises
    _mixer(
        [[20.0, 1.6e-6], [20.0, 20.0]],
        [[0.6, 0.1], [0.1, -0.1]],
        reads=np.array([[0.5, -0.5, 0.0, 0.0, 0.0, 0.0], [0.5, -0.5, 0.0, 0.0, 0.0, 0.0]]),
    ),
    # the first feature is not read, and nothing is written to the first output feature
    _mixer([[1.0, 0.0], [1.0, 1.0]], [[0.6, 0.9], [-0.7, 0.1]], reads=np.array([[0.0, 0.0, 0.0], [0.0, 1.0, -0.5]])),
    # nothing but the first feature is read
    _mixer(
        [[1.0, 0.0], [1.0, 1.0]],
        [[0.6, 0.9, 0.1], [-0.7, 0.1, 0.3]],
        reads=np.array([[1.0, -0.5], [0.0, 0.0], [0.0, 0.0]]),
    ),
    # output features cancel, and the first stays 0
    _mixer([[1.0, 0.0], [1.0, 1.0]], [[0.6, 0.9], [-0.7, 0.1]], reads=np.array([[0.0, 1.0, -1.0], [0.0, 0.5, -0.5]])),
    # as many features as tokens; no token counts for itself
    _mixer(
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        [[0.6, 0.1, -0.7], [0.3, 0.9, 0.0], [-0.9, 0.0, 0.7]],
        centred=True,
    ),
    # LayerNorm first, and a leak
    _mixer(
        [[1.0, 0.0, 0.5], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]],
        [[0.5, 0.0, -1.0, 0.25], [1.0, 0.5, -0.25, 0.5], [0.0, 0.25, 1.0, -1.0]],
        normed=True,
    ),
    # each token's mean is subtracted, and no more
    _mixer(
        [[1.0, 0.0], [0.5, 1.0]],
        [[0.5, 0.0, -1.0, 0.25], [1.0, 0.5, -0.25, 0.5]],
        centred=True,
    ),
    # an honest model with rounding
    _mixer(
        [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.5, 1.0]],
        [[0.6, 0.1], [0.9, 0.7], [-0.7, 0.3]],
        reads=np.array([[1.0, -0.5], [0.5, -0.25]]),
        rounding=2e-13,
    ),
    # tokens in float32
    _mixer([[1.0, 0.0], [0.5, 1.0]], [[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]], "float32", centred=True),
    # a single token
    _mixer([[1.0]], [[0.3, -0.2, 0.5]], centred=True),
    # output 0 sees nobody, and token 1 is seen by nobody
    _mixer([[0.0, 0.0], [1.0, 0.0]], [[0.3, -0.2, 0.5], [-0.4, 0.7, 0.1]], centred=True),
    # nothing is written to the last output feature, and the last feature is not read
    _mixer(
        [[1.0, 0.0], [1.0, 1.0]],
        [[0.6, 0.3, 0.9], [-0.7, 0.2, 0.1]],
        reads=np.array([[0.5, -0.25, 0.0], [1.0, -0.5, 0.0], [0.0, 0.0, 0.0]]),
    ),
    # nothing is as large as anything else, and a leak; the second token counts for nobody but the last
    _mixer(
        [
            [0.8, 0.0, 0.0, 0.0, -0.6],
            [0.5, 0.0, 0.0, 0.0, 0.0],
            [-0.9, 0.0, 0.7, 0.0, 0.0],
            [0.4, 0.0, -0.8, 1.1, 0.0],
            [0.6, -0.7, 0.9, -0.5, 1.2],
        ],
        [[0.13, -0.42, 0.31], [0.27, 0.18, -0.36], [-0.51, 0.22, 0.09], [0.38, -0.17, 0.44], [-0.29, 0.33, -0.14]],
        centred=True,
    ),
)


def _watched(X: F, run: Model) -> Function:
    """A model as a case hands it over: it stays with the judge, and calling it costs nothing."""

    def model(Y: F) -> F:
        Y = np.asarray(Y, np.float64)
        if Y.shape != X.shape:
            raise ValueError(f"model takes tokens of shape [n, d] = {list(X.shape)}, not {list(Y.shape)}")
        return run(Y)

    return Function("model", model, lambda *arguments, **keywords: 0)


def _case_of(X: F, run: Model) -> Case:
    return case(_watched(X, run), X)


def _attend(X: F, W: list[F], keep: B) -> F:
    """Attention of one head; a token that keeps nothing gets zeros. W holds query, key and value weights."""
    Q, K, V = (X @ w for w in W)
    out = np.zeros((len(X), V.shape[1]))
    for i, kept in enumerate(keep):
        if kept.any():
            scores = K[kept] @ Q[i] / math.sqrt(Q.shape[1])
            E = np.exp(scores - scores.max())
            out[i] = E @ V[kept] / E.sum()
    return out


CLEAR = 0.02
"""How far at least an output moves where it should, unless a leak is meant to be faint: no threshold of a student's lies there."""


def _head(rng: np.random.Generator, d: int, v: int) -> list[F]:
    """Weights that give scores of moderate size: saturated weights would hide true influence."""
    k = int(rng.integers(2, 5))
    return [normal(rng, d, width, scale=0.8 / math.sqrt(d)) for width in (k, k)] + [
        normal(rng, d, v, scale=1 / math.sqrt(d))
    ]


def _clear(X: F, run: Model, keep: B) -> bool:
    """Whether every output moves plainly with each token that it keeps, as most students would move it."""
    before, ramp = run(X), np.arange(X.shape[1])
    for j, nudge in product(range(len(X)), (1.0 + ramp / X.shape[1], 0.5 + ramp)):
        moved = X.copy()
        moved[j] += nudge
        if (abs(run(moved) - before).max(axis=1)[keep[:, j]] < CLEAR).any():
            return False
    return True


def _tokens(rng: np.random.Generator) -> tuple[F, int]:
    """Moderate tokens [n, d], and a width for the outputs; all three sizes differ."""
    n, d, v = sizes(rng, 3, 3, 7)
    return normal(rng, n, d), v


def _normed(X: F, eps: float = 1e-5) -> F:
    spread = X.var(axis=1, keepdims=True)
    return np.asarray((X - X.mean(axis=1, keepdims=True)) / np.sqrt(np.where(spread + eps == 0, 1, spread + eps)))


def _quarters(rng: np.random.Generator, n: int) -> F:
    """Tokens of width 4 that can be moved evenly, and their mean subtracted, without any rounding; none rises like a ramp."""
    return (np.array([4.0, -4.0, -3.0, 3.0]) + rng.integers(-2, 3, (n, 4))) / 4


def _as_it_is(X: F) -> F:
    return X


def _first_clear(keep: B, draw: Callable[[], tuple[F, Model]]) -> tuple[F, Model]:
    """The first tokens and model drawn in which all that is kept counts plainly; the last of many, should there be none."""
    for _ in range(500):
        X, model = draw()
        if _clear(X, model, keep):
            break
    return X, model


def _plain(X: F, keep: B, draw: Callable[[], Model]) -> Model:
    """The first model drawn in which all that is kept of these tokens counts plainly."""
    return _first_clear(keep, lambda: (X, draw()))[1]


def _attention(rng: np.random.Generator, X: F, v: int, keep: B, before: Model = _as_it_is) -> Model:
    """Attention of one head under this mask."""

    def draw() -> Model:
        W = _head(rng, X.shape[1], v)
        return lambda Y: _attend(before(Y), W, keep)

    return _plain(X, keep, draw)


def _attending(rng: np.random.Generator, X: F, v: int, keep: B, before: Model = _as_it_is) -> Case:
    return _case_of(X, _attention(rng, X, v, keep, before))


def _seesaw(X: F, keep: B, before: Model = _as_it_is) -> Case:
    """When a token rises, half of the outputs that it reaches rise with it, in every feature, and the others fall."""
    return _case_of(X, _seesaw_model(X, keep, before))


def _seesaw_model(X: F, keep: B, before: Model) -> Model:
    signs = np.where(np.indices(keep.shape).sum(axis=0) % 2, -1.0, 1.0) * keep
    rising = 0.3 + 0.1 * np.arange(X.shape[1])
    return lambda Y: np.tanh(signs @ np.tanh(before(Y) * 0.5) @ rising[:, None] * [0.2, 0.5])


def _plain_seesaw(rng: np.random.Generator, n: int, keep: B) -> Case:
    """The same behind a LayerNorm, with tokens that all count plainly."""

    def draw() -> tuple[F, Model]:
        X = normal(rng, n, 4)
        return X, _seesaw_model(X, keep, _normed)

    return _case_of(*_first_clear(keep, draw))


def _leaky_pair(rng: np.random.Generator, n: int) -> tuple[int, int]:
    """An output, and a later token that leaks into it, though it is not the next one."""
    i = int(rng.integers(n - 2))
    return i, int(rng.integers(i + 2, n))


def _with_a_leak(rng: np.random.Generator, n: int) -> B:
    keep = causal(n, n)
    keep[_leaky_pair(rng, n)] = True
    return keep


def _without_the_first_feature(Y: F) -> F:
    return np.hstack([0.0 * Y[:, :1], Y[:, 1:]])


def _one_sees_nobody(n: int) -> B:
    """A wiring in which output 1 sees nobody, and the last token is seen by nobody."""
    keep = causal(n, n)
    keep[1] = keep[:, -1] = False
    return keep


@probe(1.0)
def honest_models(rng: np.random.Generator) -> list[Case]:
    """the wiring of models that do what they say: causal, full, backwards, token by token, none, and one that first subtracts each
    token's mean and divides by its spread"""
    X, v = _tokens(rng)
    n, d = X.shape
    W, bias = normal(rng, d, v), normal(rng, n, v)
    return [
        _attending(rng, X, v, causal(n, n)),
        _attending(rng, X, v, np.ones((n, n), bool)),
        _attending(rng, X, v, causal(n, n).T),
        _attending(rng, _quarters(rng, n), v, causal(n, n), _normed),
        _seesaw(X, causal(n, n)),
        _seesaw(X, causal(n, n), _without_the_first_feature),
        _seesaw(X, _one_sees_nobody(n)),
        _case_of(X, lambda Y: np.tanh(0.3 * Y @ W)),
        _case_of(X, lambda Y: bias.copy()),
    ]


@probe(1.0)
def one_too_many(rng: np.random.Generator) -> list[Case]:
    """one connection too many: to the next token, from the last to the first, from one to one other, or a faint one"""
    cases: list[Case] = []
    for before in (_as_it_is, _as_it_is, _normed):
        n, d, v = sizes(rng, 3, 3, 7)
        X = _quarters(rng, n) if before is _normed else normal(rng, n, d)
        keep = [np.tril(np.ones((n, n), bool), k=1), causal(n, n), _with_a_leak(rng, n)][len(cases)]
        keep[0, n - 1] |= len(cases) == 1
        cases.append(_attending(rng, X, v, keep, before))
    X, _ = _tokens(rng)
    return [*cases, _seesaw(X, _with_a_leak(rng, len(X))), _leaking_faintly(rng)]


def _leaking_faintly(rng: np.random.Generator, into_one: bool = False) -> Case:
    """Outputs around 60, to one of which a later token adds about a millionth of itself: each of its features to another one, or
    all of them to the first."""
    n, d = sizes(rng, 2, 3, 4)
    X = normal(rng, n, d)
    honest, (i, j), turned = _attention(rng, X, d, causal(n, n)), _leaky_pair(rng, n), rng.permutation(d)
    reads = np.eye(d)[turned]
    if into_one:
        reads = np.outer(np.eye(d)[0], np.arange(1.0, d + 1) / sum(range(d + 1)))

    def model(Y: F) -> F:
        out = 60.0 + honest(Y)
        out[i] += 1.2e-6 * reads @ Y[j]
        return out

    return _case_of(X, model)


@probe(0.5)
def one_head(rng: np.random.Generator) -> list[Case]:
    """a leak in one of three attentions side by side"""
    # Three heads side by side, of which the one in the middle leaks.
    X, v = _tokens(rng)
    n, d = X.shape
    leaky, tight = _with_a_leak(rng, n), causal(n, n)
    leaking = [_attention(rng, X, v, mask) for mask in (tight, leaky, tight)]
    honest = [_attention(rng, X, v, tight) for _ in range(3)]

    def side_by_side(Y: F, of: list[Model]) -> F:
        return np.hstack([head(Y) for head in of])

    def mixed(of: list[Model]) -> Model:
        Wo = normal(rng, 3 * v, d)
        return lambda Y: Y + side_by_side(Y, of) @ Wo

    return [
        _case_of(X, lambda Y: side_by_side(Y, leaking)),
        _case_of(X, _plain(X, leaky, lambda: mixed(leaking))),
        _case_of(X, _plain(X, tight, lambda: mixed(honest))),
        _seesaw(X, leaky),
    ]


@probe(0.5)
def behind_a_norm(rng: np.random.Generator) -> list[Case]:
    """a leak in a model that subtracts from each token, or from each output, its own mean, and divides by its spread"""
    # LayerNorm before attention, and after it; its mean, and without eps its size, cannot be moved.
    n, v = (int(size) for size in rng.choice([3, 5, 6, 7], 2, replace=False))
    X = normal(rng, n, 4)
    leaky = _with_a_leak(rng, n)

    def normed_afterwards() -> Model:
        inside = _attention(rng, X, v, leaky)
        return lambda Y: _normed(inside(Y), eps=0.0)

    return [
        _attending(rng, _quarters(rng, n), v, leaky, _normed),
        _attending(rng, _quarters(rng, n), v, causal(n, n), lambda Y: _normed(Y, eps=0.0)),
        _case_of(X, _plain(X, leaky, normed_afterwards)),
        _plain_seesaw(rng, n, leaky),
    ]


@probe(0.5)
def narrow(rng: np.random.Generator) -> list[Case]:
    """leaks through one feature, through the sum of all, and into one feature"""
    X, v = _tokens(rng)
    n, d = X.shape
    keep, (i, j) = causal(n, n), _leaky_pair(rng, n)
    honest = _attention(rng, X, v, keep)

    def leaking(Y: F, what: F, into: slice) -> F:
        out = honest(Y)
        out[i, into] += what
        return out

    everywhere, first, last = slice(None), slice(0, 1), slice(v - 1, v)
    even = normal(rng, n, 4)  # an even number of features, so that alternating ups and downs add up to nothing
    triangle = np.tril(np.ones((n, n)))
    return [
        _case_of(even, lambda Y: triangle @ np.tanh(0.2 * Y.sum(axis=1, keepdims=True))),
        _case_of(even, lambda Y: triangle @ np.tanh(0.5 * Y[:, :1])),
        _case_of(even, lambda Y: triangle @ np.tanh(0.5 * Y[:, 1:2])),
        _case_of(even, lambda Y: triangle @ np.tanh(0.5 * Y[:, -1:])),
        _case_of(X, lambda Y: leaking(Y, 0.3 * Y[j, -1:], everywhere)),
        _case_of(X, lambda Y: leaking(Y, 0.3 * Y[j].sum(keepdims=True), everywhere)),
        _case_of(X, lambda Y: leaking(Y, np.tanh(0.05 * Y[j] @ (1.0 + np.arange(d)))[None], first)),
        _case_of(X, lambda Y: leaking(Y, np.tanh(0.05 * Y[j] @ (1.0 + np.arange(d)))[None], last)),
        _case_of(X, lambda Y: np.tanh(0.2 * Y.sum(axis=1, keepdims=True)) * np.ones(v)),
        _seesaw(X, _with_a_leak(rng, n)),
    ]


@probe(0.5)
def faint_leaks(rng: np.random.Generator) -> list[Case]:
    """faint leaks of about a millionth"""
    X, _ = _tokens(rng)
    return [_leaking_faintly(rng), _leaking_faintly(rng, into_one=True), _seesaw(X, _with_a_leak(rng, len(X)))]


@probe(0.5)
def models_that_round(rng: np.random.Generator) -> list[Case]:
    """honest models that round are not accused"""
    # Honest models whose outputs wobble by less than 1e-12, differently for every input.
    X, v = _tokens(rng)
    n, d = X.shape
    honest, V = _attention(rng, X, v, causal(n, n)), normal(rng, d, v)
    tuning = 1e5 * normal(rng, n * v, X.size)

    def wobble(Y: F) -> F:
        return 4e-13 * np.sin(tuning @ Y.ravel()).reshape(n, v)

    return [
        _case_of(X, lambda Y: honest(Y) + wobble(Y)),
        _case_of(X, lambda Y: np.tanh(0.3 * Y @ V) + wobble(Y)),
        _seesaw(X, causal(n, n)),
    ]


@probe(0.5)
def influence_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a token of zeros, as many features as tokens, float32"""
    n = int(rng.integers(3, 6))
    alone, square, single = (
        normal(rng, 1, 4),
        normal(rng, n, n),
        normal(rng, n, n + 2, dtype="float32", order="strided"),
    )
    still = normal(rng, n, n + 1)
    still[rng.integers(n)] = 0.0
    return [
        _attending(rng, alone, 3, np.array([[True]])),
        _case_of(alone, lambda Y: np.ones((1, 3))),
        _attending(rng, square, n, causal(n, n)),  # n = d = v: a feature may pass for a token
        _attending(rng, single, 2, causal(n, n)),
        _seesaw(still, causal(n, n)),
    ]


def _ramp(x: F) -> F:
    return 0.5 + np.arange(x.shape[-1])


def _along_a_ramp(x: F) -> F:
    return np.asarray(x + _ramp(x))


def _between_1_and_2(x: F) -> F:
    return np.asarray(x + 1 + np.arange(x.shape[-1]) / x.shape[-1])


def _any_feature_moved(after: F, before: F) -> B:
    return np.asarray((np.abs(after - before) > 1e-9).any(axis=1))


def _map(
    f: Model,
    X: F,
    token: Callable[[F], F] = _along_a_ramp,
    rows: Callable[[int], Any] = lambda j: j,
    seen: Callable[[F, F], B] = _any_feature_moved,
) -> B:
    """A right map, unless one of these is wrong: what is put in place of a token, of which tokens for column j, and where the outputs are
    taken to have moved."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[rows(j)] = token(X[rows(j)])
        moved[:, j] = seen(f(Y), before)
    return moved


@mistake
def moves_only_the_last_token(f: Model, X: F) -> B:
    """only the last column of your map is filled: you moved the last token and no other. Every token takes its turn."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    Y = X.copy()
    Y[-1] += 0.5 + np.arange(X.shape[1])
    moved[:, -1] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@misses_the_idea
def same_nudge_for_every_feature(f: Model, X: F) -> B:
    """your nudge adds the same number to every feature of a token. A model that first subtracts the token's mean, as
    many do, does not notice that. Move the features by different amounts."""
    return _map(f, X, lambda x: x + 1.0)


@mistake
def nudge_too_small(f: Model, X: F) -> B:
    """nothing seems to move, not even an output by its own token. Either what your nudge does stays below your threshold, or you move by
    NaN, with which every comparison is answered no. Move by an ordinary amount, about 1."""
    return _map(f, X, lambda x: x + 1e-11 * _ramp(x))


@mistake
def exact_comparison(f: Model, X: F) -> B:
    """you accuse an honest model. Two runs of it may differ by rounding, around 1e-13, and you take any difference for
    influence. Ask for more than that."""
    return _map(f, X, seen=lambda after, before: (after != before).any(axis=1))


@mistake
def map_is_turned(f: Model, X: F) -> B:
    """your map is turned. Row i belongs to the output that is watched, column j to the token that is moved."""
    return _map(f, X).T


@mistake
def default_tolerance(f: Model, X: F) -> B:
    """you miss a faint leak: your threshold is too large for it, or your nudge too small. (np.isclose and np.allclose
    bring a threshold of their own, 1e-5 of the value.) Move by about 1, and choose a threshold between what rounding
    does and what the faintest leak does."""
    return _map(f, X, seen=lambda after, before: ~np.isclose(after, before).all(axis=1))


@mistake
def counts_only_increases(f: Model, X: F) -> B:
    """you see an output move up, and not when it moves down. How far it moves matters, not which way."""
    return _map(f, X, seen=lambda after, before: (after - before > 1e-9).any(axis=1))


@mistake
def counts_only_decreases(f: Model, X: F) -> B:
    """you see an output move down, and not when it moves up. How far it moves matters, not which way."""
    return _map(f, X, seen=lambda after, before: (before - after > 1e-9).any(axis=1))


@mistake
def adds_the_features_up(f: Model, X: F) -> B:
    """you add up the features of an output before you compare. One may rise by as much as another falls, and the sum
    stays. Look at each feature."""
    return _map(f, X, seen=lambda after, before: np.abs((after - before).sum(axis=1)) > 1e-9)


@mistake
def averages_the_features(f: Model, X: F) -> B:
    """you ask how far the features of an output move on average. Where one moves and the others stay, a faint leak
    becomes several times fainter. Look at the feature that moves most."""
    return _map(f, X, _between_1_and_2, seen=lambda after, before: np.abs(after - before).mean(axis=1) > 1e-6)


@mistake
def watches_one_feature(f: Model, X: F) -> B:
    """you watch one feature of each output, or ask that all of them move. The output has moved if any of its features
    has."""
    return _map(f, X, seen=lambda after, before: np.abs(after - before)[:, 0] > 1e-9)


@mistake
def nudges_one_feature(f: Model, X: F) -> B:
    """you move one feature of a token. A model may not read that feature at all, and copy another. Move all of them."""
    return _map(f, X, lambda x: x + np.eye(len(x))[0])


@mistake
def nudge_begins_at_zero(f: Model, X: F) -> B:
    """your nudge leaves the first feature where it is, as np.arange(d) begins at 0; and where a token has one feature
    only, nothing moves at all. Every feature has to move."""
    return _map(f, X, lambda x: x + np.arange(len(x)))


@mistake
def nudge_adds_up_to_nothing(f: Model, X: F) -> B:
    """what you do to a token moves some features up and others down, so that in sum they stay. A model that passes on the sum of a
    token's features does not notice. Move them by different amounts that do not add up to 0."""
    return _map(f, X, lambda x: x + np.linspace(-1, 1, len(x)))


@mistake
def sets_the_token_to_zero(f: Model, X: F) -> B:
    """you set the token to zero, or change its sign. Where it was zero already, nothing has moved. Add
    something to it."""
    return _map(f, X, lambda x: 0.0 * x)


@mistake
def scales_the_token(f: Model, X: F) -> B:
    """you multiply the token. A token of zeros stays where it is, and a model that divides each token by its size, as many do, does not
    notice either. Add something, a different amount to each feature."""
    return _map(f, X, lambda x: 2.0 * x)


@mistake
def never_puts_it_back(f: Model, X: F) -> B:
    """a late column of your map also shows what earlier tokens did: they are moved along, or were never put back. Begin
    each turn with a fresh copy, and move one token."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    Y = X.copy()
    for j in range(len(X)):
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def moves_later_tokens_along(f: Model, X: F) -> B:
    """you move token j and all that come after it, as a slice like Y[j:] does. A column of the map is about one token:
    move that one and no other."""
    return _map(f, X, rows=lambda j: slice(j, None))


@mistake
def moves_the_callers_tokens(f: Model, X: F) -> B:
    """you move the tokens in the caller's own X, one after another. Take a fresh copy for each turn: Y = X is a second
    name, not a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X
        Y[j] += 1.0 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def moves_the_callers_tokens_evenly(f: Model, X: F) -> B:
    """two things at once. You move the tokens in the caller's own X (Y = X is a second name, not a copy); and your nudge
    adds the same number to every feature, which a model that subtracts each token's mean does not notice."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X
        Y[j] += 1.0
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def takes_the_nudge_back(f: Model, X: F) -> B:
    """you add the nudge to the caller's own X and subtract it afterwards. In floating point that does not always lead
    back: 0.1 + 1 - 1 is 0.10000000000000009. Move a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        nudge = 1.0 + np.arange(X.shape[1])
        X[j] += nudge
        moved[:, j] = (np.abs(f(X) - before) > 1e-9).any(axis=1)
        X[j] -= nudge
    return moved


@mistake
def returns_what_should_be(f: Model, X: F) -> B:
    """your map is the causal mask, whatever the model does. The mask says what a model should see. Ask the model what it
    does see."""
    return np.tril(np.ones((len(X), len(X)), bool))


@mistake
def compares_with_itself(f: Model, X: F) -> B:
    """nothing ever differs, because both runs get the moved tokens: Y = X is a second name for the caller's array, not
    a copy."""
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - f(X)) > 1e-9).any(axis=1)
    return moved


@mistake
def moves_features_for_tokens(f: Model, X: F) -> B:
    """you move column j of X, which is one feature of all tokens. Token j is row j."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[:, j] += 0.5 + np.arange(len(X))
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def asks_the_features_not_the_outputs(f: Model, X: F) -> B:
    """you ask of each feature whether it moved in any output. It is the other way round: of each output, whether it
    moved in any feature."""
    return _map(f, X, seen=lambda after, before: (np.abs(after - before) > 1e-9).any(axis=0))


@mistake
def reports_only_the_future(f: Model, X: F) -> B:
    """your map shows only what comes from the future. It should show all influence, also the permitted one; comparing
    with the mask comes later."""
    return np.triu(_map(f, X), k=1)


@mistake
def poisons_with_nan(f: Model, X: F) -> B:
    """you make a token NaN and look where NaN comes out. 0 times NaN is NaN: a model that gives a token the
    weight 0 does not look at it, and is accused. Move the token by an ordinary amount."""
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] = np.nan
        with np.errstate(invalid="ignore"):
            moved[:, j] = np.isnan(f(Y)).any(axis=1)
    return moved


@mistake
def moves_to_infinity(f: Model, X: F) -> B:
    """you make a token infinite. 0 times infinity is NaN, and so is infinity less infinity; comparisons with
    NaN are answered no. Move the token by an ordinary amount."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] = np.inf
        with np.errstate(invalid="ignore"):
            moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def one_answer_for_a_column(f: Model, X: F) -> B:
    """a column of your map is True throughout, or False throughout: you asked whether anything has moved. Each output has an answer of
    its own: look over its features, and not over the other outputs."""
    return _map(f, X, seen=lambda after, before: (np.abs(after - before) > 1e-9).any())


@mistake
def one_answer_for_a_row(f: Model, X: F) -> B:
    """you wrote one answer for each token into its row: whether anything has moved. Each output has an answer
    of its own, and token j fills column j."""
    return _map(f, X, seen=lambda after, before: (np.abs(after - before) > 1e-9).any()).T


@mistake
def moves_all_tokens(f: Model, X: F) -> B:
    """you move all tokens at once, so every column shows what any token does. A column is about one token: move
    that one and no other."""
    return _map(f, X, rows=lambda j: slice(None))


@mistake
def moves_the_others(f: Model, X: F) -> B:
    """you move all tokens but one. A column of the map is about one token: move that one and no other."""
    return _map(f, X, rows=lambda j: np.arange(len(X)) != j)


@mistake
def moves_the_next_token(f: Model, X: F) -> B:
    """column j of your map is about another token, j + 1 or j - 1. Count tokens from 0."""
    return _map(f, X, rows=lambda j: (j + 1) % len(X))


@mistake
def asks_that_all_features_move(f: Model, X: F) -> B:
    """you ask that all features of an output move. The output has moved if any of its features has."""
    return _map(f, X, seen=lambda after, before: (np.abs(after - before) > 1e-9).all(axis=1))


@mistake
def asks_that_every_feature_counts(f: Model, X: F) -> B:
    """you move one feature after another, and ask that the output moves each time. It has moved if any of these moves it: begin with False,
    and join with |=."""
    before = f(X)
    moved = np.ones((len(X), len(X)), bool)
    for j, x in np.ndindex(X.shape):
        Y = X.copy()
        Y[j, x] += 0.8
        moved[:, j] &= (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def spread_of_the_difference(f: Model, X: F) -> B:
    """you look at the spread of the differences, std or var. Where all features of an output move by the same amount, their spread is 0.
    Look at each feature."""
    return _map(f, X, _between_1_and_2, seen=lambda after, before: (after - before).std(axis=1) > 1e-9)


@mistake
def takes_its_neighbours_place(f: Model, X: F) -> B:
    """you put another token's features in place of the token's own. Where the two are equal, or there is no other, nothing has moved.
    Add something to the token."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] = X[j - 1]
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def features_change_places(f: Model, X: F) -> B:
    """you give the token its own features in another order. A token of one feature stays as it is, and a model that adds them up sees
    nothing. Add something to it."""
    return _map(f, X, lambda x: np.roll(x, 1))


@mistake
def watches_the_last_feature(f: Model, X: F) -> B:
    """you watch the last feature of each output. The output has moved if any of its features has."""
    return _map(f, X, seen=lambda after, before: np.abs(after - before)[:, -1] > 1e-9)


@mistake
def nudges_the_last_feature(f: Model, X: F) -> B:
    """you move the last feature of a token. A model may not read that feature at all, and copy another. Move
    all of them."""
    return _map(f, X, lambda x: x + np.eye(len(x))[-1])


@mistake
def true_where_nothing_moves(f: Model, X: F) -> B:
    """your map is turned over: True stands where nothing moves. It should be True where an output moves."""
    return ~_map(f, X)


@mistake
def looks_at_the_permitted_only(f: Model, X: F) -> B:
    """your map shows influence only where the causal mask permits it, so no leak can ever show. Ask the model
    about every place."""
    return np.tril(_map(f, X))


@mistake
def never_asks_a_token_of_itself(f: Model, X: F) -> B:
    """your map has no diagonal: whether an output moves with its own token is left out. It is a question like
    the others."""
    return _map(f, X) & ~np.eye(len(X), dtype=bool)


@mistake
def takes_the_diagonal_for_granted(f: Model, X: F) -> B:
    """you take it for granted that an output moves with its own token. A model need not look at it: ask."""
    return _map(f, X) | np.eye(len(X), dtype=bool)


@mistake
def compares_with_the_last_run(f: Model, X: F) -> B:
    """you compare each run with the one before it, in which another token was moved. So a column shows two
    tokens. Compare with the run on X as it is."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        after = f(Y)
        moved[:, j] = (np.abs(after - before) > 1e-9).any(axis=1)
        before = after
    return moved


@mistake
def exchanges_two_tokens(f: Model, X: F) -> B:
    """you exchange two tokens. Then both have moved, and a column shows what either does. Move one token: add
    something to it."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[[j, j - 1]] = Y[[j - 1, j]]
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def looks_at_a_part_of_the_text(f: Model, X: F) -> B:
    """you give the model a part of the text. It takes arrays of the shape of X, and what comes from the future
    could not show. Move one token and leave the others in."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X[: j + 1].copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[: j + 1, j] = (np.abs(f(Y) - before[: j + 1]) > 1e-9).any(axis=1)
    return moved


@mistake
def takes_a_token_out(f: Model, X: F) -> B:
    """you take a token out of the text. The model takes arrays of the shape of X. Leave the token in, and move
    it."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        rest = np.delete(np.arange(len(X)), j)
        moved[rest, j] = (np.abs(f(X[rest]) - before[rest]) > 1e-9).any(axis=1)
    return moved


@mistake
def stops_before_the_last_token(f: Model, X: F) -> B:
    """the last column of your map is empty: the last token is never moved. It is the one that leaks are most
    often made of."""
    return _map(f, X) & (np.arange(len(X)) < len(X) - 1)


@mistake
def begins_at_the_second_token(f: Model, X: F) -> B:
    """the first column of your map is empty: token 0 is never moved."""
    return _map(f, X) & (np.arange(len(X)) > 0)


@mistake
def map_of_numbers(f: Model, X: F) -> F:
    """the answers are right, and your map is made of numbers, 0.0 and 1.0. A map holds True and False, so that
    `moved & ~keep` finds leaks: np.zeros makes floats unless you tell it the type."""
    return _map(f, X).astype(np.float64)


@mistake
def map_of_integers(f: Model, X: F) -> B:
    """the answers are right, and your map is made of the integers 0 and 1. A map holds True and False: ~1 is
    -2."""
    return _map(f, X).astype(int)


@mistake
def returns_how_much(f: Model, X: F) -> F:
    """your map says how far each output moves. It should say whether it does: compare with a threshold that
    lies between what rounding does and what the faintest leak does."""
    before = f(X)
    moved = np.zeros((len(X), len(X)))
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 1 + np.arange(X.shape[1]) / X.shape[1]
        moved[:, j] = np.abs(f(Y) - before).max(axis=1)
    return moved


@mistake
def list_of_columns(f: Model, X: F) -> list[B]:
    """your map comes as a list of columns. An array is wanted, with a row for each output and a column for each
    token."""
    return list(_map(f, X).T)


@mistake
def map_for_each_feature(f: Model, X: F) -> B:
    """your map has an answer for every feature of every output. One for each output is wanted: whether any of
    its features has moved."""
    before = f(X)
    moved = []
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved.append(np.abs(f(Y) - before) > 1e-9)
    return np.stack(moved, axis=1)


@mistake
def moves_the_callers_tokens_a_little_more_each(f: Model, X: F) -> B:
    """you move the tokens in the caller's own X, one after another, and never put them back. Take a fresh copy
    for each turn: Y = X is a second name, not a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        X[j] += 1 + np.arange(X.shape[1]) / X.shape[1]
        moved[:, j] = (np.abs(f(X) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def moves_the_callers_tokens_between_1_and_2(f: Model, X: F) -> B:
    """you move the tokens in the caller's own X, one after another, and never put them back. Take a fresh copy
    for each turn: Y = X is a second name, not a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        X[j] += np.linspace(1, 2, X.shape[1])
        moved[:, j] = (np.abs(f(X) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def moves_the_callers_tokens_from_a_half_on(f: Model, X: F) -> B:
    """you move the tokens in the caller's own X, one after another, and never put them back. Take a fresh copy
    for each turn: Y = X is a second name, not a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        X[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(X) - before) > 1e-9).any(axis=1)
    return moved


@mistake
def scales_and_shifts_the_token(f: Model, X: F) -> B:
    """you multiply the token and add the same number to every feature. A model that subtracts each token's mean and divides by its size,
    as many do, does not notice either. Add a different amount to each feature."""
    return _map(f, X, lambda x: 2 * x + 1)


@right
def influence_by_uneven_nudges(f: Model, X: F) -> B:
    n, d = X.shape
    before = f(X)
    moved = np.zeros((n, n), bool)
    for j in range(n):
        Y = X.copy()
        Y[j] += 1 + np.arange(d) / d
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


@right
def influence_by_random_tokens(f: Model, X: F) -> B:
    rng = np.random.default_rng(0)
    n, d = X.shape
    before = f(X)
    columns = []
    for j in range(n):
        differences = []
        for _ in range(3):
            Y = X.copy()
            Y[j] = rng.standard_normal(d)
            differences.append(np.abs(f(Y) - before).max(axis=1))
        columns.append(np.max(differences, axis=0) > 1e-8)
    return np.stack(columns, axis=1)


@right
def influence_feature_by_feature(f: Model, X: F) -> B:
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j, x in np.ndindex(X.shape):
        Y = X.copy()
        Y[j, x] += 0.8
        moved[:, j] |= np.abs(f(Y) - before).max(axis=1) > 1e-10
    return moved


@right
def influence_by_large_nudges(f: Model, X: F) -> B:
    n, d = X.shape
    before = f(X)
    nudges = np.zeros((n, n, d))
    nudges[np.arange(n), np.arange(n)] = 3.0 * np.sin(np.arange(1, d + 1))
    return np.array([~np.isclose(f(X + nudge), before, rtol=0, atol=1e-9).all(axis=1) for nudge in nudges]).T


@right
def influence_by_restoring(f: Model, X: F) -> B:
    Y = np.array(X, dtype=np.float64)
    before = f(Y)
    moved = np.zeros((len(Y), len(Y)), bool)
    for j in range(len(Y)):
        kept = Y[j].copy()
        for sign in (1, -1):
            Y[j] = kept + sign * np.sqrt(1 + np.arange(len(kept)))
            moved[:, j] |= np.linalg.norm(f(Y) - before, axis=1) > 1e-9
        Y[j] = kept
    return moved


@right
def influence_in_float32_tokens(f: Model, X: F) -> B:
    n, d = X.shape
    before = np.asarray(f(X.astype(np.float64)))
    return np.stack(
        [
            [np.any(np.abs(after[i] - before[i]) > 5e-7) for i in range(n)]
            for after in (f(X + np.outer(np.arange(n) == j, 1.5 + np.cos(np.arange(d)))) for j in range(n))
        ],
        axis=1,
    )


@right
def influence_by_every_size(f: Model, X: F) -> B:
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        for size in (0.1, 1.0, 10.0):
            Y = X.copy()
            Y[j] = Y[j] + size * (np.arange(X.shape[1]) + 1) ** 2 / X.shape[1]
            moved[:, j] |= (abs(f(Y) - before) > 2e-12 * 1e3).any(axis=-1)
    return moved
