"""A verdict as a student reads it, and as a program does."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from autograder.judging import Finding, Outcome, Verdict

PARTLY = Verdict(
    "mix_rows",
    "partly",
    (Finding("every size", 1.0, 1.0), Finding("keeps <float32>", 0.5, 0.0, "The result should be float32.")),
    ("widened",),
    ("A known mistake does exactly this: you computed in <float64>.",),
    "A note & nothing more.",
)


def test_a_verdict_gives_every_probe_its_reason_and_then_the_mistake_and_the_note() -> None:
    assert repr(PARTLY) == (
        "mix_rows: partly right, 1 of 1.5 points\n"
        "  ok  1/1  every size\n"
        "  NO  0/0.5  keeps <float32>\n"
        "           The result should be float32.\n"
        "  A known mistake does exactly this: you computed in <float64>.\n"
        "  A note & nothing more."
    )


CELL = "<td style='text-align:left; vertical-align:top; padding:0 1em 0.3em 0'>"


def test_the_page_says_the_same_with_markup_escaped() -> None:
    assert PARTLY._repr_html_() == (
        "<div><p><strong>mix_rows</strong>: partly right, <strong>1 of 1.5</strong> points</p>"
        f"<table><tr>{CELL}ok</td>{CELL}1 of 1</td>{CELL}every size</td></tr>"
        f"<tr>{CELL}no</td>{CELL}0 of 0.5</td>{CELL}keeps &lt;float32&gt;"
        "<br><em>The result should be float32.</em></td></tr></table>"
        "<p>A known mistake does exactly this: you computed in &lt;float64&gt;.</p>"
        "<p>A note &amp; nothing more.</p></div>"
    )


def test_a_program_reads_the_score_the_points_and_all_there_is() -> None:
    tree = json.loads(json.dumps(PARTLY.to_json(), allow_nan=False))
    assert (tree["score"], tree["points"], tree["outcome"], tree["mistakes"]) == (1.0, 1.5, "partly", ["widened"])
    assert [finding["reason"] for finding in tree["findings"]] == ["", "The result should be float32."]


SENTENCES = {
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


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_has_its_words(outcome: Outcome) -> None:
    verdict = Verdict("mix_rows", outcome, (Finding("every size", 2.0, 0.0),))
    assert repr(verdict).split("\n")[0] == f"mix_rows: {SENTENCES[outcome]}, 0 of 2 points"
    assert f"</strong>: {SENTENCES[outcome]}, <strong>0 of 2</strong>" in verdict._repr_html_()
