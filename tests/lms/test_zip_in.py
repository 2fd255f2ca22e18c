"""Zips of submissions as Canvas and Moodle name their files, and zips that nobody should unpack."""

from __future__ import annotations

import io
import json
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp

from autograder.__main__ import run as asked
from autograder.folder import Course
from autograder.grading.store import only_run
from autograder.lms import collecting
from autograder.lms.collected import origins
from autograder.lms.collecting import REPLACED, Collected, collect
from autograder.plugins import archive
from autograder.plugins.bounds import LARGEST_FILE
from autograder.plugins.collecting import Told, told
from autograder.problems import Problem
from tests.support.quick_class import NAME, QuickClass, hand_in
from tests.support.submissions import NOTEBOOK, RIGHT, filled

LINK = (stat.S_IFLNK | 0o777) << 16


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
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
        (
            "Ada Byron_11_assignsubmission_onlinetext_/onlinetext.html",
            Told("moodle", "11", "Ada Byron", "onlinetext", False, (0, "", 0), kind="onlinetext"),
        ),
        ("byronada_LATE_101_text.html", Told("canvas", "101", "byronada", "text", True, (0, "", 0), kind="onlinetext")),
        ("byronada_101_link.html", Told("canvas", "101", "byronada", "link", False, (0, "", 0), kind="link")),
        ("anon_101_link.html", None),
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
            ("anon_x1y2z_9006_quick.ipynb", "neither Canvas nor Moodle names a student's file like this"),
            ("obrienben_LATE_102_9005_notes.pdf", "it is no notebook"),
            (
                "stonecleo_103_9004_quick.ipynb",
                "nobody in the gradebook has the Canvas user 103 as lms_user_id; by the name it may be cleo",
            ),
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
    (course.folder("submitted", "ada", NAME) / "quick.ipynb").write_text("ad1")  # mended by hand
    assert collect(course, NAME, tmp_path / "1.zip").kept == ["ben"], "ada handed in nothing new"
    assert there(course, "ada") == {"quick.ipynb": "ad1"}
    assert there(course, "ben") == before


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("../x_101_1_quick.ipynb", 0, "leads out"),
        ("a/../../x_101_1_quick.ipynb", 0, "leads out"),
        ("/x_101_1_quick.ipynb", 0, "leads out"),
        ("C:x_101_1_quick.ipynb", 0, "leads out"),
        ("..\\x_101_1_quick.ipynb", 0, "leads out"),
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


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("文" * 84 + ".ipynb", "longer than a file's can be"),
        ("a" * 60_000 + ".ipynb", "longer than a file's can be"),
        ("_1" * 30_000 + ".ipynb", "longer than a file's can be"),
        ("my\\work.ipynb", "read differently"),
        ("folder/" + "x" * 300 + "/quick.ipynb", "longer than a file's can be"),
    ],
    ids=["Chinese", "letters", "numbers", "backslash", "folder"],
)
def test_a_name_that_no_file_can_have_is_told_and_stops_nobody_else(
    course: Course, tmp_path: Path, name: str, why: str
) -> None:
    entry = ZipInfo(f"lovelaceada_101_1_{name}")
    entry.filename = entry.orig_filename
    path = zipped(tmp_path / "odd.zip", {"obrienben_102_2_quick.ipynb": "ben"})
    with ZipFile(path, "a") as made:
        made.writestr(entry, "ada")
    began = time.process_time()
    collected = collect(course, NAME, path)
    assert time.process_time() - began < 20
    assert there(course, "ben") == {"quick.ipynb": "ben"}
    assert "ben" in collected.placed
    told = [f"{file}: {said}" for file, said in collected.unplaced] + [*collected.waiting.values()]
    assert any(why in one for one in told), told
    assert all(len(one) < 600 for one in told)


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


# ------------------------------------------------------------------------------------------------------- handed in again


def rewritten(course: Course, student: str, step: Callable[[Path], object]) -> None:
    step(course.folder("submitted", student, NAME))


def test_what_is_collected_again_is_nothing_new_whatever_became_of_it(course: Course, tmp_path: Path) -> None:
    """Grading moves files away, an earlier version renamed them, and somebody may have mended one."""
    files = {
        "byronada_101_1_Untitled.ipynb": "ada",
        "obrienben_102_2_quick (1).ipynb": "ben",
        "obrienben_102_3_notes.ipynb": "notes",
        "stonecleo_103_4_quick FINAL.ipynb": "cleo",
    }
    enrol(course, cleo=("Cleo", "Stone", "103"))
    path = zipped(tmp_path / "1.zip", files)
    assert collect(course, NAME, path).placed == ["ada", "ben", "cleo"]
    rewritten(course, "ada", lambda folder: (folder / "Untitled.ipynb").rename(folder / "quick.ipynb"))
    rewritten(course, "ben", lambda folder: (folder / "notes.ipynb").unlink())
    rewritten(course, "cleo", lambda folder: (folder / "quick FINAL.ipynb").write_text("mended"))
    for newer in (False, True):
        assert collect(course, NAME, path, newer=newer) == Collected(same=["ada", "ben", "cleo"])
    assert there(course, "cleo") == {"quick FINAL.ipynb": "mended"}


def test_what_was_collected_by_an_earlier_version_is_found_by_what_is_in_it(course: Course, tmp_path: Path) -> None:
    path = zipped(tmp_path / "1.zip", {"byronada_101_1_Untitled.ipynb": "ada"})
    collect(course, NAME, path)
    record = course.class_folder / "downloaded" / NAME / "collected.json"
    old = json.loads(record.read_text())
    record.write_text(
        json.dumps({who: {key: one[key] for key in ("system", "files", "late")} for who, one in old.items()})
    )
    rewritten(course, "ada", lambda folder: (folder / "Untitled.ipynb").rename(folder / "quick.ipynb"))
    assert collect(course, NAME, path).same == ["ada"]


def test_newer_ones_are_named_and_taken_when_asked_for(course: Course, tmp_path: Path) -> None:
    first = zipped(tmp_path / "1.zip", {"byronada_101_1_quick.ipynb": "a1", "obrienben_102_2_quick.ipynb": "b1"})
    collect(course, NAME, first)
    rewritten(course, "ada", lambda folder: (folder / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC"))
    second = zipped(tmp_path / "2.zip", {"byronada_101_7_quick-1.ipynb": "a2", "obrienben_102_2_quick.ipynb": "b1"})
    found = collect(course, NAME, second)
    assert found == Collected(same=["ben"], kept=["ada"], newer={"ada": "byronada_101_7_quick-1.ipynb"})
    assert not found.complete
    assert there(course, "ada")["quick.ipynb"] == "a1"
    assert not (course.class_folder / REPLACED).exists()
    found = collect(course, NAME, second, newer=True)
    (aside,) = (course.class_folder / REPLACED / "ada" / NAME).iterdir()
    assert found == Collected(same=["ben"], replaced={"ada": aside})
    assert {path.name: path.read_text() for path in aside.iterdir()} == {
        "quick.ipynb": "a1",
        "timestamp.txt": "2026-01-01 10:00:00 UTC",
    }
    assert there(course, "ada") == {"quick.ipynb": "a2"}, "the old one's time is not the new one's"
    assert origins(course, NAME)["ada"].files == {"quick": "byronada_101_7_quick-1.ipynb"}
    assert collect(course, NAME, first, newer=True) == Collected(same=["ben"], behind=["ada"])
    assert there(course, "ada") == {"quick.ipynb": "a2"}, "Canvas's number says that it is older"


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("quick{}", ((2026, 1, 1, 10, 0, 0), (2026, 1, 2, 10, 0, 0))),  # of the zip
        ("quick-2026-01-0{}-101010", None),  # of `hand_in`
    ],
)
def test_in_moodle_what_is_newer_is_told_by_times(
    course: Course, tmp_path: Path, name: str, times: tuple[tuple[int, ...], ...] | None
) -> None:
    paths = []
    for number in (1, 2):
        paths.append(tmp_path / f"{number}.zip")
        file = f"Ada Byron_11_assignsubmission_file_/{name.format(number)}.ipynb"
        entry = ZipInfo(file, times[number - 1]) if times else ZipInfo(file)  # type: ignore[arg-type]
        with ZipFile(paths[-1], "w") as made:
            made.writestr(entry, str(number))
    collect(course, NAME, paths[0])
    assert collect(course, NAME, paths[1], newer=True).replaced.keys() == {"ada"}
    assert collect(course, NAME, paths[0], newer=True).behind == ["ada"]
    assert list(there(course, "ada").values()) == ["2"]


def test_one_student_is_taken_whatever_is_there_and_others_are_not_looked_at(course: Course, tmp_path: Path) -> None:
    files = {"byronada_101_1_quick.ipynb": "a", "obrienben_102_2_quick.ipynb": "b", "x_102_3_x.pdf": "", "y": ""}
    for student in ("ada", "ben"):
        hand_in(course, student, "1")
    (course.folder("submitted", "ada", NAME) / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
    path = zipped(tmp_path / "1.zip", files)
    found = collect(course, NAME, path)
    assert (found.kept, list(found.newer)) == (["ada", "ben"], ["ben"]), "what came by other means says when"
    assert collect(course, NAME, path, newer=True, students=["ada"]).kept == ["ada"]
    found = collect(course, NAME, path, students=["ada"])
    assert (list(found.replaced), found.unplaced, found.complete) == (["ada"], [], True)
    assert there(course, "ada") == {"quick.ipynb": "a"}
    assert there(course, "ben")["quick.ipynb"] != "b"
    assert collect(course, NAME, path, students=["cleo"]).unplaced == [("cleo", "the zip has nothing of theirs")]
    with pytest.raises(Problem, match=r"no student 'adx'\. Did you mean ada"):
        collect(course, NAME, path, students=["adx"])


def test_nothing_is_replaced_while_somebody_grades(course: Course, tmp_path: Path) -> None:
    hand_in(course, "ada", "1")
    before = there(course, "ada")
    path = zipped(tmp_path / "1.zip", {"byronada_101_1_quick.ipynb": "a"})
    with only_run(course.class_folder / "graded"), pytest.raises(Problem, match="another run"):
        collect(course, NAME, path, newer=True)
    assert there(course, "ada") == before


def test_what_cannot_be_placed_leaves_what_was_there(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise Problem("the disk is full")

    hand_in(course, "ada", "1")
    before = there(course, "ada")
    monkeypatch.setattr(collecting, "_collected_by_nbgrader", fails)
    with pytest.raises(Problem):
        collect(course, NAME, zipped(tmp_path / "1.zip", {"byronada_101_1_quick.ipynb": "a"}), newer=True)
    assert there(course, "ada") == before


# ------------------------------------------------------------------------------------------------- folders, zips, texts


def packed(*files: tuple[str, str | bytes]) -> bytes:
    with io.BytesIO() as held:
        with ZipFile(held, "w", ZIP_DEFLATED) as made:
            for name, content in files:
                made.writestr(name, content)
        return held.getvalue()


UPLOADS = {
    "a zip": (
        "byronada_101_1_my homework.zip",
        packed(("my homework/04 heads.ipynb", "ada"), ("my homework/x.csv", "1")),
    ),
    "a zip in that": (
        "byronada_101_1_hw.ZIP",
        packed(("a/b.zip", packed(("c/quick.ipynb", "ada"))), ("._x.ipynb", "")),
    ),
    "what macOS adds": ("byronada_101_1_hw.zip", packed(("__MACOSX/._q.ipynb", ""), ("q.ipynb", "ada"))),
    "checkpoints": ("byronada_101_1_hw.zip", packed((".ipynb_checkpoints/q-checkpoint.ipynb", ""), ("q.ipynb", "ada"))),
    "a folder": ("byronada_101_1_my homework/deep/er/quick.ipynb", b"ada"),
    "of Moodle": ("Ada Byron_11_assignsubmission_file_/hw.zip", packed(("hw/quick.ipynb", "ada"))),
}


@pytest.mark.parametrize("upload", UPLOADS)
def test_the_one_notebook_in_a_folder_or_zip_is_taken(course: Course, tmp_path: Path, upload: str) -> None:
    name, content = UPLOADS[upload]
    path = zipped(tmp_path / "1.zip", {name: content})
    found = collect(course, NAME, path)
    assert (found.placed, found.unplaced) == (["ada"], [])
    assert list(there(course, "ada").values()) == ["ada"]
    assert collect(course, NAME, path).same == ["ada"]
    if name.endswith((".zip", ".ZIP")):
        assert list(origins(course, NAME)["ada"].files.values()) == [name], "the LMS knows it by this name"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("hw.zip", packed(("a.ipynb", ""), ("b/c.ipynb", "")), "it holds 2 notebooks, and one alone would be taken: a.ipynb, b/c.ipynb"),
        ("hw.zip", packed(("a.pdf", "")), "it holds no notebook"),
        ("hw.zip", b"no zip", "x_101_1_hw.zip is no zip, or is damaged"),
        ("hw.zip", packed(("../a.ipynb", "")), "../a.ipynb leads out"),
        ("hw.zip", packed(("a.ipynb", b"0" * (LARGEST_FILE + 1))), "the notebook in it is larger than 20 MiB"),
        ("hw.zip", packed(("a", packed())), "it holds no notebook"),
        ("hw.zip", packed(("1.zip", packed(("2.zip", packed(("3.zip", packed(("a.ipynb", "")))))))), "more than 3 zips"),
    ],
)  # fmt: skip
def test_what_else_is_in_a_zip_is_named_and_stops_nobody(
    course: Course, tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    files = {f"x_101_1_{name}": content, "obrienben_102_2_quick.ipynb": "ben"}
    found = collect(course, NAME, zipped(tmp_path / "1.zip", files))
    ((file, said),) = found.unplaced
    assert file == f"x_101_1_{name}"
    assert why in said
    assert found.owners[file] == "ada"
    assert found.placed == ["ben"]


def test_a_damaged_file_in_a_zip_in_the_zip_stops_nobody(course: Course, tmp_path: Path) -> None:
    inner = bytearray(packed(("quick.ipynb", "abcdefgh" * 40)))
    inner[len("quick.ipynb") + 33] ^= 0xFF
    files = {"byronada_101_1_hw.zip": bytes(inner), "obrienben_102_2_quick.ipynb": "ben"}
    found = collect(course, NAME, zipped(tmp_path / "1.zip", files))
    assert found.placed == ["ben"]
    assert "damaged" in dict(found.unplaced)["byronada_101_1_hw.zip"]


def test_zips_in_a_zip_that_would_fill_the_disk_are_refused(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = packed(("quick.ipynb", "0" * (3 << 20)))
    files = {"byronada_101_1_hw.zip": bomb, "obrienben_102_2_hw.zip": bomb}
    path = zipped(tmp_path / "1.zip", files)
    monkeypatch.setattr(archive, "MOST_BYTES", 4 << 20)
    found = collect(course, NAME, path)
    assert found.placed == ["ada"], "the second is too much"
    assert found.unplaced == [("obrienben_102_2_hw.zip", "the zips in this zip hold too much together")]
    monkeypatch.setattr(archive, "MOST_BYTES_INSIDE", 2 << 20)
    assert "would have 3 MiB" in dict(collect(course, NAME, path).unplaced)["byronada_101_1_hw.zip"]


def test_nobody_hands_in_for_somebody_else(course: Course, tmp_path: Path) -> None:
    """What lies in a zip was named by the student."""
    forged = ("obrienben_102_9_quick.ipynb", "forged")
    moodle = ("Ben OBrien_12_assignsubmission_file_/quick.ipynb", "forged")
    files = {
        "byronada_101_1_a.zip": packed(forged),
        "byronada_101_1_b/obrienben_102_9_quick.ipynb": "forged",
        "Ada Byron_11_assignsubmission_file_/Ben OBrien_12_assignsubmission_file_/quick.ipynb": "forged",
        "Ada Byron_11_assignsubmission_file_/c.zip": packed(moodle),
    }
    collect(course, NAME, zipped(tmp_path / "1.zip", files))
    assert there(course, "ben") == {}


def test_what_was_typed_into_moodles_page_is_named_as_that(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = zipped(
        tmp_path / "1.zip",
        {
            "Ada Byron_11_assignsubmission_onlinetext_/onlinetext.html": "",
            "Ada Byron_11_assignsubmission_file_/quick.ipynb": "ada",
            "Ben OBrien_12_assignsubmission_onlinetext/onlinetext.html": "",
        },
    )
    assert collected_with(course, path) == 1
    said = capsys.readouterr().out
    assert "left aside, a file came with it: ada (Ada Byron)\n" in said
    assert "no notebook came with it: ben (Ben O'Brien)\n" in said
    assert "names a student's file like this" not in said
    assert collected_with(course, path, "--student", "ada") == 0


def collected_with(course: Course, path: Path, *words: str, notebook: str = NAME) -> object:
    with pytest.raises(SystemExit) as ended:
        asked(["collect", notebook, str(path), *words, "--course", str(course.root)])
    return ended.value.code


def test_the_command_says_who_and_how(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    enrol(course, cleo=("Ada", "Byron", "103"))
    assert (
        collected_with(
            course, zipped(tmp_path / "1.zip", {"byronada_101_1_quick.ipynb": "a", "byronada_103_2_quick.ipynb": "c"})
        )
        == 0
    )
    path = zipped(
        tmp_path / "2.zip",
        {"byronada_101_5_quick-1.ipynb": "2", "byronada_103_2_quick.ipynb": "c", "byronada_103_3_x.pdf": ""},
    )
    capsys.readouterr()
    assert collected_with(course, path) == 1
    said = capsys.readouterr().out
    assert "--newer takes them all, --student ID this one:\n  ada (Ada Byron): byronada_101_5_quick-1.ipynb\n" in said
    assert "  cleo (Ada Byron): byronada_103_3_x.pdf: it is no notebook\n" in said
    collected_with(course, path, "--newer")
    said = capsys.readouterr().out
    assert f"kept in:\n  ada (Ada Byron): {course.class_folder / REPLACED / 'ada' / NAME}" in said


# ------------------------------------------------------------------------- what a person has to look at in this course

FILE = f"{NOTEBOOK}.ipynb"
OTHER = "01_token_loops"


@pytest.fixture
def ours(new_course: Callable[[], Course]) -> Course:
    """This course, which says of a notebook what it is; Ada and Ben as they are in the other class."""
    made = new_course()
    enrol(made, ada=("Ada", "Byron", "101"), ben=("Ben", "O'Brien", "102"))
    return made


def work(course: Course, *exercises: str) -> str:
    return json.dumps(filled(course, {name: RIGHT[name] for name in exercises}))


def lying(course: Course, student: str) -> dict[str, str]:
    folder = course.folder("submitted", student, NOTEBOOK)
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


MOODLE = "Ada Byron_11_assignsubmission_file/"
WHICH_COUNTS = {
    "in folders of a zip": ({"byronada_101_1_hw.zip": ("v1/" + FILE, "v2/" + FILE)}, [f"hw/v1/{FILE}", f"hw/v2/{FILE}"]),
    "one above the other": ({"byronada_101_1_hw.zip": (FILE, "old/" + FILE)}, [f"hw/{FILE}", f"hw/old/{FILE}"]),
    "of other names": ({"byronada_101_1_hw.zip": ("a.ipynb", "b.ipynb")}, ["hw/a.ipynb", "hw/b.ipynb"]),
    "a zip called like a notebook": (
        {f"byronada_101_1_{FILE}.zip": (FILE, "b.ipynb")},
        [f"uploaded/{FILE}/{FILE}", f"uploaded/{FILE}/b.ipynb"],
    ),
    "in a folder": ({"byronada_101_1_hw/" + FILE: 0, "byronada_101_1_hw/x/" + FILE: 1}, [f"hw/{FILE}", f"hw/x/{FILE}"]),
    "in folders of Moodle": ({MOODLE + FILE: 0, f"{MOODLE}old/{FILE}": 1}, [f"uploaded/{FILE}", f"old/{FILE}"]),
    "a zip beside a file": (
        {"byronada_101_1_Untitled.ipynb": 0, "byronada_101_2_hw.zip": ("a.ipynb", "b.ipynb")},
        ["hw/a.ipynb", "hw/b.ipynb", "uploaded/Untitled.ipynb"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WHICH_COUNTS)
def test_where_several_notebooks_can_be_meant_all_are_placed_and_a_person_says_which_counts(
    ours: Course, tmp_path: Path, kind: str
) -> None:
    handed_in, places = WHICH_COUNTS[kind]
    versions = [work(ours), work(ours, "mix_rows"), work(ours, "to_columns")]
    left = iter(versions)
    files = {
        name: packed(*((inner, next(left)) for inner in what)) if isinstance(what, tuple) else next(left)
        for name, what in handed_in.items()
    }
    path = zipped(tmp_path / "1.zip", files)
    found = collect(ours, NOTEBOOK, path)
    assert (found.placed, found.unplaced, found.older) == (["ada"], [], [])
    assert sorted(lying(ours, "ada")) == sorted(places)
    assert set(lying(ours, "ada").values()) == set(versions[: len(places)])
    assert found.waiting["ada"].endswith(f"and no {FILE}: which one counts?")
    assert all(place in found.waiting["ada"] for place in places)
    again = collect(ours, NOTEBOOK, path, newer=True)
    assert (again.same, again.waiting) == (["ada"], found.waiting), "and it is said again"


@pytest.mark.parametrize(
    ("others", "taken"),
    [
        ({"00": f"{OTHER}.ipynb", "index": "index.ipynb"}, FILE),  # each notebook under its own name
        ({"00": FILE}, "my work.ipynb"),  # names that lie
        ({"same": f"hand_in/{NOTEBOOK}-2026-01-02-101010.ipynb"}, FILE),
    ],
)
def test_of_several_notebooks_the_only_one_that_can_be_meant_is_taken_and_that_is_said(
    ours: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str], others: dict[str, str], taken: str
) -> None:
    right = work(ours, *RIGHT)
    contents = {
        "00": (ours.root / "source" / OTHER / f"{OTHER}.ipynb").read_bytes(),
        "index": json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        "same": right,
    }
    inner = packed((f"all/{taken}", right), *((f"all/{name}", contents[what]) for what, name in others.items()))
    path = zipped(tmp_path / "1.zip", {"byronada_101_1_all.zip": inner})
    assert collected_with(ours, path, notebook=NOTEBOOK) == 0
    assert lying(ours, "ada") == {taken: right}
    said = capsys.readouterr().out
    assert "Not placed" not in said
    assert f"ada (Ada Byron): byronada_101_1_all.zip; taken: byronada_101_1_all.zip/all/{taken}\n" in said
    assert collect(ours, NOTEBOOK, path).same == ["ada"]


def test_what_a_person_looks_at_is_not_said_to_be_left_out_and_stops_nobody(ours: Course, tmp_path: Path) -> None:
    long = "x" * 240
    inner = packed(("timestamp.txt", "2026-01-01"), (f"{long}/{long}/a.pdf", "1"), ("a", "2"), ("a/b", "3"))
    files = {
        "byronada_101_1_hw.zip": inner,
        "byronada_101_2_timestamp.txt": "2026-01-01 10:00:00 UTC",
        "byronada_101_3_no.zip": "no zip",
        f"obrienben_102_4_{FILE}": work(ours, *RIGHT),
        "obrienben_102_5_notes.pdf": "",
    }
    found = collect(ours, NOTEBOOK, zipped(tmp_path / "1.zip", files))
    assert (found.placed, found.unplaced) == (["ada", "ben"], [("obrienben_102_5_notes.pdf", "it is no notebook")])
    assert sorted(lying(ours, "ada").values()) == sorted(["2026-01-01", "1", "2", "3", *list(files.values())[1:3]])
    assert "timestamp.txt" not in lying(ours, "ada"), "what says when is not the student's to say"
    assert found.waiting["ada"].startswith("handed in ")
    assert "(byronada_101_3_no.zip: byronada_101_3_no.zip is no zip, or is damaged" in found.waiting["ada"]


@pytest.mark.parametrize("by", [{"newer": True}, {"students": ["ada"]}])
@pytest.mark.parametrize(
    "before",
    [
        {"byronada_101_1_Untitled.ipynb": 0, "byronada_101_2_Untitled1.ipynb": 1},
        {"byronada_101_1_hw.zip": (f"v1/{FILE}", f"v2/{FILE}")},
        {f"byronada_101_1_{FILE}": 0, "byronada_101_2_old.ipynb": 1},
    ],
)
def test_who_answers_which_one_counts_with_that_one_alone_is_heard(
    ours: Course, tmp_path: Path, before: dict[str, object], by: dict[str, Any]
) -> None:
    versions = [work(ours, "mix_rows"), work(ours, *RIGHT)]
    files = {
        name: packed(*zip(what, versions, strict=True)) if isinstance(what, tuple) else versions[int(str(what))]
        for name, what in before.items()
    }
    collect(ours, NOTEBOOK, zipped(tmp_path / "1.zip", files))
    there_before = lying(ours, "ada")
    path = zipped(tmp_path / "2.zip", {f"byronada_101_9_{FILE}": versions[1]})
    found = collect(ours, NOTEBOOK, path)
    assert (found.same, list(found.newer)) == ([], ["ada"]), "its bytes are those of one that lies there"
    found = collect(ours, NOTEBOOK, path, **by)
    assert lying(ours, "ada") == {FILE: versions[1]}
    aside = found.replaced["ada"]
    assert {str(one.relative_to(aside)): one.read_text() for one in aside.rglob("*.ipynb")} == there_before
    assert (found.waiting, found.complete) == ({}, True)
    assert collect(ours, NOTEBOOK, path, **by).same == ["ada"]


def test_a_newer_upload_that_is_no_notebook_leaves_the_one_that_is_graded_and_is_told(
    ours: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = work(ours, *RIGHT)
    first = {f"byronada_101_1_{FILE}": right, "obrienben_102_2_a.docx": "a"}
    collect(ours, NOTEBOOK, zipped(tmp_path / "1.zip", first))
    for newer in ({"sorry.docx": "x"}, {"hw.zip": packed(("a.ipynb", right), ("b.ipynb", work(ours)))}):
        files = {f"byronada_101_7_{name}": content for name, content in newer.items()}
        path = zipped(tmp_path / "2.zip", {**files, "obrienben_102_8_b.rar": "b"})
        for words in ((), ("--newer",), ("--newer", "--student", "ada")):
            capsys.readouterr()
            assert collected_with(ours, path, *words, notebook=NOTEBOOK) == 1
            said = capsys.readouterr().out
            heading = "The newest upload is not what is graded: it is no notebook that can be, and the one that is there stays"
            assert f"{heading}:\n  ada (Ada Byron): {next(iter(files))}\n" in said
            assert "Not placed" not in said
            assert lying(ours, "ada") == {FILE: right}
        assert lying(ours, "ben") == {"b.rar": "b"}, "what can be graded no more than what is there takes its place"
    collect(ours, NOTEBOOK, path, students=["ada"])
    assert sorted(lying(ours, "ada")) == ["hw/a.ipynb", "hw/b.ipynb"], "this one, whatever is there"
    older = collect(ours, NOTEBOOK, tmp_path / "1.zip", newer=True)
    assert (older.behind, older.aside) == (["ada", "ben"], {})


def test_in_other_courses_too_a_newer_upload_that_is_no_notebook_is_told(course: Course, tmp_path: Path) -> None:
    collect(course, NAME, zipped(tmp_path / "1.zip", {"byronada_101_1_quick.ipynb": "a"}))
    path = zipped(tmp_path / "2.zip", {"byronada_101_2_x.docx": "x", "obrienben_102_3_x.docx": "x"})
    for words in ({"newer": True}, {"students": ["ada"]}):
        found = collect(course, NAME, path, **words)  # type: ignore[arg-type]
        assert found.aside == {"ada": "byronada_101_2_x.docx"}
        assert there(course, "ada") == {"quick.ipynb": "a"}
    assert not course.folder("submitted", "ben", NAME).exists(), "nbgrader would have to grade it"


def test_texts_and_links_of_canvas_are_named_as_that_and_wait_for_a_person(
    ours: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    enrol(ours, cleo=("Cleo", "Stone", "103"))
    files = {
        "byronada_LATE_101_text.html": "<p>def",
        "obrienben_102_link.html": "<meta",
        "stonecleo_103_9_text.html": "a file of that name",
        "nobody_104_text.html": "",
        "anon_105_text.html": "",
    }
    path = zipped(tmp_path / "1.zip", files)
    assert collected_with(ours, path, notebook=NOTEBOOK) == 1
    said = capsys.readouterr().out
    assert "Typed into the LMS's page, no notebook came with it: ada (Ada Byron)\n" in said
    assert "A link was handed in, no notebook came with it: ben (Ben O'Brien)\n" in said
    assert "nobody_104_text.html: nobody in the gradebook has the Canvas user 104" in said
    assert "anon_105_text.html: neither Canvas nor Moodle names" in said
    assert "  ada (Ada Byron): handed in text typed into the page.html, which is no notebook\n" in said
    assert "  ben (Ben O'Brien): handed in link.html, which is no notebook\n" in said
    assert list(lying(ours, "cleo")) == ["text.html"]
    assert origins(ours, NOTEBOOK)["ada"].late


def test_whoever_waits_is_named_each_time_until_a_person_has_marked_them(ours: Course, tmp_path: Path) -> None:
    files = {
        f"byronada_101_1_{FILE}": "broken",
        "obrienben_102_2_hw.7z": "7z",
        "stonecleo_103_3_a.ipynb": work(ours),
        "stonecleo_103_4_b.ipynb": work(ours, "mix_rows"),
    }
    enrol(ours, cleo=("Cleo", "Stone", "103"))
    path = zipped(tmp_path / "1.zip", files)
    waiting = collect(ours, NOTEBOOK, path).waiting
    assert list(waiting) == ["ada", "ben", "cleo"]
    assert collect(ours, NOTEBOOK, path).waiting == waiting
    with Gradebook(ours.database) as gradebook:
        gradebook.update_or_create_submission(NOTEBOOK, "ben")
        for grade in gradebook.find_submission_notebook(NOTEBOOK, NOTEBOOK, "ben").grades:
            grade.manual_score = 1.0
        gradebook.db.commit()
    assert list(collect(ours, NOTEBOOK, path).waiting) == ["ada", "cleo"]


def test_nbgraders_own_command_takes_the_one_notebook_in_a_folder_or_zip_too(course: Course) -> None:
    folder = course.root / "downloaded" / NAME / "archive"
    folder.mkdir(parents=True)
    files = {
        "byronada_101_1_my homework.zip": packed(("my homework/quick.ipynb", "ada"), ("obrienben_102_9_quick.txt", "")),
        "obrienben_102_2_hw.zip": packed(("a/quick.ipynb", "ben"), ("quick.ipynb", "ben")),
        "stonecleo_103_3_hw.zip": packed(("../../../quick.ipynb", "cleo")),
    }
    enrol(course, cleo=("Cleo", "Stone", "103"))
    zipped(folder / "cs_101_2026_hw.zip", files)
    app = ZipCollectApp(config=course.config)
    app.coursedir = course.directory
    app.coursedir.assignment_id = NAME
    app.collector_plugin = "autograder.plugins.collecting.Collector"
    app.extractor_plugin = "autograder.plugins.collecting.Extractor"
    app.init_plugins()
    app.extract_archive_files()
    app.process_extracted_files()
    assert there(course, "ada") == {"quick.ipynb": "ada"}
    assert there(course, "ben") == there(course, "cleo") == {}
    assert not (course.root / "downloaded" / NAME / "quick.ipynb").exists()
