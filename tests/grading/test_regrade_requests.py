"""Regrade requests: a text file that people write, what is listed of it, and what a student reads on the next page."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from autograder.__main__ import app
from autograder.__main__ import run as run_words
from autograder.folder import Course
from autograder.grading.command import run
from autograder.grading.requests import decide, inbox, listed
from autograder.grading.run import grade
from autograder.plugins.regrade_requests import decoded, place, read, with_decision
from autograder.problems import Problem
from course import feedback
from tests.support.quick_class import NAME, QuickClass
from tests.support.stock import stock_course
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, page, words

STUDENTS = {"ada", "ben", "Stone, Cleo"}
CELLS = {"03_masks": {"keep": ("03_masks", "keep")}, "hw1": {"first/keep": ("first", "keep")}}


def parsed(text: str) -> list[tuple[object, ...]]:
    found = read(text, STUDENTS, CELLS)
    return [(one.student, one.assignment, one.cell, one.says, one.decision, one.reason) for one in found.requests]


# ----------------------------------------------------------------------------------------------------------- the file


def test_a_request_is_who_what_and_why_and_a_decision_stands_below_it() -> None:
    text = (
        "# those of November\n"
        "ada, 03_masks, keep: It is right: for one row,\n"
        "and for two, and three: too.\n"
        "    No: It is turned.\n"
        "    Look at the second case.\n"
        "\n"
        "Stone, Cleo, hw1, first/keep: Please look again.\n"
        "ben, 03, keep: Mine too.\n"
        "\n"
        "    He came to my office.\n"
    )
    assert parsed(text) == [
        (
            "ada",
            "03_masks",
            "keep",
            "It is right: for one row, and for two, and three: too.",
            "no",
            "It is turned. Look at the second case.",
        ),
        ("Stone, Cleo", "hw1", "keep", "Please look again.", "", ""),
        ("ben", "03_masks", "keep", "Mine too. He came to my office.", "", ""),
    ]
    assert not read(text, STUDENTS, CELLS).unread


def test_a_later_decision_counts_and_one_without_a_reason_does_not() -> None:
    text = "ada, 03, keep: why?\nno: It is turned.\nyes: It is not.\n\nben, 03, keep: why?\nyes\n"
    ada, ben = read(text, STUDENTS, CELLS).requests
    assert (ada.decision, ada.reason, ada.is_decided) == ("yes", "It is not.", True)
    assert (ben.decision, ben.reason, ben.is_decided) == ("yes", "", False)


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("adda, 03, keep: x", "student"),
        ("ada, 04, keep: x", "assignment"),
        ("ada, 03, sweep: x", "exercise"),
        ("ada, hw1, keep: x", "exercise"),
    ],
)
def test_what_the_gradebook_does_not_have_is_known_by_its_line(line: str, unknown: str) -> None:
    (one,) = read(f"\n\n{line}\n", STUDENTS, CELLS).requests
    assert (one.line, one.unknown) == (3, unknown)


def test_what_has_another_form_is_named_once_with_its_first_line() -> None:
    text = "Dear Professor,\nI think, and so on\n    no: not yours to decide\n\n    Yours, Ada\n\nada, 03, keep: x\n"
    found = read(text, STUDENTS, CELLS)
    assert found.unread == {1: "Dear Professor,", 5: "Yours, Ada"}
    assert [(one.says, one.decision) for one in found.requests] == [("x", "")]


@pytest.mark.parametrize(
    "head",
    [
        "ada, 03_masks, keep - allowed in later notebooks",
        "Ada, 03, keep, it is right",
        "  > ada, 03_masks: mine",
        "ada; 03; keep; mine",
        "ada: please look at keep",
        "ada – keep is right",
        "ada 03_masks keep: mine",
        "Stone, Cleo, hw1, first/keep",
        "Cleo Stone, hw1, first/keep",
        "2) somebody, 03, keep",
        "adda, 04_masks, keep: mine",
        "ada, 3, keep: mine",
    ],
)
def test_what_begins_as_a_request_does_never_becomes_the_words_of_another(head: str) -> None:
    students = {*STUDENTS, "adda.lovelace", "adah"}
    found = read(f"ben, 03, keep: It is right,\nfor one row too.\n{head}\n    no: It is turned.\n", students, CELLS)
    first = found.requests[0]
    assert (first.says, first.decision) == ("It is right, for one row too.", "")
    assert [*found.unread] == [3] or (found.requests[1].line, bool(found.requests[1].unknown)) == (3, True)


def test_words_go_on_where_they_speak_of_others() -> None:
    text = "ben, 03, keep: I tried it,\nrows, columns, both: all fail\nas ada said. In 03, keep is given,\nadamantly so, and ada agrees\n"
    assert [one[3] for one in parsed(text)] == [" ".join(text.split()).partition(": ")[2]]
    assert not read(text, STUDENTS, CELLS).unread


@given(
    st.lists(
        st.sampled_from(["ada, 03, keep: x", "ben, hw1, first/keep: y", "no: z", "  more", "", "?", "# a", "\t", "é"]),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_a_decision_takes_nothing_away_and_decides_that_request_alone(
    lines: list[str], ending: str, is_whole: bool
) -> None:
    text = ending.join(lines) + (ending if is_whole and lines else "")
    for one in read(text, STUDENTS, CELLS).requests:
        after = with_decision(text, one, "yes", "It is\n right.")
        written = after.split("\n")
        assert written.pop(one.end).strip() == "yes: It is right."
        assert "\n".join(written).rstrip("\r\n") == text.rstrip("\r\n")
        old, new = (read(each, STUDENTS, CELLS) for each in (text, after))
        decided = [(b.says, b.decision, b.reason) for b in new.requests if b.line == one.line]
        others = [[(r.says, r.decision, r.reason) for r in each.requests if r.line != one.line] for each in (old, new)]
        assert decided == [(one.says, "yes", "It is right.")]
        assert (others[0], [*old.unread.values()]) == (others[1], [*new.unread.values()])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_file_is_read_in_whatever_an_editor_saves(encoding: str) -> None:
    text, found = decoded("ada, 03, keep: für".encode(encoding))
    assert (text, found) == ("ada, 03, keep: für", encoding)


# ---------------------------------------------------------------------------------------------------- what is made of it


@pytest.fixture(scope="module")
def course(new_course: Callable[[], Course]) -> Course:
    course = new_course()
    turned = "def pairwise_dots(A, B):\n    return B @ A.T"
    hand_in(course, "ada", filled(course, {**RIGHT, "pairwise_dots": turned}))
    grade(course, NOTEBOOK, jobs=1)
    return course


def write(course: Course, text: str) -> Path:
    path = place(course.directory)
    path.write_bytes(text.encode())
    return path


def test_a_page_gives_the_line_to_send_and_that_line_is_a_request(course: Course) -> None:
    line = f"ada, {NOTEBOOK}, pairwise_dots: "
    assert line in page(course, "ada")
    write(course, f"{line}My table is right.\n")
    (one,) = inbox(course).of(NOTEBOOK)
    assert (one.student, one.cell, one.says) == ("ada", "pairwise_dots", "My table is right.")


def test_each_is_listed_with_what_it_says_what_it_has_and_what_the_judge_says(course: Course) -> None:
    write(course, f"ada, 00, pairwise_dots: My table\nis right.\n\nadda, {NOTEBOOK}, mix_rows: x\n\nHello\n")
    _, one, *rest = listed(course)
    assert one.startswith(f"line 1: ada, {NOTEBOOK}, pairwise_dots, has 0 of 2\n    says: My table is right.\n")
    assert "known mistakes that answer alike: dots_turned in" in one
    assert [line.partition("requests.txt, ")[2].partition(" (")[0] for line in sorted(rest)] == [
        "line 4: there is no student 'adda'. Did you mean ada?",
        "line 6 is no request",
    ]


def test_grading_counts_those_that_wait_and_names_what_is_amiss(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course, "ada, 00, pairwise_dots: My table is right.\n\nada, 00, mix_row: x\n")
    assert run(course.root, NOTEBOOK, jobs=1) == 0
    said = capsys.readouterr().out
    assert "1 regrade request waits for a decision: `python -m autograder requests`" in said
    assert "line 3: there is no exercise 'mix_row' of 00_shapes. Did you mean mix_rows?" in said
    assert "Your regrade request: My table is right. Not decided yet." in words(page(course, "ada"))


def test_a_decision_stands_on_the_next_page_and_in_the_students_notebook(course: Course) -> None:
    path = write(course, "ada, 00, pairwise_dots: My <b>table</b> is right.\r\n\r\nwhatever\r\n")
    done = CliRunner().invoke(
        app, ["decide", "ada", "pairwise_dots", "no", "Its rows are Y's.", "--course", str(course.root)]
    )
    assert done.exit_code == 0, done.output
    lines = path.read_bytes().split(b"\r\n")
    assert lines == [
        b"ada, 00, pairwise_dots: My <b>table</b> is right.",
        b"    no: Its rows are Y's.",
        b"",
        b"whatever",
        b"",
    ]
    graded = grade(course, NOTEBOOK, jobs=1)
    assert (graded.requests, graded.marked) == (0, {})
    assert "Your regrade request: My <b>table</b> is right. No: Its rows are Y's." in words(page(course, "ada"))
    shown = feedback(course.folder("feedback", "ada", NOTEBOOK))
    assert "Your regrade request: My <b>table</b> is right. No: Its rows are Y's." in repr(shown)
    assert "My &lt;b&gt;table&lt;/b&gt; is right." in shown._repr_html_()
    assert [*listed(course)][1].endswith("has 0 of 2; no: Its rows are Y's.")


def test_a_yes_without_other_points_is_told(course: Course) -> None:
    write(course, "ada, 00, pairwise_dots: x\nyes: It is.\n")
    assert [*listed(course)][1].endswith("(nobody has given other points yet: give them in formgrader)")


def test_nbgraders_own_command_puts_decisions_on_pages_too(course: Course) -> None:
    write(course, "ada, 00, pairwise_dots: x\nno: Not so.\n")
    course.generate_feedback(NOTEBOOK, "ada")
    assert "Your regrade request: x No: Not so." in words(page(course, "ada"))


def test_a_file_that_cannot_be_read_stops_no_grading(course: Course) -> None:
    path = place(course.directory)
    path.unlink(missing_ok=True)
    path.mkdir()
    try:
        graded = grade(course, NOTEBOOK, jobs=1)
        assert graded.failed == {}
        assert [line for line in graded.unread if "cannot be read" in line]
        with pytest.raises(Problem, match="cannot be read"):
            [*listed(course)]
    finally:
        path.rmdir()


def test_what_nobody_asked_for_is_not_decided(course: Course) -> None:
    write(course, "ada, 00, pairwise_dots: x\n")
    for student, exercise, reason, said in (
        ("ada", "mix_rows", "so", f"no regrade request of ada for mix_rows .* ada {NOTEBOOK}/pairwise_dots .line 1."),
        ("ben", "pairwise_dots", "so", "no regrade request of ben"),
        ("ada", "pairwise_dots", " ", "Say why"),
    ):
        with pytest.raises(Problem, match=said):
            decide(course, student, exercise, "no", reason)


def test_pages_of_other_courses_begin_with_it(quick_class: QuickClass) -> None:
    course = quick_class(ada="1", ben="2")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.GenerateFeedback.exporter_class = "autograder.plugins.pages.PageExporter"\n')
        config.write('c.GenerateFeedback.preprocessors = ["autograder.plugins.marked.Marked"]\n')
    course = Course(course.root)
    grade(course, NAME, jobs=1)
    write(course, f"ada, {NAME}, test: Why <i>one</i>?\nno: It is half.\n")
    grade(course, NAME, jobs=1)
    pages = {who: course.folder("feedback", who, NAME) / f"{NAME}.html" for who in ("ada", "ben")}
    assert "Your regrade request, test: Why <i>one</i>? No: It is half." in words(pages["ada"].read_text())
    assert "regrade" not in pages["ben"].read_text()
    (_, line) = listed(course)
    assert line == f"line 1: ada, {NAME}, test, has 1 of 2; no: It is half."


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_name_that_the_output_cannot_hold_is_escaped(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Łódź").mkdir()
    course = stock_course(tmp_path / "Łódź")
    output = TextIOWrapper(BytesIO(), encoding, write_through=True)
    monkeypatch.setattr("sys.stdout", output)
    with pytest.raises(SystemExit) as ended:
        run_words(["requests", "--course", str(course.root)])
    assert not ended.value.code
    written = output.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert "There are no regrade requests" in written
    assert "\\u0141" in written
