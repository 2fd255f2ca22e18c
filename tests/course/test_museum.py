"""The make-believe device of the bug museum takes orders at once, and works them off in order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course import museum
from tests.support.hands import Hands


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(museum.MakeBelieve, "flops", 1e10)


def test_an_order_takes_no_time_and_its_work_does(hands: Hands) -> None:
    device = museum.device()
    A = device.matrix(1024)
    work = 2 * 1024**3 / museum.MakeBelieve.flops
    start = hands.perf_counter()
    device.multiply(A, A)
    device.multiply(A, A)
    assert hands.perf_counter() - start < work / 100
    device.synchronize()
    assert hands.perf_counter() - start >= 2 * work


def test_reading_a_number_waits_for_the_product_and_gives_what_it_is(hands: Hands) -> None:
    device = museum.device()
    A, B = np.ones((1024, 512)), np.arange(512.0 * 256).reshape(512, 256)
    start = hands.perf_counter()
    assert device.read(device.multiply(A, B)) == (A @ B)[0, 0]
    assert hands.perf_counter() - start >= 2 * 1024 * 512 * 256 / museum.MakeBelieve.flops
