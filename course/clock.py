"""How long something takes, measured so that it can be believed. (Notebook 08 says what can go wrong.)"""

from __future__ import annotations

from collections.abc import Callable


def seconds(run: Callable[[], object], at_most: float = 0.5) -> float:
    """The median time of one call, in seconds, on a CPU.

    PyTorch's benchmark timer does the work: it calls `run` before it measures, times as many calls together as the
    clock needs to see them, and repeats that until the repetitions agree.

    Args:
        run: what to time; it must have finished its work when it returns.
        at_most: about how many seconds to go on repeating where they do not agree.
    """
    import torch
    from torch.utils.benchmark import Timer

    timer = Timer("run()", globals={"run": run}, num_threads=torch.get_num_threads())
    return float(timer.adaptive_autorange(min_run_time=0.01, max_run_time=at_most).median)


def race(*runs: Callable[[], object], rounds: int = 3) -> list[float]:
    """Seconds that one call of each takes, in rounds, so that a busy moment does not fall on one of them alone.

    Of its rounds each keeps the quietest: other work on the machine can make a round slower, and never faster.
    """
    laps = [[seconds(run, 0.1) for run in runs] for _ in range(rounds)]
    return [min(lap) for lap in zip(*laps, strict=True)]
