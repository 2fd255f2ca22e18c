"""How a verdict travels in a notebook: in the one output of its grade cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.judging.verdict import Verdict

VERDICT_TYPE = "application/vnd.course.verdict+json"


def shown(verdict: Verdict) -> dict[str, Any]:
    """What the output shows, by MIME type: the score for nbgrader, the reasons for the reader, the facts for `verdict_in`."""
    return {
        "text/plain": f"{verdict.score:g}",
        "text/html": verdict._repr_html_(),
        VERDICT_TYPE: verdict.to_json(),
    }


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
