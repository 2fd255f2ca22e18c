"""What a judge says of one exercise, and how a student reads it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

Outcome = Literal[
    "passed", "partly", "wrong", "not attempted", "raised", "timed out", "crashed", "tampered", "grader fault"
]

SENTENCES: dict[str, str] = {
    "passed": "passed",
    "partly": "partly right",
    "wrong": "not right yet",
    "not attempted": "not attempted",
    "raised": "stopped with an error",
    "timed out": "ran out of time",
    "crashed": "the kernel died",
    "tampered": "the answer could not be read",
    "grader fault": "the grader failed, a person will look at it",
}


@dataclass(frozen=True)
class Finding:
    """One probe: the property it tries, what it is worth, what it earned, and why not more."""

    shows: str
    points: float
    earned: float
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judgement of one exercise.

    Attributes:
        mistakes: names of the known mistakes whose answers these are, most often one or none.
        lessons: what the student reads about each.
    """

    exercise: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    mistakes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    note: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said under the table: the lesson of each recognised mistake, and the note."""
        return (*self.lessons, *([self.note] if self.note else []))

    @property
    def points(self) -> float:
        return sum(finding.points for finding in self.findings)

    @property
    def score(self) -> float:
        return sum(finding.earned for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "score": self.score, "points": self.points}

    def __repr__(self) -> str:
        lines = [f"{self.exercise}: {SENTENCES[self.outcome]}, {self.score:g} of {self.points:g} points"]
        for finding in self.findings:
            mark = "ok " if finding.earned == finding.points else "NO "
            lines.append(f"  {mark} {finding.earned:g}/{finding.points:g}  {finding.shows}")
            if finding.reason:
                lines.append(f"           {finding.reason}")
        lines += [f"  {text}" for text in self.remarks]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left = "<td style='text-align:left; vertical-align:top; padding:0 1em 0.3em 0'>"
        rows = "".join(
            f"<tr>{left}{'ok' if f.earned == f.points else 'no'}</td>{left}{f.earned:g} of {f.points:g}</td>"
            f"{left}{escape(f.shows)}" + (f"<br><em>{escape(f.reason)}</em>" if f.reason else "") + "</td></tr>"
            for f in self.findings
        )
        said = "".join(f"<p>{escape(text)}</p>" for text in self.remarks)
        return (
            f"<div><p><strong>{escape(self.exercise)}</strong>: {SENTENCES[self.outcome]}, "
            f"<strong>{self.score:g} of {self.points:g}</strong> points</p><table>{rows}</table>{said}</div>"
        )
