"""Where a course lies, and what its `nbgrader_config.py` says."""

from __future__ import annotations

import os
from pathlib import Path

from traitlets.config import Config, PyFileConfigLoader

from autograder.plugins.structure import NOBODY, STEPS, USUAL, Structure
from autograder.problems import Problem

ROOT = Path(__file__).resolve().parents[1]
"""This checkout, which may be a course; where the package is installed, what it is installed in, which is none."""

CONFIG = "nbgrader_config.py"


def course_folder(named: Path | None) -> Path:
    """The folder of the course that is meant: the one that is named, else the one that one stands in or below, else this checkout.

    Raises:
        Problem: there is no course.
    """
    here = Path.cwd()
    for folder in (named,) if named else (here, *here.parents, ROOT):
        if (folder / CONFIG).is_file():
            return folder
    if named:
        raise Problem(f"{named} is no course: there is no {CONFIG} in it. Name the folder that has one.")
    raise Problem(
        f"{here} is in no course: there is no {CONFIG} in it, nor above it. Name the folder that has one: --course FOLDER"
    )


def settings_in(root: Path) -> Config:
    """The settings of the course in the folder `root`.

    Raises:
        Problem: they cannot be read.
    """
    try:
        settings = PyFileConfigLoader(CONFIG, str(root)).load_config()
    except Exception as error:  # it is a program
        raise Problem(f"{root / CONFIG} cannot be read; mend it: {type(error).__name__}: {error}") from None
    settings.CourseDirectory.setdefault("root", str(root))  # nbgrader would take the folder that one stands in
    return settings


def structure_in(settings: Config) -> Structure:
    """A course's folders, by its settings; nbgrader is not imported for it."""
    own = settings.CourseDirectory
    directories = {step: own.get(f"{step}_directory", step) for step in STEPS}
    return Structure(own.root, os.path.normpath(own.get("directory_structure", USUAL)), directories)


def assignment_meant(structure: Structure, word: str) -> str:
    """The assignment of a course that a word names, also by what stands before the first `_` of one name alone, as "03" does, and "3" where
    that is the same number.

    Where there is none, the word itself.
    """
    if structure.folder("source", NOBODY, word).is_dir():
        return word
    begin = {name: name.partition("_")[0] for name in structure.assignments() if "_" in name}
    found = [name for name, begins in begin.items() if begins == word]
    found = found or [name for name, begins in begin.items() if is_number(begins, word)]
    return found[0] if len(found) == 1 else word


def is_number(one: str, other: str) -> bool:
    """Whether two words are the same number, as "03" and "3" are."""
    return one.isdecimal() and other.isdecimal() and int(one) == int(other)
