"""When something was handed in, who can have done so, how much of it is read, and how its words are printed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.coursedir import CourseDirectory

from autograder.plugins.bounds import DEEPEST, MOST_FILES, Beyond, below, content
from autograder.plugins.handing_in import is_in_doubt, misnamed, moment, restate, says_a_time
from autograder.plugins.printable import LONGEST, Printable, few, lines, printable

WORDS = (
    "2026-03-02", "10:00:00", "UTC", "+0100", "+01:00", "CEST", "CST", "Europe/Berlin", "-9999", "99999", "1e9", "\x1b[2J", "AM",
    ".", "T", " ", "2", "March", "2026",
)  # fmt: skip
PIECES = st.lists(
    st.sampled_from(WORDS) | st.text(max_size=4),
    max_size=6,
).map(" ".join)


@given(st.binary(max_size=40) | PIECES.map(lambda text: text.encode(errors="surrogatepass")))
def test_whatever_a_timestamp_says_it_is_a_time_that_nbgrader_then_reads_alike_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("handed-in")
    (folder / "timestamp.txt").write_bytes(data)
    restate(folder)
    if says_a_time(folder / "timestamp.txt"):
        assert CourseDirectory().get_existing_timestamp(str(folder)) == moment(data)
    else:
        assert (folder / "timestamp.txt").read_bytes() == data
        with pytest.raises(ValueError):  # noqa: PT011  dateutil says it in a dozen ways
            moment(data)


NOON = datetime(2026, 7, 1, 10)
NOONS = (
    "2026-07-01 10:00:00 UTC", "2026-07-01 10:00:00", "2026-07-01 10:00:00Z", "2026-07-01 12:00:00 +0200",
    "2026-07-01 12:00:00 +02:00", "2026-07-01 12:00:00 +2", "2026-07-01 12:00 +0200", "2026-07-01T12:00:00+02:00",
    "2026-07-01T12:00+0200", "20260701T120000+0200", "2026-07-01 12:00:00 UTC+2", "2026-07-01 12:00 GMT +02:00",
    "2026-07-01 12:00:00 CEST", "2026-07-01 12:00:00 cest", "2026-07-01 11:00:00 CET", "2026-07-01 06:00:00 EDT",
    "2026-07-01 05:00:00 EST", "2026-07-01 12:00:00 Europe/Berlin", "2026-07-01 12:00 PM CEST",
    "Wed, 01 Jul 2026 12:00:00 +0200", "Wed Jul  1 12:00:00 CEST 2026", "1 July 2026 10:00",
)  # fmt: skip
DOUBTS = (
    "2026-07-01 12:00:00 IST", "2026-07-01 12:00:00 CST", "2026-07-01 12:00:00 XYZ", "2026-07-01 12:00:00 +2500",
    "2026-07-01 12:00:00 200", "2026-10-25 02:30:00 Europe/Berlin", "2026-07-01 12:00:00 +0200 Europe/Rome",
    "01.07.2026 12:00", "07/08/2026 12:00", "13-07-26 12:00", "12:00:00", "July 2026",
)  # fmt: skip


@pytest.mark.parametrize("said", NOONS)
def test_a_time_with_a_zone_means_what_it_says(said: str, tmp_path: Path) -> None:
    assert moment(said.encode()) == NOON
    (tmp_path / "timestamp.txt").write_text(said)
    restate(tmp_path)
    assert CourseDirectory().get_existing_timestamp(str(tmp_path)) == NOON
    assert not is_in_doubt(tmp_path / "timestamp.txt")


@pytest.mark.parametrize("said", DOUBTS)
def test_what_may_mean_several_times_is_refused(said: str, tmp_path: Path) -> None:
    (tmp_path / "timestamp.txt").write_text(said)
    restate(tmp_path)
    assert (tmp_path / "timestamp.txt").read_text() == said
    assert not says_a_time(tmp_path / "timestamp.txt")


def test_nothing_is_restated_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    kept = tmp_path / "there" / "timestamp.txt"
    kept.write_text(NOONS[3])
    (tmp_path / "folder").symlink_to("there")
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "timestamp.txt").symlink_to(kept)
    restate(tmp_path / "folder")
    restate(tmp_path / "file")
    assert kept.read_text() == NOONS[3]


@pytest.mark.parametrize("name", ["[a]", " x ", "Zoë O'Neil", "-rf", "日本"])
def test_a_student_can_have_any_name_that_is_printed_as_it_is(name: str) -> None:
    assert misnamed(name) == ""


@pytest.mark.parametrize("name", [".x", "a\nb", "\x1b", "\u202e", "\udcff", "\x85"])
def test_any_other_name_is_refused_with_what_to_do(name: str) -> None:
    assert misnamed(name).endswith("rename it")
    assert misnamed(name).isprintable()


# --------------------------------------------------------------------------------------------------------------- words


def test_of_much_that_is_said_the_first_is_said_and_how_much_more_there_is() -> None:
    assert few(["a", "b", "a"]) == ["a", "b"]
    assert few(map(str, range(1_900)))[-2:] == ["9", "and 1,890 more"]


@given(st.text(st.characters()) | st.just("\ud800"))
def test_a_printable_text_is_one_line_that_can_be_written(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert all(character.isprintable() or character.isspace() for character in shown)
    shown.encode()
    assert printable(shown) == shown


def test_a_long_text_is_cut() -> None:
    assert printable("x" * (LONGEST + 5)) == "x" * LONGEST + " ... (5 characters more)"


def test_a_text_of_several_lines_keeps_them_and_has_no_others() -> None:
    assert lines("a\nb\x85c\rd\u2028e") == "a\nb\\x85c\\rd\\u2028e"


def test_what_passes_the_filter_is_printable_arguments_and_errors_too() -> None:
    try:
        raise ValueError("\x1b[31m")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "x", 1, "of %s", ("\x1b]0;",), (ValueError, error, None))
    assert Printable().filter(record)
    assert record.getMessage() == r"of \x1b]0;"
    assert "\x1b" not in logging.Formatter().format(record)
    assert r"\x1b[31m" in logging.Formatter().format(record)


# -------------------------------------------------------------------------------------------------------------- bounds


def in_one_another(folder: Path) -> None:
    (folder / "/".join("d" * (DEEPEST + 1))).mkdir(parents=True)


def crowded(folder: Path) -> None:
    for n in range(MOST_FILES + 1):
        (folder / str(n)).touch()


def spread(folder: Path) -> None:
    for n in range(11):
        (folder / str(n)).mkdir()
        for m in range(MOST_FILES // 10):
            (folder / str(n) / str(m)).touch()


@pytest.mark.parametrize(
    ("fill", "said"),
    [(in_one_another, "in one another"), (crowded, "files and folders"), (spread, "files and folders")],
)
def test_a_folder_is_looked_through_within_bounds(tmp_path: Path, fill: Callable[[Path], None], said: str) -> None:
    fill(tmp_path)
    with pytest.raises(Beyond, match=said):
        list(below(tmp_path))


def test_links_are_not_followed_and_what_is_passed_over_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "kept").mkdir()
    crowded(tmp_path / "kept")
    assert [entry.name for entry in below(tmp_path, "kept".__eq__)] == ["loop"]


def test_a_file_is_read_up_to_a_bound_and_nothing_else_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert content(tmp_path / "file", 5) == b"12345"
    with pytest.raises(Beyond, match="file is larger than 4 bytes"):
        content(tmp_path / "file", 4)
    for name in ("link", "pipe", ".", "missing"):
        with pytest.raises(OSError):  # noqa: PT011  each of its own kind
            content(tmp_path / name)
