"""The FLOPs of a block's matrix products, by kind.

A product costs 2 · rows · inner width · columns, and every one of the b·n tokens meets every weight. In scores and
mix each of h heads works on d/h features, so all heads together cost what one head of width d would: h is the
argument that drops out. Tokens meet in these two alone, and only those of their own text, which makes b·n² and not
the square of b·n. Whole numbers stay exact beyond 2⁵³, where floats do not, so nothing is divided.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, case, mistake, probe, right

Flops = dict[str, int]


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


PUBLIC = (
    case(1, 2, 4, 2, 3),
    case(2, 3, 6, 3, 5),
    case(3, 1, 4, 1, 7),
    case(16, 2048, 4096, 32, 11008),
    # no count is a float
    case(57, 70_977, 45 * 1601, 45, 100_001),
    # nor is one of one text alone
    case(1, 275_889, 45 * 6131, 45, 380_001),
)


def _block_sizes(rng: np.random.Generator, low: int = 2, high: int = 12) -> tuple[int, int, int, int, int]:
    """b, n, d, h and f, pairwise distinct, with 2 heads or more and f different from 4d."""
    while True:
        b, n, k, h, f = sizes(rng, 5, low, high)
        if len({b, n, h * k, h, f}) == 5 and f != 4 * h * k:
            return b, n, h * k, h, f


def _odd(rng: np.random.Generator, low: int, high: int) -> int:
    return 2 * int(rng.integers(low // 2, high // 2)) + 1


def _beyond_floats(rng: np.random.Generator, b: int, k: int) -> Case:
    """A layer beyond those of large models, all sizes odd, so that no count is a float; h or b times as much is still below 2**63.

    bnd² lies above 2**54 by so little, and so between two floats, that it makes no difference in which order a float is multiplied:
    of all products of some of the factors only whole counts are rounded, and 3bnd² to what 3 times the rounded bnd² is rounded to.
    """
    h = _odd(rng, 43, 47)
    d = h * _odd(rng, k - 20, k + 20)
    n = int(rng.uniform(2.0e16, 2.2e16) / (b * d * d)) // 8 * 8 + b % 8
    return case(b, n, d, h, _odd(rng, int(1.3 * d), int(1.5 * d)))


@probe(0.5, part=("qkv", "scores", "mix", "output", "ffn"))
def one_block(rng: np.random.Generator) -> list[Case]:
    """the products under '{part}', all sizes different"""
    return [case(*_block_sizes(rng)), case(*_block_sizes(rng, 5, 20))]


@probe(1.0)
def small_blocks(rng: np.random.Generator) -> list[Case]:
    """one head, as many heads as features, one token, one item"""
    b, n, d, h, f = _block_sizes(rng)
    return [case(b, n, d, 1, f), case(b, n, d, d, f), case(b, 1, d, h, f), case(1, n, d, h, f)]


@probe(0.5)
def large_blocks(rng: np.random.Generator) -> list[Case]:
    """whole numbers at the size of a large model"""
    return [_beyond_floats(rng, _odd(rng, 51, 61), 1601), _beyond_floats(rng, 1, 6131)]


def _flops(b: int, n: int, d: int, f: int) -> Flops:
    return {
        "qkv": 6 * b * n * d * d,
        "scores": 2 * b * n * n * d,
        "mix": 2 * b * n * n * d,
        "output": 2 * b * n * d * d,
        "ffn": 4 * b * n * d * f,
    }


@mistake
def scores_and_mix_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied scores and mix by h, and put in the full width d as well. Each head works on d/h features only: h heads
    of width d/h together cost what one head of width d costs."""
    right = _flops(b, n, d, f)
    return right | {"scores": h * right["scores"], "mix": h * right["mix"]}


@mistake
def scores_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the scores by h, and put in the full width d as well. A score of one head is a dot product of d/h
    products; h heads together make d of it again."""
    right = _flops(b, n, d, f)
    return right | {"scores": h * right["scores"]}


@mistake
def mix_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the mix by h, and put in the full width d as well. The values of one head have d/h features; h heads
    together make d of it again."""
    right = _flops(b, n, d, f)
    return right | {"mix": h * right["mix"]}


@mistake
def attention_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix are those of one head, of width d/h. There are h heads, and each has a table of scores of its own."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // h, "mix": right["mix"] // h}


@mistake
def scores_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """the scores are those of one head, of width d/h. There are h heads, and each has a table of scores of its own."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // h}


@mistake
def mix_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """the mix is that of one head, whose values have d/h features. There are h heads, and each mixes values of its own."""
    right = _flops(b, n, d, f)
    return right | {"mix": right["mix"] // h}


@mistake
def everything_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one head: d/h columns in each projection, and the scores, the mix and the rows of Wo that belong to it.
    There are h of them."""
    right = _flops(b, n, d, f)
    return {key: flops if key == "ffn" else flops // h for key, flops in right.items()}


@mistake
def projections_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you projected to queries, keys and values of width d/h. That is one head; the h heads together have queries of width
    d, and so it is for keys and values."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // h}


@mistake
def each_head_as_wide_as_the_block(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you gave each head queries, keys and values of width d, and Wo h·d rows. Here the heads share d among them: d/h each."""
    right = _flops(b, n, d, f)
    return {key: flops if key == "ffn" else h * flops for key, flops in right.items()}


@mistake
def projections_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the projections by h, and gave each the full width d as well. One head projects to d/h features; the h
    heads together to d."""
    right = _flops(b, n, d, f)
    return right | {"qkv": h * right["qkv"]}


@mistake
def output_of_one_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you gave Wo d/h rows. What is multiplied by Wo is the heads' outputs side by side, and they are d wide together."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] // h}


@mistake
def output_for_every_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied the output by h, and gave it the full width d as well. The heads lie side by side, d wide together, and are
    multiplied by Wo once."""
    right = _flops(b, n, d, f)
    return right | {"output": h * right["output"]}


@mistake
def output_among_tokens(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the output as if tokens met there. They meet in scores and mix alone: Wo is a table of weights, d times d,
    whatever n is."""
    return _flops(b, n, d, f) | {"output": 2 * b * n * n * d}


@mistake
def leaves_out_wo(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted nothing for the output. When the heads' outputs lie side by side, they are still multiplied by Wo. (A
    well-known lecture leaves this product out as well.)"""
    return _flops(b, n, d, f) | {"output": 0}


@mistake
def no_key_for_wo(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your dictionary has no entry for the output: the product of the heads' outputs and Wo."""
    return {key: flops for key, flops in _flops(b, n, d, f).items() if key != "output"}


@mistake
def leaves_out_the_mix(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted nothing for the mix. Weights times values is a product of tables like any other."""
    return _flops(b, n, d, f) | {"mix": 0}


@mistake
def mix_under_the_scores(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you put the mix under the scores. Under "scores" belongs the product of queries and keys, under "mix" that of weights
    and values."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + right["mix"], "mix": 0}


@mistake
def forgets_the_batch(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one item of the batch. There are b of them, and none shares its work with another."""
    return _flops(1, n, d, f)


@mistake
def weights_once_for_all_items(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted b in scores and mix alone. The items of a batch share the *weights*, but each of its b·n tokens is multiplied
    by them."""
    return _flops(1, n, d, f) | {key: _flops(b, n, d, f)[key] for key in ("scores", "mix")}


@mistake
def scores_once_for_all_items(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you left b out in scores and mix. Each item has a table of scores of its own."""
    return _flops(b, n, d, f) | {key: _flops(1, n, d, f)[key] for key in ("scores", "mix")}


@mistake
def ffn_without_the_batch(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you left b out in the feed-forward network. It is applied to each token of each item."""
    return _flops(b, n, d, f) | {"ffn": _flops(1, n, d, f)["ffn"]}


@mistake
def items_meet(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you took the batch for one long text of b·n tokens, in which every token meets every other. Tokens of different items
    never meet: b tables of n times n."""
    right = _flops(b, n, d, f)
    return right | {"scores": b * right["scores"], "mix": b * right["mix"]}


@mistake
def forgets_the_2(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted a multiplication and the addition after it as one. They are two FLOPs."""
    return {key: flops // 2 for key, flops in _flops(b, n, d, f).items()}


@mistake
def projections_without_the_2(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """what you counted for the projections is half of it. A multiplication and the addition after it are two FLOPs, here as in
    the other products."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // 2}


@mistake
def output_without_the_2(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """what you counted for the output is half of it. A multiplication and the addition after it are two FLOPs, here as in the
    other products."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] // 2}


@mistake
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


@mistake
def each_query_meets_one_token(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted n scores in an item. Each of its n queries meets all n keys: it is this square that makes long texts
    expensive."""
    return _flops(b, n, d, f) | {"scores": 2 * b * n * d, "mix": 2 * b * n * d}


@mistake
def scores_feature_by_feature(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d in scores and mix. Queries meet keys, so the table is [n, n], and each entry is a sum over
    features."""
    return _flops(b, n, d, f) | {"scores": 2 * b * n * d * d, "mix": 2 * b * n * d * d}


@mistake
def scores_as_wide_as_tokens(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d in the scores. Queries meet keys, so the table is [n, n], and each entry is a sum over features."""
    return _flops(b, n, d, f) | {"scores": 2 * b * n * d * d}


@mistake
def mix_feature_by_feature(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d in the mix. Each of n rows of weights is multiplied by n values, which are d wide in all heads
    together."""
    return _flops(b, n, d, f) | {"mix": 2 * b * n * d * d}


@mistake
def one_token(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one token, which is alone in its text. An item has n of them: each is multiplied by the weights, and each meets
    all n."""
    return _flops(b, 1, d, f)


@mistake
def one_new_token(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted one token that meets n others, as when a text is written token by token. Here all n tokens of an item go
    through the block, each with a query of its own."""
    return {key: flops // n for key, flops in _flops(b, n, d, f).items()}


@mistake
def tokens_and_features_exchanged(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged n and d everywhere. n is the number of tokens, d the width of each."""
    return _flops(b, d, n, f)


@mistake
def batch_and_tokens_exchanged(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you exchanged b and n. There are b items of n tokens each, and it is tokens that meet in the scores."""
    return _flops(n, b, d, f)


@mistake
def only_the_causal_half(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix are half of what they should be. A multiplication and the addition after it are two FLOPs. And a causal mask saves
    nothing here: the product computes the whole table, and the mask then throws half of it away."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // 2, "mix": right["mix"] // 2}


@mistake
def half_of_the_scores(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your scores are half of what they should be. If you left out the 2: a multiplication and the addition after it are two
    FLOPs. If it was for a causal mask: the product computes the whole table, and the mask then throws half of it away."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // 2}


@mistake
def half_of_the_mix(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your mix is half of what it should be. If you left out the 2: a multiplication and the addition after it are two FLOPs. If
    it was for a causal mask: weights that are zero are multiplied like any others."""
    right = _flops(b, n, d, f)
    return right | {"mix": right["mix"] // 2}


@mistake
def only_the_kept_places(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the n(n + 1)/2 places that a causal mask keeps. The product computes the whole table, and the mask then
    throws the rest away. (There are programs that skip it; here the plain products are counted.)"""
    kept = b * n * (n + 1) * d
    return _flops(b, n, d, f) | {"scores": kept, "mix": kept}


@mistake
def one_ffn_product(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your feed-forward network is half of what it should be. There are two products in it, from d to f and back from f to d,
    and in each of them a multiplication and the addition after it are two FLOPs."""
    return _flops(b, n, d, f) | {"ffn": 2 * b * n * d * f}


@mistake
def ffn_four_times_as_wide(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you took f to be 4d. Many models do, but the width is given, and it is f."""
    return _flops(b, n, d, 4 * d)


@mistake
def ffn_stays_wide(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied [n, f] by a table of [f, f] in the second half of the feed-forward network. It goes back from f to d."""
    return _flops(b, n, d, f) | {"ffn": 2 * b * n * f * (d + f)}


@mistake
def ffn_without_f(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you gave the feed-forward network the width d inside. Inside it is f wide."""
    return _flops(b, n, d, d)


@mistake
def ffn_of_width_f(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you multiplied by f twice in the feed-forward network, and never by d. Each of its tables has one side of d and one of
    f."""
    return _flops(b, n, d, f) | {"ffn": 4 * b * n * f * f}


@mistake
def one_projection(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "qkv" you counted one projection. There are three of them: queries, keys and values."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // 3}


@mistake
def two_projections(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "qkv" you counted two projections. There are three of them: queries, keys and values."""
    right = _flops(b, n, d, f)
    return right | {"qkv": 2 * right["qkv"] // 3}


@mistake
def softmax_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted something for every single score, as scaling or softmax does. Only the matrix products count here; what is
    done entry by entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + b * h * n * n}


@mistake
def biases_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the biases of the feed-forward network. Only the matrix products count here; what is done entry by entry is
    small beside them."""
    right = _flops(b, n, d, f)
    return right | {"ffn": right["ffn"] + b * n * (f + d)}


@mistake
def activation_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the activation in the feed-forward network. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"ffn": right["ffn"] + b * n * f}


@mistake
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


@mistake
def backward_too(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted three times the work, as training does, with a backward pass that costs twice the forward one. Here it is
    the forward pass alone."""
    return {key: 3 * flops for key, flops in _flops(b, n, d, f).items()}


@mistake
def flops_as_floats(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """there are floats among your counts, as when d is divided by h with /, or a power is written n**2.0. Counts are whole
    numbers: // stays whole, and here nothing needs to be divided at all. (Beyond 2**53 a float does not even hold every whole
    number.)"""
    return _flops(b, n, d, f) | dict.fromkeys(("scores", "mix"), 2 * b * h * n * n * (d / h))


@mistake
def squares_of_the_width_as_floats(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """your counts of the products with square tables of weights are floats, as when their power is written d**2.0. Counts are
    whole numbers. (Beyond 2**53 a float does not even hold every whole number.)"""
    right = _flops(b, n, d, f)
    return right | {key: float(right[key]) for key in ("qkv", "output")}


@mistake
def everything_as_floats(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """all your counts are floats: one factor that is a float, 2.0 or 1e0, is enough. Counts are whole numbers. (Beyond 2**53 a
    float does not even hold every whole number.)"""
    return {key: float(flops) for key, flops in _flops(b, n, d, f).items()}


@mistake
def attention_through_floats(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix went through a float on their way, as with d / h, and were made whole again by `int` or `round`. That is too
    late: beyond 2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    return _flops(b, n, d, f) | dict.fromkeys(("scores", "mix"), int(2 * b * h * n * n * (d / h)))


@mistake
def one_text_through_a_float(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix of one text went through a float on their way, as with d / h, and were made whole again by `int` or `round`. That is
    too late: beyond 2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    return _flops(b, n, d, f) | dict.fromkeys(("scores", "mix"), b * int(2 * n * (d / h) * n * h))


@mistake
def attention_and_output_through_floats(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores, mix and output went through a float on their way, as with d / h, and were made whole again by `int` or `round`. That is too
    late: beyond 2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    right = _flops(b, n, d, f)
    return right | {key: int(float(right[key])) for key in ("scores", "mix", "output")}


@mistake
def all_but_the_ffn_through_floats(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """all counts that ask for the width of a head went through a float, as with d / h, before `int` or `round` made them whole. Beyond
    2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    right = _flops(b, n, d, f)
    return {key: flops if key == "ffn" else int(float(flops)) for key, flops in right.items()}


@mistake
def everything_through_floats(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """all your counts went through floats on their way, and were made whole again by `int` or `round`. That is too late: beyond
    2**53 a float does not hold every whole number. Stay with whole numbers all the way."""
    return {key: int(float(flops)) for key, flops in _flops(b, n, d, f).items()}


@mistake
def in_billions(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """these are billions of FLOPs. Return the counts themselves, as whole numbers."""
    return {key: flops / 1e9 for key, flops in _flops(b, n, d, f).items()}


@mistake
def of_32_bits(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your counts have gone through integers of 32 bits, which begin anew beyond two thousand millions. One layer of a real
    model does far more. Python's own integers have no limit."""
    return {key: (flops + 2**31) % 2**32 - 2**31 for key, flops in _flops(b, n, d, f).items()}


@mistake
def a_total_as_well(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your dictionary has an entry too many, the total. Whoever adds up its entries counts everything twice."""
    right = _flops(b, n, d, f)
    return right | {"total": sum(right.values())}


@mistake
def only_the_total(b: int, n: int, d: int, h: int, f: int) -> int:
    """this is the total. Return a dictionary that says where it comes from."""
    return sum(_flops(b, n, d, f).values())


@mistake
def shares(b: int, n: int, d: int, h: int, f: int) -> dict[str, float]:
    """these are shares of the total. Return the counts themselves."""
    right = _flops(b, n, d, f)
    return {key: flops / sum(right.values()) for key, flops in right.items()}


@mistake
def softmax_of_two_steps(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted two operations for every single score, as scaling, mask or softmax do. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + 2 * b * h * n * n}


@mistake
def softmax_of_three_steps(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted three operations for every single score, as scaling, mask or softmax do. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + 3 * b * h * n * n}


@mistake
def softmax_of_four_steps(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted four operations for every single score, as scaling, mask or softmax do. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + 4 * b * h * n * n}


@mistake
def softmax_of_five_steps(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted five operations for every single score, as scaling, mask or softmax do. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] + 5 * b * h * n * n}


@mistake
def biases_of_all_layers(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the biases of all layers. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {
        "qkv": right["qkv"] + 3 * b * n * d,
        "output": right["output"] + b * n * d,
        "ffn": right["ffn"] + b * n * (f + d),
    }


@mistake
def biases_of_attention(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted biases in attention. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] + 3 * b * n * d, "output": right["output"] + b * n * d}


@mistake
def biases_but_of_qkv(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the biases of the output and of the feed-forward network. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] + b * n * d, "ffn": right["ffn"] + b * n * (f + d)}


@mistake
def biases_and_activation(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted biases and activation of the feed-forward network. Only the matrix products count here; what is done entry by
    entry is small beside them."""
    right = _flops(b, n, d, f)
    return right | {"ffn": right["ffn"] + b * n * (2 * f + d)}


@mistake
def three_ffn_products(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted three products in the feed-forward network, as in models whose activation has a gate (SwiGLU). This one has two: from d to
    f, and back."""
    right = _flops(b, n, d, f)
    return right | {"ffn": 6 * b * n * d * f}


@mistake
def four_ffn_products(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """your feed-forward network is twice what it should be. It has two products, one from d to f and one back, and each costs 2 for a
    multiplication and its addition: 4 in all."""
    right = _flops(b, n, d, f)
    return right | {"ffn": 2 * right["ffn"]}


@mistake
def four_ffn_products_of_one_way(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted the second product of the feed-forward network with d rows in place of n. The rows are tokens in both products."""
    right = _flops(b, n, d, f)
    return right | {"ffn": 2 * b * n * d * f + 2 * b * d * f * d}


@mistake
def twice_everything(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """all your counts are twice what they should be. A multiplication and the addition after it are two FLOPs; is there a second 2?"""
    right = _flops(b, n, d, f)
    return {key: 2 * flops for key, flops in right.items()}


@mistake
def twice_the_projections(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "qkv" you have twice what it should be. Three products of [n, d] and [d, d], at 2 for each term: 6 in all."""
    right = _flops(b, n, d, f)
    return right | {"qkv": 2 * right["qkv"]}


@mistake
def four_projections(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "qkv" you counted four projections. There are three, queries, keys and values; the one after attention stands under "output"."""
    right = _flops(b, n, d, f)
    return right | {"qkv": 8 * b * n * d * d}


@mistake
def twice_the_output(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """under "output" you have twice what it should be. It is one product, of [n, d] and [d, d]."""
    right = _flops(b, n, d, f)
    return right | {"output": 2 * right["output"]}


@mistake
def twice_the_attention(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores and mix are twice what they should be, as if one were counted under both. Each is one product for each head."""
    right = _flops(b, n, d, f)
    return right | {key: 2 * right[key] for key in ("scores", "mix")}


@mistake
def mix_and_output_together(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you put the mix under "output" as well. Under "mix" belongs weights times values, under "output" what is multiplied by Wo."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] + right["mix"]}


@mistake
def multiply_adds_and_four_d(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """two things. You counted a multiplication and the addition after it as one, and they are two FLOPs. And you took f to be 4d: the width is
    given."""
    return {key: flops // 2 for key, flops in _flops(b, n, d, 4 * d).items()}


@mistake
def causal_half_and_one_ffn_product(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """two things. Scores and mix are half of what they should be: the whole table counts, also what a causal mask hides. And the
    feed-forward network has two products."""
    right = _flops(b, n, d, f)
    return right | {"scores": right["scores"] // 2, "mix": right["mix"] // 2, "ffn": right["ffn"] // 2}


@mistake
def kept_places_and_one_ffn_product(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """two things. You counted the places that a causal mask keeps, and the whole table counts. And the feed-forward network has two products."""
    right = _flops(b, n, d, f)
    return right | {"scores": b * n * (n + 1) * d, "mix": b * n * (n + 1) * d, "ffn": right["ffn"] // 2}


@mistake
def weights_counted(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted what the weights hold, at 2 for each number. Each weight meets each of the b·n tokens, and scores and mix cost something without
    any weight."""
    return {"qkv": 6 * d * d, "scores": 0, "mix": 0, "output": 2 * d * d, "ffn": 4 * d * f}


@mistake
def bytes_moved(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you counted numbers that are read and written, not operations. A product of [m, k] and [k, n] costs 2mkn."""
    return {
        "qkv": 3 * b * (2 * n * d + d * d),
        "scores": b * h * (2 * n * (d // h) + n * n),
        "mix": b * h * (2 * n * (d // h) + n * n),
        "output": b * (2 * n * d + d * d),
        "ffn": b * (2 * n * d + 2 * n * f + 2 * d * f),
    }


@mistake
def no_batch_in_the_projections(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you left b out under "qkv". The items share the weights, but each token of each item is multiplied by them."""
    right = _flops(b, n, d, f)
    return right | {"qkv": right["qkv"] // b}


@mistake
def no_batch_in_the_output(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """you left b out under "output". The items share the weights, but each token of each item is multiplied by them."""
    right = _flops(b, n, d, f)
    return right | {"output": right["output"] // b}


@mistake
def heads_left_in_the_mix_and_scores(b: int, n: int, d: int, h: int, f: int) -> Flops:
    """scores, mix and output are those of one head, of width d/h. There are h heads: each has a table of scores of its
    own, and side by side they are d wide when Wo multiplies them.
    """
    right = _flops(b, n, d, f)
    return right | {key: right[key] // h for key in ("scores", "mix", "output")}


@right
def flops_head_by_head(b: int, n: int, d: int, h: int, f: int) -> Flops:
    k = d // h
    return {
        "qkv": 3 * b * h * 2 * n * d * k,
        "scores": b * h * (2 * n * k * n),
        "mix": b * h * (2 * n * n * k),
        "output": b * (2 * n * (h * k) * d),
        "ffn": b * (2 * n * d * f + 2 * n * f * d),
    }


@right
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


@right
def flops_as_numpy_integers(b: int, n: int, d: int, h: int, f: int) -> dict[str, Any]:
    shapes = {
        "qkv": [(n, d, d)] * 3,
        "scores": [(n, d, n)],
        "mix": [(n, n, d)],
        "output": [(n, d, d)],
        "ffn": [(n, d, f), (n, f, d)],
    }
    return {key: 2 * b * np.prod(np.array(of, np.int64), axis=1).sum() for key, of in shapes.items()}


@right
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
