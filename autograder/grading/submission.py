"""What a student handed in, as values that can travel."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.utils import find_all_files

from autograder.grading.snapshot import File, Snapshot
from autograder.plugins.reading import NOT_ASKED_FOR, only_copy, unwanted

TIMESTAMP = "timestamp.txt"


@dataclass(frozen=True)
class Submission:
    """One student's work on one assignment.

    Attributes:
        notebooks: by name, those that the assignment has; None for one that is a link, too large, or not a file.
        files: everything else that is kept, by relative path.
        unknown: file names of notebooks that the assignment does not have.
        left_out: what does not belong, by relative path, with the reason; the writer moves it to quarantine.
    """

    student: str
    notebooks: dict[str, bytes | None]
    files: dict[str, File] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        parts = (self.student, sorted(self.notebooks.items()), sorted(self.files.items()), sorted(self.left_out))
        return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()


def read_submission(folder: Path, student: str, snapshot: Snapshot, ignore: list[str]) -> Submission:
    """Read a submission's folder; nothing in it is changed.

    Args:
        folder: where it was handed in.
        student: whose it is.
        snapshot: the assignment.
        ignore: file patterns that nbgrader leaves behind (`CourseDirectory.ignore`).

    Raises:
        OSError: a file cannot be read.
    """
    left_out = dict(_left_out(folder))
    known = {notebook.name for notebook in snapshot.notebooks}
    renamed = only_copy(folder) if snapshot.ours else None
    notebooks: dict[str, bytes | None] = {}
    unknown = []
    for path in map(Path, sorted(glob.glob(f"{glob.escape(str(folder))}/*.ipynb"))):
        name = folder.name if path == renamed else path.stem
        if name in known:
            kept = path.is_file() and "." not in left_out
            if path == renamed and left_out.get(path.name) == NOT_ASKED_FOR:
                del left_out[path.name]
            notebooks[name] = path.read_bytes() if kept and path.name not in left_out else None
        else:
            unknown.append(path.name)
    files = {
        name: File.read(folder / name)
        for name in sorted(_extra(folder, ignore))
        if "." not in left_out and name not in left_out
    }
    return Submission(student, notebooks, files, tuple(unknown), left_out)


def _left_out(folder: Path) -> Iterator[tuple[str, str]]:
    if folder.is_symlink():
        yield ".", "it is a link"
        return
    for path in sorted(folder.rglob("*")):
        reason = unwanted(path, folder)
        if reason:
            yield path.relative_to(folder).as_posix(), reason


def _extra(folder: Path, ignore: list[str]) -> list[str]:
    found = find_all_files(str(folder), [*ignore, "*.ipynb"])
    return [Path(name).relative_to(folder).as_posix() for name in found]
