"""Files of grades as Canvas, Moodle and Brightspace write them: what is filled in, what is left, and who is named."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from autograder.grading.lateness import Late
from autograder.grading.report.lines import FOR_A_PERSON, GRADED, NOT_GRADED, NOTHING, Line
from autograder.lms import brightspace, canvas, moodle, plain
from autograder.lms.marks import Mark
from autograder.lms.sheet import Filled, Reader, Sheet, fill
from autograder.plugins.roster import Person, Roster
from autograder.problems import Problem

NAME = "03_causal_mask"
ADA = Person("ada", "Ada", "Byron", "ada@uni.example", "101")
BEN = Person("ben", "Ben", "O'Brien", "ben@uni.example", "102")
CLEO = Person("cleo", "Cleo", "Stone", "cleo@uni.example", "103")
ANNA, ANNA_TOO = Person("a1", "Anna", "Müller"), Person("a2", "Anna", "Müller")
CLASS = Roster([ADA, BEN, CLEO, ANNA, ANNA_TOO])

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Notes,00_shapes (76),03_causal_mask (77),Final Score\r\n"
    ",,,,,,,Manual Posting,\r\n"
    "    Points Possible,,,,,,7.00,17.00,(read only)\r\n"
    '"Byron, Ada",101,S1,ada,Group 1,"says ""hi""",7.00,,41.18\r\n'
    '"O\'Brien, Ben",102,S2,ben,Group 1,,,12.00,\r\n'
    '"Stone, Cleo",103,S3,cleo,Group 2,,,EX,\r\n'
    '"Student, Test",999,,test,Group 1,,,,\r\n'
)
MOODLE = (
    'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 11","Ada Byron",,ada@uni.example,"Submitted for grading",,17.00,Yes,"Friday, 2 January 2026, 9:01 AM",-,\n'
    '"Participant 12","Ben O\'Brien",,ben@uni.example,"Submitted for grading",,17.00,No,-,-,\n'
    '"Participant 13","Cleo Stone",,cleo@uni.example,"Submitted for grading",16.50,17.00,Yes,-,-,"<p>Well done</p>"\n'
)
BRIGHTSPACE = (
    "OrgDefinedId,Username,Last Name,First Name,"
    "03_causal_mask Points Grade <Numeric MaxPoints:17 Weight:10 Category:Notebooks CategoryWeight:40>,End-of-Line Indicator\r\n"
    "#101,#ada,Byron,Ada,,#\r\n"
    "#102,#ben,O'Brien,Ben,3,#\r\n"
)


def mark(
    person: Person, score: float | None, *, late: float = 0.0, outcome: str = GRADED, out_of: float = 17.0
) -> Mark:
    return Mark(person, [Line(person.id, "mask_scores", score, outcome, (), out_of)], Late(None, late, late), "")


def filled(
    reader: Reader, text: str, folder: Path, *marks: Mark, column: str | None = None, roster: Roster = CLASS
) -> tuple[Sheet, Filled]:
    path = folder / "grades.csv"
    path.write_text(text, encoding="utf-8", newline="")
    sheet = reader(path, NAME, column)
    return sheet, fill(sheet, {one.person.id: one for one in marks}, roster)


def test_in_canvas_one_column_is_filled_in_and_all_else_keeps_its_bytes(tmp_path: Path) -> None:
    sheet, found = filled(canvas.read, CANVAS, tmp_path, mark(ADA, 16.0, late=2.5), mark(BEN, 12.0), mark(CLEO, 3.0))
    assert str(sheet.table) == CANVAS.replace(",7.00,,41.18", ",7.00,13.50,41.18")
    assert (found.entered, found.same, found.changed) == (["ada"], 1, [])
    assert found.kept == [("cleo", "is excused")]
    assert found.strangers == ["Student, Test"]
    assert not found.complete


def test_a_grade_that_changes_is_said(tmp_path: Path) -> None:
    sheet, found = filled(canvas.read, CANVAS, tmp_path, mark(BEN, 11.0))
    assert found.changed == [("ben", "12.00", "11.00")]
    assert found.complete
    assert str(sheet.table) == CANVAS.replace("12.00", "11.00")


def test_canvas_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    text = (
        "Student;ID;SIS Login ID;Section;03_causal_mask (77)\n    Points Possible;;;;17,00\n"
        "Byron, Ada;101;ada;Group 1;\nO'Brien, Ben;102;ben;Group 1;12,00\n"
    )
    sheet, found = filled(canvas.read, text, tmp_path, mark(ADA, 12.75), mark(BEN, 12.0))
    assert str(sheet.table) == text.replace("ada;Group 1;", "ada;Group 1;12,75")
    assert found.same == 1


def test_canvas_with_first_and_last_names_in_columns_of_their_own(tmp_path: Path) -> None:
    text = "LastName,FirstName,ID,SIS Login ID,Section,03_causal_mask (77)\nByron,Ada,5,x,1,\n"
    ada = Person("ada", "Ada", "Byron")
    sheet, found = filled(canvas.read, text, tmp_path, mark(ada, 12.0), roster=Roster([ada, BEN]))
    assert (found.entered, found.by_name) == (["ada"], ["ada"])
    assert str(sheet.table).endswith("Byron,Ada,5,x,1,12.00\n")


@pytest.mark.parametrize(
    ("header", "column", "said"),
    [
        ("Causal masks (77)", None, r'there are: "Causal masks \(77\)"'),
        ("03_causal_mask (77),03_causal_mask (78)", None, r'"03_causal_mask \(78\)"'),
        ("03_causal_mask (77)", "Final Score", "No column of grades"),
    ],
)
def test_a_column_is_never_guessed(tmp_path: Path, header: str, column: str | None, said: str) -> None:
    text = f"Student,ID,Section,{header}\n"
    with pytest.raises(Problem, match=said):
        filled(canvas.read, text, tmp_path, mark(ADA, 1.0), column=column)


@pytest.mark.parametrize("column", ["Causal masks", "Causal masks (77)"])
def test_a_column_of_another_name_can_be_named(tmp_path: Path, column: str) -> None:
    text = "Student,ID,Section,Causal masks (77)\nx,101,1,\n"
    _, found = filled(canvas.read, text, tmp_path, mark(ADA, 1.0), column=column)
    assert found.entered == ["ada"]


def test_a_column_that_canvas_does_not_read_is_refused(tmp_path: Path) -> None:
    text = "Student,ID,Section,03_causal_mask (77)\n    Points Possible,,,(read only)\n"
    with pytest.raises(Problem, match="read only"):
        filled(canvas.read, text, tmp_path, mark(ADA, 1.0))


@pytest.mark.parametrize(
    ("reader", "text"), [(canvas.read, CANVAS), (moodle.read, MOODLE), (brightspace.read, BRIGHTSPACE)]
)
def test_other_points_than_the_systems_are_refused(tmp_path: Path, reader: Reader, text: str) -> None:
    with pytest.raises(Problem, match="worth 18 points, and 17"):
        filled(reader, text, tmp_path, mark(ADA, 1.0, out_of=18.0))


def test_in_moodle_what_may_not_change_stays_and_what_somebody_wrote_too(tmp_path: Path) -> None:
    ada = Mark(ADA, [Line("ada", "x", 2.0, GRADED, (), 17.0)], Late(), "x, 2 of 17: rows < columns\nlate: 1 h")
    cleo = Mark(CLEO, [Line("cleo", "x", 16.5, GRADED, (), 17.0)], Late(), "x: a mistake")
    sheet, found = filled(moodle.read, MOODLE, tmp_path, ada, mark(BEN, 5.0), cleo)
    expected = MOODLE.replace('grading",,17.00,Yes', 'grading",2.00,17.00,Yes').replace(
        '9:01 AM",-,\n', '9:01 AM",-,"x, 2 of 17: rows &lt; columns<br>late: 1 h"\n'
    )
    assert str(sheet.table) == expected
    assert found.kept == [("ben", "the worksheet says that the grade cannot be changed")]
    assert (found.remarks, found.same) == (["cleo"], 1)


def test_moodle_takes_no_grade_above_its_maximum_so_none_is_entered(tmp_path: Path) -> None:
    sheet, found = filled(moodle.read, MOODLE, tmp_path, mark(ADA, 17.5))
    assert found.kept == [("ada", "Moodle takes at most 17, and the mark is 17.5")]
    assert str(sheet.table) == MOODLE


def test_moodle_with_decimal_commas(tmp_path: Path) -> None:
    text = MOODLE.replace("17.00", '"17,00"').replace("16.50", '"16,50"')
    sheet, found = filled(moodle.read, text, tmp_path, mark(ADA, 2.5), mark(CLEO, 16.5))
    assert 'grading","2,50","17,00",Yes' in str(sheet.table)
    assert found.same == 1


def test_moodle_in_another_language_is_no_worksheet_that_is_read(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="in English"):
        filled(moodle.read, MOODLE.replace("Grade", "Bewertung"), tmp_path, mark(ADA, 1.0))


def test_brightspace_has_a_sharp_before_ids_and_at_the_end(tmp_path: Path) -> None:
    sheet, found = filled(brightspace.read, BRIGHTSPACE, tmp_path, mark(ADA, 16.25), mark(BEN, 4.0))
    assert str(sheet.table) == BRIGHTSPACE.replace("Ada,,#", "Ada,16.25,#").replace("Ben,3,#", "Ben,4.00,#")
    assert found.changed == [("ben", "3", "4.00")]


def test_who_is_on_one_side_alone_is_named(tmp_path: Path) -> None:
    _, found = filled(brightspace.read, BRIGHTSPACE, tmp_path, mark(CLEO, 4.0), roster=Roster([ADA, CLEO]))
    assert (found.absent, found.strangers) == (["cleo"], ["Ben O'Brien"])
    assert not found.complete


@pytest.mark.parametrize(
    ("row", "why", "absent"),
    [
        ('"Müller, Anna",7,x', "may be a1 (Anna Müller) or a2 (Anna Müller)", {"ada"}),  # two of that name
        (
            '"Byron, Ada",101,ben',
            "may be ada (Ada Byron) or ben (Ben O'Brien)",
            {"a1"},
        ),  # an id says one thing, the login another
        (
            '"Byron, Ada",555,x',
            "is called like ada (Ada Byron), who has 101 as lms_user_id, and not 555",
            {"ada", "a1"},
        ),
    ],
)
def test_whose_row_it_is_is_never_guessed(tmp_path: Path, row: str, why: str, absent: set[str]) -> None:
    text = f"Student,ID,SIS Login ID,Section,03_causal_mask (77)\n{row},1,\n"
    sheet, found = filled(canvas.read, text, tmp_path, mark(ADA, 4.0), mark(ANNA, 3.0))
    assert [said for _, said in found.open] == [why]
    assert str(sheet.table) == text
    assert set(found.absent) == absent, "who may have the row is not said to have none"


def test_two_rows_of_one_student_are_both_left_and_named_once(tmp_path: Path) -> None:
    text = "Student,ID,Section,03_causal_mask (77)\nx,101,1,\ny,ada,1,\n"
    sheet, found = filled(canvas.read, text, tmp_path, mark(ADA, 4.0))
    assert [row for row, _ in found.open] == ["x", "y"]
    assert found.absent == []
    assert not found.complete
    assert str(sheet.table) == text


def test_rows_of_one_name_are_told_apart(tmp_path: Path) -> None:
    text = 'Student,ID,Section,03_causal_mask (77)\n"Stone, Cleo",7,1,\n"Stone, Cleo",8,1,\n"Byron, Ada",9,1,\n'
    _, found = filled(canvas.read, text, tmp_path, mark(ADA, 4.0), roster=Roster([ADA]))
    assert found.strangers == ["Stone, Cleo (7)", "Stone, Cleo (8)"]


@pytest.mark.parametrize(
    ("outcome", "score", "why", "complete"),
    [
        (NOTHING, None, NOTHING, True),
        (NOT_GRADED, None, NOT_GRADED, False),
        (FOR_A_PERSON, None, "waits for a person: mask_scores", False),
    ],
)
def test_who_has_no_mark_gets_none(tmp_path: Path, outcome: str, score: float | None, why: str, complete: bool) -> None:
    sheet, found = filled(moodle.read, MOODLE, tmp_path, mark(ADA, score, outcome=outcome))
    assert (found.waiting, found.complete) == ([("ada", why)], complete)
    assert str(sheet.table) == MOODLE


def test_no_cell_of_the_plain_file_is_a_formula() -> None:
    person = Person("=1+1", '=HYPERLINK("x")', "+cmd|' /C calc'!A0", "@x", "-1")
    (row,) = csv.DictReader(io.StringIO(plain.text([Mark(person, [], Late(), "\t=1")])))
    texts = ("student_id", "last_name", "first_name", "email", "lms_user_id", "comment")
    assert all(row[name].startswith("'") for name in texts)


def test_a_grade_that_is_no_number_is_left(tmp_path: Path) -> None:
    text = "Student,ID,Section,03_causal_mask (77)\nx,101,1,complete\n"
    _, found = filled(canvas.read, text, tmp_path, mark(ADA, 4.0))
    assert found.kept == [("ada", "'complete' stands there")]
