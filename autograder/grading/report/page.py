"""The report as one page of HTML that needs nothing else."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from autograder.grading.report import telling
from autograder.grading.report.counting import Spread, bars
from autograder.grading.report.gathering import Gathered
from autograder.grading.report.lines import FOR_A_PERSON, LOOK_AGAIN, Line, by_student
from autograder.grading.report.term import Term
from autograder.plugins.pages import LAYOUT

HERE = Path(__file__).parent / "page"


def html(gathered: Gathered, anonymous: bool = False) -> str:
    """The report on an assignment.

    Args:
        anonymous: leave out who students are: their names and ids, links to their pages, and code in which a name stands.
    """
    totals = gathered.totals
    told = telling.exercises(gathered, anonymous)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            anonymous=anonymous,
            gathered=gathered,
            exercises=[about for about in told if not about.is_open],
            questions=[about for about in told if about.is_open],
            most_told=telling.MOST_TOLD,
            alike=telling.alike(gathered, anonymous),
            passed_and_lost=telling.passed_and_lost(gathered),
            to_mend=[] if anonymous else telling.to_mend(gathered),
            unusual=telling.unusual(gathered),
            guesses=[(guess, bars(telling.guessed(guess, anonymous))) for guess in gathered.guesses],
            spread=Spread(sum(gathered.columns.values()), tuple(totals.values())),
            papers=[
                ("" if anonymous else str(paper), digest(paper), count)
                for paper, count in gathered.papers.most_common()
            ],
            totals=totals,
            rows=by_student(gathered.lines),
            number={student: place for place, student in enumerate(gathered.students, 1)},
        )
    )


def term_html(term: Term, anonymous: bool = False) -> str:
    """The report on a term."""
    return _environment().get_template("term.html.j2").render(term=term, anonymous=anonymous)


def digest(paper: int) -> str:
    """By what a paper can be told from others, and cannot be drawn again."""
    return hashlib.sha256(str(paper).encode()).hexdigest()[:8]


@cache
def _environment() -> Environment:
    made = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        "sentence": _sentence,
        "name": _name,
        "percent": _percent,
        "points": _points,
        "cell": _cell,
        "file": _file,
    }
    made.globals["styles"] = Markup(_read(LAYOUT / "page.css") + _read(HERE / "report.css"))
    made.globals["script"] = Markup(_read(HERE / "table.js"))
    return made


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _sentence(text: str) -> Markup:
    """Text with code between backticks, as HTML."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))


def _name(text: str) -> Markup:
    """The name of something in code, which may be broken where its words are."""
    return Markup(str(escape(text)).replace("_", "_<wbr>"))


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{share * 100:.0f} %"


def _points(points: float | None) -> str:
    return "?" if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def _file(exercise: str) -> str:
    """A name as part of an address within the page."""
    return re.sub(r"\W", "-", exercise)


def _cell(line: Line) -> Markup:
    """One student's exercise in the table: the points, and what they do not say."""
    waits = line.score is None and line.outcome in (FOR_A_PERSON, LOOK_AGAIN)
    score = Markup("" if line.score is None and not waits else _points(line.score))
    return score + Markup("").join(Markup("<small>{}</small>").format(_name(one)) for one in line.remarks)
