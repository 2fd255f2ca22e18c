"""Notebook 08: what it costs, and how to time it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from autograder.exercises.drawing import normal, sizes
from autograder.exercises.model import Case, Exercise, Probe, case
from course.functions import public_function
from course.values import Tensor as TensorValue

NOTEBOOK = "08_clocks"
Flops = dict[str, int]
Act = Callable[[], object]
Clock = Callable[[], float]
Report = dict[str, Any]
T = Tensor
Cache = dict[str, Tensor]


# --------------------------------------------------------------------------------------------- block_flops


def block_flops(b: int, n: int, d: int, h: int, f: int) -> dict[str, int]:
    """The FLOPs of a block's matrix products, added up product by product, head by head."""

    def product(m: int, k: int, n: int) -> int:
        return 2 * m * k * n

    width = d // h
    flops = dict.fromkeys(("qkv", "scores", "mix", "output", "ffn"), 0)
    for _ in range(h):
        for _ in ("queries", "keys", "values"):
            flops["qkv"] += b * product(n, d, width)
        flops["scores"] += b * product(n, width, n)
        flops["mix"] += b * product(n, n, width)
        flops["output"] += b * product(n, width, d)  # this head's rows of Wo
    flops["ffn"] = b * product(n, d, f) + b * product(n, f, d)
    return flops


def _flops(b: int, n: int, d: int, f: int) -> Flops:
    return {
        "qkv": 6 * b * n * d * d,
        "scores": 2 * b * n * n * d,
        "mix": 2 * b * n * n * d,
        "output": 2 * b * n * d * d,
        "ffn": 4 * b * n * d * f,
    }


def scores_and_mix_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied scores and mix by h, and put in the full width d as well. Each head works on d/h features only: h heads
    of width d/h together cost what one head of width d costs."""
    right = _flops(b, n, d, f)
    return right | {"scores": h * right["scores"], "mix": h * right["mix"]}


def scores_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the scores by h, and put in the full width d as well. A score of one head is a dot product of d/h
    products; h heads together make d of it again."""
    right = _flops(b, n, d, f)
    return right | {"scores": h * right["scores"]}


def mix_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the mix by h, and put in the full width d as well. The values of one head have d/h features; h heads
    together make d of it again."""
    right = _flops(b, n, d, f)
    return right | {"mix": h * right["mix"]}


def attention_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix are those of one head, of width d/h. There are h heads, and each has a table of scores of its own."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // h, "mix": right["mix"] // h}


def scores_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """the scores are those of one head, of width d/h. There are h heads, and each has a table of scores of its own."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // h}


def mix_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """the mix is that of one head, whose values have d/h features. There are h heads, and each mixes values of its own."""
    right = _flops(b, n, d, f)
    return right | {"mix": right["mix"] // h}


def everything_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one head: d/h columns in each projection, and the scores, the mix and the rows of Wo that belong to it.
    There are h of them."""
    right = _flops(b, n, d, f)
    return {key: flops if key == "ffn" else flops // h for key, flops in right.items()}


def projections_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you projected to queries, keys and values of width d/h. That is one head; the h heads together have queries of width
    d, and so it is for keys and values."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // h}


def each_head_as_wide_as_the_block(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you gave each head queries, keys and values of width d, and Wo h·d rows. Here the heads share d among them: d/h each."""
    right = _flops(b, n, d, f)
    return {key: flops if key == "ffn" else h * flops for key, flops in right.items()}


def projections_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the projections by h, and gave each the full width d as well. One head projects to d/h features; the h
    heads together to d."""
    right = _flops(b, n, d, f)
    return right | {"qkv": h * right["qkv"]}


def output_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you gave Wo d/h rows. What is multiplied by Wo is the heads' outputs side by side, and they are d wide together."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] // h}


def output_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the output by h, and gave it the full width d as well. The heads lie side by side, d wide together, and are
    multiplied by Wo once."""
    right = _flops(b, n, d, f)
    return right | {"output": h * right["output"]}


def output_among_tokens(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the output as if tokens met there. They meet in scores and mix alone: Wo is a table of weights, d times d,
    whatever n is."""
    return _flops(b, n, d, f) | {"output": 2 * b * n * n * d}


def leaves_out_wo(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted nothing for the output. When the heads' outputs lie side by side, they are still multiplied by Wo. (A
    well-known lecture leaves this product out as well.)"""
    return _flops(b, n, d, f) | {"output": 0}


def no_key_for_wo(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your dictionary has no entry for the output: the product of the heads' outputs and Wo."""
    return {key: flops for key, flops in _flops(b, n, d, f).items() if key != "output"}


def leaves_out_the_mix(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted nothing for the mix. Weights times values is a product of tables like any other."""
    return _flops(b, n, d, f) | {"mix": 0}


def mix_under_the_scores(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you put the mix under the scores. Under "scores" belongs the product of queries and keys, under "mix" that of weights
    and values."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + right["mix"], "mix": 0}


def forgets_the_batch(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one item of the batch. There are b of them, and none shares its work with another."""
    return _flops(1, n, d, f)


def weights_once_for_all_items(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted b in scores and mix alone. The items of a batch share the *weights*, but each of its b·n tokens is multiplied
    by them."""
    return _flops(1, n, d, f) | {key: _flops(b, n, d, f)[key] for key in ("scores", "mix")}


def scores_once_for_all_items(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you left b out in scores and mix. Each item has a table of scores of its own."""
    return _flops(b, n, d, f) | {key: _flops(1, n, d, f)[key] for key in ("scores", "mix")}


def ffn_without_the_batch(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you left b out in the feed-forward network. It is applied to each token of each item."""
    return _flops(b, n, d, f) | {"ffn": _flops(1, n, d, f)["ffn"]}


def items_meet(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you took the batch for one long text of b·n tokens, in which every token meets every other. Tokens of different items
    never meet: b tables of n times n."""
    right = _flops(b, n, d, f)
    return right | {"scores": b * right["scores"], "mix": b * right["mix"]}


def forgets_the_2(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted a multiplication and the addition after it as one. They are two FLOPs."""
    return {key: flops // 2 for key, flops in _flops(b, n, d, f).items()}


def projections_without_the_2(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """what you counted for the projections is half of it. A multiplication and the addition after it are two FLOPs, here as in
    the other products."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // 2}


def output_without_the_2(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """what you counted for the output is half of it. A multiplication and the addition after it are two FLOPs, here as in the
    other products."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] // 2}


def one_addition_fewer(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted k - 1 additions for k products, which is exact. The rule of this course is 2 for each product, as if every
    sum started from zero."""
    k = d // h
    return {
        "qkv": 3 * b * n * d * (2 * d - 1),
        "scores": b * h * n * n * (2 * k - 1),
        "mix": b * n * d * (2 * n - 1),
        "output": b * n * d * (2 * d - 1),
        "ffn": b * n * f * (2 * d - 1) + b * n * d * (2 * f - 1),
    }


def each_query_meets_one_token(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted n scores in an item. Each of its n queries meets all n keys: it is this square that makes long texts
    expensive."""
    return _flops(b, n, d, f) | {"scores": 2 * b * n * d, "mix": 2 * b * n * d}


def scores_feature_by_feature(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d in scores and mix. Queries meet keys, so the table is [n, n], and each entry is a sum over
    features."""
    return _flops(b, n, d, f) | {"scores": 2 * b * n * d * d, "mix": 2 * b * n * d * d}


def scores_as_wide_as_tokens(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d in the scores. Queries meet keys, so the table is [n, n], and each entry is a sum over features."""
    return _flops(b, n, d, f) | {"scores": 2 * b * n * d * d}


def mix_feature_by_feature(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d in the mix. Each of n rows of weights is multiplied by n values, which are d wide in all heads
    together."""
    return _flops(b, n, d, f) | {"mix": 2 * b * n * d * d}


def one_token(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one token, which is alone in its text. An item has n of them: each is multiplied by the weights, and each meets
    all n."""
    return _flops(b, 1, d, f)


def one_new_token(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one token that meets n others, as when a text is written token by token. Here all n tokens of an item go
    through the block, each with a query of its own."""
    return {key: flops // n for key, flops in _flops(b, n, d, f).items()}


def tokens_and_features_exchanged(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d everywhere. n is the number of tokens, d the width of each."""
    return _flops(b, d, n, f)


def batch_and_tokens_exchanged(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged b and n. There are b items of n tokens each, and it is tokens that meet in the scores."""
    return _flops(n, b, d, f)


def only_the_causal_half(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix are half of what they should be. If you left out the 2: a multiplication and the addition after it are two
    FLOPs. If it was for a causal mask: the product computes the whole table, and the mask then throws half of it away. (There
    are programs that skip the hidden half; here the plain products are counted.)"""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // 2, "mix": right["mix"] // 2}


def half_of_the_scores(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your scores are half of what they should be. If you left out the 2: a multiplication and the addition after it are two
    FLOPs. If it was for a causal mask: the product computes the whole table, and the mask then throws half of it away."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // 2}


def half_of_the_mix(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your mix is half of what it should be. If you left out the 2: a multiplication and the addition after it are two FLOPs. If
    it was for a causal mask: weights that are zero are multiplied like any others."""
    right = _flops(b, n, d, f)
    return right | {"mix": right["mix"] // 2}


def only_the_kept_places(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the n(n + 1)/2 places that a causal mask keeps. The product computes the whole table, and the mask then
    throws the rest away. (There are programs that skip it; here the plain products are counted.)"""
    kept = b * n * (n + 1) * d
    return _flops(b, n, d, f) | {"scores": kept, "mix": kept}


def one_ffn_product(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your feed-forward network is half of what it should be. There are two products in it, from d to f and back from f to d,
    and in each of them a multiplication and the addition after it are two FLOPs."""
    return _flops(b, n, d, f) | {"ffn": 2 * b * n * d * f}


def ffn_four_times_as_wide(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you took f to be 4d. Many models do, but the width is given, and it is f."""
    return _flops(b, n, d, 4 * d)


def ffn_stays_wide(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied [n, f] by a table of [f, f] in the second half of the feed-forward network. It goes back from f to d."""
    return _flops(b, n, d, f) | {"ffn": 2 * b * n * f * (d + f)}


def ffn_without_f(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you gave the feed-forward network the width d inside. Inside it is f wide."""
    return _flops(b, n, d, d)


def ffn_of_width_f(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied by f twice in the feed-forward network, and never by d. Each of its tables has one side of d and one of
    f."""
    return _flops(b, n, d, f) | {"ffn": 4 * b * n * f * f}


def one_projection(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "qkv" you counted one projection. There are three of them: queries, keys and values."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // 3}


def two_projections(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "qkv" you counted two projections. There are three of them: queries, keys and values."""
    right = _flops(b, n, d, f)
    return right | {"qkv": 2 * right["qkv"] // 3}


def softmax_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted something for every single score, as scaling or softmax does. Only the matrix products count here; what is
    done entry by entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + b * h * n * n}


def biases_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the biases of the feed-forward network. Only the matrix products count here; what is done entry by entry is
    small beside them."""
    right = _flops(b, n, d, f)
    return right | {"ffn": right["ffn"] + b * n * (f + d)}


def activation_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the activation in the feed-forward network. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"ffn": right["ffn"] + b * n * f}


def sizes_of_the_results(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted how many numbers come out of each product. Each of them is a sum of many products: its length, the side
    that both tables share, is a factor too, and so is 2."""
    return {
        "qkv": 3 * b * n * d,
        "scores": b * h * n * n,
        "mix": b * n * d,
        "output": b * n * d,
        "ffn": b * n * (f + d),
    }


def backward_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted three times the work, as training does, with a backward pass that costs twice the forward one. Here it is
    the forward pass alone."""
    return {key: 3 * flops for key, flops in _flops(b, n, d, f).items()}


def flops_as_floats(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """there are floats among your counts, as when d is divided by h with /, or a power is written n**2.0. Counts are whole
    numbers: // stays whole, and here nothing needs to be divided at all. (Beyond 2**53 a float does not even hold every whole
    number.)"""
    return _flops(b, n, d, f) | dict.fromkeys(("scores", "mix"), 2 * b * h * n * n * (d / h))


def squares_of_the_width_as_floats(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """your counts of the products with square tables of weights are floats, as when their power is written d**2.0. Counts are
    whole numbers. (Beyond 2**53 a float does not even hold every whole number.)"""
    right = _flops(b, n, d, f)
    return right | {key: float(right[key]) for key in ("qkv", "output")}


def everything_as_floats(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """all your counts are floats: one factor that is a float, 2.0 or 1e0, is enough. Counts are whole numbers. (Beyond 2**53 a
    float does not even hold every whole number.)"""
    return {key: float(flops) for key, flops in _flops(b, n, d, f).items()}


def attention_through_floats(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix went through a float on their way, as with d / h, and were made whole again by `int` or `round`. That is too
    late: beyond 2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    return _flops(b, n, d, f) | dict.fromkeys(("scores", "mix"), int(2 * b * h * n * n * (d / h)))


def everything_through_floats(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """all your counts went through floats on their way, and were made whole again by `int` or `round`. That is too late: beyond
    2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    return {key: int(float(flops)) for key, flops in _flops(b, n, d, f).items()}


def in_billions(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """these are billions of FLOPs. Return the counts themselves, as whole numbers."""
    return {key: flops / 1e9 for key, flops in _flops(b, n, d, f).items()}


def of_32_bits(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your counts have gone through integers of 32 bits, which begin anew beyond two thousand millions. One layer of a real
    model does far more. Python's own integers have no limit."""
    return {key: (flops + 2**31) % 2**32 - 2**31 for key, flops in _flops(b, n, d, f).items()}


def a_total_as_well(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your dictionary has an entry too many, the total. Whoever adds up its entries counts everything twice."""
    right = _flops(b, n, d, f)
    return right | {"total": sum(right.values())}


def only_the_total(b: int, n: int, d: int, h: int, f: int) -> int:
    """this is the total. Return a dictionary that says where it comes from."""
    return sum(_flops(b, n, d, f).values())


def shares(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """these are shares of the total. Return the counts themselves."""
    right = _flops(b, n, d, f)
    return {key: flops / sum(right.values()) for key, flops in right.items()}


def flops_head_by_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    k = d // h
    return {
        "qkv": 3 * b * h * 2 * n * d * k,
        "scores": b * h * (2 * n * k * n),
        "mix": b * h * (2 * n * n * k),
        "output": b * (2 * n * (h * k) * d),
        "ffn": b * (2 * n * d * f + 2 * n * f * d),
    }


def flops_of_all_tokens_at_once(b: int, n: int, d: int, h: int, f: int) -> Flops:
    tokens = b * n
    meeting = 2 * tokens * n * d
    return {
        "ffn": 2 * tokens * d * f * 2,
        "mix": meeting,
        "output": 2 * tokens * d**2,
        "qkv": 2 * tokens * d * (3 * d),
        "scores": meeting,
    }


def flops_as_numpy_integers(b: int, n: int, d: int, h: int, f: int) -> dict[str, Any]:
    shapes = {
        "qkv": [(n, d, d)] * 3,
        "scores": [(n, d, n)],
        "mix": [(n, n, d)],
        "output": [(n, d, d)],
        "ffn": [(n, d, f), (n, f, d)],
    }
    return {key: 2 * b * np.prod(np.array(of, np.int64), axis=1).sum() for key, of in shapes.items()}


def flops_on_the_meta_device(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """Products of tensors that have a shape and no numbers, counted one by one."""
    counted: dict[str, int] = {}

    def times(key: str, A: Tensor, B: Tensor) -> Tensor:
        C = A @ B
        counted[key] = counted.get(key, 0) + 2 * C.numel() * A.shape[-1]
        return C

    def blank(*shape: int) -> Tensor:
        return torch.empty(*shape, device="meta")

    X = blank(b, n, d)
    Q, K, V = (times("qkv", X, blank(d, d)).reshape(b, n, h, -1).transpose(1, 2) for _ in range(3))
    mixed = times("mix", times("scores", Q, K.transpose(2, 3)), V)
    times("output", mixed.transpose(1, 2).flatten(2), blank(d, d))
    times("ffn", times("ffn", X, blank(d, f)), blank(f, d))
    return counted


def _block_sizes(rng: np.random.Generator, low: int = 2, high: int = 12) -> tuple[int, int, int, int, int]:
    """b, n, d, h and f, pairwise distinct, with 2 heads or more and f different from 4d."""
    while True:
        b, n, k, h, f = sizes(rng, 5, low, high)
        if len({b, n, h * k, h, f}) == 5 and f != 4 * h * k:
            return b, n, h * k, h, f


def _a_block(rng: np.random.Generator) -> list[Case]:
    return [case(*_block_sizes(rng)), case(*_block_sizes(rng, 5, 20))]


def _small_blocks(rng: np.random.Generator) -> list[Case]:
    b, n, d, h, f = _block_sizes(rng)
    return [case(b, n, d, 1, f), case(b, n, d, d, f), case(b, 1, d, h, f), case(1, n, d, h, f)]


def _large_blocks(rng: np.random.Generator) -> list[Case]:
    """A layer beyond those of large models, all sizes odd: no count is a float, and h or b times as much is still below 2**63."""

    def odd(low: int, high: int) -> int:
        return 2 * int(rng.integers(low // 2, high // 2)) + 1

    h = odd(41, 51)
    return [case(odd(51, 61), odd(98_000, 106_000), h * odd(1101, 1201), h, odd(110_000, 130_000))]


BLOCK_FLOPS = Exercise(
    oracle=block_flops,
    notebook=NOTEBOOK,
    public=(
        case(1, 2, 4, 2, 3),
        case(2, 3, 6, 3, 5),
        case(3, 1, 4, 1, 7),
        case(16, 2048, 4096, 32, 11008),
        # no count is a float
        case(57, 100_001, 45 * 1151, 45, 120_001),
    ),
    probes=(
        *(
            Probe(f"the products under {key!r}, all sizes different", 0.5, _a_block, part=key)
            for key in ("qkv", "scores", "mix", "output", "ffn")
        ),
        Probe("one head, as many heads as features, one token, one item", 1.0, _small_blocks),
        Probe("whole numbers at the size of a large model", 0.5, _large_blocks),
    ),
    mistakes=(
        scores_and_mix_for_every_head,
        scores_for_every_head,
        mix_for_every_head,
        attention_of_one_head,
        scores_of_one_head,
        mix_of_one_head,
        everything_of_one_head,
        projections_of_one_head,
        each_head_as_wide_as_the_block,
        projections_for_every_head,
        output_of_one_head,
        output_for_every_head,
        output_among_tokens,
        leaves_out_wo,
        no_key_for_wo,
        leaves_out_the_mix,
        mix_under_the_scores,
        forgets_the_batch,
        weights_once_for_all_items,
        scores_once_for_all_items,
        ffn_without_the_batch,
        items_meet,
        forgets_the_2,
        projections_without_the_2,
        output_without_the_2,
        one_addition_fewer,
        each_query_meets_one_token,
        scores_feature_by_feature,
        scores_as_wide_as_tokens,
        mix_feature_by_feature,
        one_token,
        one_new_token,
        tokens_and_features_exchanged,
        batch_and_tokens_exchanged,
        only_the_causal_half,
        half_of_the_scores,
        half_of_the_mix,
        only_the_kept_places,
        one_ffn_product,
        ffn_four_times_as_wide,
        ffn_stays_wide,
        ffn_without_f,
        ffn_of_width_f,
        one_projection,
        two_projections,
        softmax_too,
        biases_too,
        activation_too,
        sizes_of_the_results,
        backward_too,
        flops_as_floats,
        squares_of_the_width_as_floats,
        everything_as_floats,
        attention_through_floats,
        everything_through_floats,
        in_billions,
        of_32_bits,
        a_total_as_well,
        only_the_total,
        shares,
    ),
    variants=(
        flops_head_by_head,
        flops_of_all_tokens_at_once,
        flops_as_numpy_integers,
        flops_on_the_meta_device,
    ),
)


# --------------------------------------------------------------------------------------------------- bench


def bench(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> dict[str, list[float] | float]:
    """Each repetition by itself: nothing is waiting when the clock is started, nothing when it is stopped."""
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    ordered = sorted(times)
    middle = (ordered[(reps - 1) // 2] + ordered[reps // 2]) / 2
    return {"times": times, "median": middle, "spread": ordered[-1] - ordered[0]}


def _report(times: list[float]) -> Report:
    return {"times": times, "median": statistics.median(times), "spread": max(times) - min(times)}


def _warm(fn: Act, warmup: int) -> None:
    for _ in range(warmup):
        fn()


def _timed(fn: Act, sync: Act, clock: Clock, reps: int) -> list[float]:
    """The right times of repetitions, after whatever warm-up there was."""
    return [_once(fn, sync, clock) for _ in range(reps)]


def _once(fn: Act, sync: Act, clock: Clock) -> float:
    sync()
    start = clock()
    fn()
    sync()
    return clock() - start


def _right_times(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> list[float]:
    _warm(fn, warmup)
    return _timed(fn, sync, clock, reps)


def no_wait_before_the_clock_stops(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you stop the clock as soon as fn returns, and fn only hands the work over. What you measured is how long that takes.
    Wait until the work is done."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        times.append(clock() - start)
    return _report(times)


def waits_after_the_clock_has_stopped(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait for the work, but only when the clock has already been stopped. Waiting is what has to be measured."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        times.append(clock() - start)
        sync()
    return _report(times)


def waits_for_nothing(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """between the two readings of your clock nothing waits for the work, and before them neither. So you measured how long it
    takes to hand work over, until the queue is full. (A bare `sync`, without brackets, does nothing. And the GPU for which
    `torch.cuda.synchronize` waits, if there is one, is not the one of fn.)"""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        times.append(clock() - start)
    return _report(times)


def waits_once_before_all(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait once, before the first repetition, and then never again. Each time, when the clock is stopped, the work has
    only been handed over, until the queue is full."""
    _warm(fn, warmup)
    sync()
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        times.append(clock() - start)
    return _report(times)


def waits_at_the_last_stop_only(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait when all repetitions have been queued, so the last of them pays for those before it. Each repetition has to wait
    for its own work."""
    _warm(fn, warmup)
    sync()
    times = []
    for repetition in range(reps):
        start = clock()
        fn()
        if repetition == reps - 1:
            sync()
        times.append(clock() - start)
    return _report(times)


def no_wait_before_the_clock_starts(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """when you start the clock for the first repetition, older work is still in the queue, the warm-up's among it. It is done
    first, and your time pays for it. Wait before you start the clock."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


def waits_before_the_warm_up_only(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait before the warm-up, and not after it. The warm-up puts work into the queue itself, and your first repetition
    pays for it."""
    sync()
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


def starts_the_clock_before_it_waits(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you start the clock and wait for the older work then, so that this waiting is measured too. The other way round: first
    wait, then start the clock."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        sync()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


def starts_the_clock_after_the_call(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your times leave out what passes while fn is called: the clock is started behind it, or the handing over is taken off
    again. The work begins with the call, and so does the time."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        fn()
        start = clock()
        sync()
        times.append(clock() - start)
    return _report(times)


def starts_the_clock_after_the_call_and_waits_too_late(
    fn: Act, sync: Act, clock: Clock, warmup: int, reps: int
) -> Report:
    """two things. Your times leave out what passes while fn is called: the clock is started behind it, or the handing over is
    taken off again. And nothing waits for older work before fn is called, so the first of them pays for that."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        fn()
        start = clock()
        sync()
        times.append(clock() - start)
    return _report(times)


def warm_up_timed_too(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured the warm-up and reported it with the rest. It is there so that the slow first calls, which compile and fill
    caches, are *not* in the report."""
    return _report(_timed(fn, sync, clock, warmup + reps))


def warm_up_in_the_statistics(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are right, and the warm-up got into median and spread. Those belong to the times that are reported."""
    times = _timed(fn, sync, clock, warmup + reps)
    return _report(times) | {"times": times[warmup:]}


def warm_up_skipped(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you do not call fn before you measure. The first calls of a function are often slow for reasons of their own: call it
    warmup times without looking at the clock."""
    return _report(_timed(fn, sync, clock, reps))


def one_call_to_warm_up(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you warm up with one call, whatever is asked for. warmup says how many."""
    return _report(_right_times(fn, sync, clock, 1, reps))


def one_call_to_warm_up_or_none(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """where a warm-up is asked for, yours is one call. warmup is a number of calls."""
    return _report(_right_times(fn, sync, clock, int(warmup > 0), reps))


def warm_up_counts_as_repetitions(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you took the warm-up out of the repetitions. Of those, reps are to be measured, after the warm-up."""
    return _report(_timed(fn, sync, clock, reps)[warmup:])


def warms_up_every_time(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you warm up anew before every repetition. Once, before the first, is enough, and fn is called warmup + reps times in
    all."""
    times = []
    for _ in range(reps):
        _warm(fn, warmup)
        times.append(_once(fn, sync, clock))
    return _report(times)


def counts_exchanged(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you exchanged warmup and reps."""
    return _report(_right_times(fn, sync, clock, reps, warmup))


def one_repetition_too_few(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured one repetition fewer than reps."""
    return _report(_right_times(fn, sync, clock, warmup, reps - 1))


def one_repetition_too_many(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured one repetition more than reps."""
    return _report(_right_times(fn, sync, clock, warmup, reps + 1))


def first_repetition_dropped(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you call fn once more than asked, and drop the first time. The calls that do not count are the warm-up, and warmup says
    how many there are."""
    return _report(_right_times(fn, sync, clock, warmup, reps + 1)[1:])


def one_call_for_all_repetitions(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you called fn once and repeated its time. Then the spread is 0 and says nothing. Call fn in each repetition."""
    return _report(_right_times(fn, sync, clock, warmup, 1) * reps)


def one_clock_around_all(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured all repetitions together and divided by their number. That is a mean: a single slow call hides in it, and
    the spread is lost. Give each repetition a start and a stop of its own."""
    _warm(fn, warmup)
    sync()
    start = clock()
    for _ in range(reps):
        fn()
    sync()
    return _report([(clock() - start) / reps] * reps)


def one_time_for_all(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured all repetitions together and report one time, their mean. Each repetition has a time of its own: reps of
    them."""
    _warm(fn, warmup)
    sync()
    start = clock()
    for _ in range(reps):
        fn()
    sync()
    return _report([(clock() - start) / reps])


def clock_started_once(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you started the clock once, before the first repetition, so your times grow: each holds all those before it. Start it
    anew in each repetition."""
    _warm(fn, warmup)
    sync()
    start = clock()
    times = []
    for _ in range(reps):
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


def the_clock_itself(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are what the clock showed at the end. Such a clock begins anywhere: only the difference of two readings means
    something."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        fn()
        sync()
        times.append(clock())
    return _report(times)


def start_minus_stop(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are negative: you took the stop from the start."""
    return _report([-time for time in _right_times(fn, sync, clock, warmup, reps)])


def fn_called_twice(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """fn is called twice while your clock runs."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


def fn_never_called(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """nothing happens while your clock runs: fn is not called. A bare `fn` only names the function; brackets call it."""
    return _report(_timed(lambda: None, sync, clock, reps))


def clock_without_brackets(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you took one function from another. A bare `clock` only names the function; brackets read it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock
        fn()
        sync()
        times.append(clock - start)  # type: ignore[operator]
    return _report(times)


def reads_the_computers_clock(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you have not read the clock that came with fn. If you read the computer's own, as with `time.perf_counter`: it knows
    nothing of this GPU. What your function works with is what it is given, so that it can be tried out on any device."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - start)
    return _report(times)


def waits_for_a_real_gpu(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait for a real GPU, as with `torch.cuda.synchronize`, and it knows nothing of the work of fn. What waits for that is
    the sync that you are given: your function then works on any device."""
    _warm(fn, warmup)
    raise AssertionError("Torch not compiled with CUDA enabled")  # what torch says where there is none


def waits_on_what_fn_returns(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you ask what fn returns to wait. Nothing is known of that, and here it is nothing at all: fn hands work over, and sync waits
    for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn().synchronize()  # type: ignore[attr-defined]
        times.append(clock() - start)
    return _report(times)


def takes_what_fn_returns_for_a_time(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you took what fn returns for its time. Nothing is known of what it returns: a time is the difference of two readings of the
    clock."""
    _warm(fn, warmup)
    return _report([fn() for _ in range(reps)])  # type: ignore[misc]


def takes_what_sync_returns_for_a_time(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you subtracted a reading of the clock from what sync or fn returns, which is no time. Wait first, and then read the clock
    once more."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        times.append(sync() - start)  # type: ignore[operator]
    return _report(times)


def in_milliseconds(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """these are milliseconds. The clock speaks in seconds, and so should the report."""
    return _report([1e3 * time for time in _right_times(fn, sync, clock, warmup, reps)])


def in_microseconds(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """these are microseconds. The clock speaks in seconds, and so should the report."""
    return _report([1e6 * time for time in _right_times(fn, sync, clock, warmup, reps)])


def rounded_times(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you rounded the times. What looks like a small digit in seconds may be all there is of a fast kernel: leave rounding to
    those who print."""
    return _report([round(time, 3) for time in _right_times(fn, sync, clock, warmup, reps)])


def sorted_times(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you sorted the times. Their order tells a story, of a function that grows slower, for one: sort a copy for the median.
    (`times.sort()` sorts the list itself, `sorted(times)` makes another.)"""
    return _report(sorted(_right_times(fn, sync, clock, warmup, reps)))


def backward_times(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are in reverse. The first repetition comes first."""
    return _report(_right_times(fn, sync, clock, warmup, reps)[::-1])


def without_the_slowest(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the slowest repetition out of the spread. It happened, and the spread is there to say so; the median does not
    mind it."""
    times = _right_times(fn, sync, clock, warmup, reps)
    rest = sorted(times)[: max(1, reps - 1)]
    return _report(times) | {"spread": rest[-1] - rest[0]}


def without_fastest_and_slowest(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the fastest and the slowest time out of the spread. They happened, and the spread is there to say so; the median
    does not mind them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    rest = sorted(times)[1:-1] or times
    return _report(times) | {"spread": rest[-1] - rest[0]}


def without_fastest_and_slowest_of_two(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the fastest and the slowest time out. Of one or two times nothing is left then, and of more the spread no longer
    says how far apart they were. Leave them in: the median does not mind them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(sorted(times)[1:-1]) | {"times": times}


def outliers_dropped(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """you dropped the fastest and the slowest time. Nothing is left out of the report: the spread is there to tell of them, and
    the median does not mind them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    ends = (min(times), max(times))
    return _report([time for time in times if time not in ends] or times)


def mean_for_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the mean. One interruption moves a mean as far as it likes; half of all times lie below the median and
    half above, whatever the slowest did."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": statistics.mean(times)}


def minimum_for_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the smallest time. Some people report that, as the time without interruptions; the median is the one in
    the middle."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": min(times)}


def maximum_for_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the largest time. It is the one in the middle, when the times are in order of size."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": max(times)}


def first_for_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the first time. It is the one in the middle, when the times are in order of size."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": times[0]}


def last_for_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the last time, perhaps that of a variable which the loop left behind. It is the one in the middle, when
    the times are in order of size."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": times[-1]}


def upper_middle(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """of an even number of times none is in the middle. You took the upper of the two that are; the median is half-way between
    them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": sorted(times)[reps // 2]}


def lower_middle(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """of an even number of times none is in the middle. You took the lower of the two that are; the median is half-way between
    them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": sorted(times)[(reps - 1) // 2]}


def middle_of_the_unsorted(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the time that was measured half-way through. It is the one in the middle when the times are in order of
    *size*."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": times[reps // 2]}


def middle_two_of_the_unsorted(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is made of the times that were measured half-way through. It is the middle when the times are in order of
    *size*."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": (times[(reps - 1) // 2] + times[reps // 2]) / 2}


def middle_of_the_extremes(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is half-way between the fastest and the slowest. One interruption moves that too; the median has as many
    times below it as above."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": (min(times) + max(times)) / 2}


def spread_as_a_ratio(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the slowest time divided by the fastest. It is the difference, in seconds."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": max(times) / min(times)}


def spread_as_a_share(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is a share of the median. It is an amount, in seconds, from the fastest to the slowest."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": right["spread"] / right["median"]}


def half_the_spread(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is half of what it should be: it goes from the fastest time to the slowest, and not from the middle."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": right["spread"] / 2}


def spread_as_a_deviation(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the standard deviation. Here it is the plain distance from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": statistics.pstdev(times)}


def spread_as_a_sample_deviation(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the standard deviation of a sample, which a single time has not even got. Here it is the plain distance
    from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": statistics.stdev(times)}


def spread_as_a_variance(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the variance, in seconds squared. Here it is the plain distance from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": statistics.pvariance(times)}


def spread_between_quartiles(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from quartile to quartile. That is a good measure, and another one: here it goes from the fastest time
    to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    low, high = np.percentile(times, [25, 75])
    return _report(times) | {"spread": float(high - low)}


def spread_above_the_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the median to the slowest time. It begins at the fastest."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": max(right["times"]) - right["median"]}


def spread_below_the_median(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the fastest time to the median. It ends at the slowest."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": right["median"] - min(right["times"])}


def spread_turned_round(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is negative: the fastest time minus the slowest. A distance is positive."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": -right["spread"]}


def first_to_last(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the first time to the last, and these are only by luck the fastest and the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": times[-1] - times[0]}


def largest_step(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the largest step from one repetition to the next. It goes from the fastest to the slowest, wherever they
    are."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": max((abs(a - b) for a, b in pairwise(times)), default=0.0)}


def spread_as_a_pair(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is a pair, the fastest time and the slowest. Return the one number that lies between them: their
    difference."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": (min(times), max(times))}


def times_as_an_array(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """the times are right, and they are a numpy array. A list of floats was asked for."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"times": np.array(right["times"])}


def times_as_a_tuple(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """the times are right, and they are a tuple. A list of floats was asked for."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"times": tuple(right["times"])}


def times_as_a_tensor(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """the times are right, and they are a tensor. A list of floats was asked for."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"times": torch.tensor(right["times"], dtype=torch.float64)}


def report_as_a_tuple(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> tuple[object, ...]:
    """the numbers are right, and they stand in a tuple. Return a dictionary, so that the reader knows which is which."""
    return tuple(_report(_right_times(fn, sync, clock, warmup, reps)).values())


def only_the_times(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> list[float]:
    """these are the times alone. Return a dictionary that holds their median and their spread as well."""
    return _right_times(fn, sync, clock, warmup, reps)


def report_that_is_printed(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> None:
    """you return nothing. A report that is only printed cannot be compared with another."""
    _right_times(fn, sync, clock, warmup, reps)


def bench_by_statistics(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    return _report(_right_times(fn, sync, clock, warmup, reps))


def bench_that_waits_once_at_first(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    for _ in range(warmup):
        fn()
    sync()
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


def bench_by_numpy(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    times = np.zeros(reps)
    for i in range(-warmup, reps):
        sync()
        start = clock()
        fn()
        sync()
        if i >= 0:
            times[i] = clock() - start
    return {"times": times.tolist(), "median": np.median(times), "spread": np.ptp(times)}


def bench_by_readings(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    """Each stop is also the next start."""

    def finished() -> float:
        sync()
        return clock()

    for _ in range(warmup):
        fn()
        sync()
    readings = [finished()]
    while len(readings) <= reps:
        fn()
        readings.append(finished())
    times = [stop - start for start, stop in pairwise(readings)]
    return {"spread": max(times) - min(times), "median": float(np.percentile(times, 50)), "times": times}


def bench_by_hand(fn: Act, sync: Act, clock: Clock, warmup: int, reps: int) -> Report:
    starts, stops = [], []
    [fn() for _ in range(warmup)]
    for _ in range(reps):
        sync()
        sync()
        clock()
        starts.append(clock())
        fn()
        sync()
        stops.append(clock())
        sync()
    times = [b - a for a, b in zip(starts, stops, strict=True)]
    s = sorted(times)
    half = reps // 2
    return {
        "times": times,
        "median": s[half] if reps % 2 else 0.5 * (s[half - 1] + s[half]),
        "spread": s[-1] - s[0],
    }


def _timing(
    warmup: int, reps: int, work: list[float], launch: float = 0.0, queued: float = 0.0, *, room: int = 1000
) -> Case:
    device = public_function("device", work=work, launch=launch, queued=queued, room=room)
    return case(device, warmup, reps, harness="timing")


def _ticks(rng: np.random.Generator, how_many: int, low: float, high: float) -> list[float]:
    """Different times in seconds between two bounds that floating point adds without rounding."""
    ticks = rng.choice(np.arange(int(512 * low), int(512 * high)), how_many, replace=False)
    return [float(tick) / 512 for tick in ticks]


def _launch(rng: np.random.Generator) -> float:
    """A short time, that of handing work over."""
    return _ticks(rng, 1, 0.125, 0.25)[0]


def _work_already_queued(rng: np.random.Generator) -> list[Case]:
    queued, again = _ticks(rng, 2, 1.0, 4.0)
    (work,), launch = _ticks(rng, 1, 0.5, 1.0), _launch(rng)
    return [
        _timing(0, 1, [work], launch, queued),
        _timing(0, 1, [launch], work, again),  # it takes longer to launch than to run
        _timing(0, 3, _ticks(rng, 3, 1.0, 2.0), launch, queued),
    ]


def _slow_warm_up(rng: np.random.Generator) -> list[Case]:
    cases = []
    for warmup, reps in ((1, 1), (2, 5), (3, 4)):
        slow, usual = _ticks(rng, warmup, 4.0, 8.0), _ticks(rng, reps + 1, 1.0, 2.0)
        cases.append(_timing(warmup, reps, [*slow, *usual], _launch(rng)))
    return cases


def _a_spike(rng: np.random.Generator) -> list[Case]:
    cases = []
    for reps in (5, 6, 2):
        usual, spike = _ticks(rng, reps, 1.0, 2.0), _ticks(rng, 1, 8.0, 16.0)
        usual.insert(int(rng.integers(1, reps)), *spike)
        cases.append(_timing(0, reps, usual, _launch(rng)))
    return cases


def _a_queue_that_fills(rng: np.random.Generator) -> list[Case]:
    short, long = _ticks(rng, 8, 0.25, 0.75), _ticks(rng, 8, 1.25, 2.0)
    mixed = [seconds for pair in zip(short, long, strict=True) for seconds in pair]
    return [
        _timing(2, 6, long, 0.125, room=3),  # the host soon has to wait for room
        _timing(4, 3, long, 0.125, _launch(rng), room=2),
        _timing(1, 5, short, 1.0),  # the GPU waits for the host
        _timing(2, 7, mixed, 1.0),  # now one, now the other
    ]


def _a_long_series(rng: np.random.Generator) -> list[Case]:
    return [_timing(10, reps, _ticks(rng, reps + 10, 0.25, 2.0), 0.25) for reps in (1, 40, 41)]


BENCH = Exercise(
    oracle=bench,
    notebook=NOTEBOOK,
    public=(
        _timing(0, 1, [3.0], launch=0.25),
        _timing(0, 1, [1.0], launch=0.25, queued=2.0),
        # a slow first call
        _timing(1, 1, [8.0, 2.0, 3.0], launch=0.5),
        # a spike
        _timing(1, 5, [8.0, 2.0, 1.5, 9.015625, 1.75, 1.25, 2.5], launch=0.25),
        # an even number; queue soon full
        _timing(3, 4, [6.0, 4.0, 7.0, 1.25, 2.0, 1.5, 3.0078125, 1.0], launch=0.125, queued=5.0, room=3),
        # longer to launch than to run
        _timing(0, 2, [0.5, 0.25, 2.0], launch=1.0, queued=3.0),
        _timing(2, 6, [9.0, 8.0, 3.5, 2.5, 2.75, 4.0, 3.0, 3.25, 2.25], launch=0.25, room=2),
    ),
    probes=(
        Probe(
            "times where work is already in the queue, also of one repetition", 1.0, _work_already_queued, part="times"
        ),
        Probe("times that hold nothing of a slow warm-up", 1.0, _slow_warm_up, part="times"),
        Probe("the median of odd and even numbers of times, one of them far off", 0.5, _a_spike, part="median"),
        Probe("the spread, where one time is far off", 0.5, _a_spike, part="spread"),
        Probe(
            "times where the queue is full, or a call takes longer to launch than to run",
            0.5,
            _a_queue_that_fills,
            part="times",
        ),
        Probe("the whole report, of one repetition and of many", 0.5, _a_long_series),
    ),
    mistakes=(
        no_wait_before_the_clock_stops,
        waits_after_the_clock_has_stopped,
        waits_for_nothing,
        waits_once_before_all,
        waits_at_the_last_stop_only,
        no_wait_before_the_clock_starts,
        waits_before_the_warm_up_only,
        starts_the_clock_before_it_waits,
        starts_the_clock_after_the_call,
        starts_the_clock_after_the_call_and_waits_too_late,
        warm_up_timed_too,
        warm_up_in_the_statistics,
        warm_up_skipped,
        one_call_to_warm_up,
        one_call_to_warm_up_or_none,
        warm_up_counts_as_repetitions,
        warms_up_every_time,
        counts_exchanged,
        one_repetition_too_few,
        one_repetition_too_many,
        first_repetition_dropped,
        one_call_for_all_repetitions,
        one_clock_around_all,
        one_time_for_all,
        clock_started_once,
        the_clock_itself,
        start_minus_stop,
        fn_called_twice,
        fn_never_called,
        clock_without_brackets,
        reads_the_computers_clock,
        waits_for_a_real_gpu,
        waits_on_what_fn_returns,
        takes_what_fn_returns_for_a_time,
        takes_what_sync_returns_for_a_time,
        in_milliseconds,
        in_microseconds,
        rounded_times,
        sorted_times,
        backward_times,
        without_the_slowest,
        without_fastest_and_slowest,
        without_fastest_and_slowest_of_two,
        outliers_dropped,
        mean_for_median,
        minimum_for_median,
        maximum_for_median,
        first_for_median,
        last_for_median,
        upper_middle,
        lower_middle,
        middle_of_the_unsorted,
        middle_two_of_the_unsorted,
        middle_of_the_extremes,
        spread_as_a_ratio,
        spread_as_a_share,
        half_the_spread,
        spread_as_a_deviation,
        spread_as_a_sample_deviation,
        spread_as_a_variance,
        spread_between_quartiles,
        spread_above_the_median,
        spread_below_the_median,
        spread_turned_round,
        first_to_last,
        largest_step,
        spread_as_a_pair,
        times_as_an_array,
        times_as_a_tuple,
        times_as_a_tensor,
        report_as_a_tuple,
        only_the_times,
        report_that_is_printed,
    ),
    variants=(
        bench_by_statistics,
        bench_that_waits_once_at_first,
        bench_by_numpy,
        bench_by_readings,
        bench_by_hand,
    ),
)


# ------------------------------------------------------------------------------------------- attend_cached


def attend_cached(
    x_new: Float[Tensor, "1 d"],
    cache: dict[str, Float[Tensor, "m _"]],
    Wq: Float[Tensor, "d k"],
    Wk: Float[Tensor, "d k"],
    Wv: Float[Tensor, "d v"],
) -> tuple[Float[Tensor, "1 v"], dict[str, Float[Tensor, "m+1 _"]]]:
    """One query against every key so far, its own the last; key by key."""

    def projected(W: Tensor) -> list[float]:
        x = x_new[0].tolist()
        return [math.fsum(x[i] * row[column] for i, row in enumerate(W.tolist())) for column in range(W.shape[1])]

    q = projected(Wq)
    keys = [*cache["K"].tolist(), projected(Wk)]
    values = [*cache["V"].tolist(), projected(Wv)]
    scores = [math.fsum(a * b for a, b in zip(q, key, strict=True)) / math.sqrt(len(q)) for key in keys]
    powers = [math.exp(score - max(scores)) for score in scores]
    weights = [power / math.fsum(powers) for power in powers]
    output = [math.fsum(a * value[c] for a, value in zip(weights, values, strict=True)) for c in range(len(values[0]))]
    return _like(x_new, [output]), {"K": _like(x_new, keys), "V": _like(x_new, values)}


def _like(x: T, numbers: list[list[float]]) -> T:
    return torch.tensor(numbers, dtype=x.dtype)


Step = tuple[Any, Any]


def _grown(x_new: T, cache: Cache, Wk: T, Wv: T) -> Cache:
    return {"K": torch.cat([cache["K"], x_new @ Wk]), "V": torch.cat([cache["V"], x_new @ Wv])}


def _mixed(q: T, K: T, V: T) -> T:
    return (q @ K.T / K.shape[1] ** 0.5).softmax(dim=-1) @ V


def attends_only_to_itself(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your new token attends to itself alone: its weight is 1, and the output is its own value. The cache is there so that it
    can look back."""
    return x_new @ Wv, _grown(x_new, cache, Wk, Wv)


def forgets_the_new_token(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your new token attends to the tokens before it, and not to itself. Its own key and value belong to those that it looks
    at: put them into the cache first."""
    return _mixed(x_new @ Wq, cache["K"], cache["V"]), _grown(x_new, cache, Wk, Wv)


def masks_itself(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you hid the new token from itself. With a causal mask a token sees itself too, and where it is the first there is nothing
    else to see."""
    grown = _grown(x_new, cache, Wk, Wv)
    scores = x_new @ Wq @ grown["K"].T / Wk.shape[1] ** 0.5
    scores[:, -1] = -torch.inf
    return scores.softmax(dim=-1) @ grown["V"], grown


def itself_left_out_of_the_mix(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """softmax gave a weight to every token, the new one too, and then you mixed the values of the old ones alone: its share is
    lost. Its own value belongs to the mix, as its key belongs to the scores."""
    grown = _grown(x_new, cache, Wk, Wv)
    weights = (_products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5).softmax(dim=-1)
    return weights[:, :-1] @ cache["V"], grown


def first_row_of_the_mask(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your new token sees the very first token and nothing else. A causal mask for one query has one row, and if it is taken as
    the first row it hides all that follows. Your query is the *last* row. Which of its places are hidden?"""
    grown = _grown(x_new, cache, Wk, Wv)
    return grown["V"][:1].clone(), grown


def new_first(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the new key and value in front of the old ones. The output is the same, since a weighted mean knows no order; but
    row j of the cache is no longer token j."""
    grown = {"K": torch.cat([x_new @ Wk, cache["K"]]), "V": torch.cat([x_new @ Wv, cache["V"]])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def new_value_first(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the new key behind the old ones and the new value in front of them. Key and value of a token have to be in the
    same row."""
    grown = _grown(x_new, cache, Wk, Wv) | {"V": torch.cat([x_new @ Wv, cache["V"]])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def values_not_extended(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """there is one key more than there are values. Each token brings a key and a value: the values have to be extended too."""
    grown = cache | {"K": torch.cat([cache["K"], x_new @ Wk])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def keys_not_extended(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """there is one value more than there are keys. Each token brings a key and a value: the keys have to be extended too."""
    grown = cache | {"V": torch.cat([cache["V"], x_new @ Wv])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def old_values_returned(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is right, and the cache that you return has the old values. At the next step there is a key without a
    value."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown | {"V": cache["V"]}


def old_keys_returned(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is right, and the cache that you return has the old keys. At the next step there is a value without a key."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown | {"K": cache["K"]}


def old_cache_returned(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is right, and you return the cache as it came. So the next token will know nothing of this one."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), dict(cache)


def only_the_new_rows_returned(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the cache that you return holds the new token alone. So the next token will know nothing of those before."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), {"K": x_new @ Wk, "V": x_new @ Wv}


def changes_the_callers_cache(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the new rows into the caller's own dictionary. A caller who goes on from one cache in two ways, as beam search
    does, then finds the first continuation in the second. Make a new dictionary."""
    cache["K"] = torch.cat([cache["K"], x_new @ Wk])
    cache["V"] = torch.cat([cache["V"], x_new @ Wv])
    return _mixed(x_new @ Wq, cache["K"], cache["V"]), cache


def changes_the_callers_cache_and_copies_it(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you return a new dictionary, and yet the caller's own was changed on the way. Make the new one first, and leave the old
    one alone."""
    cache["K"] = torch.cat([cache["K"], x_new @ Wk])
    cache["V"] = torch.cat([cache["V"], x_new @ Wv])
    return _mixed(x_new @ Wq, cache["K"], cache["V"]), {"K": cache["K"], "V": cache["V"]}


def new_first_in_the_callers_cache(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """two things. The new key and value stand in front of the old ones, so that row j of the cache is no longer token j; and
    you put them into the caller's own dictionary, who may want to go on from it in two ways."""
    cache["K"] = torch.cat([x_new @ Wk, cache["K"]])
    cache["V"] = torch.cat([x_new @ Wv, cache["V"]])
    return _mixed(x_new @ Wq, cache["K"], cache["V"]), cache


def _with_scores(scores: T, x_new: T, cache: Cache, Wk: T, Wv: T) -> Step:
    grown = _grown(x_new, cache, Wk, Wv)
    return scores.softmax(dim=-1) @ grown["V"], grown


def _products(x_new: T, cache: Cache, Wq: T, Wk: T) -> T:
    return x_new @ Wq @ torch.cat([cache["K"], x_new @ Wk]).T


def no_scale(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the scores are not scaled. One query or many: a score is a sum over k features, and is divided by √k."""
    return _with_scores(_products(x_new, cache, Wq, Wk), x_new, cache, Wk, Wv)


def width_without_its_root(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the scores by k. It is the square root of k that is wanted."""
    return _with_scores(_products(x_new, cache, Wq, Wk) / Wk.shape[1], x_new, cache, Wk, Wv)


def times_the_root(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you multiplied the scores by √k. They are too large, and are to be divided by it."""
    return _with_scores(_products(x_new, cache, Wq, Wk) * Wk.shape[1] ** 0.5, x_new, cache, Wk, Wv)


def root_of_the_value_width(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the scores by √v. They are dot products of queries and keys, which are k wide."""
    return _with_scores(_products(x_new, cache, Wq, Wk) / Wv.shape[1] ** 0.5, x_new, cache, Wk, Wv)


def root_of_the_model_width(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the scores by √d. They are dot products of queries and keys, which are k wide."""
    return _with_scores(_products(x_new, cache, Wq, Wk) / len(Wk) ** 0.5, x_new, cache, Wk, Wv)


def root_of_the_tokens_before(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the scores by √m, the number of tokens in the cache. The scale belongs to the width k of a key: a length taken
    from the wrong axis."""
    return _with_scores(_products(x_new, cache, Wq, Wk) / len(cache["K"]) ** 0.5, x_new, cache, Wk, Wv)


def root_of_the_tokens(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the scores by √(m + 1), the number of tokens. The scale belongs to the width k of a key: a length taken from
    the wrong axis."""
    return _with_scores(_products(x_new, cache, Wq, Wk) / (len(cache["K"]) + 1) ** 0.5, x_new, cache, Wk, Wv)


def scale_after_softmax(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the weights by √k, after softmax. Then they no longer add up to 1. Scores are scaled before."""
    output, grown = _with_scores(_products(x_new, cache, Wq, Wk), x_new, cache, Wk, Wv)
    return output / Wk.shape[1] ** 0.5, grown


def softmax_over_the_query(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """every weight is 1, and your output is the sum of all values: your softmax runs over an axis with one entry, that of the one
    query. It has to run over the keys. Where the scores stand as a row, they are along the last axis; where they stand as a
    column, along the first."""
    grown = _grown(x_new, cache, Wk, Wv)
    return (_products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5).softmax(dim=0) @ grown["V"], grown


def no_softmax(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you mixed the values with the scores themselves. Softmax makes weights of them, which are positive and add up to 1."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5 @ grown["V"], grown


def softmax_that_overflows(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """where a score is large, its exponential is infinite and your output NaN. Subtract the largest score first, or leave it to
    softmax, which does."""
    grown = _grown(x_new, cache, Wk, Wv)
    powers = (_products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5).exp()
    return powers / powers.sum() @ grown["V"], grown


def plain_average(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you averaged the values. Their weights come from the scores, of the new query and all keys."""
    grown = _grown(x_new, cache, Wk, Wv)
    return grown["V"].mean(dim=0, keepdim=True), grown


def best_match_only(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you took the value of the best key. Softmax is softer than that: every value has its share."""
    grown = _grown(x_new, cache, Wk, Wv)
    return grown["V"][_products(x_new, cache, Wq, Wk).argmax(dim=-1)], grown


def caches_tokens(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the token itself into the cache, and projected everything in it. What lies there has been projected already: the
    point of a cache is not to do that again. (It runs only where keys and values are as wide as tokens.)"""
    grown = {key: torch.cat([rows, x_new]) for key, rows in cache.items()}
    return _mixed(x_new @ Wq, grown["K"] @ Wk, grown["V"] @ Wv), grown


def token_for_a_key(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the token itself into the cache of keys. What belongs there is its key, x_new @ Wk. (It runs only where keys are as
    wide as tokens.)"""
    grown = _grown(x_new, cache, Wk, Wv) | {"K": torch.cat([cache["K"], x_new])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def token_for_a_value(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the token itself into the cache of values. What belongs there is its value, x_new @ Wv. (It runs only where values
    are as wide as tokens.)"""
    grown = _grown(x_new, cache, Wk, Wv) | {"V": torch.cat([cache["V"], x_new])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def caches_tokens_unprojected(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you put the token itself into the cache. What belongs there is its key, x_new @ Wk, and its value, x_new @ Wv. (It runs
    only where keys and values are as wide as tokens.)"""
    grown = {key: torch.cat([rows, x_new]) for key, rows in cache.items()}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def projects_the_cache_again(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you multiplied the cached keys by Wk and the cached values by Wv. They are keys and values already; only the new token
    has to be projected. (It runs only where keys and values are as wide as tokens.)"""
    grown = {"K": torch.cat([cache["K"] @ Wk, x_new @ Wk]), "V": torch.cat([cache["V"] @ Wv, x_new @ Wv])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def unprojected_query(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your query is the token itself. It is to be multiplied by Wq first. (It runs only where keys are as wide as tokens.)"""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new, grown["K"], grown["V"]), grown


def key_for_a_query(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you made the query with Wk. What a token asks for and what it offers are different things: queries are made with Wq."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wk, grown["K"], grown["V"]), grown


def query_for_a_key(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you made the new key with Wq. Queries are made with Wq, keys with Wk."""
    grown = _grown(x_new, cache, Wq, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def query_weights_and_key_weights_exchanged(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you exchanged Wq and Wk: the query is made with Wq, the new key with Wk."""
    grown = _grown(x_new, cache, Wq, Wv)
    return _mixed(x_new @ Wk, grown["K"], grown["V"]), grown


def key_for_a_value(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you made the new value with Wk. Values are made with Wv. (It runs only where values are as wide as keys.)"""
    grown = _grown(x_new, cache, Wk, Wk)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def key_weights_and_value_weights_exchanged(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you exchanged Wk and Wv: the new key is made with Wk, the new value with Wv. (It runs only where values are as wide as
    keys.)"""
    grown = _grown(x_new, cache, Wv, Wk)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def weights_turned(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you turned the weights, as PyTorch's own layers do with theirs. Here a token is a row and a weight multiplies from the
    right as it is. (It runs only where keys and values are as wide as tokens.)"""
    grown = _grown(x_new, cache, Wk.T, Wv.T)
    return _mixed(x_new @ Wq.T, grown["K"], grown["V"]), grown


def mixes_keys(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you mixed the keys. Keys decide about the weights; it is the values that are mixed."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["K"]), grown


def compares_with_values(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you compared the query with the values. It is the keys that it is compared with. (It runs only where values are as wide as
    keys.)"""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["V"], grown["V"]), grown


def keys_and_values_exchanged_in_the_cache(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is right, and in the cache that you return keys and values have changed places."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), {"K": grown["V"], "V": grown["K"]}


def keys_and_values_exchanged(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you took the cached values for keys and the cached keys for values. (It runs only where values are as wide as keys.)"""
    grown = {"K": torch.cat([cache["V"], x_new @ Wk]), "V": torch.cat([cache["K"], x_new @ Wv])}
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def forgets_the_oldest(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you dropped the oldest token when the new one came in. A cache that slides saves memory, but no longer gives the last row
    of attention over all tokens. Keep them all."""
    K, V = torch.cat([cache["K"][1:], x_new @ Wk]), torch.cat([cache["V"][1:], x_new @ Wv])
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def overwrites_the_latest(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the new key and value take the place of the latest ones. They come after them: m rows become m + 1."""
    K, V = torch.cat([cache["K"][:-1], x_new @ Wk]), torch.cat([cache["V"][:-1], x_new @ Wv])
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def appends_twice(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the new token is in your cache twice, and so gets two shares of the weight. m rows become m + 1."""
    grown = _grown(x_new, _grown(x_new, cache, Wk, Wv), Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def joins_along_the_features(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you joined old and new along axis 1, so that rows grow wider. A new token is a new row: axis 0."""
    K, V = torch.cat([cache["K"], x_new @ Wk], dim=1), torch.cat([cache["V"], x_new @ Wv], dim=1)
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def stacks_for_joining(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you stacked old and new. `stack` puts tables of one shape on top of each other, along a new axis; joining along an axis
    that is there already is another thing."""
    K, V = torch.stack([cache["K"], x_new @ Wk]), torch.stack([cache["V"], x_new @ Wv])
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def appends_as_to_a_list(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """a tensor has no append: its size is fixed. Make a new, longer one out of the old rows and the new one."""
    cache["K"].append(x_new @ Wk)  # type: ignore[attr-defined]
    cache["V"].append(x_new @ Wv)  # type: ignore[attr-defined]
    return _mixed(x_new @ Wq, cache["K"], cache["V"]), cache


def joins_without_a_list(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """PyTorch joins the tensors of one list or tuple, which is its first argument. You gave it two arguments."""
    K = torch.cat(cache["K"], x_new @ Wk)  # type: ignore[arg-type]
    V = torch.cat(cache["V"], x_new @ Wv)  # type: ignore[arg-type]
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def new_rows_as_vectors(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your new key is a plain vector, and it cannot be joined to a table. As a table of one row, [1, k], it can; x_new comes as
    such a table, so leave it as it is."""
    return _right_step(x_new[0], cache, Wq, Wk, Wv)


def keys_not_turned(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you multiplied the query by the keys without turning them. A score is a dot product of two rows, so the second table has
    to be transposed. (It runs only where there are as many keys as features.)"""
    grown = _grown(x_new, cache, Wk, Wv)
    return (x_new @ Wq @ grown["K"] / Wk.shape[1] ** 0.5).softmax(dim=-1) @ grown["V"], grown


def adds_for_joining(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """with + you added the new row to every old one. It was to become a row of its own."""
    K, V = cache["K"] + x_new @ Wk, cache["V"] + x_new @ Wv
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def scaled_keys_in_the_cache(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you divided the whole cache of keys by √k, and returned it so. At the next step they are divided again. Scale the scores
    and leave the keys alone."""
    grown = _grown(x_new, cache, Wk, Wv)
    K = grown["K"] / Wk.shape[1] ** 0.5
    return (x_new @ Wq @ K.T).softmax(dim=-1) @ grown["V"], grown | {"K": K}


def new_key_scaled(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you scaled the new key and put it into the cache beside keys that are not scaled. The cache holds plain keys; it is scores
    that are divided by √k."""
    grown = _grown(x_new, cache, Wk / Wk.shape[1] ** 0.5, Wv)
    return (x_new @ Wq @ grown["K"].T).softmax(dim=-1) @ grown["V"], grown


def output_for_a_value(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """in the cache that you return, the output stands where the new value should. What later tokens mix is the value, x_new @
    Wv."""
    grown = _grown(x_new, cache, Wk, Wv)
    output = _mixed(x_new @ Wq, grown["K"], grown["V"])
    return output, grown | {"V": torch.cat([cache["V"], output])}


def query_cached_too(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you keep the query as well. No later token asks for it: a query is used once, by its own token."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown | {"Q": x_new @ Wq}


def keys_in_lower_case(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the names in the cache that you return are in lower case. It should look like the one that came in: "K" and "V"."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), {"k": grown["K"], "v": grown["V"]}


def cache_as_a_pair(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you return keys and values as a tuple. The cache comes in as a dictionary, and has to go out as one, or the next step
    cannot use it."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), (grown["K"], grown["V"])


def three_parts(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> tuple[object, ...]:
    """you return output, keys and values side by side. Return two things: the output, and the cache as a dictionary."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown["K"], grown["V"]


def only_the_output(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> T:
    """you return the output alone. Without the longer cache there is no next step."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"])


def cache_before_output(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you return the cache first. The output comes first, then the cache."""
    grown = _grown(x_new, cache, Wk, Wv)
    return grown, _mixed(x_new @ Wq, grown["K"], grown["V"])


def weights_for_an_output(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you return the weights. They are still to be multiplied by the values."""
    grown = _grown(x_new, cache, Wk, Wv)
    return (_products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5).softmax(dim=-1), grown


def a_vector(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is a plain vector, [v]. A token came in as a table of one row, and should go out as one: [1, v]."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"])[0], grown


def squeezes_every_axis(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """`squeeze` drops every axis of length 1: that of the token, and that of the features too where v = 1. Nothing has to go: a
    table of one row came in, and one should go out, [1, v]."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]).squeeze(), grown


def every_token_asks(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output has a row for every token so far. Only the new one asks: one query, one row."""
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]).repeat(len(grown["V"]), 1), grown


def everything_in_float64(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you computed in float64, whatever came in. A cache is the largest thing that a chatbot keeps: what comes in as float32 goes
    out as float32."""
    return _right_step(x_new.double(), {k: t.double() for k, t in cache.items()}, Wq.double(), Wk.double(), Wv.double())


def everything_in_float32(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you computed in float32, whatever came in, perhaps because a tensor was made without a number type. What comes in as
    float64 goes out as float64."""
    return _right_step(x_new.float(), {k: t.float() for k, t in cache.items()}, Wq.float(), Wk.float(), Wv.float())


def root_in_float32(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is right to 8 digits or so: somewhere on the way float32 was used. The root of a tensor of whole numbers is one
    of float32, whatever your scores are. A root that is a plain number of Python's fits them all."""
    root = torch.sqrt(torch.tensor(Wk.shape[1]))
    return _with_scores(_products(x_new, cache, Wq, Wk) / root, x_new, cache, Wk, Wv)


def softmax_in_float32(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is right to 7 digits or so: somewhere on the way float32 was used, as when softmax is told its `dtype`. What
    comes in as float64 stays float64 all the way."""
    grown = _grown(x_new, cache, Wk, Wv)
    scores = _products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5
    return scores.softmax(dim=-1, dtype=torch.float32).to(x_new.dtype) @ grown["V"], grown


def weights_left_in_float32(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your weights are float32, and the values are float64. Where softmax is told its `dtype`, its weights have that one; leave it
    away, and they have the type of the scores."""
    grown = _grown(x_new, cache, Wk, Wv)
    scores = _products(x_new, cache, Wq, Wk) / Wk.shape[1] ** 0.5
    return scores.softmax(dim=-1, dtype=torch.float32) @ grown["V"], grown


def tables_without_a_number_type(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you multiplied float64 by a float32. `torch.zeros` and `torch.empty` make tables of float32 unless they are told: a table
    that is to take up the old rows needs their number type."""
    m = len(cache["K"])
    K, V = torch.zeros(m + 1, Wk.shape[1]), torch.zeros(m + 1, Wv.shape[1])
    K[:m], V[:m] = cache["K"], cache["V"]
    K[m:], V[m:] = x_new @ Wk, x_new @ Wv
    return _mixed(x_new @ Wq, K, V), {"K": K, "V": V}


def output_in_float32(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is float32, whatever came in. The number type that comes in goes out: no .float() is needed."""
    output, grown = _right_step(x_new, cache, Wq, Wk, Wv)
    return output.float(), grown


def output_in_float64(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """your output is float64, whatever came in. The number type that comes in goes out: no .double() is needed."""
    output, grown = _right_step(x_new, cache, Wq, Wk, Wv)
    return output.double(), grown


def output_as_a_list(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the numbers are right, and your output is a list. Tensors came in, and a tensor goes out: the next layer works with it."""
    output, grown = _right_step(x_new, cache, Wq, Wk, Wv)
    return output.tolist(), grown


def everything_as_lists(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """you return lists. Tensors came in, and tensors go out: nothing can be joined to a list of numbers at the next step."""
    output, grown = _right_step(x_new, cache, Wq, Wk, Wv)
    return output.tolist(), {key: rows.tolist() for key, rows in grown.items()}


def numpy_arrays(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    """the numbers are right, and they are numpy arrays. Tensors came in, and tensors go out."""
    output, grown = _right_step(x_new, cache, Wq, Wk, Wv)
    return output.numpy(), {key: rows.numpy() for key, rows in grown.items()}


def _right_step(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    grown = _grown(x_new, cache, Wk, Wv)
    return _mixed(x_new @ Wq, grown["K"], grown["V"]), grown


def step_by_softmax(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    return _right_step(x_new, cache, Wq, Wk, Wv)


def step_by_fused_attention(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    new = dict(cache)
    new["K"] = torch.vstack([new["K"], x_new @ Wk])
    new["V"] = torch.vstack([new["V"], x_new @ Wv])
    q, K, V = (part[None, None] for part in (x_new @ Wq, new["K"], new["V"]))
    return torch.nn.functional.scaled_dot_product_attention(q, K, V)[0, 0], new


def step_by_einsum(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    q, key, value = (torch.einsum("nd,dw->nw", x_new, W) for W in (Wq, Wk, Wv))
    K, V = torch.concat((cache["K"], key), 0), torch.concat((cache["V"], value), 0)
    scores = torch.einsum("nk,mk->nm", q, K) / math.sqrt(q.shape[1])
    powers = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return torch.einsum("nm,mv->nv", powers / powers.sum(dim=1, keepdim=True), V), {"V": V, "K": K}


def step_into_empty_tables(x_new: T, cache: Cache, Wq: T, Wk: T, Wv: T) -> Step:
    m = len(cache["K"])
    K, V = x_new.new_empty(m + 1, Wk.shape[1]), x_new.new_empty(m + 1, Wv.shape[1])
    K[:m], V[:m] = cache["K"], cache["V"]
    K[m], V[m] = x_new[0] @ Wk, x_new[0] @ Wv
    weights = torch.softmax((K @ (x_new[0] @ Wq)) / K.shape[1] ** 0.5, dim=0)
    return (weights[:, None] * V).sum(dim=0).unsqueeze(0), {"K": K, "V": V}


def _cached(
    rng: np.random.Generator,
    m: int,
    d: int,
    k: int,
    v: int,
    *,
    scale: float = 1.0,
    dtype: str = "float64",
    order: str = "C",
) -> Case:
    """A new token, m tokens in the cache; scores have the standard deviation 2 · scale² after the division by √k."""

    def drawn(*shape: int, times: float = 1.0) -> TensorValue:
        return TensorValue(normal(rng, *shape, scale=times, dtype=dtype, order=order))

    reach = 1.4 * scale
    cache = {"K": drawn(m, k, times=reach), "V": drawn(m, v)}
    return case(
        drawn(1, d),
        cache,
        drawn(d, k, times=reach / d**0.5),
        drawn(d, k, times=reach / d**0.5),
        drawn(d, v, times=d**-0.5),
    )


def _decoding(rng: np.random.Generator, n: int, d: int, k: int, v: int, dtype: str = "float64") -> Case:
    X, Wq, Wk, Wv = (
        TensorValue(normal(rng, *shape, scale=times, dtype=dtype))
        for shape, times in (((n, d), 1.0), ((d, k), 1.4 / d**0.5), ((d, k), 1.4 / d**0.5), ((d, v), d**-0.5))
    )
    return case(X, Wq, Wk, Wv, harness="decoding")


def _one_step(rng: np.random.Generator) -> list[Case]:
    d, k, v = sizes(rng, 3)
    return [*(_cached(rng, *sizes(rng, 4, low=3)) for _ in range(2)), _cached(rng, 40, d, k, v)]


def _first_step(rng: np.random.Generator) -> list[Case]:
    return [_cached(rng, 0, *sizes(rng, 3)), _cached(rng, 0, *sizes(rng, 3))]


def _whole_texts(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4, low=3, high=7)
    return [_decoding(rng, n, d, k, v), _decoding(rng, v, n, d, k, dtype="float32")]


def _steps_at_the_edge(rng: np.random.Generator) -> list[Case]:
    m, d, k, v = sizes(rng, 4, low=3)
    return [
        _cached(rng, m, d, k, v, dtype="float32"),
        _cached(rng, m, d, k, v, order="strided"),
        _cached(rng, m, d, k, v, scale=100.0),  # the exponential of such a score is infinite
        _cached(rng, 1, d, k, v),
        _cached(rng, m, d, k, 1),
        _cached(rng, k - 1, d, k, v),  # as many keys as they are wide
        _cached(rng, m, d, k, k),  # values as wide as keys
        _cached(rng, m, d, d, d),  # and as tokens
        _cached(rng, m, m, m, m),
    ]


def _table(*rows: tuple[float, ...], dtype: str = "float64") -> TensorValue:
    return TensorValue(np.array(rows, dtype))


ATTEND_CACHED = Exercise(
    oracle=attend_cached,
    notebook=NOTEBOOK,
    public=(
        # an empty cache
        case(
            _table((1.0, 2.0)),
            {"K": TensorValue(np.zeros((0, 1))), "V": TensorValue(np.zeros((0, 3)))},
            _table((1.0,), (0.0,)),
            _table((0.0,), (1.0,)),
            _table((1.0, 0.0, 1.0), (0.0, 1.0, 1.0)),
        ),
        # one token in it
        case(
            _table((1.0, 2.0)),
            {"K": _table((2.0,)), "V": _table((6.0, 3.0, 0.0))},
            _table((1.0,), (0.0,)),
            _table((0.0,), (1.0,)),
            _table((2.0, 0.0, 0.0), (0.0, 0.5, 4.0)),
        ),
        # four tokens, all widths different
        case(
            _table((1.0, -1.0)),
            {
                "K": _table((1.0, 2.0, 0.0), (0.0, -1.0, 2.0), (3.0, 0.0, 1.0), (-1.0, 1.0, 1.0)),
                "V": _table((1.0,), (2.0,), (5.0,), (-3.0,)),
            },
            _table((1.0, 0.5, 2.0), (0.0, -1.0, 1.0)),
            _table((0.0, 1.0, 1.0), (1.0, -1.0, 0.5)),
            _table((2.0,), (-2.0,)),
        ),
        # all widths equal
        case(
            _table((1.0, -1.0), dtype="float32"),
            {
                "K": _table((1.0, 2.0), (0.0, -1.0), dtype="float32"),
                "V": _table((1.0, 0.0), (2.0, 4.0), dtype="float32"),
            },
            _table((1.0, 0.5), (0.0, -1.0), dtype="float32"),
            _table((0.0, 1.0), (2.0, -1.0), dtype="float32"),
            _table((2.0, 1.0), (-2.0, 3.0), dtype="float32"),
        ),
        # a score of 1000
        case(
            _table((1000.0, 1.0)),
            {"K": _table((1.0,)), "V": _table((4.0, 2.0, 1.0))},
            _table((1.0,), (0.0,)),
            _table((0.0,), (0.5,)),
            _table((0.0, 0.0, 0.0), (2.0, 3.0, 5.0)),
        ),
        # a whole text
        case(
            _table((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-1.0, 2.0)),
            _table((1.0, 0.5, 2.0), (0.0, -1.0, 1.0)),
            _table((0.0, 1.0, 1.0), (1.0, -1.0, 0.5)),
            _table((2.0,), (-2.0,)),
            harness="decoding",
        ),
    ),
    probes=(
        Probe(
            "the new token attends to all tokens so far, itself the last; the cache has one row more", 1.5, _one_step
        ),
        Probe("the first token, when the cache is empty", 0.5, _first_step),
        Probe("a whole text, token by token, with the caches that you return", 1.0, _whole_texts),
        Probe(
            "float32, tensors that are not contiguous, large scores, one token in the cache, sizes that coincide",
            1.0,
            _steps_at_the_edge,
        ),
    ),
    mistakes=(
        attends_only_to_itself,
        forgets_the_new_token,
        masks_itself,
        itself_left_out_of_the_mix,
        first_row_of_the_mask,
        new_first,
        new_value_first,
        values_not_extended,
        keys_not_extended,
        old_values_returned,
        old_keys_returned,
        old_cache_returned,
        only_the_new_rows_returned,
        changes_the_callers_cache,
        changes_the_callers_cache_and_copies_it,
        new_first_in_the_callers_cache,
        no_scale,
        width_without_its_root,
        times_the_root,
        root_of_the_value_width,
        root_of_the_model_width,
        root_of_the_tokens_before,
        root_of_the_tokens,
        scale_after_softmax,
        softmax_over_the_query,
        no_softmax,
        softmax_that_overflows,
        plain_average,
        best_match_only,
        caches_tokens,
        token_for_a_key,
        token_for_a_value,
        caches_tokens_unprojected,
        projects_the_cache_again,
        unprojected_query,
        key_for_a_query,
        query_for_a_key,
        query_weights_and_key_weights_exchanged,
        key_for_a_value,
        key_weights_and_value_weights_exchanged,
        weights_turned,
        mixes_keys,
        compares_with_values,
        keys_and_values_exchanged_in_the_cache,
        keys_and_values_exchanged,
        forgets_the_oldest,
        overwrites_the_latest,
        appends_twice,
        joins_along_the_features,
        stacks_for_joining,
        appends_as_to_a_list,
        joins_without_a_list,
        new_rows_as_vectors,
        keys_not_turned,
        adds_for_joining,
        scaled_keys_in_the_cache,
        new_key_scaled,
        output_for_a_value,
        query_cached_too,
        keys_in_lower_case,
        cache_as_a_pair,
        three_parts,
        only_the_output,
        cache_before_output,
        weights_for_an_output,
        a_vector,
        squeezes_every_axis,
        every_token_asks,
        everything_in_float64,
        everything_in_float32,
        root_in_float32,
        softmax_in_float32,
        weights_left_in_float32,
        tables_without_a_number_type,
        output_in_float32,
        output_in_float64,
        output_as_a_list,
        everything_as_lists,
        numpy_arrays,
    ),
    variants=(step_by_softmax, step_by_fused_attention, step_by_einsum, step_into_empty_tables),
)

EXERCISES = (BLOCK_FLOPS, BENCH, ATTEND_CACHED)
