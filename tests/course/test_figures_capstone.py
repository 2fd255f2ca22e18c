"""Pictures of notebook 10: a rank that is late keeps the other waiting, and a stopwatch that does not wait is doubted."""

from __future__ import annotations

import re
from functools import partial

import pytest
import torch

from course.figures import Covered, Picture, Show, capstone
from course.museum import Multiplier
from tests.support.hands import Hands


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def alt(picture: object) -> str:
    assert isinstance(picture, Picture)
    return picture.alt


def impatient(hands: Hands, device: Multiplier, n: int) -> tuple[float, float]:
    A = device.matrix(n)
    start = hands.perf_counter()
    product = device.multiply(A, A)
    multiplied = hands.perf_counter()
    device.read(product)
    return multiplied - start, hands.perf_counter() - multiplied


def patient(hands: Hands, device: Multiplier, n: int) -> tuple[float, float]:
    A = device.matrix(n)
    device.synchronize()
    start = hands.perf_counter()
    product = device.multiply(A, A)
    device.synchronize()
    multiplied = hands.perf_counter()
    device.read(product)
    return multiplied - start, hands.perf_counter() - multiplied


def test_a_stopwatch_that_does_not_wait_finds_a_speed_that_the_device_does_not_have(hands: Hands) -> None:
    speed = re.search(r"runs at ([\d,.]+) TFLOP/s", alt(capstone.stopwatch(partial(impatient, hands))))
    assert speed
    assert float(speed[1].replace(",", "")) > 1


def test_one_that_waits_finds_the_speed_of_the_device(hands: Hands) -> None:
    assert "runs at 0.10 TFLOP/s" in alt(capstone.stopwatch(partial(patient, hands)))


def test_the_rank_that_is_in_time_waits_for_the_one_that_is_late() -> None:
    waits = re.search(r"is in it for ([\d.]+) milliseconds, rank 1 for ([\d.]+)\.", alt(capstone.late("b")))
    assert waits
    assert float(waits[1]) > float(waits[2])


@pytest.mark.parametrize("show", [capstone.own_copies, capstone.late])
def test_nothing_is_shown_before_a_guess(show: Show) -> None:
    assert isinstance(show(None), Covered)
