"""What a computation asks of a machine: operations, bytes, memory; and what the machine can give of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from course import racers
from course.clock import race
from course.racers import Params, Racer, Sizes

# ---------------------------------------------------------------------------------------------------------- operations


def counted_flops(b: int, n: int, d: int, h: int, f: int) -> dict[str, int]:
    """What PyTorch's FlopCounterMode counts while one transformer block runs. Sizes as in `block_flops`.

    Returns:
        "unfused": with every product written out. "fused": with PyTorch's scaled-dot-product attention, of which the
        counter sees nothing on a CPU.
    """
    sizes, device = Sizes(b, d, h, f), racers.here()
    params = racers.parameters(sizes, device, torch.float32)
    X = racers.tokens(sizes, n, device, torch.float32)
    return {"unfused": _flops(racers.batched, X, params, h), "fused": _flops(racers.fused, X, params, h)}


def _flops(racer: Racer, X: Tensor, params: Params, h: int) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        racer(X, params, h)
    return int(counter.get_total_flops())


# --------------------------------------------------------------------------------------------------------------- bytes


class Traffic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up what each operation reads and writes, in bytes, as if nothing stayed in a cache between two operations.

    A view of a tensor moves nothing, and the entries of an expanded tensor are read once.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        read, written = _tensors((args, kwargs)), _tensors(result)
        if func._schema.is_mutable or not _shares(written, read):
            self.bytes += sum(map(_bytes, (*read, *written)))
        return result


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _shares(written: list[Tensor], read: list[Tensor]) -> bool:
    """Whether the results are nothing but views of the arguments."""
    storages = {tensor.untyped_storage()._cdata for tensor in read}
    return bool(written) and all(tensor.untyped_storage()._cdata in storages for tensor in written)


def _bytes(tensor: Tensor) -> int:
    entries = tensor.itemsize
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        entries *= size if stride else min(size, 1)
    return entries


def moved_bytes(run: Callable[[], object]) -> int:
    """Bytes that the operations in one call read and write."""
    with Traffic() as traffic, torch.no_grad():
        run()
    return traffic.bytes


def score_bytes(b: int, h: int, n: int, itemsize: int) -> int:
    """The memory of the scores of one layer.

    Args:
        b: sequences in a batch.
        h: heads.
        n: tokens in each sequence.
        itemsize: bytes of one number: 4 in float32, 2 in float16 and bfloat16.
    """
    return b * h * n * n * itemsize


# --------------------------------------------------------------------------------------------------------------- roofs


@dataclass(frozen=True)
class Roofs:
    """The most that a machine was seen to do: FLOPs per second in a large product, bytes per second in a large copy."""

    flops: float
    bytes: float

    @property
    def ridge(self) -> float:
        """FLOPs per byte at which both roofs meet."""
        return self.flops / self.bytes

    def __or__(self, other: Roofs) -> Roofs:
        """What was seen at two times, together: other work on the machine can lower a roof, and never raise it."""
        return Roofs(max(self.flops, other.flops), max(self.bytes, other.bytes))

    def over(self, intensity: float) -> float:
        """The most FLOPs per second at so many FLOPs per byte."""
        return min(self.flops, intensity * self.bytes)


def measured_roofs(device: torch.device, dtype: torch.dtype) -> Roofs:
    """Time a large product and a large copy. On a CPU this takes a second or two, and half a gigabyte."""
    side, size = (8192, 2**30) if device.type == "cuda" else (1536, 2**28)
    A = torch.randn(side, side, device=device).to(dtype)
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)
    product, copy = race(lambda: A @ A, lambda: target.copy_(source), rounds=2)
    return Roofs(2 * side**3 / product, 2 * size / copy)
