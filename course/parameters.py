"""The parameters of one transformer block: one dictionary, the same names everywhere."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

Params = dict[str, Float[np.ndarray, "..."]]


def shapes(d: int, h: int, k: int, v: int, f: int) -> dict[str, tuple[int, ...]]:
    """The names of the parameters, in order, and their shapes.

    Args:
        d: width of a token.
        h: heads.
        k, v: width of a query or key, and of a value, in one head.
        f: width of the hidden layer of the FFN.

    Returns:
        "Wqkv" holds in its columns all queries, then all keys, then all values, in each of them heads in order.
    """
    return {
        "Wqkv": (d, h * (2 * k + v)),
        "Wo": (h * v, d),
        "W1": (d, f),
        "b1": (f,),
        "W2": (f, d),
        "b2": (d,),
        "gain1": (d,),
        "bias1": (d,),
        "gain2": (d,),
        "bias2": (d,),
    }


def random_parameters(rng: np.random.Generator, d: int, h: int, k: int, v: int, f: int) -> Params:
    """The parameters of a block that is new: random weights, gains of 1, biases of 0. Sizes as in `shapes`.

    Numbers of a size of 1 stay so in every product; W2 makes up for what relu takes away (He et al., 2015).
    """

    def parameter(name: str, shape: tuple[int, ...]) -> np.ndarray:
        if len(shape) == 1:
            return np.ones(shape) if name.startswith("gain") else np.zeros(shape)
        size = 2.0 if name == "W2" else 1.0
        return rng.standard_normal(shape) * (size / shape[0]) ** 0.5

    return {name: parameter(name, shape) for name, shape in shapes(d, h, k, v, f).items()}
