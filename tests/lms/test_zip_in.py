"""Zips of submissions as Canvas and Moodle name their files, and zips that nobody should unpack."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp

from autograder.folder import Course
from autograder.lms import archive
from autograder.lms.collected import origins
from autograder.lms.collecting import Collected, collect
from autograder.plugins.collecting import Told, told
from autograder.problems import Problem
from tests.support.quick_class import NAME, QuickClass, hand_in

LINK = (stat.S_IFLNK | 0o777) << 16


def zipped(path: Path, files: Mapping[str, str]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def enrol(course: Course, **people: tuple[str, str, str]) -> None:
    """First name, last name and number in the LMS of each."""
    with Gradebook(course.database) as gradebook:
        for student, (first, last, number) in people.items():
            gradebook.update_or_create_student(student, first_name=first, last_name=last, lms_user_id=number or None)


def there(course: Course, student: str) -> dict[str, str]:
    folder = course.folder("submitted", student, NAME)
    return {path.name: path.read_text() for path in folder.glob("*")}


@pytest.fixture
def course(quick_class: QuickClass) -> Course:
    made = quick_class()
    enrol(made, ada=("Ada", "Byron", "101"), ben=("Ben", "O'Brien", "102"), cleo=("Cleo", "Stone", ""))
    return made


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("byronada_101_9001_quick.ipynb", Told("canvas", "101", "byronada", "quick", False, (9001, "", 0))),
        ("byronada_LATE_101_9001_quick-2.ipynb", Told("canvas", "101", "byronada", "quick", True, (9001, "", 2))),
        ("müller_anna_7_8_my_quick.ipynb", Told("canvas", "7", "müller_anna", "my_quick", False, (8, "", 0))),
        (
            "x_1_2_quick-2026-01-31-235900-1.ipynb",
            Told("canvas", "1", "x", "quick", False, (2, "-2026-01-31-235900", 1)),
        ),
        (
            "Ada Byron_11_assignsubmission_file_/quick.ipynb",
            Told("moodle", "11", "Ada Byron", "quick", False, (0, "", 0)),
        ),
        (
            "Ada Byron_11_assignsubmission_file/work/quick.ipynb",
            Told("moodle", "11", "Ada Byron", "quick", False, (0, "", 0)),
        ),
        (
            "Ada Byron_11_assignsubmission_file_quick.ipynb",
            Told("moodle", "11", "Ada Byron", "quick", False, (0, "", 0)),
        ),
        ("anon_12345_9001_quick.ipynb", None),
        ("LATE_anon_12345_9001_quick.ipynb", None),
        ("Ada Byron_11_assignsubmission_onlinetext_/onlinetext.html", None),
        ("__MACOSX/._byronada_101_9001_quick.ipynb", None),
        ("quick.ipynb", None),
    ],
)
def test_a_name_tells_whose_a_file_is(path: str, expected: Told | None) -> None:
    assert told(path) == expected


def test_canvas(course: Course, tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "submissions.zip",
        {
            "byronada_101_10002_quick-1.ipynb": "new",
            "byronada_101_9001_quick.ipynb": "old",
            "obrienben_LATE_102_9003_quick.ipynb": "ben",
            "stonecleo_103_9004_quick.ipynb": "cleo",
            "obrienben_LATE_102_9005_notes.pdf": "",
            "anon_x1y2z_9006_quick.ipynb": "",
        },
    )
    found = collect(course, NAME, path)
    assert there(course, "ada") == {"quick.ipynb": "new"}
    assert there(course, "ben") == {"quick.ipynb": "ben"}, "a time that no name tells is not made up"
    assert found == Collected(
        placed=["ada", "ben"],
        late=["ben"],
        older=[("byronada_101_9001_quick.ipynb", "byronada_101_10002_quick-1.ipynb")],
        unplaced=[
            (
                "stonecleo_103_9004_quick.ipynb",
                "nobody in the gradebook has the Canvas user 103 as lms_user_id; by the name it may be cleo",
            ),
            ("obrienben_LATE_102_9005_notes.pdf", "it is no notebook"),
            ("anon_x1y2z_9006_quick.ipynb", "neither Canvas nor Moodle names a student's file like this"),
        ],
    )
    assert origins(course, NAME)["ben"].late
    assert origins(course, NAME)["ada"].files == {"quick": "byronada_101_10002_quick-1.ipynb"}


def test_moodle(course: Course, tmp_path: Path) -> None:
    enrol(course, a1=("Anna", "Müller", ""), a2=("Anna", "Müller", ""))
    path = zipped(
        tmp_path / "moodle.zip",
        {
            "Ada Byron_11_assignsubmission_file_/quick.ipynb": "ada",
            "Ben OBrien_12_assignsubmission_file_/quick.ipynb": "ben",  # Moodle takes apostrophes out
            "Anna Müller_13_assignsubmission_file_/quick.ipynb": "anna",
            "Nobody Here_14_assignsubmission_file_/quick.ipynb": "",
            "Cleo Stone_15_assignsubmission_file_/quick.ipynb": "one",
            "Cleo Stone_16_assignsubmission_file_/quick.ipynb": "other",
        },
    )
    found = collect(course, NAME, path)
    assert found.placed == ["ada", "ben"]
    assert dict(found.unplaced) == {
        "Anna Müller_13_assignsubmission_file_/quick.ipynb": "a1 and a2 are both called Anna Müller",
        "Nobody Here_14_assignsubmission_file_/quick.ipynb": "nobody in the gradebook is called Nobody Here",
        **{
            f"Cleo Stone_{n}_assignsubmission_file_/quick.ipynb": "it is one of several people's there who would all be cleo here"
            for n in (15, 16)
        },
    }


def test_a_worksheet_says_who_is_who(course: Course, tmp_path: Path) -> None:
    enrol(course, a1=("Anna", "Müller", "s1"), a2=("Anna", "Müller", "s2"))
    worksheet = tmp_path / "grades.csv"
    worksheet.write_text(
        "Identifier,Full name,ID number,Status,Grade,Last modified (grade)\n"
        "Participant 13,Anna Müller,s2,,,-\nParticipant 14,Anna Müller,s1,,,-\n"
    )
    names = {f"Participant_{n}_assignsubmission_file_/quick.ipynb": str(n) for n in (13, 14)}
    other = "Ada Byron_15_assignsubmission_file_/quick.ipynb"  # of that name, and not in the worksheet
    found = collect(course, NAME, zipped(tmp_path / "blind.zip", {**names, other: "15"}), worksheet)
    assert found.unplaced == [(other, "the worksheet does not say who number 15 is")]
    assert (there(course, "a2"), there(course, "a1")) == ({"quick.ipynb": "13"}, {"quick.ipynb": "14"})


def test_what_is_there_is_never_changed(course: Course, tmp_path: Path) -> None:
    hand_in(course, "ben", "1")
    before = there(course, "ben")
    files = {"byronada_101_1_quick.ipynb": "ada", "obrienben_102_2_quick.ipynb": "other"}
    found = collect(course, NAME, zipped(tmp_path / "1.zip", files))
    assert (found.placed, found.kept) == (["ada"], ["ben"])
    assert there(course, "ben") == before
    assert "ben" not in origins(course, NAME)
    again = collect(course, NAME, tmp_path / "1.zip")
    assert (again.placed, again.same, again.kept) == ([], ["ada"], ["ben"])
    (course.folder("submitted", "ada", NAME) / "quick.ipynb").write_text("ad1")
    assert collect(course, NAME, tmp_path / "1.zip").kept == ["ada", "ben"]
    assert there(course, "ada") == {"quick.ipynb": "ad1"}


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("../x_101_1_quick.ipynb", 0, "leads out"),
        ("a/../../x_101_1_quick.ipynb", 0, "leads out"),
        ("/x_101_1_quick.ipynb", 0, "leads out"),
        ("C:x_101_1_quick.ipynb", 0, "leads out"),
        ("..\\x_101_1_quick.ipynb", 0, "leads out"),
        ("a\\x_101_1_quick.ipynb", 0, "read differently"),
        ("x_101_1_quick.ipynb", LINK, "is a link"),
        ("x_101_1_\x1b[2Jquick.ipynb", LINK, r"\\x1b"),
    ],
)
def test_a_zip_that_no_lms_makes_is_refused_as_a_whole(
    course: Course, tmp_path: Path, name: str, kind: int, why: str
) -> None:
    entry = ZipInfo(name)
    entry.filename = entry.orig_filename = name
    entry.external_attr = kind
    path = zipped(tmp_path / "hostile.zip", {"obrienben_102_2_quick.ipynb": "ben"})
    with ZipFile(path, "a") as made:
        made.writestr(entry, "/etc/passwd")
    with pytest.raises(Problem, match=why):
        collect(course, NAME, path)
    assert there(course, "ben") == {}


def test_a_zip_that_would_fill_the_disk_is_refused(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "large.zip", {"x_101_1_quick.ipynb": "0" * (3 << 20)})
    assert path.stat().st_size < 1 << 15
    monkeypatch.setattr(archive, "MOST_BYTES", 2 << 20)
    with pytest.raises(Problem, match="unpacked it would have 3 MiB"):
        collect(course, NAME, path)
    monkeypatch.undo()
    monkeypatch.setattr(archive, "MOST_FILES", 0)
    with pytest.raises(Problem, match="it holds 1 files"):
        collect(course, NAME, path)


@pytest.mark.parametrize("content", [b"no zip", b"", None])
def test_what_is_no_zip_is_said_in_a_sentence(course: Course, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "submissions.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Problem, match=r"is no zip|could not be used"):
        collect(course, NAME, path)


@pytest.mark.parametrize("at", range(0, 12, 3))
def test_a_damaged_zip_is_said_in_a_sentence(course: Course, tmp_path: Path, at: int) -> None:
    path = zipped(tmp_path / "submissions.zip", {"byronada_101_1_quick.ipynb": "abcdefgh" * 40})
    data = bytearray(path.read_bytes())
    data[len("byronada_101_1_quick.ipynb") + 30 + at] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(Problem, match="damaged"):
        collect(course, NAME, path)
    assert there(course, "ada") == {}


def test_nbgraders_own_command_knows_the_names_too(course: Course, tmp_path: Path) -> None:
    folder = course.root / "downloaded" / NAME / "archive"
    folder.mkdir(parents=True)
    zipped(folder / "submissions.zip", {"byronada_101_1_quick.ipynb": "ada", "x_999_2_quick.ipynb": "nobody"})
    app = ZipCollectApp(config=course.config)
    app.coursedir = course.directory
    app.coursedir.assignment_id = NAME
    app.collector_plugin = "autograder.plugins.collecting.Collector"
    app.init_plugins()
    app.extract_archive_files()
    app.process_extracted_files()
    assert there(course, "ada") == {"quick.ipynb": "ada"}
    assert not course.folder("submitted", "999", NAME).exists()
