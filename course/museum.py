"""What the bug museum of notebook 10 needs to run anywhere: a device that works while its caller goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np


class Device(Protocol):
    """Something that is handed work, works it off in order, and does not keep the one who hands it over waiting."""

    name: str

    def matrix(self, n: int) -> Any:
        """A square matrix [n, n], ready to be used."""

    def multiply(self, A: Any, B: Any) -> Any:
        """Hand over a product; what comes back at once stands for a result that may not be there yet."""

    def read(self, product: Any) -> float:
        """The first number of a product."""

    def synchronize(self) -> None:
        """Wait until everything is worked off."""


class MakeBelieve:
    """A thread that pretends to multiply: it sleeps as long as a device of 100 GFLOP/s would take, and uses no core."""

    name = "a make-believe device of 0.1 TFLOP/s"
    flops = 1e11

    def __init__(self, worker: ThreadPoolExecutor) -> None:
        self._worker = worker

    def matrix(self, n: int) -> np.ndarray:
        return np.ones((n, n))

    def multiply(self, A: np.ndarray, B: np.ndarray) -> Future[float]:
        return self._worker.submit(self._work, A, B)

    def _work(self, A: np.ndarray, B: np.ndarray) -> float:
        time.sleep(2 * len(A) * B.size / self.flops)
        return float(A[0] @ B[:, 0])

    def read(self, product: Future[float]) -> float:
        return product.result()

    def synchronize(self) -> None:
        self._worker.submit(int).result()


class Cuda:
    """The first GPU."""

    def __init__(self) -> None:
        import torch

        self.name = torch.cuda.get_device_name()

    def matrix(self, n: int) -> Any:
        import torch

        A = torch.randn(n, n, device="cuda")
        torch.cuda.synchronize()
        return A

    def multiply(self, A: Any, B: Any) -> Any:
        import torch

        return torch.matmul(A, B)

    def read(self, product: Any) -> float:
        return float(product[0, 0])

    def synchronize(self) -> None:
        import torch

        torch.cuda.synchronize()


@contextmanager
def device() -> Iterator[Device]:
    """The GPU where there is one, else a make-believe device, which ends with the context."""
    import torch

    if torch.cuda.is_available():
        yield Cuda()
        return
    with ThreadPoolExecutor(max_workers=1) as worker:
        yield MakeBelieve(worker)
