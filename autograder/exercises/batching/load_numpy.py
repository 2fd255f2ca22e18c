"""A block's parameters put into a PyTorch module.

A `Linear` computes `x @ weight.T`, so every weight goes in turned, also a square one, which would fit either way.
`Wqkv` is cut where queries and keys end: all values together are as wide as `Wo` has rows, and queries and keys share
the rest; thirds fit only where v is k. The module takes the number type of the parameters first, or float64 would be
rounded while it is copied. `load_state_dict` copies, so later learning leaves the arrays alone, and `eval` ends
training in all parts without touching the setting of the dropout.
"""

from __future__ import annotations

import numpy as np
import torch

from autograder.exercises.inputs import causal as lower_triangle
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, case, misses_the_idea, mistake, probe, right
from course.modules import Block
from course.parameters import shapes
from course.trial.values import Tensor as TensorValue

Arrays = dict[str, np.ndarray]


def load_numpy(module: Block, params: dict[str, np.ndarray]) -> Block:
    """Every weight of the module written number by number."""
    values = len(params["Wo"])
    keys = (params["Wqkv"].shape[1] - values) // 2
    module.double()
    layers = (
        (module.query, params["Wqkv"][:, :keys]),
        (module.key, params["Wqkv"][:, keys : 2 * keys]),
        (module.value, params["Wqkv"][:, 2 * keys :]),
        (module.output, params["Wo"]),
        (module.widen, params["W1"]),
        (module.narrow, params["W2"]),
    )
    vectors = (
        (module.norm_before_attention.weight, params["gain1"]),
        (module.norm_before_attention.bias, params["bias1"]),
        (module.norm_before_ffn.weight, params["gain2"]),
        (module.norm_before_ffn.bias, params["bias2"]),
        (module.widen.bias, params["b1"]),
        (module.narrow.bias, params["b2"]),
    )
    with torch.no_grad():
        for layer, W in layers:
            for i, j in np.ndindex(W.shape):
                layer.weight[j, i] = float(W[i, j])
        for vector, numbers in vectors:
            for i, number in enumerate(numbers):
                vector[i] = float(number)
    module.train(False)
    return module


def _loading(
    rng: np.random.Generator,
    d: int,
    h: int,
    k: int,
    v: int,
    f: int,
    dropout: float = 0.0,
    dtype: str = "float64",
    digits: int = 12,
    even: bool = False,
) -> Case:
    """A block's sizes and parameters. Of `even` weights, products are no larger than what goes in, and float32's roundings stay small;
    there eps weighs, and hidden units are on, so that whatever stands before them is seen behind them too."""

    def drawn(*shape: int) -> np.ndarray:
        scale = shape[0] ** -0.5 if even and len(shape) > 1 else 1.0
        return np.round(normal(rng, *shape, scale=scale), digits).astype(dtype)

    params = {name: drawn(*shape) for name, shape in shapes(d, h, k, v, f).items()}
    if even:
        params["b1"] = abs(params["b1"])
    n = 5
    X = np.round(normal(rng, 3, n, d, scale=2.0), digits).astype(dtype)
    of = {"d": d, "h": h, "k": k, "v": v, "f": f, "eps": 0.1 if even else 1e-3, "dropout": dropout}
    return case(of, params, TensorValue(X), TensorValue(lower_triangle(n)), harness="loaded")


PUBLIC = (
    _loading(np.random.default_rng(1), 2, 1, 3, 4, 5, dropout=0.5, digits=2),
    _loading(np.random.default_rng(2), 4, 2, 2, 2, 4, digits=2),
    _loading(np.random.default_rng(3), 3, 2, 2, 1, 4, dtype="float32", digits=2),
    _loading(np.random.default_rng(4), 4, 2, 2, 2, 5),
    _loading(np.random.default_rng(5), 6, 2, 3, 3, 6, digits=2),
    _loading(np.random.default_rng(6), 5, 3, 2, 4, 7, digits=2),
)


def _oblong(rng: np.random.Generator) -> tuple[int, int, int, int, int]:
    """d, h, k, v and f, pairwise distinct, with which no weight is square, nor where d and f, and h and v, change places. d and f are
    3 or more: of two features that are nearly equal LayerNorm leaves a difference of roundings."""
    while True:
        d, h, k, v, f = sizes(rng, 5, 2, 7)
        if min(d, f) > 2 and not {d, f} & {h * k, h * v, v * k}:
            return d, h, k, v, f


@probe(1.0, part="output")
def blocks_of_other_sizes(rng: np.random.Generator) -> list[Case]:
    """the module computes what a block with these weights does, all sizes different"""
    d, h, k, v, f = _oblong(rng)
    return [_loading(rng, d, h, k, v, f, even=True), _loading(rng, f, v, h, k, d, even=True)]


@probe(0.5, part="output")
def square_blocks(rng: np.random.Generator) -> list[Case]:
    """the same where weights are square, and fit turned or not"""
    h, k, f = sizes(rng, 3, 2, 4)
    return [
        _loading(rng, h * k, h, k, k, f, even=True),  # d = h*k = h*v: the projections are square
        _loading(rng, h * k, h, k, k, h * k, even=True),  # f, too
    ]


@probe(0.5, part="output")
def blocks_in_float32(rng: np.random.Generator) -> list[Case]:
    """the number type of the weights, float32 too"""
    return [_loading(rng, *_oblong(rng), dtype="float32", even=True)]


@probe(0.5, part="output")
def blocks_with_dropout(rng: np.random.Generator) -> list[Case]:
    """no dropout, so the same output at every call"""
    return [_loading(rng, *_oblong(rng), dropout=0.5, even=True)]


@probe(0.5, part="afterwards")
def module_afterwards(rng: np.random.Generator) -> list[Case]:
    """the module that was given comes back, training mode is over in all its parts, its weights are its own"""
    return blocks_with_dropout(rng)


def _tables(params: Arrays) -> Arrays:
    """The weights of queries, keys and values, and the others, by name."""
    width = len(params["Wo"])
    Wq, Wk, Wv = np.split(params["Wqkv"], [(params["Wqkv"].shape[1] - width) // 2, -width], axis=1)
    return {"query": Wq, "key": Wk, "value": Wv, "output": params["Wo"], "widen": params["W1"], "narrow": params["W2"]}


def _vectors(params: Arrays) -> Arrays:
    return {
        "norm_before_attention.weight": params["gain1"],
        "norm_before_attention.bias": params["bias1"],
        "norm_before_ffn.weight": params["gain2"],
        "norm_before_ffn.bias": params["bias2"],
        "widen.bias": params["b1"],
        "narrow.bias": params["b2"],
    }


def _copied(module: Block, state: Arrays) -> Block:
    """The module with these numbers in it, in their dtype; training mode as it was."""
    module.to(torch.from_numpy(state["output.weight"]).dtype)
    with torch.no_grad():
        for name, array in state.items():
            module.get_parameter(name).copy_(torch.tensor(array))
    return module


@misses_the_idea
def weights_not_transposed(module: Block, params: Arrays) -> Block:
    """you copied the weights as they stand. A Linear computes x @ weight.T: its weight is [out, in], and ours is
    [in, out]. It has to be turned; where it is square, nobody warns you."""
    return _copied(module, {f"{name}.weight": W for name, W in _tables(params).items()} | _vectors(params)).eval()


@mistake
def reshaped_for_transposed(module: Block, params: Arrays) -> Block:
    """you reshaped the weights to the shape that a Linear wants. That fits always, and puts nearly every number in a
    wrong place: a reshape keeps the order of the numbers, a transpose exchanges rows and columns."""
    turned = {f"{name}.weight": np.ascontiguousarray(W).reshape(W.shape[::-1]) for name, W in _tables(params).items()}
    return _copied(module, turned | _vectors(params)).eval()


@mistake
def turned_where_it_must_be(module: Block, params: Arrays) -> Block:
    """you turned a weight only where its shape did not fit. A square weight fits both ways, and only one of them is
    right: every Linear's weight has to be turned."""
    state = {}
    for name, W in _tables(params).items():
        fits = tuple(module.get_parameter(f"{name}.weight").shape) == W.shape
        state[f"{name}.weight"] = W if fits else W.T
    return _copied(module, state | _vectors(params)).eval()


def _state(params: Arrays) -> Arrays:
    return {f"{name}.weight": W.T for name, W in _tables(params).items()} | _vectors(params)


@mistake
def w1_and_w2_exchanged(module: Block, params: Arrays) -> Block:
    """you put W2 into widen and W1 into narrow, as they stand. The shapes fit, which is a trap: a Linear's weight is
    [out, in]. W1 belongs into widen, turned."""
    state = _state(params) | {"widen.weight": params["W2"], "narrow.weight": params["W1"]}
    return _copied(module, state).eval()


@misses_the_idea
def returns_it_as_it_came(module: Block, params: Arrays) -> Block:
    """you returned the module as it came, with the numbers that it was made with, in training mode. Assigning to a name, or
    changing a copy, changes no module: write into its parameters."""
    return module


@mistake
def numpy_type_for_module(module: Block, params: Arrays) -> Block:
    """you handed the module one of numpy's number types. PyTorch has types of its own; the one that fits an array is that
    of a tensor made of it."""
    module.to(params["Wo"].dtype)  # type: ignore[call-overload]
    return _copied(module, _state(params)).eval()


@mistake
def dropout_left_on(module: Block, params: Arrays) -> Block:
    """the module is still in training mode, in which dropout sets numbers to zero at random: two calls with the same tokens give two
    answers. Where it is to be used, it has to be told so."""
    return _copied(module, _state(params))


@mistake
def only_the_top_told(module: Block, params: Arrays) -> Block:
    """you set `training` on the module itself, and the modules inside it keep their own. There is a method that tells
    them all."""
    _copied(module, _state(params)).training = False
    return module


@mistake
def only_the_dropout_told(module: Block, params: Arrays) -> Block:
    """you told the dropout alone that training is over. Its answers are steady now, but the module itself is still in training mode. There
    is a method that tells them all."""
    _copied(module, _state(params)).dropout.eval()
    return module


@mistake
def dropout_of_nothing(module: Block, params: Arrays) -> Block:
    """you set dropout's share to 0. That makes the answers steady, and destroys a setting that the next training needs;
    the module is still in training mode. Change the mode instead."""
    _copied(module, _state(params)).dropout.p = 0.0
    return module


@mistake
def biases_forgotten(module: Block, params: Arrays) -> Block:
    """the biases of the feed-forward network, b1 and b2, are still those that the module was made with."""
    state = {name: array for name, array in _state(params).items() if name not in ("widen.bias", "narrow.bias")}
    return _copied(module, state).eval()


@mistake
def norms_forgotten(module: Block, params: Arrays) -> Block:
    """the gains and biases of the two LayerNorms are still those that the module was made with. (A name that is misspelt, under
    strict=False, goes by without a word.)"""
    return _copied(module, {name: array for name, array in _state(params).items() if "norm" not in name}).eval()


@mistake
def first_norm_forgotten(module: Block, params: Arrays) -> Block:
    """gain and bias of the first LayerNorm are still those that the module was made with."""
    return _copied(
        module, {name: array for name, array in _state(params).items() if "before_attention" not in name}
    ).eval()


@mistake
def second_norm_forgotten(module: Block, params: Arrays) -> Block:
    """gain and bias of the second LayerNorm are still those that the module was made with."""
    return _copied(module, {name: array for name, array in _state(params).items() if "before_ffn" not in name}).eval()


@mistake
def attention_forgotten(module: Block, params: Arrays) -> Block:
    """the weights of queries, keys and values are still those that the module was made with."""
    return _copied(
        module,
        {name: array for name, array in _state(params).items() if name.split(".")[0] not in ("query", "key", "value")},
    ).eval()


@mistake
def ffn_forgotten(module: Block, params: Arrays) -> Block:
    """the two layers of the feed-forward network are still those that the module was made with."""
    return _copied(
        module, {name: array for name, array in _state(params).items() if name.split(".")[0] not in ("widen", "narrow")}
    ).eval()


@mistake
def norms_made_new(module: Block, params: Arrays) -> Block:
    """you put new LayerNorms into the module. They have an eps of their own, and the module's is another. Write into the ones that are
    there."""
    for layer in ("norm_before_attention", "norm_before_ffn"):
        setattr(module, layer, torch.nn.LayerNorm(module.output.out_features))
    return _copied(module, _state(params)).eval()


@mistake
def uses_up_the_parameters(module: Block, params: Arrays) -> Block:
    """you took entries out of the caller's dictionary: popping removes them. Look them up with square brackets."""
    state = _state(params)
    params.clear()
    return _copied(module, state).eval()


@mistake
def keys_before_queries_and_values_first(module: Block, params: Arrays) -> Block:
    """you took the three parts of Wqkv for values, keys and queries. All queries come first, then all keys, then all values."""
    width, W = len(params["Wo"]), params["Wqkv"]
    Wv, Wk, Wq = np.split(W, [width, width + (W.shape[1] - width) // 2], axis=1)
    return _copied(module, _state(params) | {"query.weight": Wq.T, "key.weight": Wk.T, "value.weight": Wv.T}).eval()


@mistake
def queries_for_keys(module: Block, params: Arrays) -> Block:
    """the weights of the queries went into `key` too. Each of the three parts of Wqkv has a Linear of its own."""
    state = _state(params)
    return _copied(module, state | {"key.weight": state["query.weight"]}).eval()


@mistake
def output_not_transposed(module: Block, params: Arrays) -> Block:
    """Wo went into `output` as it stands. A Linear's weight is [out, in], and ours is [in, out]: it has to be turned, also where it is
    square."""
    return _copied(module, _state(params) | {"output.weight": params["Wo"]}).eval()


@mistake
def projections_not_transposed(module: Block, params: Arrays) -> Block:
    """the weights of queries, keys and values went in as they stand, and the others turned. Every Linear's weight has to be turned, also
    where it is square."""
    projections = {f"{name}.weight": _tables(params)[name] for name in ("query", "key", "value")}
    return _copied(module, _state(params) | projections).eval()


@mistake
def w1_not_transposed(module: Block, params: Arrays) -> Block:
    """W1 went into `widen` as it stands. A Linear's weight is [out, in], and ours is [in, out]: it has to be turned, also where it is
    square."""
    return _copied(module, _state(params) | {"widen.weight": params["W1"]}).eval()


@mistake
def w2_not_transposed(module: Block, params: Arrays) -> Block:
    """W2 went into `narrow` as it stands. A Linear's weight is [out, in], and ours is [in, out]: it has to be turned, also where it is
    square."""
    return _copied(module, _state(params) | {"narrow.weight": params["W2"]}).eval()


@mistake
def ffn_not_transposed(module: Block, params: Arrays) -> Block:
    """W1 and W2 went in as they stand, and the others turned. Every Linear's weight has to be turned, also where it is square."""
    layers = {f"{name}.weight": _tables(params)[name] for name in ("widen", "narrow")}
    return _copied(module, _state(params) | layers).eval()


@mistake
def only_the_gains(module: Block, params: Arrays) -> Block:
    """the biases of the two LayerNorms are still those that the module was made with. A LayerNorm's gain is its weight,
    and it has a bias too."""
    state = _state(params)
    return _copied(module, {n: a for n, a in state.items() if not ("norm" in n and n.endswith("bias"))}).eval()


@mistake
def norms_exchanged(module: Block, params: Arrays) -> Block:
    """gain1 and bias1 went to the LayerNorm in front of the feed-forward network. They belong to the one in front of
    attention."""
    one, two = "norm_before_attention", "norm_before_ffn"
    state = _state(params)
    swapped = {f"{a}.{part}": state[f"{b}.{part}"] for a, b in ((one, two), (two, one)) for part in ("weight", "bias")}
    return _copied(module, state | swapped).eval()


@mistake
def first_gain_for_both(module: Block, params: Arrays) -> Block:
    """gain1 went into both LayerNorms. The one in front of the feed-forward network has a gain of its own, gain2."""
    return _copied(module, _state(params | {"gain2": params["gain1"]})).eval()


@mistake
def first_bias_for_both(module: Block, params: Arrays) -> Block:
    """bias1 went into both LayerNorms. The one in front of the feed-forward network has a bias of its own, bias2."""
    return _copied(module, _state(params | {"bias2": params["bias1"]})).eval()


@mistake
def first_norm_for_both(module: Block, params: Arrays) -> Block:
    """gain1 and bias1 went into both LayerNorms. The one in front of the feed-forward network has gain2 and bias2."""
    return _copied(module, _state(params | {"gain2": params["gain1"], "bias2": params["bias1"]})).eval()


@mistake
def first_bias_is_the_gain(module: Block, params: Arrays) -> Block:
    """gain1 stands in the first LayerNorm twice, as its weight and as its bias. A LayerNorm multiplies by its weight and adds its bias."""
    return _copied(module, _state(params | {"bias1": params["gain1"]})).eval()


@mistake
def second_bias_is_the_gain(module: Block, params: Arrays) -> Block:
    """gain2 stands in the second LayerNorm twice, as its weight and as its bias. A LayerNorm multiplies by its weight and adds its bias."""
    return _copied(module, _state(params | {"bias2": params["gain2"]})).eval()


@mistake
def last_bias_and_that_of_the_norm_exchanged(module: Block, params: Arrays) -> Block:
    """b2 and bias2 are exchanged. Both have width d, so nothing stops it: b2 is the bias of `narrow`, and bias2 belongs to the second
    LayerNorm."""
    return _copied(module, _state(params | {"b2": params["bias2"], "bias2": params["b2"]})).eval()


@mistake
def last_bias_left_out(module: Block, params: Arrays) -> Block:
    """the bias of `narrow` is still the one that the module was made with; b2 belongs there. (strict=False says nothing of what is missing.)"""
    return _copied(module, {name: array for name, array in _state(params).items() if name != "narrow.bias"}).eval()


@mistake
def bias_of_the_first_layer_left_out(module: Block, params: Arrays) -> Block:
    """the bias of `widen` is still the one that the module was made with; b1 belongs there. (strict=False says nothing of what is missing.)"""
    return _copied(module, {name: array for name, array in _state(params).items() if name != "widen.bias"}).eval()


def _exchanged(module: Block, params: Arrays, one: str, other: str) -> Block:
    return _copied(module, _state(params | {one: params[other], other: params[one]})).eval()


@mistake
def gains_exchanged(module: Block, params: Arrays) -> Block:
    """gain1 and gain2 are exchanged. gain1 belongs to the LayerNorm in front of attention."""
    return _exchanged(module, params, "gain1", "gain2")


@mistake
def biases_exchanged(module: Block, params: Arrays) -> Block:
    """bias1 and bias2 are exchanged. bias1 belongs to the LayerNorm in front of attention."""
    return _exchanged(module, params, "bias1", "bias2")


@mistake
def first_gain_and_bias_exchanged(module: Block, params: Arrays) -> Block:
    """gain1 and bias1 are exchanged. A LayerNorm multiplies by its weight and adds its bias."""
    return _exchanged(module, params, "gain1", "bias1")


@mistake
def second_gain_and_bias_exchanged(module: Block, params: Arrays) -> Block:
    """gain2 and bias2 are exchanged. A LayerNorm multiplies by its weight and adds its bias."""
    return _exchanged(module, params, "gain2", "bias2")


@mistake
def gain_and_bias_exchanged(module: Block, params: Arrays) -> Block:
    """gain and bias of the LayerNorms are exchanged. A LayerNorm multiplies by its weight and adds its bias."""
    state = _state(params)
    swapped: Arrays = {}
    for norm in ("norm_before_attention", "norm_before_ffn"):
        swapped |= {f"{norm}.weight": state[f"{norm}.bias"], f"{norm}.bias": state[f"{norm}.weight"]}
    return _copied(module, state | swapped).eval()


@mistake
def queries_and_keys_swapped(module: Block, params: Arrays) -> Block:
    """queries and keys are exchanged. In Wqkv all queries come first, then all keys, then all values."""
    state = _state(params)
    swapped = {"query.weight": state["key.weight"], "key.weight": state["query.weight"]}
    return _copied(module, state | swapped).eval()


@mistake
def values_first(module: Block, params: Arrays) -> Block:
    """you took the first columns of Wqkv for the values. All queries come first, then all keys, then all values."""
    width, W = len(params["Wo"]), params["Wqkv"]
    Wv, Wq, Wk = np.split(W, [width, width + (W.shape[1] - width) // 2], axis=1)
    return _copied(module, _state(params) | {"query.weight": Wq.T, "key.weight": Wk.T, "value.weight": Wv.T}).eval()


@mistake
def thirds_of_wqkv(module: Block, params: Arrays) -> Block:
    """you cut Wqkv into three equal parts. That fits only where values are as wide as keys. Wo tells how wide all
    values are together, and so does the module itself.
    """
    Wq, Wk, Wv = np.array_split(params["Wqkv"], 3, axis=1)
    return _copied(module, _state(params) | {"query.weight": Wq.T, "key.weight": Wk.T, "value.weight": Wv.T}).eval()


@mistake
def columns_head_by_head(module: Block, params: Arrays) -> Block:
    """you read the columns of Wqkv as query, key and value of head 0, then of head 1, and so on. Here all queries come
    first, then all keys, then all values."""
    width, h = len(params["Wo"]) // module.h, module.h
    heads = np.split(params["Wqkv"], h, axis=1)
    k = (heads[0].shape[1] - width) // 2
    parts = [
        np.concatenate(part, axis=1) for part in zip(*(np.split(W, [k, 2 * k], axis=1) for W in heads), strict=True)
    ]
    names = ("query.weight", "key.weight", "value.weight")
    return _copied(module, _state(params) | {n: W.T for n, W in zip(names, parts, strict=True)}).eval()


@mistake
def rounded_to_float32(module: Block, params: Arrays) -> Block:
    """the module is float32, and its weights were rounded to seven digits on the way in, without a word. Either the module never became
    the type of the arrays, or your tensors were not of that type, and the module's was taken from them."""
    with torch.no_grad():
        for name, array in _state(params).items():
            module.get_parameter(name).copy_(torch.tensor(array))
    return module.eval()


@mistake
def always_float64(module: Block, params: Arrays) -> Block:
    """the module is float64, also where the weights are float32. It should compute in the number type of the weights."""
    return _copied(module.double(), {name: array.astype(np.float64) for name, array in _state(params).items()}).eval()


@mistake
def widened_too_late(module: Block, params: Arrays) -> Block:
    """the module is float64, but its weights have only seven right digits: they went through float32, and what is rounded stays rounded.
    Was the module widened before the weights were copied? Do your tensors have the type of the arrays?"""
    with torch.no_grad():
        for name, array in _state(params).items():
            module.get_parameter(name).copy_(torch.tensor(array))
    return module.to(torch.from_numpy(params["Wo"]).dtype).eval()


@mistake
def a_module_of_its_own(module: Block, params: Arrays) -> Block:
    """you filled and returned another module. The one that was handed to you, which the caller may hold in other places
    too, is as it was."""
    import copy

    return _copied(copy.deepcopy(module), _state(params)).eval()


@mistake
def returns_nothing(module: Block, params: Arrays) -> None:
    """the module is filled, and your function returns None. Its caller wants to go on with what it returns."""
    _copied(module, _state(params)).eval()


@mistake
def returns_what_loading_says(module: Block, params: Arrays) -> object:
    """you returned what load_state_dict returns, a list of names that did not fit. Its caller wants the module."""
    tensors = {name: torch.tensor(array) for name, array in _state(params).items()}
    return module.to(tensors["output.weight"].dtype).eval().load_state_dict(tensors)


@misses_the_idea
def leaves_it_untouched(module: Block, params: Arrays) -> Block:
    """the module still has the numbers that it was made with. Assigning to a name, or changing a copy, changes no module:
    write into its parameters."""
    return module.to(torch.from_numpy(params["Wo"]).dtype).eval()


@mistake
def freezes_the_weights(module: Block, params: Arrays) -> Block:
    """the numbers are right, but the weights no longer take part in training: requires_grad is off. A module that is
    evaluated today may go on learning tomorrow."""
    return _copied(module, _state(params)).requires_grad_(False).eval()


@mistake
def takes_dropout_out(module: Block, params: Arrays) -> Block:
    """you took the dropout out, or set its share to something else. It does nothing in evaluation mode, and it must still
    be there when the module goes back to training."""
    _copied(module, _state(params)).dropout = torch.nn.Identity()  # type: ignore[assignment]
    return module.eval()


@mistake
def takes_dropout_out_at_the_end(module: Block, params: Arrays) -> Block:
    """you took the dropout out, after telling the module that training is over. Dropout does nothing in evaluation mode, and it must
    still be there when the module goes back to training."""
    _copied(module, _state(params)).eval()
    module.dropout = torch.nn.Identity()  # type: ignore[assignment]
    return module


@mistake
def shares_memory(module: Block, params: Arrays) -> Block:
    """the module's weights lie in the caller's own memory: from_numpy copies nothing. When the module learns, the
    caller's arrays change with it. Make copies."""
    module.to(torch.from_numpy(params["Wo"]).dtype)
    for name, array in _state(params).items():
        module.get_parameter(name).data = torch.from_numpy(array)
    return module.eval()


@right
def loaded_by_state(module: Block, params: Arrays) -> Block:
    tensors = {name: torch.tensor(array) for name, array in _state(params).items()}
    module.to(tensors["output.weight"].dtype).load_state_dict(tensors)
    return module.eval()


@right
def loaded_by_copying(module: Block, params: Arrays) -> Block:
    return _copied(module, _state(params)).eval()


@right
def loaded_by_data(module: Block, params: Arrays) -> Block:
    keys = module.query.out_features
    module.query.weight.data = torch.tensor(params["Wqkv"][:, :keys].T)
    module.key.weight.data = torch.tensor(params["Wqkv"][:, keys : 2 * keys].T)
    module.value.weight.data = torch.tensor(params["Wqkv"][:, 2 * keys :].T)
    module.output.weight.data = torch.tensor(params["Wo"].T)
    module.widen.weight.data, module.widen.bias.data = torch.tensor(params["W1"].T), torch.tensor(params["b1"])
    module.narrow.weight.data, module.narrow.bias.data = torch.tensor(params["W2"].T), torch.tensor(params["b2"])
    for norm, i in ((module.norm_before_attention, 1), (module.norm_before_ffn, 2)):
        norm.weight.data, norm.bias.data = torch.tensor(params[f"gain{i}"]), torch.tensor(params[f"bias{i}"])
    return module.eval()


@right
def loaded_as_new_parameters(module: Block, params: Arrays) -> Block:
    for name, array in _state(params).items():
        layer, part = name.rsplit(".", 1)
        setattr(module.get_submodule(layer), part, torch.nn.Parameter(torch.tensor(array)))
    module.eval()
    return module


@right
def loaded_by_assigning(module: Block, params: Arrays) -> Block:
    tensors = {name: torch.from_numpy(array.copy()) for name, array in _state(params).items()}
    module.load_state_dict(tensors, assign=True)
    return module.train(False)
