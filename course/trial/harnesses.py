"""Harnesses: what is done with a student's function where calling it once on plain values would not show enough.

A harness takes the function and a case's arguments, and returns what is compared. The same harness is run around the
reference and around every known mistake. It holds no answer, and its docstring is the sentence in which `check` says
what was done. It runs in the student's process, and so brings back what it saw, and leaves to `course.trial.tellings` what that
comes to. Where it returns a dictionary, a key of several words that begins with a capital letter, "What rank 0
returned", names its entry to the student as it stands.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.trial import ranks
from course.trial.functions import public_function
from course.trial.observing import LEFT_UNUSED, REFUSAL, Elsewhere, Raised
from course.trial.values import Value

if TYPE_CHECKING:  # torch takes seconds to import, and most notebooks need none of this
    import numpy as np
    import torch

    from course.modules import Block

Harness = Callable[..., Any]

SECONDS_TOGETHER = 12.0  # for processes that meet; toys are through in a tenth of one, on a machine that is not busy


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
    before = _parts(module)
    returned = function(module, params)
    return {
        "mode": _mode(module),
        "what came back": "the module that was given" if returned is module else _named(returned),
        "parts before": before,
        "parts": _parts(module),
        "numbers": {name: weight.detach().clone() for name, weight in module.named_parameters()},
        "outputs": _outputs(module, X, keep),
        "params, weights moved": _moved(module, params),
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


def _parts(module: Block) -> dict[str, Any]:
    """The weights of a module that can be trained, by name and shape, and its dropout."""
    weights = [f"{name} {list(p.shape)}" for name, p in module.named_parameters() if p.requires_grad]
    return {"weights to train": weights, "dropout": repr(module.dropout)}


def _outputs(module: Block, X: torch.Tensor, keep: torch.Tensor, calls: int = 8) -> list[torch.Tensor]:
    """What a module gives, call by call."""
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        return [type(module).forward(module, X.to(module.output.weight.dtype), keep) for _ in range(calls)]


def _moved(module: Block, params: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the arrays are once all weights of the module are moved; they are put right again."""
    import torch

    before = {name: array.copy() for name, array in params.items()}
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(1.0)
    moved = {name: array.copy() for name, array in params.items()}
    for name, array in before.items():
        params[name][...] = array
    return moved


def _mode(module: Block) -> str:
    if module.training:
        return "training"
    return "evaluation, with parts in training" if any(part.training for part in module.modules()) else "evaluation"


def _named(thing: object) -> str:
    kind = type(thing).__name__
    return "None" if thing is None else f"another {kind}" if kind == "Block" else f"no module but {kind}"


def evaluating(function: Callable[..., Any], table: Any, ids: Any, training: bool) -> dict[str, Any]:
    """The model is a toy, and a cheat. Its logits for a token are that token's row of the table; if the next token is shown to it too,
    it adds 1 to the logit of that one. In training mode it has other logits."""
    import torch

    model = _peeking_model(table).train(training)
    with torch.enable_grad():
        loss = function(model, ids)
        return {
            "loss": loss,
            "in training mode afterwards": _in_training(model, model.inside),
            "carries a graph": bool(getattr(loss, "requires_grad", False)),
            "left switched off": _switched_off(model),
        }


def _switched_off(model: Any) -> str:
    import torch

    off = {
        "the recording of gradients": not torch.is_grad_enabled(),
        "the gradients of the model's weights": not all(weight.requires_grad for weight in model.parameters()),
    }
    return " and ".join(what for what, is_off in off.items() if is_off) or "nothing"


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


def stepping(
    function: Callable[..., Any], x_new: torch.Tensor, cache: Any, Wq: torch.Tensor, Wk: torch.Tensor, Wv: torch.Tensor
) -> Any:
    """Your function was called once, and the two things that it returned were looked at one by one."""
    answer = function(x_new, cache, Wq, Wk, Wv)
    return {"output": answer[0], "cache": answer[1]} if isinstance(answer, tuple) and len(answer) == 2 else answer


def looked_into(function: Callable[..., Any], n: int, places: list[int]) -> Any:
    """Of the table that your function returned for n, the rows and columns with the numbers in `places` were looked at."""
    import numpy as np

    returned = function(n)
    table = np.asarray(returned)
    inside = [place for place in places if place < min(table.shape, default=0)]
    entries: Any = table[np.ix_(inside, inside)] if table.ndim == 2 else None
    return {
        "The shape of the table": str(list(table.shape)),
        "What stands in these places": entries.tolist()
        if isinstance(returned, list) and entries is not None
        else entries,
    }


def refusing(function: Callable[..., Any], *arguments: Any) -> Any:
    """A ValueError that is raised here counts as an answer: the call is refused."""
    try:
        answer = function(*arguments)
    except ValueError:
        return REFUSAL
    except Exception as error:
        if _deliberate(error):
            return f"{type(error).__name__}, raised"
        raise
    not_raised = isinstance(answer, Exception) or (isinstance(answer, str) and answer == REFUSAL)
    return f"{type(answer).__name__}, returned and not raised" if not_raised else answer


def accepting(function: Callable[..., Any], *arguments: Any) -> Any:
    """Here nothing is to be refused."""
    try:
        return function(*arguments)
    except (ValueError, AssertionError) as error:
        if not _deliberate(error):
            raise
        told = f"there is nothing to refuse here, and a '{type(error).__name__}' is raised"
        raise ValueError(told).with_traceback(error.__traceback__) from None


def _deliberate(error: Exception) -> bool:
    """Whether a statement of the student's own raised it, `raise` or `assert`: not an operation that went wrong, nor a library, nor we."""
    *_, last = traceback.extract_tb(error.__traceback__)
    library = "site-packages" in last.filename or Path(last.filename).is_relative_to(Path(__file__).parents[1])
    return not library and re.search(r"\b(raise|assert)\b", last.line or "") is not None


def processes(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
) -> list[Value]:
    """p processes called your function at the same time, each with a rank of its own; act is the function of that name."""
    return _trials("processes", function, p, act, (X, params, h, keep, eps))


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
) -> list[Value]:
    """p processes called your function at the same time, each with a rank of its own. In params each found its own shards only: what
    belongs to another rank was 100 there. owners says whose each column is or, where numbers stand one above the other, each row.
    act is the function of that name, plus 1 once it has been given more numbers than a rank's share."""
    return _trials("shards", function, p, act, (X, params, h, keep, eps), owners)


def twice(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
) -> list[Value]:
    """p processes called your function, each with a rank of its own, and then once more, and what came back then was looked at; act is
    the function of that name. The first time every array of params was upside down, so that it was another block of the same sizes."""

    return _trials("twice", function, p, act, (X, params, h, keep, eps))


def refusals(
    function: Callable[..., Any],
    p: int,
    X: np.ndarray,
    params: dict[str, np.ndarray],
    h: int,
    keep: np.ndarray,
    eps: float,
    act: str,
) -> list[Value]:
    """p processes called your function at the same time, each with a rank of its own; act is the function of that name. What
    they were given is to be refused: every rank raises a ValueError, before anything is sent."""
    return _trials("refusals", function, p, act, (X, params, h, keep, eps))


def _with_own_shards(function: ranks.RankFunction, owners: dict[str, np.ndarray]) -> ranks.RankFunction:
    """The function, in which params holds nothing of other ranks' shards, and act turns wrong once a rank has had its share."""
    import numpy as np

    def shared_out(rank: int, p: int, X: Any, params: dict[str, Any], *others: Any) -> Any:
        held = {name: np.where(owner == rank, params[name], 100.0) for name, owner in owners.items()}
        share = len(X) * len(params["b1"]) // p
        *more, act = others
        bent = 0

        @wraps(act)
        def sparing(x: np.ndarray) -> Any:
            nonlocal bent
            bent += np.asarray(x).size
            return act(x) if bent <= share else act(x) + 1

        return function(rank, p, X, {**params, **held}, *more, sparing)

    return shared_out


def _once_more(function: ranks.RankFunction) -> ranks.RankFunction:
    """The function, called with another block's params before."""

    def again(rank: int, p: int, X: Any, params: dict[str, Any], *others: Any) -> Any:
        function(rank, p, X, {name: array[::-1].copy() for name, array in params.items()}, *others)
        return function(rank, p, X, params, *others)

    return again


def _watched(function: ranks.RankFunction) -> ranks.RankFunction:
    """Returns a dictionary of what the function returned, and of how many numbers act was given."""
    import numpy as np

    def watched(rank: int, p: int, *arguments: Any) -> dict[str, Any]:
        *others, act = arguments
        bent = 0

        @wraps(act)
        def counting(x: np.ndarray) -> Any:
            nonlocal bent
            bent += np.asarray(x).size
            return act(x)

        return {"H": accepting(function, rank, p, *others, counting), "bent": bent}

    return watched


def _called(
    function: ranks.RankFunction, rank: int, p: int, way: str, act: str, arguments: tuple[Any, ...], *more: Any
) -> tuple[ranks.RankFunction, tuple[Any, ...]]:
    """What a rank calls in one of these harnesses, and with what."""
    called = WAYS[way](function, *more) if way in WAYS else function
    return partial(called, rank, p), (*arguments, public_function(act))


WAYS: dict[str, Callable[..., ranks.RankFunction]] = {
    "processes": _watched,
    "shards": lambda function, owners: _watched(_with_own_shards(function, owners)),
    "twice": lambda function: _watched(_once_more(function)),
}


def _trials(
    way: str, function: Callable[..., Any], p: int, act: str, given: tuple[Any, ...], *more: Any
) -> list[Value]:
    """What p ranks did, rank by rank, as `Rank.to_value` has it. What they printed is printed.

    Args:
        act: the name of the function that comes after what is given.
        more: what the way needs besides.
    """
    found = ranks.trials(function, p, (way, act, given, *more), SECONDS_TOGETHER, _called)
    for rank, one in enumerate(found):
        for line in one.printed.splitlines():
            print(f"rank {rank}: {line}")
    return [replace(one, printed="").to_value() for one in found]


HARNESSES: dict[str, Harness] = {
    "gradients": gradients,
    "stretched": stretched,
    "loaded": loaded,
    "evaluating": evaluating,
    "timing": timing,
    "decoding": decoding,
    "looked_into": looked_into,
    "refusing": refusing,
    "accepting": accepting,
    "stepping": stepping,
    "processes": processes,
    "shards": shards,
    "twice": twice,
    "refusals": refusals,
}
