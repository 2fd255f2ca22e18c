"""One transformer block, computed in six ways that differ in nothing but how the work is cut up. Notebook 08 races them.

The block is the one of notebook 05: pre-norm, relu, a causal mask, and h*k = h*v = d.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from course.parameters import random_parameters

Params = dict[str, Float[Tensor, "..."]]
Batch = Float[Tensor, "b n d"]
Racer = Callable[[Batch, Params, int], Batch]

EPS = 1e-5


class Sizes(NamedTuple):
    """Items in a batch, width of a token, heads, width of the hidden layer."""

    b: int
    d: int
    h: int
    f: int


# One compiling thread starts no helper processes, which would outlive the call. What is compiled uses the threads that there are
# when it runs. That the compiler knows this processor is believed: trying it takes longer than compiling the block.
COMPILING: dict[str, str | int | bool | Callable[..., Any]] = {
    "compile_threads": 1,
    "cpp.dynamic_threads": True,
    "cpp.vec_isa_ok": True,
}
SIZES = Sizes(b=4, d=256, h=4, f=1024)


def parameters(sizes: Sizes, device: torch.device, dtype: torch.dtype) -> Params:
    k = sizes.d // sizes.h
    drawn = random_parameters(np.random.default_rng(0), sizes.d, sizes.h, k, k, sizes.f)
    return {name: torch.from_numpy(values).to(device, dtype) for name, values in drawn.items()}


def tokens(sizes: Sizes, n: int, device: torch.device, dtype: torch.dtype) -> Batch:
    draw = torch.Generator().manual_seed(1)
    return torch.randn(sizes.b, n, sizes.d, generator=draw).to(device, dtype)


# ------------------------------------------------------------------------------------------- what all have in common


def _norm1(X: Float[Tensor, "*b d"], params: Params) -> Float[Tensor, "*b d"]:
    return layer_norm(X, X.shape[-1:], params["gain1"], params["bias1"], EPS)


def _after_attention(X: Float[Tensor, "*b d"], heads: Float[Tensor, "*b d"], params: Params) -> Float[Tensor, "*b d"]:
    """The rest of the block, from the concatenated heads on: T3, T4, T5, H."""
    T3 = heads @ params["Wo"] + X
    T4 = layer_norm(T3, X.shape[-1:], params["gain2"], params["bias2"], EPS)
    return torch.relu(T4 @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"] + T3


def _each_head(params: Params, h: int) -> Iterator[tuple[Tensor, ...]]:
    """Wq, Wk and Wv of each head, [d, k] each."""
    blocks = params["Wqkv"].chunk(3 * h, dim=1)
    return ((blocks[j], blocks[h + j], blocks[2 * h + j]) for j in range(h))


def _future(n: int, device: torch.device) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool, device=device).triu(1)


# ------------------------------------------------------------------------------------------------------ token by token


def attend_row(q: Float[Tensor, "k"], K: Float[Tensor, "m k"], V: Float[Tensor, "m k"]) -> Float[Tensor, "k"]:
    """One query over m keys."""
    return (K @ q / len(q) ** 0.5).softmax(dim=-1) @ V


def literal_loop(X: Batch, params: Params, h: int) -> Batch:
    """For each token anew: its query, and the keys and values of all tokens that it sees."""

    def token(i: int, item: Tensor, T1: Tensor) -> Tensor:
        seen = T1[: i + 1]
        heads = [attend_row(T1[i] @ Wq, seen @ Wk, seen @ Wv) for Wq, Wk, Wv in _each_head(params, h)]
        return _after_attention(item[i], torch.cat(heads), params)

    def sequence(item: Tensor) -> Tensor:
        T1 = torch.stack([_norm1(x, params) for x in item])
        return torch.stack([token(i, item, T1) for i in range(len(item))])

    return torch.stack([sequence(item) for item in X])


def hoisted_loop(X: Batch, params: Params, h: int) -> Batch:
    """Token by token, but each key and each value is computed once."""

    def token(i: int, x: Tensor, t1: Tensor, heads: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        outputs = [attend_row(t1 @ Wq, K[: i + 1], V[: i + 1]) for Wq, K, V in heads]
        return _after_attention(x, torch.cat(outputs), params)

    def sequence(item: Tensor) -> Tensor:
        T1 = torch.stack([_norm1(x, params) for x in item])
        heads = [(Wq, T1 @ Wk, T1 @ Wv) for Wq, Wk, Wv in _each_head(params, h)]
        return torch.stack([token(i, x, T1[i], heads) for i, x in enumerate(item)])

    return torch.stack([sequence(item) for item in X])


# ---------------------------------------------------------------------------------------------------- whole sequences


def matrices(X: Batch, params: Params, h: int) -> Batch:
    """Whole sequences, but one item of the batch and one head at a time."""
    future = _future(X.shape[1], X.device)

    def head(T1: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Tensor:
        S = (T1 @ Wq) @ (T1 @ Wk).T / Wq.shape[1] ** 0.5
        return S.masked_fill(future, -torch.inf).softmax(dim=-1) @ (T1 @ Wv)

    def sequence(item: Tensor) -> Tensor:
        T1 = _norm1(item, params)
        heads = torch.cat([head(T1, *weights) for weights in _each_head(params, h)], dim=1)
        return _after_attention(item, heads, params)

    return torch.stack([sequence(item) for item in X])


def _with_heads_as_an_axis(X: Batch, params: Params, h: int, attend: Callable[..., Tensor]) -> Batch:
    b, n, d = X.shape
    q, k, v = (_norm1(X, params) @ params["Wqkv"]).view(b, n, 3, h, d // h).permute(2, 0, 3, 1, 4)
    return _after_attention(X, attend(q, k, v).transpose(1, 2).reshape(b, n, d), params)


def attend(q: Float[Tensor, "*b n k"], k: Float[Tensor, "*b n k"], v: Float[Tensor, "*b n k"]) -> Tensor:
    """Causal attention of any number of heads at once, [*b, n, k]."""
    S = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return S.masked_fill(_future(q.shape[-2], q.device), -torch.inf).softmax(dim=-1) @ v


def batched(X: Batch, params: Params, h: int) -> Batch:
    """All items and all heads at once."""
    return _with_heads_as_an_axis(X, params, h, attend)


def fused(X: Batch, params: Params, h: int) -> Batch:
    """As `batched`, but the table of scores is never written down."""
    return _with_heads_as_an_axis(X, params, h, partial(scaled_dot_product_attention, is_causal=True))


EAGER: dict[str, Racer] = {
    "literal loop": literal_loop,
    "hoisted loop": hoisted_loop,
    "matrices": matrices,
    "batched": batched,
    "fused attention": fused,
}
COMPILED = "torch.compile"
BY_TOKEN = ("literal loop", "hoisted loop")
NAMES = ("literal loop", "hoisted loop", "matrices", "batched", COMPILED, "fused attention")


# ----------------------------------------------------------------------------------------------------------- compiled


@dataclass(frozen=True)
class Compiled:
    """`batched` with what torch.compile made of its attention, or why there is nothing."""

    racer: Racer | None
    told: str

    def __repr__(self) -> str:
        return self.told


@cache
def compiled() -> Compiled:
    """Compile the attention of `batched` for any number of tokens. This takes its time once; later calls give the same again.

    Nothing is compiled while nbgrader runs.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return Compiled(None, "nothing is compiled while nbgrader runs")
    device = here()
    missing = _missing_compiler() if device.type == "cpu" else None
    if missing:
        return Compiled(None, missing)

    @cache
    def fast() -> Callable[..., Tensor]:
        return torch.compile(attend, options=COMPILING)

    def of_any_length(*qkv: Tensor) -> Tensor:
        for one in qkv:
            torch._dynamo.mark_dynamic(one, 2)
        return fast()(*qkv)

    def racer(X: Batch, params: Params, h: int) -> Batch:
        return _with_heads_as_an_axis(X, params, h, of_any_length)

    params = parameters(SIZES, device, torch.float32)
    X = tokens(SIZES, 16, device, torch.float32)

    def run() -> Batch:
        with torch.no_grad():
            return racer(X, params, SIZES.h)

    start = time.perf_counter()
    why = trouble(run)
    if why:
        return Compiled(None, why)
    took = time.perf_counter() - start
    return Compiled(racer, f"torch.compile took {took:.1f} s, once; that is not counted as time of the block")


@cache
def recognised() -> str:
    """How often the compiler puts the fused call in place of attention that is written out, in words, by how the mask is written.

    It is stopped when it has chosen: no code is made of what it found, so this needs no C++ compiler, and little time.
    Nothing is compiled while nbgrader runs.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return "nothing is compiled while nbgrader runs"
    from torch._dynamo.utils import counters
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx

    device = here()
    q, k, v = torch.randn(3, 2, 4, 64, 64, generator=torch.Generator().manual_seed(2)).to(device).unbind(0)
    future = _future(64, device)
    M = torch.zeros(64, 64, device=device).masked_fill(future, -torch.inf)

    def as_a_sum() -> Tensor:
        return (q @ k.transpose(-2, -1) / 8 + M).softmax(dim=-1) @ v

    def filled_in() -> Tensor:
        return (q @ k.transpose(-2, -1) / 8).masked_fill(future, -torch.inf).softmax(dim=-1) @ v

    def as_it_is(graph: torch.fx.GraphModule, inputs: object, **options: object) -> Any:
        return graph.forward

    lines = []
    for spelling, attend in (("S + M", as_a_sum), ("S.masked_fill(future, -inf)", filled_in)):
        counters.clear()
        # what was compiled once before would not be looked at; torch warns that it is told to look
        with torch.no_grad(), config.patch(force_disable_caches=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            why = trouble(torch.compile(attend, backend=partial(compile_fx, inner_compile=as_it_is)))
        if why:
            return why
        lines.append(f"{spelling:28} replaced by the fused call: {counters['inductor']['fuse_attention']} times")
    return "\n".join(lines)


def trouble(run: Callable[[], object]) -> str:
    """Run what is to be compiled; in words what went wrong, if something did. The others can run all the same."""
    try:
        run()
    except Exception as error:
        return f"torch.compile does not work here: {type(error).__name__}"
    return ""


def _missing_compiler() -> str | None:
    """What torch.compile lacks on a CPU; it calls the C++ compiler that CXX names, or the usual one of the system."""
    usual = {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")
    name = os.environ.get("CXX", usual)
    if shutil.which(name):
        return None
    return f"torch.compile needs a C++ compiler, and there is no {name} here"


def here() -> torch.device:
    """The GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
