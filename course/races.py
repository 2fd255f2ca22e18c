"""The races of notebook 08: how time grows with the number of tokens, until the next point would take too long."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from course import racers
from course.clock import helpful_threads, race, seconds, threads
from course.racers import BY_TOKEN, COMPILED, EAGER, NAMES, SIZES, Params, Racer, Sizes
from course.roofline import Roofs, measured_roofs, moved_bytes

Call = Callable[[], object]
Timed = Callable[[Call], float]
Prepare = Callable[[int], Call]

LONGEST = 0.1
"""Seconds. A curve ends before the point of which one call would take longer."""

LENGTHS = tuple(2**i for i in range(3, 21))
SUDDEN = 5
"""Twice the tokens take at most four times as long: nothing here grows faster than the square of n."""

COUNTED_AT = 64
"""The number of tokens at which bytes are counted, besides the largest that a racer reached."""

NO_MEMORY = ("out of memory", "DefaultCPUAllocator", "_ALLOC_FAILED")
"""What stands in the message of PyTorch's allocators, of CUDA, and of cuBLAS and cuDNN, which take memory of their own."""

FORWARD, BOTH = "forward", "forward + backward"
TIME, MEMORY = "time", "memory"


@dataclass(frozen=True)
class Curve:
    """Seconds of one call at growing n, and why it ends: TIME, MEMORY, or in words why there is nothing.

    `moved` holds the bytes that one call moves, at the lengths where they were counted.
    """

    lengths: tuple[int, ...]
    seconds: tuple[float, ...]
    ended: str
    moved: dict[int, int] = field(default_factory=dict)


def follow(prepare: Prepare, timed: Timed, longest: float, lengths: Iterable[int], forgiving: bool = False) -> Curve:
    """Time what `prepare` makes for each n, until the next one would take longer than `longest`, or no memory is left.

    What the next one would take: as many times the last as that took the one before, and at least twice. A point that
    took over SUDDEN times the one before is timed once more, for that is a busy moment of the machine. Where it is
    forgiving, any other error ends the curve too, in its name.
    """
    done: list[int] = []
    took: list[float] = []
    ended = ""
    for n in lengths:
        try:
            run = prepare(n)
            time = timed(run)
            if took and time > SUDDEN * took[-1]:
                time = min(time, timed(run))
        except Exception as error:
            if not out_of_memory(error) and not forgiving:
                raise
            ended = MEMORY if out_of_memory(error) else type(error).__name__
            break
        growth = max(2.0, time / took[-1]) if took else 2.0
        done.append(n)
        took.append(time)
        if growth * time > longest:
            ended = TIME
            break
    torch.cuda.empty_cache()  # without a GPU this does nothing
    return Curve(tuple(done), tuple(took), ended)


def out_of_memory(error: Exception) -> bool:
    """Whether this is how a GPU or a CPU says that it has no memory left."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in NO_MEMORY)


# ------------------------------------------------------------------------------------------------ one call, three masks


def with_three_masks(n: int, width: int = 64) -> dict[str, float]:
    """Seconds that PyTorch's fused attention takes for n tokens of 4 texts in 4 heads, timed in turn: with its causal flag, with the
    same mask as a table, and without a mask; nothing while nbgrader runs."""
    if os.environ.get("NBGRADER_EXECUTION"):
        return {}
    device = racers.here()
    q, k, v = torch.randn(3, 4, 4, n, width, generator=torch.Generator().manual_seed(3)).to(device).unbind(0)
    keep = torch.ones(n, n, dtype=torch.bool, device=device).tril()
    attend = partial(torch.nn.functional.scaled_dot_product_attention, q, k, v)
    runs = {
        "is_causal=True": partial(attend, is_causal=True),
        "attn_mask=keep": partial(attend, attn_mask=keep),
        "no mask": attend,
    }
    with threads(helpful_threads()), torch.no_grad():
        return dict(zip(runs, race(*runs.values()), strict=True))


# --------------------------------------------------------------------------------------------- six ways to one block


@dataclass(frozen=True)
class Race:
    """The six, in one number type and one direction, and the roofs of the machine in that number type.

    `threads` is how many threads of the CPU were used, but for the two loops over tokens, which use one.
    """

    sizes: Sizes
    threads: int
    curves: dict[str, Curve]
    roofs: Roofs


def forward(racer: Racer, X: Tensor, params: Params, h: int) -> Call:
    def run() -> Tensor:
        with torch.no_grad():
            return racer(X, params, h)

    return run


def both_ways(racer: Racer, X: Tensor, params: Params, h: int) -> Call:
    leaves = [tensor.requires_grad_() for tensor in (X, *params.values())]
    return lambda: torch.autograd.grad(racer(X, params, h).sum(), leaves)


DIRECTIONS = {FORWARD: forward, BOTH: both_ways}


def six_ways(
    timed: Timed = seconds,
    dtype: torch.dtype = torch.float32,
    direction: str = FORWARD,
    sizes: Sizes = SIZES,
    longest: float = LONGEST,
    progress: Callable[[str], None] = lambda line: None,
) -> Race:
    """Race the six on this machine, on its GPU if it has one.

    Args:
        timed: from something to run to the seconds that it takes.
        dtype: of tokens and parameters.
        direction: FORWARD or BOTH.
        longest: seconds; see `follow`.
        progress: is told in a line how each has done.
    """
    device, count = racers.here(), helpful_threads()
    compiled = racers.compiled()
    entrants: dict[str, Racer | None] = {**EAGER, COMPILED: compiled.racer}
    prepare = partial(_prepared, direction, sizes, device, dtype)
    with threads(count):
        before = measured_roofs(device, dtype)
    curves = {}
    for name in NAMES:
        racer, why = entrants[name], compiled.told
        with threads(1 if name in BY_TOKEN else count):
            if racer and name == COMPILED:  # what is compiled for this type and direction alone is not timed
                why = racers.trouble(prepare(racer, LENGTHS[0]))
            if racer is None or (name == COMPILED and why):
                curves[name] = Curve((), (), why)
            else:
                curves[name] = follow(partial(prepare, racer), timed, longest, LENGTHS, forgiving=name == COMPILED)
        progress(f"{name}: {_told(curves[name])}")
    if direction == FORWARD:
        for name, curve in curves.items():
            _count(name, curve, sizes, dtype)
    with threads(count):
        return Race(sizes, count, curves, before | measured_roofs(device, dtype))


def _prepared(direction: str, sizes: Sizes, device: torch.device, dtype: torch.dtype, racer: Racer, n: int) -> Call:
    params = racers.parameters(sizes, device, dtype)
    return DIRECTIONS[direction](racer, racers.tokens(sizes, n, device, dtype), params, sizes.h)


def _count(name: str, curve: Curve, sizes: Sizes, dtype: torch.dtype) -> None:
    """Count bytes at COUNTED_AT and at the last length, on tensors without content; fused attention needs some.

    A loop over tokens is counted for one item, of which it moves as many bytes as of every other, and once.
    """
    racer = EAGER.get(name, racers.batched)
    device = racers.here() if racer is racers.fused else torch.device("meta")
    last, items = curve.lengths[-1:], 1
    if name in BY_TOKEN:
        last, items, sizes = tuple(min(n, COUNTED_AT) for n in last), sizes.b, sizes._replace(b=1)
    for n in {COUNTED_AT, *last} & set(curve.lengths):
        curve.moved[n] = items * moved_bytes(_prepared(FORWARD, sizes, device, dtype, racer, n))


def _told(curve: Curve) -> str:
    if not curve.lengths:
        return curve.ended
    return f"to n = {curve.lengths[-1]} in {curve.seconds[-1]:.3g} s, ended by {curve.ended or 'the last length'}"


# ------------------------------------------------------------------------------------------ recurrent against parallel


def recurrent(
    timed: Timed = seconds, dtype: torch.dtype = torch.float32, sizes: Sizes = SIZES, longest: float = LONGEST
) -> dict[str, Curve]:
    """An RNN of one layer and a transformer block of the same width, forward and backward: "RNN" and "block"."""
    device = racers.here()
    params = racers.parameters(sizes, device, dtype)
    rnn = torch.nn.RNN(sizes.d, sizes.d, batch_first=True).to(device, dtype)

    def step_by_step(n: int) -> Call:
        X = racers.tokens(sizes, n, device, dtype).requires_grad_()
        leaves = [X, *rnn.parameters()]
        return lambda: torch.autograd.grad(rnn(X)[0].sum(), leaves)

    def at_once(n: int) -> Call:
        return both_ways(racers.fused, racers.tokens(sizes, n, device, dtype), params, sizes.h)

    with threads(1):
        steps = follow(step_by_step, timed, longest, LENGTHS)
    with threads(helpful_threads()):
        return {"RNN": steps, "block": follow(at_once, timed, longest, LENGTHS)}


# ------------------------------------------------------------------------------------------------------------ decoding

Step = Callable[[Tensor, dict[str, Tensor], Tensor, Tensor, Tensor], object]


def arithmetic_of_a_step(x: Tensor, cache: dict[str, Tensor], Wq: Tensor, Wk: Tensor, Wv: Tensor) -> object:
    """What one more token costs where earlier keys and values are kept, without the keeping."""
    return racers.attend_row((x @ Wq)[0], cache["K"], cache["V"]), x @ Wk, x @ Wv


def decoding(
    step: Step = arithmetic_of_a_step,
    timed: Timed = seconds,
    sizes: Sizes = SIZES,
    longest: float = LONGEST,
) -> dict[str, Curve]:
    """One more token after n - 1 others, in one head: "with cache", and "all at once": all n tokens in one pass.

    Without a cache, one more token costs as much as all at once.
    """
    device, dtype = racers.here(), torch.float32
    draw = torch.Generator().manual_seed(2)
    k = sizes.d // sizes.h
    Wq, Wk, Wv = (torch.randn(sizes.d, k, generator=draw).to(device) / sizes.d**0.5 for _ in range(3))

    def one_more(n: int) -> Call:
        X = racers.tokens(sizes, n, device, dtype)[0]
        cache = {"K": X[:-1] @ Wk, "V": X[:-1] @ Wv}
        return lambda: step(X[-1:], cache, Wq, Wk, Wv)

    def all_at_once(n: int) -> Call:
        X = racers.tokens(sizes, n, device, dtype)[0]
        future = torch.ones(n, n, dtype=torch.bool, device=device).triu(1)

        def run() -> Tensor:
            S = (X @ Wq) @ (X @ Wk).T / k**0.5
            return S.masked_fill(future, -torch.inf).softmax(dim=-1) @ (X @ Wv)

        return run

    with threads(1):
        kept = follow(one_more, timed, longest, LENGTHS[:12])
    with threads(helpful_threads()):
        return {"with cache": kept, "all at once": follow(all_at_once, timed, longest, LENGTHS[:12])}
