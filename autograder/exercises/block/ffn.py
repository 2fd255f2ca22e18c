"""The network that works on each token by itself.

A token is widened to f hidden features, bent, and brought back to d, without a look at the others, so any axes in
front are carried along. The bend stands between the products because two products in a row are one: without it the
width f is for nothing. `b1` comes before it, since it decides where each feature bends, and `b2` comes last and is
not bent. The caller says which bend it is, so it is `act` that is called; and the residual is added by the block,
once.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.block.parts import drawn_activation, drawn_layers
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right, right_to_seven_digits
from autograder.exercises.parts import RELU, TANH, Act, silu


def ffn(
    X: Float[np.ndarray, "*b d"],
    W1: Float[np.ndarray, "d f"],
    b1: Float[np.ndarray, "f"],
    W2: Float[np.ndarray, "f d"],
    b2: Float[np.ndarray, "d"],
    act: Act,
) -> Float[np.ndarray, "*b d"]:
    """For each token by itself: to width f, activation, back to width d."""
    out = np.zeros(X.shape)
    f, d = W2.shape
    for place in np.ndindex(X.shape[:-1]):
        hidden = np.array([sum(X[place][i] * W1[i, u] for i in range(d)) + b1[u] for u in range(f)])
        bent = act(hidden)
        for i in range(d):
            out[(*place, i)] = sum(bent[u] * W2[u, i] for u in range(f)) + b2[i]
    return out


def _any_network(shape: tuple[int, ...], f: int) -> Case:
    """Public tokens and layers that look like nothing in particular."""
    rng = np.random.default_rng(f)
    arrays = (normal(rng, *shape), *drawn_layers(rng, shape[-1], f))
    return case(*(np.round(array, 2) for array in arrays), TANH)


PUBLIC = (
    case(
        np.array([[1.0, 2.0]]),
        np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]),
        np.array([1.0, -4.0, 2.0]),
        np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        np.array([10.0, -20.0]),
        RELU,
    ),
    case(
        np.array([[1.0, -0.5], [0.5, 2.0], [-1.0, 0.0]]),
        np.array([[1.0, 0.5, -1.0, 2.0], [0.5, -1.0, 1.0, 0.0]]),
        np.array([0.5, 0.0, -0.5, 1.0]),
        np.array([[1.0, 2.0], [-1.0, 0.5], [0.5, 1.0], [1.0, -2.0]]),
        np.array([0.5, -0.25]),
        TANH,
    ),
    case(
        np.array([[1.0, -0.5], [0.5, 2.0]]),
        np.array([[1.0, 0.5], [-1.0, 2.0]]),
        np.array([0.5, -0.5]),
        np.array([[1.0, -2.0], [0.5, 1.5]]),
        np.array([0.25, -0.75]),
        TANH,
    ),
    case(
        np.array([[0.5, -1.0, 2.0]], np.float32),
        np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, 1.0]], np.float32),
        np.array([0.5, -0.5], np.float32),
        np.array([[1.0, -2.0, 0.5], [0.5, 1.5, -1.0]], np.float32),
        np.array([0.25, -0.75, 0.5], np.float32),
        TANH,
    ),
    # one token alone, and a batch of texts
    case(
        np.array([0.5, -1.0]),
        np.array([[1.0, 0.5, -1.0], [-1.0, 2.0, 0.5]]),
        np.array([0.5, -0.5, 0.25]),
        np.array([[1.0, -2.0], [0.5, 1.5], [-1.0, 0.5]]),
        np.array([0.25, -0.75]),
        TANH,
    ),
    _any_network((2, 3, 4), 5),
    _any_network((4, 6), 9),
)


@probe(1.0)
def networks(rng: np.random.Generator) -> list[Case]:
    """two layers with the activation between them, all sizes different"""
    b, n, d, f = sizes(rng, 4, 2, 7)
    return [
        case(normal(rng, n, d), *drawn_layers(rng, d, f), drawn_activation(rng)),
        case(normal(rng, b, n, d), *drawn_layers(rng, d, f), drawn_activation(rng)),
    ]


@probe(0.5)
def square_networks(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide, and turned or exchanged arrays would run"""
    n, d, f = sizes(rng, 3, 3, 7)
    return [
        case(
            normal(rng, n, d), *drawn_layers(rng, d, d), drawn_activation(rng)
        ),  # f = d: turned or exchanged weights run
        case(normal(rng, d, d), *drawn_layers(rng, d, f), drawn_activation(rng)),  # n = d: a turned table runs
        case(normal(rng, n, n), *drawn_layers(rng, n, n), drawn_activation(rng)),
    ]


@probe(0.5, strict=True)
def networks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one token alone, float32, arrays that are not contiguous"""
    n, d, f = sizes(rng, 3, 2, 7)
    return [
        case(normal(rng, d), *drawn_layers(rng, d, f), drawn_activation(rng)),
        case(normal(rng, 1, d), *drawn_layers(rng, d, f), drawn_activation(rng)),
        case(normal(rng, n, d, dtype="float32"), *drawn_layers(rng, d, f, dtype="float32"), drawn_activation(rng)),
        case(normal(rng, n, d, order="strided"), *drawn_layers(rng, d, f, order="F"), drawn_activation(rng)),
    ]


@mistake
def first_bias_through_the_second_layer(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """a product goes before a sum: X @ W1 + b1 @ W2 multiplies b1 alone by W2. Put brackets around the first layer, act(X @ W1 + b1)."""
    return np.asarray(act(X @ W1 + b1 @ W2) + b2)


@mistake
def biases_added_to_the_weights(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added b1 to W1, and b2 to W2, and multiplied by the sums. A bias is added to the product."""
    return np.asarray(act(X @ (W1 + b1)) @ (W2 + b2))


@misses_the_idea
def activation_last(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation after the second layer. Between the layers there is nothing then, and two products in a
    row are one product: it is the bend in the middle that makes a network of them."""
    return act((X @ W1 + b1) @ W2 + b2)


@misses_the_idea
def no_activation(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """there is no activation. Without it both layers together are a single matrix product, W1 @ W2, and the width in
    between is for nothing."""
    return (X @ W1 + b1) @ W2 + b2


@mistake
def activation_twice(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation after both layers. The second layer's result is added to the tokens as it is: with relu
    there it could only ever add, and never take away."""
    return act(act(X @ W1 + b1) @ W2 + b2)


@mistake
def activation_first(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation to the tokens before the first layer. It belongs between the two layers."""
    return (act(X) @ W1 + b1) @ W2 + b2


@mistake
def activation_first_and_between(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation to the tokens, and again between the layers. It belongs between them only."""
    return act(act(X) @ W1 + b1) @ W2 + b2


@mistake
def hidden_times_activation(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you multiplied the hidden features by their activation. What goes on is the activation alone."""
    hidden = X @ W1 + b1
    return hidden * act(hidden) @ W2 + b2


@mistake
def hidden_plus_activation(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added the hidden features to their activation. What goes on is the activation alone."""
    hidden = X @ W1 + b1
    return (hidden + act(hidden)) @ W2 + b2


@mistake
def activation_before_the_bias(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added b1 after the activation. It belongs to the first layer: it decides where the bend of each hidden feature
    lies, and for that it has to be there when it is bent."""
    return (act(X @ W1) + b1) @ W2 + b2


@mistake
def an_activation_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used relu, whatever activation you were given. The caller decides which: call act."""
    return np.maximum(X @ W1 + b1, 0) @ W2 + b2


@mistake
def tanh_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used tanh, whatever activation you were given. The caller decides which: call act."""
    return np.tanh(X @ W1 + b1) @ W2 + b2


@mistake
def logistic_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used the logistic (the sigmoid), whatever activation you were given. The caller decides which: call act."""
    return 1 / (1 + np.exp(-(X @ W1 + b1))) @ W2 + b2


@mistake
def silu_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used x times its logistic, called SiLU, whatever activation you were given. The caller decides which: call act."""
    return silu(X @ W1 + b1) @ W2 + b2


@mistake
def gelu_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used GELU, whatever activation you were given. The caller decides which: call act."""
    hidden = X @ W1 + b1
    return 0.5 * hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) @ W2 + b2


@mistake
def gelu_by_tanh_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used GELU in the form with tanh, whatever activation you were given. The caller decides which: call act."""
    hidden = X @ W1 + b1
    bend = np.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3))
    return 0.5 * hidden * (1 + bend) @ W2 + b2


@mistake
def no_first_bias(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """b1 is missing."""
    return act(X @ W1) @ W2 + b2


@mistake
def no_second_bias(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """b2 is missing."""
    return act(X @ W1 + b1) @ W2


@mistake
def second_bias_twice(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added b2 twice."""
    return act(X @ W1 + b1) @ W2 + b2 + b2


@mistake
def biases_exchanged(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you exchanged the biases: b1 is as wide as the hidden layer, f, and b2 as wide as a token, d."""
    return act(X @ W1 + b2) @ W2 + b1


@mistake
def second_bias_before_the_second_layer(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation to b2, too. b2 belongs to the second layer, and is added as it is, at the very end."""
    return act(X @ W1 + b1) @ W2 + act(b2)


@mistake
def no_second_layer(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you stopped after the first layer. W2 and b2 bring the hidden features back to width d."""
    return act(X @ W1 + b1)


@mistake
def no_biases(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """both biases are missing."""
    return act(X @ W1) @ W2


@mistake
def first_bias_again(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added b1 twice, before the activation and once more after it. It belongs to the first layer, which ends where the activation
    begins."""
    return (act(X @ W1 + b1) + b1) @ W2 + b2


@mistake
def adds_the_tokens(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added the tokens to the result. That is the residual, and it is the block that adds it, once, later on."""
    return X + act(X @ W1 + b1) @ W2 + b2


@misses_the_idea
def mixes_tokens(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you turned the table of tokens, so that features of different tokens were added up. An FFN works on each token by
    itself; a weight multiplies a row from the right as it stands."""
    return act(X.T @ W1 + b1) @ W2 + b2


@mistake
def all_tokens_in_one_table(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you made one table [.., d] of all tokens, and left it so. The result has the axes of X."""
    return act(X.reshape(-1, X.shape[-1]) @ W1 + b1) @ W2 + b2


@mistake
def ffn_of_rows_at_least_two(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you gave a token alone a second axis. A token [d] comes out as [d]."""
    return act(np.atleast_2d(X) @ W1 + b1) @ W2 + b2


@mistake
def ffn_item_by_item(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you went through the first axis, token by token, and for a token alone these are single numbers. A product does without
    any loop, and takes a token alone as well."""
    out = np.empty_like(X)
    for i in range(len(X)):
        out[i] = act(X[i] @ W1 + b1) @ W2 + b2
    return out


@mistake
def ffn_squeezed(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you took axes of length 1 out of the result (np.squeeze does). A single token in a table, [1, d], stays in its
    table."""
    return np.squeeze(act(X @ W1 + b1) @ W2 + b2)


@mistake
def layers_turned(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you turned the weights. Here a weight is [in, out] and multiplies a row from the right as it stands. (PyTorch's own
    layers keep theirs the other way round.)"""
    return act(X @ W1.T + b1) @ W2.T + b2


@mistake
def first_layer_turned(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you turned W1. Here a weight is [in, out] and multiplies a row from the right as it stands. (PyTorch's own layers keep
    theirs the other way round.)"""
    return act(X @ W1.T + b1) @ W2 + b2


@mistake
def second_layer_turned(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you turned W2. Here a weight is [in, out] and multiplies a row from the right as it stands. (PyTorch's own layers keep
    theirs the other way round.)"""
    return act(X @ W1 + b1) @ W2.T + b2


@mistake
def layers_exchanged(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used W2 first and W1 second. W1 makes a token wider, from d to f, and W2 brings it back."""
    return act(X @ W2 + b1) @ W1 + b2


@mistake
def ffn_in_float64(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return act(X @ W1 + b1) @ W2 + b2.astype(np.float64)


@right_to_seven_digits
def ffn_in_float32(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """your numbers have seven right digits, and float64 has sixteen: somewhere they went through float32."""
    return (act(X @ W1 + b1).astype(np.float32) @ W2.astype(np.float32) + b2).astype(X.dtype)


@right
def ffn_in_two_lines(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    hidden = act(X @ W1 + b1)
    return hidden @ W2 + b2


@right
def ffn_by_einsum(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    return np.einsum("...f,fd->...d", act(np.einsum("...d,df->...f", X, W1) + b1), W2) + b2


@right
def ffn_token_by_token(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    rows = [act(x @ W1 + b1) @ W2 + b2 for x in X.reshape(-1, X.shape[-1])]
    return np.stack(rows).reshape(X.shape)


@right
def ffn_with_a_column_of_ones(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    def layer(Z: F, W: F, b: F) -> F:
        ones = np.ones((*Z.shape[:-1], 1), Z.dtype)
        return np.asarray(np.concatenate([Z, ones], axis=-1) @ np.vstack([W, b]))

    return layer(act(layer(X, W1, b1)), W2, b2)


@right
def ffn_by_torch(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    import torch

    x, w1, c1, w2, c2 = (torch.from_numpy(a.copy()) for a in (X, W1, b1, W2, b2))
    return (torch.from_numpy(np.asarray(act((x @ w1 + c1).numpy()))) @ w2 + c2).numpy()
