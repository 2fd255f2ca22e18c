"""The same product for those who write tokens as columns.

To transpose a product is to turn both factors and their order: `(X @ W).T` equals `W.T @ X.T`. Where all sizes differ
the shapes leave no other way, since `[k, n]` comes of `[k, d]` and `[d, n]`. Where `W` is square, and there are as
many tokens, every wrong pair runs too: `X.T @ W.T` has the right shape and is the transpose of another product, `W @
X`. A `reshape` gives the shapes of the transposes and deals the numbers out in their old order; here entry (i, j) has
to go to (j, i).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.shapes.parts import some_numbers


def to_columns(
    X: Float[np.ndarray, "n d"], W: Float[np.ndarray, "d k"]
) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "d n"]]:
    """The two factors, in order, whose product is (XW) turned so that tokens are columns."""
    n, d = X.shape
    k = W.shape[1]
    left, right = np.zeros((k, d)), np.zeros((d, n))
    for x in range(d):
        for j in range(k):
            left[j, x] = W[x, j]
        for i in range(n):
            right[x, i] = X[i, x]
    return left, right


PUBLIC = (
    case(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])),
    case(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1.0, -1.0, 0.0, 2.0], [0.0, 3.0, 1.0, 1.0]])),
    case(some_numbers(1, 4, 3), some_numbers(2, 3, 5)),
    case(some_numbers(3, 2, 4, dtype="float32"), some_numbers(4, 4, 3, dtype="float32")),
    case(some_numbers(5, 1, 4), some_numbers(6, 4, 3)),
)


@probe(1.5)
def conversions(rng: np.random.Generator) -> list[Case]:
    """the two factors in the column convention, all sizes different"""
    n, d, k = sizes(rng, 3)
    return [case(normal(rng, n, d), normal(rng, d, k)), case(normal(rng, k, n), normal(rng, n, d))]


@probe(1.0)
def square_conversions(rng: np.random.Generator) -> list[Case]:
    """a square W that is not symmetric"""
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, d), normal(rng, d, d)), case(normal(rng, d, d), normal(rng, d, d))]


@probe(0.5)
def conversions_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, d, k = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, d, k)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, d, k, dtype="float32")),
        case(normal(rng, n, d, order="strided"), normal(rng, d, k, order="F")),
    ]


@mistake
def weight_not_turned(X: F, W: F) -> tuple[F, F]:
    """the left factor is W as it is. In the column convention the weight is turned too: it has one row for each feature of the result."""
    return W, X.T


@mistake
def tokens_not_turned(X: F, W: F) -> tuple[F, F]:
    """the right factor is X as it is, so its tokens are still rows."""
    return W.T, X


@mistake
def original_order(X: F, W: F) -> tuple[F, F]:
    """both factors are turned, but in their old order. Transposing a product reverses it."""
    return X.T, W.T


@mistake
def nothing_turned(X: F, W: F) -> tuple[F, F]:
    """you handed back X and W as they are. Their product has tokens as rows."""
    return X, W


@mistake
def exchanged_only(X: F, W: F) -> tuple[F, F]:
    """you changed the order of the factors, and turned neither. W times X is another product, and need not even exist."""
    return W, X


@mistake
def first_turned_alone(X: F, W: F) -> tuple[F, F]:
    """the factors stand in their old order, and W is not turned. What is the transpose of a product of two matrices?"""
    return X.T, W


@mistake
def second_turned_alone(X: F, W: F) -> tuple[F, F]:
    """the factors stand in their old order, and X is not turned. What is the transpose of a product of two matrices?"""
    return X, W.T


@mistake
def reshaped_both(X: F, W: F) -> tuple[F, F]:
    """you gave both factors the shapes of their transposes with `reshape`. That deals the numbers out anew, in their old order. A
    transpose moves entry (i, j) to (j, i)."""
    return W.reshape(W.shape[1], W.shape[0]), X.reshape(X.shape[1], X.shape[0])


@mistake
def reshaped_tokens(X: F, W: F) -> tuple[F, F]:
    """you gave X the shape of its transpose with `reshape`. That deals the numbers out anew, in their old order, so that no column
    is a token. A transpose moves entry (i, j) to (j, i)."""
    return W.T, X.reshape(X.shape[1], X.shape[0])


@mistake
def reshaped_weight(X: F, W: F) -> tuple[F, F]:
    """you gave W the shape of its transpose with `reshape`. That deals the numbers out anew, in their old order. A transpose moves
    entry (i, j) to (j, i)."""
    return W.reshape(W.shape[1], W.shape[0]), X.T


@mistake
def rotated(X: F, W: F) -> tuple[F, F]:
    """you rotated both by a quarter turn. That gives the shape of a transpose, and one of the two axes runs backwards:
    entry (i, j) has to go to (j, i)."""
    return np.rot90(W), np.rot90(X)


@mistake
def flipped(X: F, W: F) -> tuple[F, F]:
    """you rotated both by a quarter turn. That gives the shape of a transpose, and one of the two axes runs backwards:
    entry (i, j) has to go to (j, i)."""
    return np.rot90(W, -1), np.rot90(X, -1)


@mistake
def product_alone(X: F, W: F) -> F:
    """you returned the product. Return its two factors, in a tuple: first the left one, then the right one."""
    return (X @ W).T


@mistake
def product_as_it_was(X: F, W: F) -> F:
    """you returned the product X @ W. Return the two factors of the turned product, in a tuple: first the left one, then the right one."""
    return X @ W


@mistake
def product_too(X: F, W: F) -> tuple[F, F, F]:
    """you returned a third thing beside the two factors. The tuple has two parts: left and right."""
    return W.T, X.T, W.T @ X.T


@mistake
def weight_and_product(X: F, W: F) -> tuple[F, F]:
    """the first part is the left factor. The second should be the right factor, and is the product already."""
    return W.T, W.T @ X.T


@mistake
def list_of_factors(X: F, W: F) -> list[F]:
    """both factors are right, and they stand in a list. A tuple is asked for: two values with a comma between them."""
    return [W.T, X.T]


@mistake
def factors_by_name(X: F, W: F) -> dict[str, F]:
    """you returned a dictionary. A tuple is asked for: first the left factor, then the right one."""
    return {"left": W.T, "right": X.T}


@mistake
def factors_squeezed(X: F, W: F) -> tuple[F, F]:
    """you took the axes of length 1 away, as `squeeze` does. A single token stands in a table of one column, [d, 1]: both factors keep
    their two axes."""
    return W.T.squeeze(), X.T.squeeze()


@mistake
def factors_in_float64(X: F, W: F) -> tuple[F, F]:
    """float32 went in and float64 came out. `np.zeros` is float64 unless it is told otherwise, and `astype(float)` always;
    turning an array keeps its type."""
    return W.T.astype(np.float64), X.T.astype(np.float64)


@right
def turned_by_einsum(X: F, W: F) -> tuple[F, F]:
    return np.einsum("dk->kd", W), np.einsum("nd->dn", X)


@right
def turned_by_swapaxes(X: F, W: F) -> tuple[F, F]:
    return np.swapaxes(W, 0, 1), np.ascontiguousarray(np.swapaxes(X, 0, 1))


@right
def turned_by_stacking(X: F, W: F) -> tuple[F, F]:
    return np.stack(list(W), axis=1), np.stack(list(X), axis=1)
