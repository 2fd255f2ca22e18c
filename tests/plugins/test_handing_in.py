"""When something was handed in, who can have done so, how much of it is read, and how its words are printed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.coursedir import CourseDirectory

from autograder.plugins.bounds import DEEPEST, MOST_FILES, Beyond, below, content
from autograder.plugins.handing_in import misnamed, moment, says_a_time
from autograder.plugins.printable import LONGEST, Printable, lines, printable

PIECES = st.lists(
    st.sampled_from(["2026-03-02", "10:00:00", "UTC", "+0100", "-9999", "99999", "1e9", "\x1b[2J", "AM", ".", "T", " "])
    | st.text(max_size=4),
    max_size=6,
).map(" ".join)


@given(st.binary(max_size=40) | PIECES.map(lambda text: text.encode(errors="surrogatepass")))
def test_whatever_a_timestamp_says_it_is_a_time_that_nbgrader_reads_alike_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("handed-in")
    (folder / "timestamp.txt").write_bytes(data)
    if says_a_time(folder / "timestamp.txt"):
        assert CourseDirectory().get_existing_timestamp(str(folder)) == moment(data)
    else:
        with pytest.raises(ValueError):  # noqa: PT011  dateutil says it in a dozen ways
            moment(data)


@pytest.mark.parametrize("name", ["[a]", " x ", "Zoë O'Neil", "-rf", "日本"])
def test_a_student_can_have_any_name_that_is_printed_as_it_is(name: str) -> None:
    assert misnamed(name) == ""


@pytest.mark.parametrize("name", [".x", "a\nb", "\x1b", "\u202e", "\udcff", "\x85"])
def test_any_other_name_is_refused_with_what_to_do(name: str) -> None:
    assert misnamed(name).endswith("rename it")
    assert misnamed(name).isprintable()


# --------------------------------------------------------------------------------------------------------------- words


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
