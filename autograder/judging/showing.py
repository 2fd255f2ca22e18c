"""What a notebook shows of a verdict."""

from __future__ import annotations

from html import escape
from typing import Any

from autograder.verdicts.cells import VERDICT_TYPE
from autograder.verdicts.verdict import SENTENCES, Verdict
from course.trial.message import paragraphs
from course.trial.text import marked_up


def shown(verdict: Verdict) -> dict[str, Any]:
    """What the output of a grade cell shows, by MIME type: the score for nbgrader, the reasons for the reader, the facts for programs."""
    return {"text/plain": f"{verdict.score:g}", "text/html": html(verdict), VERDICT_TYPE: verdict.to_json()}


def html(verdict: Verdict) -> str:
    """A verdict as its student reads it in a notebook."""
    left = "<td style='text-align:left; vertical-align:top; padding:0 1em 0.3em 0'>"
    rows = "".join(
        f"<tr>{left}{'ok' if f.earned == f.points else 'no'}</td>{left}{f.earned:g} of {f.points:g}</td>"
        f"{left}{escape(f.shows)}" + (f"<br><em>{marked_up(f.reason)}</em>" if f.reason else "") + "</td></tr>"
        for f in verdict.findings
    )
    return (
        f"<div><p><strong>{escape(verdict.exercise)}</strong>: {SENTENCES[verdict.outcome]}, "
        f"<strong>{verdict.score:g} of {verdict.points:g}</strong> points</p><table>{rows}</table>{paragraphs(verdict.remarks)}</div>"
    )
