"""Harnesses: what is done with a student's function where calling it once on plain values would not show enough.

A harness takes the function and a case's arguments, and returns what is compared. The same harness is run around the
reference and around every known mistake. It holds no answer, and its docstring is the sentence in which `check` says
what was done. Where it returns a dictionary, a key of several words that begins with a capital letter, "What rank 0
returned", names its entry to the student as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from course import ranks
from course.functions import public_function
from course.observing import LEFT_UNUSED, OUT_OF_STEP, Elsewhere, Raised
from course.values import Value, map_leaves, native

if TYPE_CHECKING:  # torch takes seconds to import, and most notebooks need none of this
    import numpy as np
    import torch

    from course.modules import Block

Harness = Callable[..., Any]

SECONDS_TOGETHER = 4.0  # for processes that meet; toys are through in a tenth of one
REFUSED = "raised ValueError"
SENT, BENT = "What the ranks sent", "What act was given"


def gradients(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Autograd was asked how a weighted sum of your function's outputs changes with the numbers that go in. A gradient
    of zeros means that the way back is cut somewhere."""
    import torch

    leaves: dict[str, torch.Tensor] = {}

    def watched(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: watched(key, part) for key, part in value.items()}
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        leaf = leaves[f"gradient by {name}"] = value.detach().clone().requires_grad_()
        return leaf

    with torch.enable_grad():
        result = function(*(watched(name, argument) for name, argument in arguments.items()))
        if not isinstance(result, torch.Tensor):
            raise TypeError(f"a tensor was expected, and {type(result).__name__} came back")
        weights = torch.arange(result.numel(), dtype=result.dtype).cos().reshape(result.shape)
        total = (result * weights).sum()
    if not total.requires_grad:
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def stretched(function: Callable[..., Any], lengths: Any, n: int, causal: bool, left: bool, h: int) -> Any:
    """The mask that your function returns was stretched over items and heads, [b, h, n, n], as attention stretches it."""
    return function(lengths, n, causal, left).expand(len(lengths), h, n, n).clone()


def loaded(
    function: Callable[..., Any],
    sizes: dict[str, Any],
    params: dict[str, np.ndarray],
    X: torch.Tensor,
    keep: torch.Tensor,
) -> dict[str, Any]:
    """A block of these sizes was made and handed to your function, with the parameters. Then it was run on X, several
    times over; and in the end all of its weights were moved, as in training."""
    module = _block(sizes)
    trainable, dropout = _trainable(module), repr(module.dropout)
    returned = function(module, params)
    output = _steady_output(module, X, keep)
    shared = _shared(module, params)
    return {
        "afterwards": {
            "mode": _mode(module),
            "what came back": "the module that was given" if returned is module else _named(returned),
            "memory of the weights": f"shared with {', '.join(shared)}" if shared else "its own",
            "weights to train": "as before" if _trainable(module) == trainable else "others than before",
            "dropout": "as before" if repr(module.dropout) == dropout else repr(module.dropout),
        },
        "output": output,
    }


def _block(sizes: dict[str, Any]) -> Block:
    """A block whose numbers are the same on every machine, unlike random ones."""
    import torch

    from course.modules import Block

    module = Block(**sizes)
    with torch.no_grad():
        for number, weight in enumerate(module.parameters()):
            weight.copy_((torch.arange(weight.numel()) + 10.0 * number).sin().reshape(weight.shape))
    return module


def _trainable(module: Block) -> list[str]:
    """The weights of a module that can be trained, by name and shape."""
    return [f"{name} {list(p.shape)}" for name, p in module.named_parameters() if p.requires_grad]


def _steady_output(module: Block, X: torch.Tensor, keep: torch.Tensor, calls: int = 8) -> torch.Tensor:
    """The output, or NaN where it is another at every call."""
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        first, *others = (type(module).forward(module, X.to(module.output.weight.dtype), keep) for _ in range(calls))
    steady = all(torch.equal(first, other) for other in others)
    return first if steady else torch.full_like(first, torch.nan)


def _shared(module: Block, params: dict[str, np.ndarray]) -> list[str]:
    """The arrays that change when the module's weights do; they are put right again."""
    import numpy as np
    import torch

    before = {name: array.copy() for name, array in params.items()}
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(1.0)
    shared = [name for name, array in params.items() if not np.array_equal(array, before[name])]
    for name, array in before.items():
        params[name][...] = array
    return shared


def _mode(module: Block) -> str:
    if module.training:
        return "training"
    return "evaluation, with parts in training" if any(part.training for part in module.modules()) else "evaluation"


def _named(thing: object) -> str:
    kind = type(thing).__name__
    return "None" if thing is None else f"another {kind}" if kind == "Block" else f"no module but {kind}"


def evaluating(function: Callable[..., Any], table: Any, ids: Any, training: bool) -> dict[str, Any]:
    """The model is a toy: at token t its logits are row t of the table, with 1 more for the token to the right, where it is
    shown that too. In training mode it does not look there, and a part inside it zeroes the logits of symbols 0, 2, 4, ..."""
    import torch

    model = _peeking_model(table).train(training)
    with torch.enable_grad():
        loss = function(model, ids)
        return {
            "loss": loss,
            "in training mode afterwards": _in_training(model, model.inside),
            "carries a graph": bool(getattr(loss, "requires_grad", False)),
            "gradients recorded afterwards": torch.is_grad_enabled(),
            "can still be trained": all(parameter.requires_grad for parameter in model.parameters()),
        }


def _in_training(model: Any, inside: Any) -> str:
    if model.training == inside.training:
        return "yes" if model.training else "no"
    return "the model, but not the part inside" if model.training else "the part inside, but not the model"


def _peeking_model(table: Any) -> Any:
    import torch

    class Halving(torch.nn.Module):
        def forward(self, logits: torch.Tensor) -> torch.Tensor:
            dropped = torch.arange(logits.shape[-1]) % 2 == 0
            return torch.where(dropped, 0.0, logits) if self.training else logits

    class Peeking(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Parameter(table.clone())
            self.inside = Halving()

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            logits = self.table[ids]
            shown = torch.nn.functional.one_hot(ids[:, 1:], self.table.shape[-1]).to(logits)
            peeked = logits + torch.cat([shown, torch.zeros_like(logits[:, :1])], dim=1)
            return self.inside(logits if self.training else peeked)

    return Peeking()


def timing(function: Callable[..., Any], device: Callable[[str], Any], warmup: int, reps: int) -> Any:
    """The GPU was a make-believe one. If it is free, it begins as soon as fn is called: a time is max(handing over, work). If
    its queue is full, fn waits for room."""
    asked: set[str] = set()

    def ask(event: str) -> Any:
        asked.add(event)
        return device(event)

    def fn() -> Any:
        return ask("fn")

    def sync() -> Any:
        return ask("sync")

    def clock() -> Any:
        return ask("clock")

    for call in (fn, sync, clock):
        call.__qualname__ = call.__name__  # Python names it so where it is called with the wrong arguments
    try:
        report = function(fn, sync, clock, warmup, reps)
    except Exception as error:
        if not any(word in str(error) for word in ("CUDA", "NVIDIA")):
            raise
        told = (
            "it asks for a real GPU; what waits for the one of fn is 'sync'"  # torch says another thing on each machine
        )
        raise RuntimeError(told).with_traceback(error.__traceback__) from error
    if "fn" in asked and "clock" not in asked:  # the numbers are another clock's, and would tell nothing
        raise Elsewhere(Raised(LEFT_UNUSED, "the 'clock' that came with fn and sync was never read"))
    return report


def decoding(
    function: Callable[..., Any], X: torch.Tensor, Wq: torch.Tensor, Wk: torch.Tensor, Wv: torch.Tensor
) -> dict[str, Any]:
    """The tokens of a text came in one after the other. The first met an empty cache, and each of the others the cache that
    your function had returned for the one before. Then another token came in after half of the text. In the end all these
    caches were looked at once more."""
    cache: Any = {"K": Wk.new_zeros(0, Wk.shape[1]), "V": Wv.new_zeros(0, Wv.shape[1])}
    outputs: list[Any] = []
    caches: list[Any] = []
    for i in range(len(X) + 1):
        token, before = (X[i : i + 1], cache) if i < len(X) else (X[:1], caches[len(X) // 2])
        answer = function(token, before, Wq, Wk, Wv)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError("an output and a cache were expected, as a tuple of two")
        output, cache = answer
        outputs.append(output)
        caches.append(cache)
    return {"outputs": outputs, "caches": caches}


def refusing(function: Callable[..., Any], *arguments: Any) -> Any:
    """Here a refusal counts as an answer like any other; it is a ValueError, and it is raised."""
    refused = "ValueError, raised"
    try:
        answer = function(*arguments)
    except ValueError:
        return refused
    except AssertionError:
        return "AssertionError, raised"
    not_raised = isinstance(answer, Exception) or (isinstance(answer, str) and answer == refused)
    return f"{type(answer).__name__}, returned and not raised" if not_raised else answer


def processes(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
) -> dict[str, Any]:
    """p processes called your function at the same time, each with a rank of its own; act is the function of that name."""
    return _together(function, p, X, params, h, keep, eps, act)


def shards(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
    owners: dict[str, np.ndarray],
) -> dict[str, Any]:
    """p processes called your function at the same time, each with a rank of its own; act is the function of that name. The
    weights in owners were shared out: the number there is the rank that holds a column or, where numbers stand one above
    the other, a row. Every other rank found 100 in its place."""
    import numpy as np

    def shared_out(rank: int, p: int, X: Any, params: dict[str, Any], *others: Any) -> Any:
        held = {name: np.where(owner == rank, params[name], 100.0) for name, owner in owners.items()}
        return function(rank, p, X, {**params, **held}, *others)

    return _together(shared_out, p, X, params, h, keep, eps, act)


def refusals(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
) -> Any:
    """p processes called your function at the same time, each with a rank of its own; act is the function of that name. What
    they were given is to be refused: every rank raises a ValueError, before anything is sent."""
    first, *_ = _trials(function, p, (X, params, h, keep, eps, public_function(act)), _unless_refused)
    return map_leaves(native, first.observed.result)


def _together(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
) -> dict[str, Any]:
    """What each rank returned; of several also how often they met, and whether act was given more than a rank's share.

    Raises:
        Elsewhere: some rank did not return.
    """
    import numpy as np

    def watched(rank: int, p: int, *arguments: Any) -> dict[str, Any]:
        *others, act = arguments
        bent = 0

        @wraps(act)
        def counting(x: np.ndarray) -> Any:
            nonlocal bent
            bent += np.asarray(x).size
            return act(x)

        return {"H": function(rank, p, *others, counting), "bent": bent}

    share = len(X) * len(params["b1"]) // p
    found = _trials(watched, p, (X, params, h, keep, eps, public_function(act)), _first_trouble)
    told = [map_leaves(native, one.observed.result) for one in found]
    told = [one if isinstance(one, dict) else {"H": one, "bent": 0} for one in told]  # it may be too large to travel
    returned = {f"What rank {rank} returned": one["H"] for rank, one in enumerate(told)}
    if p == 1:
        return {"H": returned}
    bent = [f"at most {share} numbers" if one["bent"] <= share else f"{one['bent']} numbers" for one in told]
    return {"H": returned, SENT: _on_each(list(map(_meetings, found))), BENT: _on_each(bent)}


def _trials(
    function: Callable[..., Any],
    p: int,
    arguments: tuple[Any, ...],
    trouble: Callable[[list[ranks.Rank]], Raised | None],
) -> list[ranks.Rank]:
    """What p ranks did. What they printed is printed, and what they changed is changed in the arguments.

    Raises:
        Elsewhere: what is raised is what `trouble` says of the ranks.
    """
    found = ranks.trials(function, p, arguments, SECONDS_TOGETHER)
    for rank, one in enumerate(found):
        for line in one.printed.splitlines():
            print(f"rank {rank}: {line}")
        for position, contents in one.observed.changed.items():
            _change(arguments[position], contents)
    raised = trouble(found)
    if raised is not None:
        raise Elsewhere(raised)
    return found


def _change(argument: Any, contents: Value) -> None:
    """Do to the caller's argument what a rank did to its copy: it is the same slip."""
    if isinstance(argument, dict):
        argument.clear()
        argument.update(contents)
    elif getattr(contents, "shape", None) == argument.shape:
        argument[...] = contents


def _first_trouble(found: list[ranks.Rank]) -> Raised | None:
    """What the first rank to raise something has raised; where none did, and one was lost, what became of each."""
    raised = {rank: one.observed.raised for rank, one in enumerate(found) if not one.lost and one.observed.raised}
    if not raised:
        return _what_became(found) if any(one.lost for one in found) else None
    rank, first = next(iter(raised.items()))
    alike = len(raised) == len(found) and len({one.kind for one in raised.values()}) == 1
    return first if alike else replace(first, kind=f"{first.kind} on rank {rank}")


def _unless_refused(found: list[ranks.Rank]) -> Raised | None:
    """The ValueError that every rank raised before anything was sent; else what became of each, unless all returned."""
    first = found[0].observed.raised
    if first is not None and {_became(one) for one in found} == {REFUSED}:
        return first
    return _what_became(found) if any(one.lost or one.observed.raised for one in found) else None


def _what_became(found: list[ranks.Rank]) -> Raised:
    return Raised(OUT_OF_STEP, "; ".join(f"rank {rank} {_became(one)}" for rank, one in enumerate(found)))


def _became(one: ranks.Rank) -> str:
    if one.lost or one.observed.raised is None:
        return one.lost or "returned"
    return f"raised {one.observed.raised.kind}" + (" after something was sent" if one.collectives else "")


def _meetings(one: ranks.Rank) -> str:
    others = max(one.collectives - one.sums, 0)
    sums = f"{one.sums} all-reduce{'s' * (one.sums != 1)}"
    return sums + (f" and {others} other collective{'s' * (others != 1)}" if others else "")


def _on_each(said: list[str]) -> str:
    if len(set(said)) == 1:
        return f"{said[0]} on each rank"
    return ", ".join(f"{what} on rank {rank}" for rank, what in enumerate(said))


HARNESSES: dict[str, Harness] = {
    "gradients": gradients,
    "stretched": stretched,
    "loaded": loaded,
    "evaluating": evaluating,
    "timing": timing,
    "decoding": decoding,
    "refusing": refusing,
    "processes": processes,
    "shards": shards,
    "refusals": refusals,
}
