"""What reports say of a verdict."""

from __future__ import annotations

from autograder.verdicts.verdict import Verdict

UNRECOGNISED = ("partly", "wrong", "raised")
"""The outcomes of an answer that was tried to its end and lost marks."""


EVERYTHING = "everything that was tried"


def outcome(verdict: Verdict) -> str:
    """What a verdict says in a word; of a cell that did not run, also why."""
    if verdict.outcome == "did not run":
        return f"{verdict.outcome}: {verdict.note.partition(': ')[0]}"
    return verdict.outcome


def missed(verdict: Verdict) -> tuple[str, ...]:
    """The properties that lost marks; where these are all there are, that they are."""
    lost = tuple(finding.shows for finding in verdict.findings if finding.earned < finding.points)
    return (EVERYTHING,) if len(lost) == len(verdict.findings) > 1 else lost
