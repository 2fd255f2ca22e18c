"""How a verdict travels in a notebook: in the one output of its grade cell, the test cell, beside which stands the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.verdicts.verdict import Verdict

VERDICT_TYPE = "application/vnd.course.verdict+json"

ANSWER = "_solution"
"""What the name of an answer cell adds to the exercise's, which is the name of the test cell."""


def verdict_in(cell: Mapping[str, Any]) -> Verdict | None:
    """The verdict that a cell carries; None where it carries none, or something else in its place."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        if isinstance(data, dict) and VERDICT_TYPE in data:
            try:
                return Verdict.from_json(data[VERDICT_TYPE])
            except ValueError:
                return None
    return None
