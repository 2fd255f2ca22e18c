"""What is alike, as a page for the instructor: pairs side by side, and what a likeness does not say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.likeness import Alike, Answers, alike, sides
from autograder.grading.snapshot import Snapshot, read_snapshot
from autograder.problems import Problem

MOST = 50
"""Pairs on a page."""

LOOKS = """
:root { color-scheme: light dark; --line: #8a939d; --panel: #8a939d22 }
body { margin: 0 auto; max-width: 80em; padding: 1em; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word }
h2 { margin: 2em 0 .3em; border-top: 2px solid var(--line); padding-top: .6em } h3 { margin: 1em 0 .3em }
table { border-collapse: collapse } th, td { border: 1px solid var(--line); padding: .2em .7em; text-align: left }
.number { text-align: right; font-variant-numeric: tabular-nums } .scroll { overflow-x: auto }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); gap: .8em }
pre { margin: 0; padding: .6em .8em; background: var(--panel); overflow-x: auto; font: .88rem/1.4 ui-monospace, monospace }
figure { margin: 0; min-width: 0 } figcaption { font-weight: bold }
@media print { h2, figure { break-inside: avoid } }
"""


def make_page(course: Course, assignment: str) -> tuple[Path, int]:
    """Compare everybody's answers of an assignment that was graded, and write the page.

    Returns:
        Where it is, and how many pairs are on it.

    Raises:
        Problem: there is no such assignment, or fewer than two students' answers.
    """
    snapshot = read_snapshot(course, assignment)
    answers = {
        student: own for student in course.submitters(assignment) if (own := _answers(course, snapshot, student))
    }
    if len(answers) < 2:
        raise Problem(f"{assignment}: two graded submissions are needed to compare. Run `grade {assignment}` first.")
    given = {
        f"{notebook.name}/{cell.name}": cell.source for notebook in snapshot.notebooks for cell in notebook.source_cells
    }
    found = alike(answers, given)
    path = course.class_folder / "report" / f"{assignment}-likeness.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_page(assignment, found, answers, gradebook.students(course)), encoding="utf-8")
    return path, len(found)


def _answers(course: Course, snapshot: Snapshot, student: str) -> dict[str, str]:
    """By notebook and cell, the code that a student answered with."""
    found = {}
    for notebook in snapshot.notebooks:
        path = course.folder("autograded", student, snapshot.assignment) / f"{notebook.name}.ipynb"
        if not path.is_file():
            continue
        solutions = {cell.name for cell in notebook.solution_cells}
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id")
            if cell["cell_type"] == "code" and name in solutions:
                found[f"{notebook.name}/{name}"] = "".join(cell["source"])
    return found


def _page(assignment: str, found: list[Alike], answers: Answers, names: Mapping[str, str]) -> str:
    told = f"{len(found)} pairs" if len(found) != 1 else "one pair"
    shown = found[:MOST]
    cut = f" The {MOST} most alike are shown." if len(found) > MOST else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(assignment)}, likeness</title><style>{LOOKS}</style></head><body><main>"
        f"<h1>Alike in {escape(assignment)}: {told}</h1>"
        f"<p>{len(answers)} students' answers were compared without their own names for things, comments and layout. What was "
        f"handed out does not count, and what many wrote hardly does: a pair stands here for what few wrote.{cut}</p>"
        "<p><strong>A likeness is a reason to look, and no proof.</strong> Who sat together, asked the same tutor or read the "
        "same page writes alike, and an exercise with one short answer leaves nothing else to write. Keep this page to "
        "yourself, and talk before you judge.</p>"
        f"{_overview(shown, names) if shown else ''}"
        f"{''.join(_pair(number, pair, answers, names) for number, pair in enumerate(shown, 1))}</main></body></html>\n"
    )


def _overview(pairs: list[Alike], names: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th scope='row'><a href='#p{number}'>{_together(pair, names)}</a></th><td>{', '.join(map(_cell, pair.cells))}</td>"
        f"<td class='number'>{pair.share:.0%}</td><td class='number'>{pair.bits:.0f}</td></tr>"
        for number, pair in enumerate(pairs, 1)
    )
    heads = "".join(f"<th scope='col'>{head}</th>" for head in ("students", "where, most first", "shared", "bits"))
    return f"<div class='scroll' tabindex='0' role='region' aria-label='All pairs'><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"


def _together(pair: Alike, names: Mapping[str, str]) -> str:
    return " and ".join(
        escape(f"{names[student]} ({student})" if names.get(student) else student) for student in pair.students
    )


def _cell(name: str) -> str:
    return escape(name.rpartition("/")[2])


def _pair(number: int, pair: Alike, answers: Answers, names: Mapping[str, str]) -> str:
    one, other = map(escape, pair.students)
    both = "".join(
        f"<h3>{_cell(cell)}</h3><div class='sides'>"
        f"<figure><figcaption>{one}</figcaption><pre tabindex='0'>{escape(left)}</pre></figure>"
        f"<figure><figcaption>{other}</figcaption><pre tabindex='0'>{escape(right)}</pre></figure></div>"
        for cell, left, right in sides(pair, answers)
    )
    return (
        f"<section id='p{number}'><h2>{number}. {_together(pair, names)}</h2><p>They share {pair.share:.0%} of what is rare in the answers of the one "
        f"who wrote less of it; surprise: {pair.bits:.0f} bits.</p>{both}</section>"
    )
