"""A message in its three forms: the same parts, in the same order."""

from __future__ import annotations

import json
import re

import numpy as np

from course.trial.message import Comparison, Message

FULL = Message(
    "not yet",
    sentences=("f: not yet.", "It calls `g`: begin there."),
    caution="This is of the <older> version.",
    lessons=("you left `A` as it was.",),
    reasons=("With A =\n    `1`", "Entry [0] should be 1; yours is 2."),
    comparison=Comparison(np.array([1.0]), np.array([2.0])),
    notes=("Python warned: `x`",),
)


def test_a_reader_of_text_meets_all_parts_in_their_order() -> None:
    assert FULL.text() == (
        "This is of the <older> version.\nf: not yet.\nIt calls `g`: begin there.\nyou left `A` as it was.\n"
        "With A =\n    `1`\nEntry [0] should be 1; yours is 2.\n    expected    yours\n    [1.]        [2.]\nPython warned: `x`"
    )


def test_a_notebook_shows_them_with_what_may_be_the_mistake_in_bold_and_columns_kept() -> None:
    before, _, rest = FULL.html().partition("<div style='overflow-x:auto'>")
    assert before == (
        "<p><b>This is of the &lt;older&gt; version.</b></p><div><p><b aria-hidden='true'>✗</b> f: not yet.</p>"
        "<p>It calls <code>g</code>: begin there.</p><p><b>you left <code>A</code> as it was.</b></p>"
        "<pre style='margin-bottom:1em; white-space:pre; overflow-x:auto'>With A =\n    `1`</pre><p>Entry [0] should be 1; yours is 2.</p>"
    )
    assert rest.endswith("</table></div><p>Python warned: <code>x</code></p></div>")


def test_where_there_is_nothing_to_show_for_it_each_sentence_is_a_paragraph() -> None:
    short = Message("correct", ("f: correct.",), notes=("Python warned: x",))
    assert short.text() == "f: correct.\nPython warned: x"
    assert short.html() == "<p><b aria-hidden='true'>✓</b> f: correct.</p><p>Python warned: x</p>"


def test_what_is_right_and_what_is_not_yet_have_marks_of_another_shape() -> None:
    states = ("correct", "not yet", "not written", "unknown")
    marks = {re.findall("aria-hidden='true'>(.)</b>", Message(state, ("f.",)).html())[0] for state in states}
    assert len(marks) == len(states)


def test_a_program_reads_every_part_under_its_name() -> None:
    tree = json.loads(json.dumps(FULL.to_json()))
    assert tree.pop("comparison") == {"expected": "[1.]", "yours": "[2.]"}
    assert tree == {
        name: list(part) if isinstance(part, tuple) else part for name, part in vars(FULL).items() if name in tree
    }
    assert set(tree) | {"comparison"} == set(vars(FULL))
