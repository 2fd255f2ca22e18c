"""Harnesses: what is done with a student's function where calling it once on plain values would not show enough.

A harness takes the function and a case's arguments, and returns what is compared. The same harness is run around the
reference and around every known mistake. It holds no answer, and its docstring is the sentence in which `check` says
what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Harness = Callable[..., Any]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def gradients(function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Autograd was asked how a weighted sum of your function's outputs changes with the numbers that go in. A gradient
    of zeros means that the way back is cut somewhere."""
    import torch

    leaves: dict[str, torch.Tensor] = {}

    def watched(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: watched(part, f"{name}, {key}") for key, part in value.items()}
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        leaves[name] = value.detach().clone().requires_grad_()
        return leaves[name]

    with torch.enable_grad():
        results = function(*(watched(a, f"by the {_ORDINALS[i]} argument") for i, a in enumerate(arguments)))
        parts = results if isinstance(results, tuple) else (results,)
        if not all(isinstance(part, torch.Tensor) for part in parts):
            raise TypeError(f"a tensor was expected, and {type(results).__name__} came back")
        weights = [torch.arange(part.numel(), dtype=part.dtype).cos().reshape(part.shape) for part in parts]
        total = sum((part * weight).sum() for part, weight in zip(parts, weights, strict=True))
    if not total.requires_grad:
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def stretched(function: Callable[..., Any], lengths: Any, n: int, causal: bool, left: bool, h: int) -> Any:
    """The mask that your function returns was stretched over items and heads, [b, h, n, n], as attention stretches it."""
    return function(lengths, n, causal, left).expand(len(lengths), h, n, n).clone()


def loaded(
    function: Callable[..., Any], sizes: dict[str, Any], params: dict[str, Any], X: Any, keep: Any
) -> dict[str, Any]:
    """A block of these sizes was made and handed to your function, with the parameters. Then it was run on X, several
    times over; and in the end all of its weights were moved, as in training."""
    import numpy as np
    import torch

    from course.modules import Block

    module = Block(**sizes)
    with torch.no_grad():
        for number, weight in enumerate(module.parameters()):  # the same on every machine, unlike random numbers
            weight.copy_((torch.arange(weight.numel()) + 10.0 * number).sin().reshape(weight.shape))
    returned = function(module, params)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        outputs = [module(X.to(module.output.weight.dtype), keep) for _ in range(8)]
        steady = all(torch.equal(outputs[0], other) for other in outputs[1:])
        before = {name: array.copy() for name, array in params.items()}
        for weight in module.parameters():
            weight.add_(1.0)
    shared = [name for name, array in params.items() if not np.array_equal(array, before[name])]
    for name, array in before.items():
        params[name][...] = array
    return {
        "returns": "the module it was given" if returned is module else _named(returned),
        "in training mode": _training(module),
        "same output at every call": steady,
        "output": outputs[0] if steady else None,
        "shares memory with": shared,
    }


def _training(module: Any) -> str:
    if module.training:
        return "yes"
    return "its parts are" if any(part.training for part in module.modules()) else "no"


def _named(thing: object) -> str:
    return "None" if thing is None else f"another {type(thing).__name__}"


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


def refusing(function: Callable[..., Any], *arguments: Any) -> Any:
    """Here a refusal counts as an answer like any other; it is a ValueError, and it is raised."""
    refused = "ValueError, raised"
    try:
        answer = function(*arguments)
    except ValueError:
        return refused
    not_raised = isinstance(answer, Exception) or (isinstance(answer, str) and answer == refused)
    return f"{type(answer).__name__}, returned and not raised" if not_raised else answer


HARNESSES: dict[str, Harness] = {
    "gradients": gradients,
    "stretched": stretched,
    "loaded": loaded,
    "evaluating": evaluating,
    "refusing": refusing,
}
