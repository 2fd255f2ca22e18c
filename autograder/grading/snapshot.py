"""Everything about an assignment that grading depends on, read once and sent to every worker."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder.folder import Course, NbgraderFailed
from autograder.grading.database import opened
from autograder.plugins.agreeing import outdated
from autograder.plugins.files_beside import beside
from autograder.plugins.judges import SECTION, Judge, judge_of
from autograder.plugins.repairing import Released, released_in
from autograder.plugins.structure import NOBODY
from autograder.problems import Problem, nearest


class File(NamedTuple):
    """A plain file: its bytes, and whether it may be executed."""

    data: bytes
    executable: bool = False

    @classmethod
    def read(cls, path: Path) -> File:
        """Read a file.

        Raises:
            OSError: it cannot be read, or is no plain file.
        """
        if not path.is_file():
            raise OSError(f"{path} is not a plain file")
        return cls(path.read_bytes(), os.access(path, os.X_OK))

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(self.data)
        path.chmod(0o755 if self.executable else 0o644)


class GivenFile(NamedTuple):
    """One of the instructor's files.

    Attributes:
        path: where it is.
        digest: of its bytes.
        executable: whether it may be executed.
    """

    path: Path
    digest: str
    executable: bool

    @classmethod
    def at(cls, path: Path) -> GivenFile:
        with path.open("rb") as file:
            return cls(path, hashlib.file_digest(file, "sha256").hexdigest(), os.access(path, os.X_OK))


@dataclass(frozen=True)
class SourceCell:
    name: str
    cell_type: str
    source: str
    locked: bool
    checksum: str


@dataclass(frozen=True)
class GradedCell:
    name: str
    max_score: float


@dataclass(frozen=True)
class SolutionCell:
    name: str


@dataclass(frozen=True)
class OfficialNotebook:
    """A notebook as the gradebook has it; the attributes have the names that nbgrader's own class has."""

    name: str
    kernelspec: str | None
    source_cells: tuple[SourceCell, ...]
    grade_cells: tuple[GradedCell, ...]
    solution_cells: tuple[SolutionCell, ...]
    task_cells: tuple[GradedCell, ...]
    released: Released
    """Its other cells, where the course's judge knows the notebook."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """An assignment.

    Attributes:
        ours: whether it is a notebook that the course's judge knows; any other is graded by nbgrader's own rules.
        given: what lies beside the notebooks in the source folder, by relative path.
        carried: the contents of the same files, where whoever marks cannot see that folder; else None.
        sanitize, autograde: the preprocessors of the two passes, as importable names.
        settings: the sections of nbgrader's configuration that these read.
        duedate: in UTC; it decides about penalties, not about results.
    """

    assignment: str
    ours: bool
    notebooks: tuple[OfficialNotebook, ...]
    given: dict[str, GivenFile]
    sanitize: tuple[str, ...]
    autograde: tuple[str, ...]
    settings: Config
    duedate: datetime | None
    carried: dict[str, bytes] | None = None

    @property
    def judge(self) -> Judge:
        return judge_of(self.settings)

    @property
    def paths(self) -> dict[str, Path]:
        """Where the instructor's files are."""
        return {name: file.path for name, file in self.given.items()}

    @cached_property
    def digest(self) -> str:
        """What changes when anything changes that a result depends on."""
        given = sorted((name, file.digest, file.executable) for name, file in self.given.items())
        parts = (
            [vars(one) | {"released": (sorted(one.released.known), one.released.given)} for one in self.notebooks],
            given,
            self.sanitize,
            self.autograde,
            _sorted(self.settings),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def read_snapshot(course: Course, assignment: str) -> Snapshot:
    """Read an assignment from the gradebook and the source folder.

    Raises:
        Problem: the gradebook cannot be used, there is no such assignment, it was not released yet, or its points have
            changed since.
    """
    converter = Autograde(coursedir=course.directory, config=course.config)
    with opened(course) as gradebook:
        try:
            stored = gradebook.find_assignment(assignment)
        except MissingEntry:
            raise Problem(_missing(course, assignment)) from None
        notebooks = tuple(_official(notebook, course, assignment) for notebook in stored.notebooks)
        duedate = stored.duedate
    if not notebooks:
        raise Problem(_missing(course, assignment))
    if found := outdated(course.judge, assignment, notebooks):
        raise Problem(found)
    passes = [
        tuple(map(_name, names)) for names in (converter.sanitize_preprocessors, converter.autograde_preprocessors)
    ]
    return Snapshot(
        assignment=assignment,
        ours=assignment in course.judge.notebooks,
        notebooks=notebooks,
        given={name: GivenFile.at(path) for name, path in beside(course.directory, assignment, course.config).items()},
        sanitize=passes[0],
        autograde=passes[1],
        settings=_settings(course.config, passes[0] + passes[1]),
        duedate=duedate,
    )


def registered(course: Course, assignment: str) -> bool:
    """Enter an assignment into the gradebook that students have and this gradebook does not; say whether it was one.

    Raises:
        Problem: nbgrader cannot make it of what is in the source folder.
    """
    if not all(course.folder(step, NOBODY, assignment).is_dir() for step in ("source", "release")):
        return False
    with opened(course) as gradebook, suppress(MissingEntry):
        if gradebook.find_assignment(assignment).notebooks:
            return False
    try:
        course.register(assignment)
    except NbgraderFailed as error:
        to_do = f"Mend source/{assignment} where nbgrader says so, and run the same command again."
        raise Problem(f"{assignment} cannot be entered into the gradebook. {to_do}\n{str(error).strip()}") from None
    return True


def _missing(course: Course, assignment: str) -> str:
    sources = Path(course.root, course.directory.source_directory)
    known = course.structure.assignments()
    if assignment in known:
        return f"{assignment} was not released yet: run `nbgrader generate_assignment {assignment}` first."
    return f"There is no assignment {assignment!r} in {sources}; there are: {', '.join(known) or 'none'}.{nearest(assignment, known)}"


def _official(notebook: Any, course: Course, assignment: str) -> OfficialNotebook:
    source = course.folder("source", ".", assignment) / f"{notebook.name}.ipynb"
    return OfficialNotebook(
        name=notebook.name,
        kernelspec=notebook.kernelspec,
        source_cells=tuple(
            SourceCell(cell.name, cell.cell_type, cell.source, cell.locked, cell.checksum)
            for cell in notebook.source_cells
        ),
        grade_cells=tuple(GradedCell(cell.name, cell.max_score) for cell in notebook.grade_cells),
        solution_cells=tuple(SolutionCell(cell.name) for cell in notebook.solution_cells),
        task_cells=tuple(GradedCell(cell.name, cell.max_score) for cell in notebook.task_cells),
        released=released_in(source) if assignment in course.judge.notebooks else Released(),
    )


def _name(preprocessor: Any) -> str:
    return preprocessor if isinstance(preprocessor, str) else f"{preprocessor.__module__}.{preprocessor.__qualname__}"


def _settings(config: Config, names: tuple[str, ...]) -> Config:
    sections = {base.__name__ for name in names for base in import_item(name).__mro__}
    return Config({name: config[name] for name in sorted({*sections, SECTION, "Sandbox"}) if name in config})


def _sorted(settings: Config) -> list[tuple[str, list[tuple[str, Any]]]]:
    return [(name, sorted(section.items())) for name, section in sorted(settings.items())]
