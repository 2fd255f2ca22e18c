"""What the plug-ins ask of this course: see `autograder.plugins.judges.Judge`. `nbgrader_config.py` names it.

The judge itself is imported when somebody is first heard.
"""

from __future__ import annotations

import ast
import hashlib
import socket
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import course
from autograder.dependencies import with_imports
from autograder.exercises import NOTEBOOKS, exercises_in, folder_of, names_in, tasks_in
from autograder.exercises.model import lesson
from autograder.verdicts.verdict import Conversation, Finding, Verdict
from course.client import SOCKET_VARIABLE

ROOT = Path(__file__).resolve().parents[1]

JUDGING = ("course", "autograder/judging", "autograder/this_course.py")
"""What judges every notebook, beside its exercises. What these import judges too."""

PACKAGES = ("numpy", "torch")
"""What answers are worked out with."""


class ThisCourse:
    """The judge of this course's notebooks."""

    notebooks = NOTEBOOKS
    library = Path(course.__file__).parent
    variable = SOCKET_VARIABLE
    version = course.__version__

    def exercises(self, notebook: str) -> dict[str, tuple[Finding, ...]]:
        return {
            exercise.name: tuple(Finding(probe.shows, probe.points, 0.0) for probe in exercise.probes)
            for exercise in exercises_in(notebook)
        }

    def questions(self, notebook: str) -> dict[str, float]:
        return {task.name: task.points for task in tasks_in(notebook)}

    def asking(self, exercise: str) -> str:
        return f"import course\ncourse.judge({exercise})"

    def hear(
        self,
        notebook: str,
        exercise: str,
        paper: int,
        connection: socket.socket,
        seconds: float,
        passed: frozenset[str],
        allow: Callable[[float], Callable[[], float]],
    ) -> Conversation | None:
        from autograder.judging.explaining import explained
        from autograder.judging.hearing import hear
        from autograder.judging.paper import paper_of

        examined = hear(paper_of(notebook, exercise, paper), connection, seconds, passed, allow)
        if examined is None:
            return None
        raised = [got.raised for trial in examined.trials for got in trial.got if got.raised]
        errors = tuple((one.kind, one.message) for one in raised)
        return Conversation(examined.verdict, errors, lambda: explained(examined, paper))

    def shown(self, verdict: Verdict) -> dict[str, Any]:
        from autograder.judging.showing import shown

        return shown(verdict)

    def sentence(self, text: str) -> str:
        from course.trial.text import marked_up

        return marked_up(text)

    def lessons(self, notebook: str) -> dict[tuple[str, str], str]:
        return {(e.name, m.__name__): lesson(m) for e in exercises_in(notebook) for m in e.mistakes}

    def public_case(self, verdict: Verdict) -> str:
        from autograder.judging.publicly import public_case

        return public_case(verdict)

    def trying(self, verdict: Verdict) -> str:
        from autograder.judging.publicly import trying

        return trying(verdict)

    def at_hand(self, notebook: str) -> None:
        from autograder.judging.publicly import at_hand

        at_hand(notebook)

    def rehearsal(self, notebook: str) -> str:
        return f"from course import answers\nanswers.at_hand({notebook!r})"

    def modules(self, notebook: str) -> list[str]:
        return ["autograder.judging", *(f"{folder_of(notebook)}.{name}" for name in names_in(notebook))]

    def digest(self, notebook: str) -> str:
        """What changes with the notebook's exercises but for their words, the judge, the students' library, and whatever of this
        checkout these import."""
        exercises = [folder_of(notebook).replace(".", "/")] if names_in(notebook) else []
        declared = {path for folder in exercises for path in (ROOT / folder).glob("*.py")}
        digest = hashlib.sha256(repr([version(package) for package in PACKAGES]).encode())
        for path in sorted(with_imports(ROOT, [*JUDGING, *exercises])):
            code = _without_words(path.read_bytes()) if path in declared else path.read_bytes()
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + code + b"\0")
        return digest.hexdigest()


def _without_words(code: bytes) -> bytes:
    """A module without the docstrings of its functions: a known mistake told in other words loses the same marks."""
    lines = code.splitlines(keepends=True)
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node, clean=False) is not None:
            words = node.body[0]
            assert words.end_lineno is not None
            lines[words.lineno - 1 : words.end_lineno] = [b""] * (words.end_lineno - words.lineno + 1)
    return b"".join(lines)


JUDGE = ThisCourse()
