"""Harnesses: what is done with a student's function where calling it once on plain values would not show enough.

A harness takes the function and a case's arguments, and returns what is compared. The same harness is run around the
reference and around every known mistake. It holds no answer, and its docstring is the sentence in which `check` says
what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Harness = Callable[..., Any]


def evaluating(function: Callable[..., Any], table: Any, ids: Any, training: bool) -> dict[str, Any]:
    """The model is a small torch module, in training mode where `training` is True. Its logits at position i, where it is
    shown token t, are table[i, t]. It peeks: where it is also shown a token at position i + 1, the logit of that one is
    larger by 1. In training mode its logits of symbols 0, 2, 4, ... are zeroed."""
    import torch

    model = _peeking_model(table).train(training)
    with torch.enable_grad():
        try:
            loss = function(model, ids)
            return {
                "loss": loss,
                "model.training afterwards": model.training,
                "loss.requires_grad": bool(getattr(loss, "requires_grad", False)),
                "gradients recorded afterwards": torch.is_grad_enabled(),
            }
        finally:
            torch.set_grad_enabled(True)


def _peeking_model(table: Any) -> Any:
    import torch

    class Peeking(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Parameter(table.clone())

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            _, n = ids.shape
            logits = self.table[torch.arange(n), ids]
            shown = torch.nn.functional.one_hot(ids[:, 1:], self.table.shape[-1]).to(logits)
            logits = logits + torch.cat([shown, torch.zeros_like(logits[:, :1])], dim=1)
            dropped = torch.arange(logits.shape[-1]) % 2 == 0
            return torch.where(dropped, 0.0, logits) if self.training else logits

    return Peeking()


HARNESSES: dict[str, Harness] = {"evaluating": evaluating}
