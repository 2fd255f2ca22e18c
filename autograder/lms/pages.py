"""Feedback pages in a zip, under the names by which an LMS knows whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from autograder.lms import moodle
from autograder.lms.collected import Origin
from autograder.lms.sheet import Row
from autograder.plugins.collecting import FILED, told

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that the same pages make the same zip."""


def for_moodle(own: Mapping[str, list[Path]], rows: Mapping[str, Row]) -> dict[str, Path]:
    """By the name in the zip: folders as in a download of submissions, where a student has a row in the worksheet."""
    return {
        f"{moodle.folder(rows[student])}/{page.name}": page
        for student, found in own.items()
        if student in rows and rows[student].number
        for page in found
    }


def for_canvas(own: Mapping[str, list[Path]], origins: Mapping[str, Origin]) -> dict[str, Path]:
    """By the name in the zip: that of the file handed in, with the ending of a page, where `collect` took it from Canvas."""
    found: dict[str, Path] = {}
    for student, paths in own.items():
        origin = origins.get(student)
        for page in paths if origin and origin.system == "canvas" and _is_filed(origin) else ():
            if origin and (name := origin.name_of(page.stem)):
                found.setdefault(str(Path(Path(name).name).with_suffix(page.suffix)), page)
    return found


def _is_filed(origin: Origin) -> bool:
    """Whether a file was handed in: Canvas takes pages beside one, and none beside a text that was typed into its page, or a link."""
    return all(file.kind == FILED for name in origin.files.values() if (file := told(name)))


def write(found: Mapping[str, Path], path: Path) -> None:
    """Make the zip. It must not be there yet."""
    with ZipFile(path, "x", ZIP_DEFLATED) as zipped:
        for name, page in sorted(found.items()):
            zipped.writestr(ZipInfo(name, LONG_AGO), page.read_bytes(), ZIP_DEFLATED)


def students_in(own: Mapping[str, list[Path]], found: Iterable[Path]) -> list[str]:
    """Whose pages are all among these."""
    there = set(found)
    return sorted(student for student, paths in own.items() if there.issuperset(paths))
