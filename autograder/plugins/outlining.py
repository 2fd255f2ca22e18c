"""What a feedback page begins with: a notebook's exercises, what each has earned, and why not more."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution, is_task

from autograder.plugins.reading import as_sentence, reason_in
from autograder.plugins.repairing import REPAIRED
from autograder.plugins.stamping import Asked
from autograder.verdicts.cells import ANSWER
from autograder.verdicts.verdict import SENTENCES, Verdict

RIGHT, PARTLY, WRONG, NOTHING, WAITS = "✓", "◐", "✗", "·", "?"
"""By what an outcome is told at a glance, beside its words; in shape, so that no colour is needed."""

UNTRIED = ("not attempted", "did not run")
LOOKS = " A person will look at it."
ASK_CHECK = "Run check({}) in your notebook: where a public case fails too, it shows that case in full."
FORM = 1
"""Of what the page says for programs; `course.returned` reads it."""


@dataclass(frozen=True)
class Property:
    """One property that was tried: what it is, what it earned, and why not more."""

    shows: str
    points: float
    earned: float
    reason: str

    @property
    def mark(self) -> str:
        return _mark(self.earned, self.points)


@dataclass(frozen=True)
class Row:
    """One exercise, or question.

    Attributes:
        name: what it is called; on the page, the name of its test cell.
        score, points: what it earned, extra credit and all, and what it is worth.
        waits: whether a person has yet to decide; then the score is none yet.
        mark, outcome: how it stands, at a glance and in words.
        properties: what was tried.
        remarks: the lesson of each recognised mistake, and what else was said.
        case: a public case that shows the mistake, in lines; "" where there is none to show.
        advice: that there is none, or how to get one otherwise; "" where that is not needed.
        comment: what the grader or a person has written to the answer.
        answer: the cell that a comment stands under.
        requests: what the student asked to have looked at again, and what was decided.
    """

    name: str
    score: float
    points: float
    mark: str
    outcome: str
    properties: tuple[Property, ...] = ()
    remarks: tuple[str, ...] = ()
    case: str = ""
    advice: str = ""
    comment: str = ""
    answer: str = ""
    waits: bool = False
    requests: tuple[Asked, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether there is a verdict, which stands in place of the test cell's output."""
        return bool(self.properties or self.remarks)

    @property
    def missed(self) -> tuple[Property, ...]:
        return tuple(one for one in self.properties if one.earned < one.points)


@dataclass(frozen=True)
class Outline:
    """What a page says of a whole notebook.

    Attributes:
        score: what counts so far, the penalty taken off.
        points: what there was to earn.
        waiting: the part of it that a person has yet to decide on.
        late: what being late costs.
        by_hand: why a person marks all of it, in sentences; "" where it was graded by itself.
        repaired: what was put right before grading, as Markdown; "" where nothing was.
        comments: by cell, comments on answers that belong to no row.
        asking: of each exercise that has lost points, the line with which its student asks for another look.
    """

    notebook: str
    score: float
    points: float
    waiting: float
    late: float
    by_hand: str
    repaired: str
    rows: tuple[Row, ...]
    comments: Mapping[str, str]
    asking: tuple[str, ...] = ()

    @property
    def decided(self) -> float:
        """What there was to earn where nobody has to decide any more."""
        return self.points - self.waiting

    @property
    def above(self) -> int:
        """How many of the first cells say what is told above the notebook."""
        return bool(self.by_hand) + bool(self.repaired)

    def row_of(self, cell: NotebookNode) -> Row | None:
        """The row that a cell's marks are in."""
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        return next((row for row in self.rows if row.name == name), None) if _is_marked(cell) else None

    def to_json(self) -> str:
        """The same for programs, without the properties that were not missed."""
        rows = []
        for row in self.rows:
            tree = asdict(row)
            del tree["properties"], tree["answer"]
            asked = [one._asdict() for one in row.requests]
            rows.append(tree | {"missed": [asdict(one) for one in row.missed], "requests": asked})
        tree = {
            "form": FORM,
            "notebook": self.notebook,
            "score": self.score,
            "points": self.points,
            "waiting": self.waiting,
            "late": self.late,
            "by_hand": self.by_hand,
            "repaired": _lines(self.repaired),
            "rows": rows,
            "comments": dict(self.comments),
        }
        return json.dumps(tree, ensure_ascii=False)


def outlined(
    cells: Sequence[NotebookNode],
    info: Mapping[str, Any],
    verdicts: Mapping[str, Verdict],
    public_case: Callable[[Verdict], str],
) -> Outline:
    """What is said of a notebook whose cells have their marks.

    Args:
        info: what nbgrader tells of it.
        verdicts: by exercise.
        public_case: what may be shown of the mistake that a verdict names, in lines, where nothing was shown of the answer itself.
    """
    comments = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.get("comment") or ""
        for cell in cells
        if is_solution(cell) or is_task(cell)
    }
    rows = tuple(
        _row(cell.metadata.nbgrader, verdicts.get(cell.metadata.nbgrader.grade_id), comments, public_case)
        for cell in cells
        if _is_marked(cell)
    )
    of_rows = {row.answer for row in rows}
    waiting = [row for row in rows if row.waits]
    lost = [row.name for row in rows if row.score < row.points and not row.waits]
    reason = reason_in(cells)
    looked_at = any(row.mark == WAITS for row in rows)
    repaired = next((cell.source for cell in cells[:2] if cell.source.startswith(REPAIRED)), "")
    return Outline(
        info["notebook"],
        round(info["score"] - sum(row.score for row in waiting), 2),
        round(info["max_score"], 2),
        round(sum(row.points for row in waiting), 2),
        round(info["late_penalty"], 2),
        ""
        if reason is None
        else f"This could not be graded automatically. {_begun(as_sentence(reason))}{LOOKS if looked_at else ''}",
        repaired,
        rows,
        {name: text for name, text in comments.items() if text and name not in of_rows},
        tuple(f"{info.get('student')}, {info.get('assignment')}, {name}: " for name in lost),
    )


def _begun(sentence: str) -> str:
    """A sentence that begins with a capital, unless it begins with a file's name."""
    return sentence[:1].upper() + sentence[1:] if sentence.split()[0].isalpha() else sentence


def _is_marked(cell: NotebookNode) -> bool:
    return is_grade(cell) or is_task(cell)


def _row(
    stated: Mapping[str, Any],
    verdict: Verdict | None,
    comments: Mapping[str, str],
    public_case: Callable[[Verdict], str],
) -> Row:
    name, score, points = stated["grade_id"], round(stated["score"] or 0.0, 2), round(stated["points"], 2)
    answer = next((own for own in (name, f"{name}{ANSWER}") if own in comments), "")
    mark, outcome = _outcome(stated, verdict, score, points)
    waits = mark == WAITS and not stated.get("again")
    requests = stated.get("requests", ())
    if verdict is None:
        comment = comments.get(answer, "")
        return Row(name, score, points, mark, outcome, comment=comment, answer=answer, waits=waits, requests=requests)
    told = verdict.case or public_case(verdict)
    case = told if "\n" in told else ""
    wrong = verdict.score < verdict.points and verdict.outcome not in (*UNTRIED, "grader fault")
    return Row(
        name,
        score,
        points,
        mark,
        outcome,
        tuple(Property(one.shows, one.points, one.earned, one.reason) for one in verdict.findings),
        verdict.remarks,
        case,
        told or ASK_CHECK.format(name) if wrong and not case else "",
        comments.get(answer, ""),
        answer,
        waits,
        requests,
    )


def _mark(score: float, points: float, blank: bool = False) -> str:
    """How some points stand at a glance."""
    if score >= points:
        return RIGHT
    return PARTLY if score > 0 else NOTHING if blank else WRONG


def _outcome(stated: Mapping[str, Any], verdict: Verdict | None, score: float, points: float) -> tuple[str, str]:
    """The mark and the words for how an exercise stands."""
    said = SENTENCES[verdict.outcome] if verdict else ""
    by_grader = f" (by the grader: {said})" if verdict and not verdict.faulty else ""
    if stated.get("again"):
        return WAITS, f"marked by a person, who will look at it again{by_grader}"
    if stated.get("by_hand"):
        return _mark(score, points), f"marked by a person{by_grader}"
    if stated.get("waits") or (verdict and verdict.faulty):
        return WAITS, said if verdict and verdict.faulty else f"a person will look at it{by_grader}"
    if verdict:
        return RIGHT if verdict.outcome == "passed" else _mark(score, points, verdict.outcome == "not attempted"), said
    return (_mark(score, points), "marked") if score else (NOTHING, "nothing earned")


def _lines(repaired: str) -> list[str]:
    """What was put right, line by line."""
    return [html.unescape(line.removeprefix("- ")) for line in repaired.splitlines()[2:]]
