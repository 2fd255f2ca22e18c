"""What a reader of a notebook meets, and when."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import pytest

from autograder.settings import ROOT

DETAILS = re.compile(r"<details>(?:(?!<details>|</details>).)*</details>", re.DOTALL)
WORDS_BEFORE_CODE = 900  # four minutes


def cells(notebook: str) -> dict[str, dict[str, Any]]:
    """A notebook's cells by their ids, in order; the source of each in one text."""
    read = json.loads((ROOT / "source" / notebook / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: {**cell, "source": "".join(cell["source"])} for cell in read}


def open_text(notebook: str, until: str) -> str:
    """The text above a cell that nobody has to unfold."""
    every = cells(notebook)
    above = [every[name] for name in list(every)[: list(every).index(until)]]
    text = "\n".join(cell["source"] for cell in above if cell["cell_type"] == "markdown")
    while DETAILS.search(text):
        text = DETAILS.sub("", text)
    return text


def test_a_newcomer_writes_code_before_reading_for_long() -> None:
    assert len(open_text("00_shapes", "pairwise-dots-solution").split()) < WORDS_BEFORE_CODE


@pytest.mark.parametrize(
    ("notebook", "guess", "seen", "answer"),
    [
        ("00_shapes", "guess-products", "picture-products", "all sizes (be|are) equal|two of the five|everything runs"),
        ("01_token_loops", "guess-rows", "picture-steps", "rows to get the keys|in a turn"),
        ("01_token_loops", "guess-shift", "picture-shift", r"the same two|0\.982|which change"),
    ],
)
def test_what_is_guessed_is_not_told_before(notebook: str, guess: str, seen: str, answer: str) -> None:
    assert not re.search(answer, open_text(notebook, guess), re.IGNORECASE)
    assert list(cells(notebook)).index(guess) < list(cells(notebook)).index(seen)


RIGHT_WITH_A_WARNING = """
def masked_softmax(S, keep):
    s = np.where(keep, S, -np.inf)
    powers = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.where(keep.any(axis=-1, keepdims=True), powers / powers.sum(axis=-1, keepdims=True), 0.0)
"""


def test_the_museum_does_not_make_a_readers_right_answer_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")  # pictures and checks have nothing to do
    scope: dict[str, Any] = {}
    every = cells("03_causal_mask")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, cell in every.items():
            source = cell["source"] if name != "masked-softmax-solution" else RIGHT_WITH_A_WARNING
            if cell["cell_type"] == "code" and "BEGIN HIDDEN" not in source:
                exec(source, scope)
            if name == "museum-mask":
                break
