"""Who is in the class, from files as spreadsheets write them and learning management systems export them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import run as asked
from autograder.folder import Course
from autograder.grading.store import only_run
from autograder.lms.enrolment import read
from autograder.lms.marks import read_roster
from autograder.plugins.roster import Person, Roster
from autograder.problems import FAILED, OTHER_RUN, UNCONFIRMED, USAGE, Problem
from tests.support.quick_class import QuickClass

ADA = Person("ada", "Ada", "Byron", "ada@uni.example", "101")
ZOE = Person("zoe", "Zoë", "Müller", "zoe@uni.example", "")
PLAIN = (
    "id,first_name,last_name,email,lms_user_id\nada,Ada,Byron,ada@uni.example,101\nzoe,Zoë,Müller,zoe@uni.example,\n"
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,quick (77)\n"
    ",,,,,Manual Posting\n    Points Possible,,,,,2.00\n"
    '"Byron, Ada",101,S1,ada,1,\n"Müller, Zoë",102,S2,zoe,1,2.00\n"Student, Test",999,,5d1e,1,\n'
)
WORKSHEET = (
    "Identifier,Full name,Username,Email address,Grade,Last modified (grade)\n"
    "Participant 11,Ada Byron,ada,ada@uni.example,,-\nParticipant 12,Zoë Müller,zoe,zoe@uni.example,,-\n"
)
PARTICIPANTS = (
    '"First name","Last name","Email address"\n"Ada","Byron","ada@uni.example"\n"Zoë","Müller","zoe@uni.example"\n'
)
BRIGHTSPACE = (
    "OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n"
    "#101,#ada,Byron,Ada,ada@uni.example,#\n#102,#zoe,Müller,Zoë,zoe@uni.example,#\n"
)


def listed(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "people.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("full", "first", "last"),
    [
        ("Smith, Jr., Robert", "Robert", "Smith Jr."),  # as in one gradebook of Canvas
        ("Smith, Robert, Jr.", "Robert", "Smith Jr."),
        ("Smith, Robert Jr.", "Robert", "Smith Jr."),
        ("Robert Smith, Jr.", "Robert", "Smith Jr."),
        ("Martin Luther King III", "Martin Luther", "King III"),
        ("Ho, Chi, Min", "Chi Min", "Ho"),
        ("Tran, V", "V", "Tran"),
        ("Anna V", "Anna", "V"),
        ("de la Cruz, María José", "María José", "de la Cruz"),
        ("Cher", "", "Cher"),
    ],
)
def test_a_suffix_belongs_to_the_last_name_wherever_it_stands(tmp_path: Path, full: str, first: str, last: str) -> None:
    (person,) = read(listed(tmp_path, f'id,name\nx,"{full}"\n'), Roster([])).new
    assert (person.first_name, person.last_name) == (first, last)
    roster = Roster([person, ADA])
    assert roster.named(full) == roster.named(f"{last}, {first}") == roster.named(f"{first} {last}") == {"x"}


WRITTEN: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "with a BOM": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "Latin-1": lambda text: text.encode("latin-1"),
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "tabs in UTF-16": lambda text: text.replace(",", "\t").encode("utf-16"),
    "Windows": lambda text: text.replace(",", ";").replace("\n", "\r\n").encode("cp1252"),
    "quoted": lambda text: "\n".join(
        ",".join(f'"{word}"' for word in row.split(",")) for row in text.split("\n")
    ).encode(),
    "for Excel": lambda text: ("sep=;\n" + text.replace(",", ";")).encode(),
    "capitals": lambda text: (
        text.replace("first_name", "First Name").replace("email", "E-Mail").replace("id,", "ID,").encode()
    ),
    "empty lines": lambda text: text.replace("\n", "\n,,,,\n\n").encode(),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_a_roster_is_read_however_a_spreadsheet_writes_it(tmp_path: Path, how: str) -> None:
    found = read(listed(tmp_path, WRITTEN[how](PLAIN)), Roster([]))
    assert (found.new, found.unused) == ([ADA, ZOE], [])


@pytest.mark.parametrize(
    ("text", "expected", "ids"),
    [
        (CANVAS, [Person("ada", "Ada", "Byron", "", "101"), Person("zoe", "Zoë", "Müller", "", "102")], "SIS Login ID"),
        (CANVAS.replace("ada,1", ",1").replace("zoe,1", ",1").replace("5d1e", ""), ["S1", "S2"], "SIS User ID"),
        (WORKSHEET, [Person("ada", "Ada", "Byron", "ada@uni.example"), ZOE], "Username"),
        (PARTICIPANTS, ["ada@uni.example", "zoe@uni.example"], "Email address"),
        (BRIGHTSPACE, [ADA, Person("zoe", "Zoë", "Müller", "zoe@uni.example", "102")], "Username"),
        ("Student,ID,Section\nAda Byron,101,1\n", [Person("101", "Ada", "Byron", "", "101")], "ID"),
    ],
)
def test_what_an_lms_exports_is_read_too(tmp_path: Path, text: str, expected: list[Person | str], ids: str) -> None:
    found = read(listed(tmp_path, text), Roster([]))
    assert [
        one.id if isinstance(wanted, str) else one for one, wanted in zip(found.new, expected, strict=True)
    ] == expected
    assert found.ids == ids
    assert [why for _, why in found.unused] == (["Canvas's test student"] if "Test" in text else [])


def test_what_the_file_does_not_have_stays_and_nobody_is_removed(tmp_path: Path) -> None:
    others = Person("ben", "Ben", "O'Brien")
    found = read(listed(tmp_path, "id,lms_user_id,email\nADA,105,\n"), Roster([ADA, others]))
    assert found.changed == [(ADA, Person("ada", "Ada", "Byron", "ada@uni.example", "105"))]
    assert (found.new, found.others) == ([], ["ben"])


def test_a_column_that_means_nothing_here_is_named(tmp_path: Path) -> None:
    found = read(listed(tmp_path, "id;Vorname;Last name\nada;Ada;Byron\n"), Roster([]))
    assert (found.new, found.passed_over) == ([Person("ada", "", "Byron")], ["Vorname"])


def test_who_is_there_is_found_by_what_the_lms_knows_and_else_by_name(tmp_path: Path) -> None:
    by_number, by_name = Person("u1", "A.", "B.", "", "101"), Person("u2", "Zoë", "Müller")
    found = read(listed(tmp_path, CANVAS), Roster([by_number, by_name]))
    assert found.changed == [
        (by_number, Person("u1", "Ada", "Byron", "", "101")),
        (by_name, Person("u2", "Zoë", "Müller", "", "102")),
    ]
    assert (found.new, found.by_name) == ([], ["u2"])


def test_a_full_name_does_not_divide_anew_what_the_gradebook_has(tmp_path: Path) -> None:
    known = Person("ada", "Ada", "de la Cruz", "ada@uni.example")
    text = WORKSHEET.replace("Ada Byron", "Ada de la Cruz")
    assert read(listed(tmp_path, text), Roster([known, ZOE])).same == 2


def test_two_people_of_one_name_are_two(tmp_path: Path) -> None:
    text = CANVAS.replace("Müller, Zoë", "Byron, Ada")
    found = read(listed(tmp_path, text), Roster([ADA]))
    assert found.same == 1
    assert [one.id for one in found.new] == ["zoe"]


@pytest.mark.parametrize(
    ("rows", "line", "why"),
    [
        (",Cleo,Stone,,", 2, "Cleo Stone has no id"),
        ("a/b,,,,", 2, "no student can have the id a/b"),
        (".x,,,,", 2, "no student can have the id .x"),
        ("\x1b[2J,,,,", 2, "cannot be printed"),
        ("x,Cleo,,,\nx,Zoe,,,", 2, "lines 2 and 3 have Cleo in different ways"),
        ("ben,,,,101", 2, "ben is new, and has an address or number of ada (Ada Byron)"),
        ('x,"two\nlines",,,\ny/y,,,,', 4, "no student can have the id y/y"),
        ("x," + "a" * 129 + ",,,", 2, "longer than 128 characters"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, rows: str, line: int, why: str) -> None:
    found = read(listed(tmp_path, f"id,first_name,last_name,email,lms_user_id\n{rows}\n"), Roster([ADA]))
    assert any(at == line and why in said for at, said in found.unused), found.unused


def test_the_same_line_twice_is_one_student(tmp_path: Path) -> None:
    found = read(listed(tmp_path, PLAIN + PLAIN.splitlines()[1]), Roster([]))
    assert (found.new, found.unused) == ([ADA, ZOE], [])


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"first_name,last_name\nAda,Byron\n", b'"a\nb', bytes(range(256)), b"id\n"]
)
def test_what_is_no_roster_is_said_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Problem, match="has no"):
        read(listed(tmp_path, data), Roster([]))
    with pytest.raises(Problem, match="cannot be read"):
        read(tmp_path / "missing.csv", Roster([]))


def rostered(course: Course, path: Path, *words: str) -> object:
    with pytest.raises(SystemExit) as ended:
        asked(["roster", str(path), *words, "--course", str(course.root)])
    return ended.value.code


def test_the_command_shows_what_changes_before_it_writes(
    quick_class: QuickClass, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class()
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", email="old@uni.example")
        gradebook.update_or_create_student("ben", first_name="Ben")
    before = read_roster(course).people
    path = listed(tmp_path, PLAIN)
    assert rostered(course, path) == UNCONFIRMED
    said = capsys.readouterr().out
    assert "ada (Ada): last_name empty becomes Byron, email old@uni.example becomes ada@uni.example" in said
    assert "  zoe, name Zoë Müller, email zoe@uni.example\n" in said
    assert "left as they are:\n  ben (Ben)\n" in said
    assert read_roster(course).people == before
    with only_run(course.class_folder / "graded"):
        assert rostered(course, path, "--yes") == OTHER_RUN
    assert rostered(course, path, "--yes") == 0
    assert read_roster(course).people == {"ada": ADA, "ben": before["ben"], "zoe": ZOE}
    assert rostered(course, path) == 0, "there is nothing to write"
    assert rostered(course, listed(tmp_path, PLAIN + ",Cleo,,,\n")) == FAILED
    assert rostered(course, tmp_path / "missing.csv") == USAGE
