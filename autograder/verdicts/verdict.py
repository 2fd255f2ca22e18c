"""What a judge says of one exercise, and how a student reads it as text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal[
    "passed",
    "partly",
    "wrong",
    "not attempted",
    "did not run",
    "raised",
    "timed out",
    "crashed",
    "tampered",
    "grader fault",
]

SENTENCES: dict[str, str] = {
    "passed": "passed",
    "partly": "partly right",
    "wrong": "not right yet",
    "not attempted": "not attempted",
    "did not run": "did not run",
    "raised": "stopped with an error",
    "timed out": "ran out of time",
    "crashed": "the kernel died",
    "tampered": "the answer could not be read",
    "grader fault": "the grader failed, a person will look at it",
}


ENDED = "The process that ran your code ended; what had been earned before is kept."


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
        lessons: what the student reads about each; where these are no mistake's answers, about one or two that are near.
        alike: where no mistake was recognised, a digest of the answers, by which the class report puts like ones together; no
            student is shown it.
        case: a case that is no secret, in which the student's own answer goes wrong, in lines, or a line about such cases; "" where
            none was looked for. A student's process has said it: it may be anything.
    """

    exercise: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    mistakes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    note: str = ""
    alike: str = ""
    case: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said under the table: the lesson of each recognised mistake, none twice, and the note."""
        return (*dict.fromkeys(self.lessons), *([self.note] if self.note else []))

    @property
    def faulty(self) -> bool:
        """Whether the grader failed, so that a person has to look."""
        return self.outcome == "grader fault"

    @property
    def points(self) -> float:
        return sum(finding.points for finding in self.findings)

    @property
    def score(self) -> float:
        return sum(finding.earned for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """A tree that a program reads: the fields, and the score and the points they come to."""
        return {**asdict(self), "score": self.score, "points": self.points}

    @classmethod
    def from_json(cls, tree: Any) -> Verdict:
        """The verdict that `to_json` wrote, before or after it has been through a file.

        Raises:
            ValueError: the tree is of any other form, or its score or points are not those of its findings.
        """
        whole = {"alike": "", "case": "", **tree} if isinstance(tree, dict) else tree  # older versions wrote none
        found = _fields(whole, {**_FORM, "score": float, "points": float})
        findings = tuple(Finding(**_fields(finding, _FINDING)) for finding in found["findings"])
        mistakes, lessons = (tuple(_entry(text, str) for text in found[name]) for name in ("mistakes", "lessons"))
        if found["outcome"] not in SENTENCES or not all(0 <= each.earned <= each.points for each in findings):
            raise ValueError("no outcome, or points out of bounds")
        said = found["note"], found["alike"], found["case"]
        verdict = cls(found["exercise"], found["outcome"], findings, mistakes, lessons, *said)
        if (verdict.score, verdict.points) != (found["score"], found["points"]):
            raise ValueError("a score or points that the findings do not come to")
        return verdict

    def __repr__(self) -> str:
        lines = [f"{self.exercise}: {SENTENCES[self.outcome]}, {self.score:g} of {self.points:g} points"]
        for finding in self.findings:
            mark = "ok " if finding.earned == finding.points else "NO "
            lines.append(f"  {mark} {finding.earned:g}/{finding.points:g}  {finding.shows}")
            if finding.reason:
                lines.append(f"           {finding.reason}")
        lines += [f"  {text}" for text in self.remarks]
        return "\n".join(lines)


@dataclass(frozen=True)
class Conversation:
    """What came of one conversation between a judge and a student's process.

    Attributes:
        errors: what the student's function raised, each as its kind and its message.
        explain: how the verdict came about, for an instructor whom a student asks; it may show what was hidden.
    """

    verdict: Verdict
    errors: tuple[tuple[str, str], ...]
    explain: Callable[[], str]


_FINDING: dict[str, type] = {"shows": str, "points": float, "earned": float, "reason": str}
_FORM: dict[str, type] = {
    "exercise": str,
    "outcome": str,
    "findings": list,
    "mistakes": list,
    "lessons": list,
    "note": str,
    "alike": str,
    "case": str,
}


def _fields(tree: Any, form: dict[str, type]) -> dict[str, Any]:
    """The entries of a tree, each of its type; whole numbers stand for floats, and tuples for lists, as JSON has it.

    Raises:
        ValueError: the tree has other entries, or one of another type, or a number that is not finite.
    """
    if not isinstance(tree, dict) or set(tree) != set(form):
        raise ValueError(f"not the entries {sorted(form)}")
    return {name: _entry(tree[name], kind) for name, kind in form.items()}


def _entry(value: Any, kind: type) -> Any:
    if kind is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if kind is list and type(value) is tuple:
        value = list(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{type(value).__name__} where a {kind.__name__} belongs, or a number that is not finite")
    return value
