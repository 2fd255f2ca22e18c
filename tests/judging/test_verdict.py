"""A verdict as a student reads it, and as a program does."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import pytest

from autograder.judging import Finding, Outcome, Verdict
from autograder.judging.showing import html

PARTLY = Verdict(
    "mix_rows",
    "partly",
    (Finding("every size", 1.0, 1.0), Finding("keeps <float32>", 0.5, 0.0, "The result should be float32.")),
    ("widened",),
    ("A known mistake gives exactly these answers: you computed in <float64>.",),
    "A note & nothing more.",
)


def test_a_verdict_gives_every_probe_its_reason_and_then_the_mistake_and_the_note() -> None:
    assert repr(PARTLY) == (
        "mix_rows: partly right, 1 of 1.5 points\n"
        "  ok  1/1  every size\n"
        "  NO  0/0.5  keeps <float32>\n"
        "           The result should be float32.\n"
        "  A known mistake gives exactly these answers: you computed in <float64>.\n"
        "  A note & nothing more."
    )


CELL = "<td style='text-align:left; vertical-align:top; padding:0 1em 0.3em 0'>"


def test_the_page_says_the_same_with_markup_escaped() -> None:
    assert html(PARTLY) == (
        "<div><p><strong>mix_rows</strong>: partly right, <strong>1 of 1.5</strong> points</p>"
        f"<table><tr>{CELL}ok</td>{CELL}1 of 1</td>{CELL}every size</td></tr>"
        f"<tr>{CELL}no</td>{CELL}0 of 0.5</td>{CELL}keeps &lt;float32&gt;"
        "<br><em>The result should be float32.</em></td></tr></table>"
        "<p>A known mistake gives exactly these answers: you computed in &lt;float64&gt;.</p>"
        "<p>A note &amp; nothing more.</p></div>"
    )


def test_code_in_a_reason_or_a_remark_is_shown_as_code() -> None:
    finding = Finding("all sizes", 1.0, 0.0, "Your code raises ValueError at line 2 of f, `return A @ <B>`.")
    shown = html(Verdict("f", "wrong", (finding,), note="a bare `sync` does nothing; ` is alone"))
    assert "at line 2 of f, <code>return A @ &lt;B&gt;</code>.</em>" in shown
    assert "<p>a bare <code>sync</code> does nothing; ` is alone</p>" in shown


def test_a_program_reads_the_score_the_points_and_all_there_is() -> None:
    tree = json.loads(json.dumps(PARTLY.to_json(), allow_nan=False))
    assert (tree["score"], tree["points"], tree["outcome"], tree["mistakes"]) == (1.0, 1.5, "partly", ["widened"])
    assert [finding["reason"] for finding in tree["findings"]] == ["", "The result should be float32."]


SENTENCES = {
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


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_has_its_words(outcome: Outcome) -> None:
    verdict = Verdict("mix_rows", outcome, (Finding("every size", 2.0, 0.0),))
    assert repr(verdict).split("\n")[0] == f"mix_rows: {SENTENCES[outcome]}, 0 of 2 points"
    assert f"</strong>: {SENTENCES[outcome]}, <strong>0 of 2</strong>" in html(verdict)


@pytest.mark.parametrize(
    "verdict", [PARTLY, Verdict("mix_rows", "crashed"), Verdict("", "passed", (Finding("", 1.0, 1.0),))]
)
def test_a_verdict_is_read_back_as_it_was_written(verdict: Verdict) -> None:
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict


def test_a_whole_number_of_points_may_have_lost_its_point_on_the_way() -> None:
    tree = json.loads(json.dumps(PARTLY.to_json()).replace("1.0", "1"))
    assert Verdict.from_json(tree) == PARTLY
    assert type(Verdict.from_json(tree).findings[0].points) is float


FINDING = PARTLY.to_json()["findings"][0]

OTHER_FORMS: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "a text": "passed",
    "no entries": {},
    "an entry missing": {key: value for key, value in PARTLY.to_json().items() if key != "note"},
    "an entry too many": {**PARTLY.to_json(), "bonus": 1.0},
    "an outcome that is none": {**PARTLY.to_json(), "outcome": "excellent"},
    "an outcome in a list": {**PARTLY.to_json(), "outcome": ["passed"]},
    "a name that is no text": {**PARTLY.to_json(), "exercise": 1},
    "a score of its own": {**PARTLY.to_json(), "score": 1.5},
    "a score in words": {**PARTLY.to_json(), "score": "1.0"},
    "a score of NaN": {**PARTLY.to_json(), "score": math.nan},
    "points of their own": {**PARTLY.to_json(), "points": 1.0},
    "a mistake that is no text": {**PARTLY.to_json(), "mistakes": [None]},
    "lessons in one text": {**PARTLY.to_json(), "lessons": "abc"},
    "findings in a dictionary": {**PARTLY.to_json(), "findings": {}},
    "a finding that is none": {**PARTLY.to_json(), "findings": [None]},
    "a finding with an entry too many": {**PARTLY.to_json(), "findings": [{**FINDING, "extra": 0}]},
    "more earned than there is": {**PARTLY.to_json(), "findings": [{**FINDING, "earned": 2.0}], "score": 2.0, "points": 1.0},
    "less than nothing": {**PARTLY.to_json(), "findings": [{**FINDING, "earned": -1.0}], "score": -1.0, "points": 1.0},
    "infinite points": {**PARTLY.to_json(), "findings": [{**FINDING, "points": math.inf}], "score": 1.0, "points": math.inf},
    "points beyond any float": {**PARTLY.to_json(), "points": 10**400},
    "true for a point": {**PARTLY.to_json(), "findings": [{**FINDING, "earned": True}], "points": 1.0},
}  # fmt: skip


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_what_is_of_another_form_is_no_verdict(form: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Verdict.from_json(OTHER_FORMS[form])
