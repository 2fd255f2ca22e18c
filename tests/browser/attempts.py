"""An exercise of each notebook that is tried in the browser: a wrong answer, and the right one."""

from __future__ import annotations

from dataclasses import dataclass

from course.answers import find


@dataclass(frozen=True)
class Attempt:
    """What a student types in place of `raise NotImplementedError()`, first and then, and which mistake the first is."""

    exercise: str
    mistake: str
    wrong: str
    right: str

    @property
    def check(self) -> str:
        """The id of the cell that checks it."""
        return self.exercise.replace("_", "-")

    @property
    def answer(self) -> str:
        return f"{self.check}-solution"

    @property
    def lesson(self) -> str:
        """What is to be read of the mistake."""
        stored = find(self.exercise)
        assert stored is not None
        return next(mistake.lesson for mistake in stored.mistakes if mistake.name == self.mistake)


ATTEMPTS = {
    "00_shapes": Attempt("pairwise_dots", "dots_turned", "return Y @ X.T", "return X @ Y.T"),
    "03_causal_mask": Attempt(
        "causal_keep",
        "keeps_the_future",
        "return np.triu(np.ones((n, n), dtype=bool))",
        "return np.tril(np.ones((n, n), dtype=bool))",
    ),
    "05_block": Attempt(
        "ffn", "activation_twice", "return act(act(X @ W1 + b1) @ W2 + b2)", "return act(X @ W1 + b1) @ W2 + b2"
    ),
    "06_batching": Attempt(
        "fused",
        "scale_switched_off",
        "return torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=keep, scale=1.0)",
        "return torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=keep)",
    ),
}
