"""What comes of marking a submission, and how it is stored."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.grading.snapshot import File
from autograder.verdicts.verdict import Verdict


@dataclass(frozen=True)
class MarkedNotebook:
    """One notebook, marked.

    Attributes:
        text: the autograded notebook.
        scores: by grade cell, the automatic score, or None where a person has to decide.
        by_hand: the grade cells that a person has to look at.
        comments: by solution cell, nbgrader's automatic comment, or None.
        verdicts: by exercise of this course.
    """

    text: str
    scores: dict[str, float | None]
    by_hand: tuple[str, ...]
    comments: dict[str, str | None]
    verdicts: dict[str, Verdict]

    def to_json(self) -> dict[str, Any]:
        """A tree for a file."""
        return {**asdict(self), "verdicts": {name: verdict.to_json() for name, verdict in self.verdicts.items()}}

    @classmethod
    def from_json(cls, tree: dict[str, Any]) -> MarkedNotebook:
        """Read what `to_json` wrote.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: it did not write this.
        """
        verdicts = {name: Verdict.from_json(verdict) for name, verdict in tree["verdicts"].items()}
        return cls(**{**tree, "by_hand": tuple(tree["by_hand"]), "verdicts": verdicts})


@dataclass(frozen=True)
class MarkedSubmission:
    """One submission, marked.

    Attributes:
        notebooks: by name, those that could be marked.
        files: what the notebooks left in their folder that was not there before.
        log: warnings, as nbgrader would log them.
        error: why the submission could not be marked to its end; "" where it could.
        fault: whether the grader, not the submission, is to blame; such a result is not kept.
        seconds: how long it took.
        removed: which of the files in their folder the notebooks removed.
    """

    notebooks: dict[str, MarkedNotebook] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    error: str = ""
    fault: bool = False
    seconds: float = 0.0
    removed: tuple[str, ...] = ()

    @property
    def final(self) -> bool:
        """Whether there is no reason to mark the same submission again."""
        faults = (verdict.faulty for marked in self.notebooks.values() for verdict in marked.verdicts.values())
        return not (self.fault or self.error or any(faults))

    def to_json(self) -> str:
        files = {name: [b64encode(file.data).decode(), file.executable] for name, file in self.files.items()}
        notebooks = {name: marked.to_json() for name, marked in self.notebooks.items()}
        return json.dumps({**asdict(self), "files": files, "notebooks": notebooks})

    @classmethod
    def from_json(cls, text: str) -> MarkedSubmission:
        """Read what `to_json` wrote.

        Raises:
            ValueError: it did not write this.
        """
        try:
            stored = json.loads(text)
            notebooks = {name: MarkedNotebook.from_json(marked) for name, marked in stored.pop("notebooks").items()}
            files = {name: File(b64decode(data), bool(run)) for name, (data, run) in stored.pop("files").items()}
            removed, log = tuple(stored.pop("removed")), tuple(stored.pop("log"))
            return cls(notebooks, files, log, removed=removed, **stored)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a stored result: {error}") from error
