"""What the bug museum of notebook 10 needs to run anywhere: a device that works while its caller goes on."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from course import clock


class Multiplier(Protocol):
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


class MakeBelieve(clock.Device):
    """A device of 100 GFLOP/s, which only pretends to multiply: a number is computed where one is read."""

    name = "a make-believe device of 0.1 TFLOP/s"
    flops = 1e11

    def matrix(self, n: int) -> np.ndarray:
        return np.ones((n, n))

    def multiply(self, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.launch(2 * len(A) * B.size / self.flops)
        return A, B

    def read(self, product: tuple[np.ndarray, np.ndarray]) -> float:
        self.synchronize()
        A, B = product
        return float(A[0] @ B[:, 0])


class Cuda:
    """The first GPU."""

    def __init__(self) -> None:
        import torch

        self.name = torch.cuda.get_device_name()

    def matrix(self, n: int) -> Any:
        import torch

        A = torch.randn(n, n, device="cuda")
        self.synchronize()
        return A

    def multiply(self, A: Any, B: Any) -> Any:
        import torch

        return torch.matmul(A, B)

    def read(self, product: Any) -> float:
        return float(product[0, 0])

    def synchronize(self) -> None:
        clock.synchronize()


def device() -> Multiplier:
    """The GPU where there is one, else a make-believe device."""
    import torch

    return Cuda() if torch.cuda.is_available() else MakeBelieve()
