"""Operations, bytes and memory, counted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from course import racers
from course.roofline import Roofs, counted_flops, measured_roofs, moved_bytes, score_bytes

A, B = torch.ones(3, 5), torch.ones(5, 7)


@pytest.mark.parametrize(("b", "n", "d", "h", "f"), [(2, 7, 12, 3, 20), (1, 64, 32, 4, 128), (3, 1, 8, 8, 5)])
def test_the_counter_sees_every_product_of_a_block_that_is_written_out(b: int, n: int, d: int, h: int, f: int) -> None:
    counted = counted_flops(b, n, d, h, f)
    assert counted["unfused"] == b * (8 * n * d**2 + 4 * n**2 * d + 4 * n * d * f)
    if not torch.cuda.is_available():
        assert counted["fused"] == b * (8 * n * d**2 + 4 * n * d * f)


@pytest.mark.parametrize(
    ("run", "entries"),
    [
        (lambda: A @ B, 15 + 35 + 21),
        (lambda: A + A, 15 + 15 + 15),
        (lambda: A.T, 0),
        (lambda: A.view(5, 3), 0),
        (lambda: A.T.reshape(15), 15 + 15),
        (lambda: A.clone().mul_(2), (15 + 15) + (15 + 15)),
        (lambda: A[:1].expand(3, 5) + A, 5 + 15 + 15),
        (lambda: torch.zeros(4), 4),
    ],
)
def test_bytes_are_what_each_operation_reads_and_writes(run: Callable[[], object], entries: int) -> None:
    assert moved_bytes(run) == 4 * entries


def test_bytes_are_the_same_on_tensors_without_content() -> None:
    sizes = racers.Sizes(2, 12, 3, 20)

    def moved(device: str, name: str) -> int:
        X = racers.tokens(sizes, 9, torch.device(device), torch.float32)
        params = racers.parameters(sizes, torch.device(device), torch.float32)
        return moved_bytes(lambda: racers.EAGER[name](X, params, sizes.h))

    for name in racers.EAGER:
        if name != "fused attention":
            assert moved("meta", name) == moved("cpu", name) > 0


def test_fused_attention_moves_less_and_the_literal_loop_more() -> None:
    sizes = racers.Sizes(2, 12, 3, 20)
    X = racers.tokens(sizes, 40, torch.device("cpu"), torch.float32)
    params = racers.parameters(sizes, torch.device("cpu"), torch.float32)
    moved = {name: moved_bytes(lambda r=racer: r(X, params, 3)) for name, racer in racers.EAGER.items()}  # type: ignore[misc]
    assert moved["fused attention"] < moved["batched"] < moved["hoisted loop"] < moved["literal loop"]


def test_the_scores_of_a_long_text_fill_a_large_gpu() -> None:
    assert score_bytes(b=1, h=32, n=32768, itemsize=2) == 64 * 2**30
    assert score_bytes(2, 3, 5, 4) == 2 * 3 * 25 * 4


def test_under_the_roofs() -> None:
    roofs = Roofs(flops=100.0, bytes=10.0)
    assert roofs.ridge == 10
    assert [roofs.over(x) for x in (2, 10, 50)] == [20, 100, 100]
    assert roofs | Roofs(90.0, 12.0) == Roofs(100.0, 12.0)


def test_the_roofs_of_this_machine() -> None:
    roofs = measured_roofs(torch.device("cpu"), torch.float32)
    assert roofs.flops > 1e8
    assert roofs.bytes > 1e8
