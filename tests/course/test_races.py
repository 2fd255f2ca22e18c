"""Where a curve ends, and what a race holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from course import racers, races
from course.racers import COMPILED, NAMES, Sizes
from course.races import BOTH, FORWARD, LENGTHS, MEMORY, TIME, Curve, follow
from course.roofline import Roofs, moved_bytes

TINY = Sizes(2, 8, 2, 12)


def at(n: int) -> Callable[[], object]:
    return lambda: n


def as_told(seconds: Callable[[int], float]) -> races.Timed:
    return lambda run: seconds(run())  # type: ignore[arg-type]


def test_a_curve_ends_before_the_point_that_would_take_too_long() -> None:
    curve = follow(at, as_told(lambda n: n / 100), longest=0.5, lengths=LENGTHS)
    assert curve == Curve((8, 16, 32), (0.08, 0.16, 0.32), TIME)


def test_what_grows_with_the_square_is_expected_to_go_on_so() -> None:
    square = as_told(lambda n: n * n / 1e4)
    assert follow(at, square, longest=0.5, lengths=LENGTHS).lengths == (8, 16, 32, 64)  # 0.1 s, then 0.4 s
    assert follow(at, square, longest=0.4, lengths=LENGTHS).lengths == (8, 16, 32)


def test_a_curve_may_reach_the_last_length() -> None:
    assert follow(at, as_told(lambda n: 0.001), longest=1, lengths=(8, 16)) == Curve((8, 16), (0.001, 0.001), "")


def test_a_busy_moment_does_not_end_a_curve() -> None:
    slow_once = iter([0.01, 9.0, 0.02, 0.04, 9.0, 9.0])
    curve = follow(at, lambda run: next(slow_once), longest=0.5, lengths=LENGTHS)
    assert curve.seconds == (0.01, 0.02, 0.04, 9.0)
    assert curve.ended == TIME


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
)
def test_a_curve_ends_where_memory_does(error: Exception) -> None:
    def prepare(n: int) -> Callable[[], object]:
        if n > 16:
            raise error
        return at(n)

    assert follow(prepare, as_told(lambda n: 0.001), longest=1, lengths=LENGTHS) == Curve(
        (8, 16), (0.001, 0.001), MEMORY
    )


def test_other_errors_are_not_taken_for_a_lack_of_memory() -> None:
    def prepare(n: int) -> Callable[[], object]:
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match="shapes do not fit"):
        follow(prepare, as_told(float), longest=1, lengths=LENGTHS)
    assert follow(prepare, as_told(float), longest=1, lengths=LENGTHS, forgiving=True) == Curve((), (), "RuntimeError")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "LENGTHS", (8, 16, 64))
    monkeypatch.setattr(races, "measured_roofs", lambda device, dtype: Roofs(1e9, 1e9))
    monkeypatch.setattr(racers, "compiled", lambda: racers.Compiled(None, "no compiler"))


def once(run: Callable[[], object]) -> float:
    run()
    return 0.001


@pytest.mark.parametrize("direction", [FORWARD, BOTH])
def test_a_race_holds_all_six(quick: None, direction: str) -> None:
    said: list[str] = []
    race = races.six_ways(once, torch.float32, direction, TINY, longest=1, progress=said.append)
    assert tuple(race.curves) == NAMES
    assert race.curves[COMPILED] == Curve((), (), "no compiler")
    for name in racers.EAGER:
        assert race.curves[name].lengths == (8, 16, 64)
        assert set(race.curves[name].moved) == ({64} if direction == FORWARD else set())
    assert [line.split(":")[0] for line in said] == list(NAMES)


def test_bytes_are_counted_of_one_batch_as_it_was_timed(quick: None) -> None:
    race = races.six_ways(once, torch.bfloat16, FORWARD, TINY, longest=1)
    wide = races.six_ways(once, torch.float32, FORWARD, TINY, longest=1)
    assert 1.5 < wide.curves["batched"].moved[64] / race.curves["batched"].moved[64] <= 2


def test_bytes_of_a_loop_are_those_of_all_items(quick: None) -> None:
    X = racers.tokens(TINY, 64, torch.device("cpu"), torch.float32)
    params = racers.parameters(TINY, torch.device("cpu"), torch.float32)
    curves = races.six_ways(once, torch.float32, FORWARD, TINY, longest=1).curves
    for name, racer in racers.EAGER.items():
        assert curves[name].moved[64] == moved_bytes(races.forward(racer, X, params, TINY.h))


def test_what_is_compiled_stands_at_the_bytes_of_batched(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racers, "compiled", lambda: racers.Compiled(racers.batched, "compiled"))
    curves = races.six_ways(once, torch.float32, FORWARD, TINY, longest=1).curves
    assert curves[COMPILED].moved == curves["batched"].moved


def test_a_compiler_that_fails_later_leaves_the_others_in_the_race(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> torch.Tensor:
        raise NotImplementedError

    monkeypatch.setattr(racers, "compiled", lambda: racers.Compiled(broken, "compiled"))
    curves = races.six_ways(once, torch.float32, FORWARD, TINY, longest=1).curves
    assert curves[COMPILED].ended == "torch.compile does not work here: NotImplementedError"
    assert curves["batched"].lengths == (8, 16, 64)


def test_backward_asks_for_every_gradient() -> None:
    X = racers.tokens(TINY, 5, torch.device("cpu"), torch.float32)
    params = racers.parameters(TINY, torch.device("cpu"), torch.float32)
    gradients = races.both_ways(racers.fused, X, params, TINY.h)()
    assert [tuple(g.shape) for g in gradients] == [tuple(t.shape) for t in (X, *params.values())]  # type: ignore[attr-defined]
    assert races.forward(racers.fused, X, params, TINY.h)().requires_grad is False  # type: ignore[attr-defined]


def test_rnn_and_block_are_timed_at_the_same_lengths(quick: None) -> None:
    curves = races.recurrent(once, sizes=TINY, longest=1)
    assert {name: curve.lengths[:3] for name, curve in curves.items()} == {"RNN": (8, 16, 64), "block": (8, 16, 64)}


def test_a_step_is_given_what_the_tokens_before_it_left() -> None:
    seen: list[tuple[int, ...]] = []

    def step(x: torch.Tensor, cache: dict[str, torch.Tensor], *weights: torch.Tensor) -> None:
        seen.append((*x.shape, *cache["K"].shape, *cache["V"].shape))

    races.decoding(step, once, TINY, longest=0.0)
    assert seen[0] == (1, 8, 7, 4, 7, 4)


def test_the_last_of_all_at_once_is_one_step_after_the_others() -> None:
    outputs: dict[str, torch.Tensor] = {}

    def keep(run: Callable[[], object]) -> float:
        result = run()
        outputs["step" if isinstance(result, tuple) else "pass"] = result[0] if isinstance(result, tuple) else result  # type: ignore[assignment]
        return 1.0

    def step(
        x: torch.Tensor, cache: dict[str, torch.Tensor], Wq: torch.Tensor, Wk: torch.Tensor, Wv: torch.Tensor
    ) -> object:
        whole = {"K": torch.cat([cache["K"], x @ Wk]), "V": torch.cat([cache["V"], x @ Wv])}
        return races.arithmetic_of_a_step(x, whole, Wq, Wk, Wv)

    races.decoding(step, keep, TINY, longest=0.5)
    torch.testing.assert_close(outputs["step"], outputs["pass"][-1])
