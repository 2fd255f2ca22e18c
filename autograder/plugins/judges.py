"""Who judges the grade cells of a course: it comes in from outside, by the name that the course's settings give (`c.Judge.name`).

Without one, every notebook is graded by nbgrader's own rules.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder.verdicts.verdict import Conversation, Finding, Verdict

SECTION = "Judge"
"""Of nbgrader's settings; its `name` is what a judge is imported by."""

Allow = Callable[[float], Callable[[], float]]
"""Given seconds, what tells how many of them are left."""


class Judge(Protocol):
    """Whoever gives the marks in a course's own notebooks, each of which is an assignment of its name.

    Attributes:
        notebooks: their names, in the order of the course.
        library: the folder of the package that they import, which submissions find; None where they need none of the course's.
        variable: of the environment, by which that package is told where its end of a conversation is.
        version: of the course, as reports name it.
    """

    @property
    def notebooks(self) -> tuple[str, ...]: ...

    @property
    def library(self) -> Path | None: ...

    @property
    def variable(self) -> str: ...

    @property
    def version(self) -> str: ...

    def __hash__(self) -> int: ...

    def exercises(self, notebook: str) -> Mapping[str, tuple[Finding, ...]]:
        """By the names of the grade cells that it judges, the properties that it tries, of which nothing is earned yet."""

    def questions(self, notebook: str) -> Mapping[str, float]:
        """By the names of the cells that a person marks, what they are worth."""

    def asking(self, exercise: str) -> str:
        """The code that is run in an exercise's grade cell, whatever stands there: it has the student's function be heard."""

    def hear(
        self,
        notebook: str,
        exercise: str,
        paper: int,
        connection: socket.socket,
        seconds: float,
        passed: frozenset[str],
        allow: Allow,
    ) -> Conversation | None:
        """Judge whoever is at the other end of a connection; None where nobody said a word before it was closed.

        Args:
            paper: the number from which hidden cases are drawn.
            seconds: how long the whole conversation may take.
            passed: exercises of the notebook that this student has right.
            allow: how the student's seconds pass.

        Raises:
            Exception: whatever goes wrong in the judge itself.
        """

    def shown(self, verdict: Verdict) -> dict[str, Any]:
        """What a grade cell's output shows of a verdict, by MIME type."""

    def sentence(self, text: str) -> str:
        """A sentence of a verdict as HTML."""

    def lessons(self, notebook: str) -> Mapping[tuple[str, str], str]:
        """By exercise and known mistake, what its student reads."""

    def public_case(self, verdict: Verdict) -> str:
        """A case that is no secret, in which the recognised mistake goes wrong, in lines; "" where there is none to show."""

    def trying(self, verdict: Verdict) -> str:
        """The code that prints a case that is no secret, in which the student's own answer goes wrong, or a line that says that there
        is none; "" where `public_case` is enough, or nothing is to be shown. It is run in the student's cells, where nobody was heard."""

    def at_hand(self, notebook: str) -> None:
        """Work out what `public_case` shows of a notebook, once for all pages that are made after that."""

    def rehearsal(self, notebook: str) -> str:
        """Code that is run once before any submission of a notebook is there, to fill caches of the package; "" for none."""

    def modules(self, notebook: str) -> list[str]:
        """What is imported to judge a notebook."""

    def digest(self, notebook: str) -> str:
        """What changes with the code that judges a notebook."""


class Nobody:
    """The judge of a course that has none."""

    notebooks: tuple[str, ...] = ()
    library: Path | None = None
    variable = ""
    version = ""

    def exercises(self, notebook: str) -> Mapping[str, tuple[Finding, ...]]:
        return {}

    def questions(self, notebook: str) -> Mapping[str, float]:
        return {}

    def asking(self, exercise: str) -> str:
        raise LookupError(exercise)

    def hear(self, notebook: str, exercise: str, *conversation: Any) -> Conversation | None:
        raise LookupError(exercise)

    def shown(self, verdict: Verdict) -> dict[str, Any]:
        raise LookupError(verdict.exercise)

    def sentence(self, text: str) -> str:
        raise LookupError(text)

    def lessons(self, notebook: str) -> Mapping[tuple[str, str], str]:
        return {}

    def public_case(self, verdict: Verdict) -> str:
        return ""

    def trying(self, verdict: Verdict) -> str:
        return ""

    def at_hand(self, notebook: str) -> None:
        pass

    def rehearsal(self, notebook: str) -> str:
        return ""

    def modules(self, notebook: str) -> list[str]:
        return []

    def digest(self, notebook: str) -> str:
        return ""


def judge_of(config: Config) -> Judge:
    """The judge that some settings name.

    Raises:
        ImportError: there is none of that name.
    """
    return _named(config[SECTION].get("name", "") if SECTION in config else "")


@cache
def _named(name: str) -> Judge:
    judge: Judge = import_item(name) if name else Nobody()
    return judge


def worth(judge: Judge, notebook: str) -> dict[str, float]:
    """What the exercises of a notebook and then its questions are worth."""
    exercises = {name: sum(each.points for each in tried) for name, tried in judge.exercises(notebook).items()}
    return exercises | dict(judge.questions(notebook))
