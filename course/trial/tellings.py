"""What the reports of some harnesses come to.

A harness runs in the student's process, where anything may have been replaced: it brings back values. What follows from
them is worked out here, where answers are compared, from what the function was given and from an account of what it left
behind. Nothing in an account is believed to be of any form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from course.trial.observing import OUT_OF_STEP, Account, Raised, same
from course.trial.ranks import Rank
from course.trial.values import Opaque, Tensor, Value, bare

Telling = Callable[[tuple[Value, ...], Account], Account]

REFUSED = "raised ValueError"
GIVEN_TO_RANKS = range(1, 6)  # of a harness's arguments: X, params, h, keep and eps; act comes by its name
SENT, BENT = "What the ranks sent", "What act was given"


def loaded(arguments: tuple[Value, ...], told: Account) -> Account:
    """What became of a module that was to take over parameters, and its output: NaN where that is another at every call."""
    if told.raised or isinstance(told.result, Opaque):
        return told
    found, params = told.result, told.arguments[1]
    before, after = found["parts before"], found["parts"]
    moved = found["params, weights moved"]
    shared = [name for name in moved if not same(params[name], moved[name])]
    afterwards = {
        "mode": found["mode"],
        "what came back": found["what came back"],
        "memory of the weights": f"shared with {', '.join(shared)}" if shared else "its own",
        "weights to train": "as before"
        if after["weights to train"] == before["weights to train"]
        else "others than before",
        "dropout": "as before" if after["dropout"] == before["dropout"] else after["dropout"],
    }
    holds = {f"What {name} holds": _whose(found["numbers"].get(name), arguments[1]) for name in _names(before)}
    return replace(told, result={"afterwards": afterwards, "numbers": holds, "output": _steady(found["outputs"])})


def _names(parts: Value) -> list[str]:
    """The names of the weights, which stand there with their shapes."""
    return [one.partition(" ")[0] for one in parts["weights to train"]]


def _whose(weight: Value, params: dict[str, np.ndarray]) -> str:
    """The array whose numbers these are, to the digits of float32; of a table nothing is said about their order."""
    numbers = bare(weight)
    if not isinstance(numbers, np.ndarray):
        return "nothing"
    where_they_lie = _in_order if numbers.ndim == 1 else _in_any_order
    return next(
        (name for name, array in params.items() if where_they_lie(numbers, array)), "none of the arrays in params"
    )


def _in_order(numbers: np.ndarray, array: np.ndarray) -> bool:
    return numbers.shape == array.shape and np.allclose(numbers, array, rtol=1e-5)


def _in_any_order(numbers: np.ndarray, array: np.ndarray) -> bool:
    """Whether a table's numbers are a table's, some or all of it. What is larger, as only a forged account is, is not looked into."""
    return (
        array.ndim == 2
        and numbers.size <= array.size
        and bool(np.isclose(numbers.ravel()[:, None], array.ravel(), rtol=1e-5).any(axis=1).all())
    )


def _steady(outputs: list[Value]) -> Value:
    first, *others = outputs
    array = bare(first)
    if not isinstance(array, np.ndarray) or all(np.array_equal(array, bare(other)) for other in others):
        return first
    unsteady = np.full_like(array, np.nan)
    return Tensor(unsteady) if isinstance(first, Tensor) else unsteady


def together(arguments: tuple[Value, ...], told: Account) -> Account:
    """What each rank returned; of several also how often they met, and whether act was given more than a rank's share."""
    p, X, params, *_ = arguments

    def report(found: list[Rank]) -> Value:
        results = [one.observed.result for one in found]
        results = [one if isinstance(one, dict) else {"H": one, "bent": 0} for one in results]  # too large to travel
        returned = {f"What rank {rank} returned": one["H"] for rank, one in enumerate(results)}
        if p == 1:
            return {"H": returned}
        share = len(X) * len(params["b1"]) // p
        bent = [f"at most {share} numbers" if one["bent"] <= share else f"{one['bent']} numbers" for one in results]
        return {"H": returned, SENT: _on_each(list(map(_meetings, found))), BENT: _on_each(bent)}

    return _of_ranks(arguments, told, _first_trouble, report)


def refusals(arguments: tuple[Value, ...], told: Account) -> Account:
    """What the first rank returned, where not every rank refused."""
    return _of_ranks(arguments, told, _unless_refused, lambda found: found[0].observed.result)


def _of_ranks(
    arguments: tuple[Value, ...],
    told: Account,
    trouble: Callable[[list[Rank]], Raised | None],
    report: Callable[[list[Rank]], Value],
) -> Account:
    """The account of a call in which p ranks were each given the same. What a rank did to its copies is done to the caller's
    arguments: it is the same slip."""
    if told.raised or isinstance(told.result, Opaque):
        return told
    found = [Rank.from_value(one) for one in told.result]
    if len(found) != arguments[0]:
        raise ValueError("not so many ranks")
    changed = {
        place: now
        for one in found
        if not one.lost
        for place in GIVEN_TO_RANKS
        if not same(arguments[place], now := one.observed.arguments[place - 1])
    }
    raised = trouble(found)
    result = None if raised else report(found)
    return replace(told, result=result, raised=raised, arguments={**told.arguments, **changed})


def _first_trouble(found: list[Rank]) -> Raised | None:
    """What the first rank to raise something has raised; where none did, and one was lost, what became of each."""
    raised = {rank: one.observed.raised for rank, one in enumerate(found) if not one.lost and one.observed.raised}
    if not raised:
        return _what_became(found) if any(one.lost for one in found) else None
    rank, first = next(iter(raised.items()))
    alike = len(raised) == len(found) and len({one.kind for one in raised.values()}) == 1
    return first if alike else replace(first, kind=f"{first.kind} on rank {rank}")


def _unless_refused(found: list[Rank]) -> Raised | None:
    """The ValueError that every rank raised before anything was sent; else what became of each, unless all returned."""
    first = found[0].observed.raised
    if first is not None and {_became(one) for one in found} == {REFUSED}:
        return first
    return _what_became(found) if any(one.lost or one.observed.raised for one in found) else None


def _what_became(found: list[Rank]) -> Raised:
    return Raised(OUT_OF_STEP, "; ".join(f"rank {rank} {_became(one)}" for rank, one in enumerate(found)))


def _became(one: Rank) -> str:
    if one.lost or one.observed.raised is None:
        return one.lost or "returned"
    return f"raised {one.observed.raised.kind}" + (" after something was sent" if one.collectives else "")


def _meetings(one: Rank) -> str:
    others = max(one.collectives - one.sums, 0)
    sums = f"{one.sums} all-reduce{'s' * (one.sums != 1)}"
    return sums + (f" and {others} other collective{'s' * (others != 1)}" if others else "")


def _on_each(said: list[str]) -> str:
    if len(set(said)) == 1:
        return f"{said[0]} on each rank"
    return ", ".join(f"{what} on rank {rank}" for rank, what in enumerate(said))


TELLINGS: dict[str, Telling] = {
    "loaded": loaded,
    "processes": together,
    "shards": together,
    "twice": together,
    "refusals": refusals,
}
