"""Which of nbgrader's documented settings load the plug-ins, for every nbgrader_config.py that wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from traitlets.config import Config, LazyConfigValue
from traitlets.utils.importstring import import_item

from autograder.plugins.judges import SECTION

LOGGING = {
    "filters": {
        "patterns": {"()": "autograder.plugins.structure.Patterns"},
        "printable": {"()": "autograder.plugins.printable.Printable"},
    },
    "handlers": {"console": {"filters": ["patterns", "printable"]}},
    "loggers": {"autograder": {"handlers": ["console"], "propagate": False}},
}
"""Every message of nbgrader's commands passes the filter, the plug-ins' own too: students chose some of the words."""

_found = find_spec("nbgrader")
NBGRADER = _found.submodule_search_locations or [] if _found else []
"""Where nbgrader lies; it is not imported for it."""

LAYOUTS = [
    str(Path(__file__).parent),
    *(f"{place}/server_extensions/formgrader/templates" for place in NBGRADER),
]
"""Where nbconvert looks for formgrader's folder `formgrade`: ours has one file, and nbgrader's all others."""

FORMGRADER = {
    "extra_template_basedirs": LAYOUTS,
    "preprocessors": ["autograder.plugins.formgrading.BesideAnswers"],
    "filters": {"markdown2html": "autograder.plugins.formgrading.markdown2html"},
}
"""How formgrader lays out a page, where a course says nothing else."""

IN_PLACE_OF = {
    "ClearSolutions": "autograder.plugins.releasing.ClearAnswers",
    "CheckCellMetadata": "autograder.plugins.metadata.Metadata",
    "Execute": "autograder.plugins.executing.JudgedExecute",
    "SaveAutoGrades": "autograder.plugins.saving.SaveVerdicts",
    "GetGrades": "autograder.plugins.marked.Marked",
    "OverwriteKernelspec": "autograder.plugins.gradebooks.Kernelspec",
    "OverwriteCells": "autograder.plugins.gradebooks.Cells",
    "AssignLatePenalties": "autograder.plugins.gradebooks.Penalties",
}
"""By the names of nbgrader's preprocessors, those that stand for them, wherever a course's own lists have them."""


class Section(Config):
    """A section of nbgrader's settings in which ours stand for nbgrader's own, whether a course sets it before `plug_in` or after.

    A course's hooks and its own preprocessors stay, and its exporter does what it does, once ours has done what it has to.
    """

    defaults: Mapping[str, Sequence[str]] = {}
    """nbgrader's own lists."""
    exporter = ""
    """Ours, which nbgrader's converter makes for itself before it begins with anything (see `extending`)."""

    @classmethod
    def of(cls, c: Config, name: str) -> None:
        """Put such a section where a course's own is."""
        own = c[name]
        c[name] = section = cls({"exporter_class": cls.exporter})
        for key, default in cls.defaults.items():
            value = own.pop(key, [])
            section[key] = value.get_value([*default]) if isinstance(value, LazyConfigValue) else value or [*default]
        for key, value in own.items():
            section[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self.defaults:
            value = [_ours(one) for one in value]
        elif key == "exporter_class":
            value = _with_ours(self.exporter, value)
        super().__setitem__(key, value)


class Grading(Section):
    defaults: Mapping[str, Sequence[str]] = {
        "sanitize_preprocessors": (
            "nbgrader.preprocessors.ClearOutput",
            "nbgrader.preprocessors.DeduplicateIds",
            "nbgrader.preprocessors.OverwriteKernelspec",
            "nbgrader.preprocessors.OverwriteCells",
            "nbgrader.preprocessors.CheckCellMetadata",
        ),
        "autograde_preprocessors": (
            "nbgrader.preprocessors.Execute",
            "nbgrader.preprocessors.IgnorePattern",
            "nbconvert.preprocessors.ClearMetadataPreprocessor",
            "nbgrader.preprocessors.LimitOutput",
            "nbgrader.preprocessors.SaveAutoGrades",
            "nbgrader.preprocessors.AssignLatePenalties",
            "nbgrader.preprocessors.CheckCellMetadata",
        ),
    }
    exporter = "autograder.plugins.starting.StartingExporter"


class Releasing(Section):
    defaults: Mapping[str, Sequence[str]] = {
        "preprocessors": (
            "nbgrader.preprocessors.IncludeHeaderFooter",
            "nbgrader.preprocessors.InstantiateTests",
            "nbgrader.preprocessors.LockCells",
            "nbgrader.preprocessors.ClearSolutions",
            "nbgrader.preprocessors.ClearOutput",
            "nbgrader.preprocessors.CheckCellMetadata",
            "nbgrader.preprocessors.ComputeChecksums",
            "nbgrader.preprocessors.SaveCells",
            "nbgrader.preprocessors.ClearHiddenTests",
            "nbgrader.preprocessors.ClearMarkScheme",
            "nbgrader.preprocessors.ComputeChecksums",
            "nbgrader.preprocessors.CheckCellMetadata",
        )
    }
    exporter = "autograder.plugins.opening.ReleasingExporter"


class Returning(Section):
    defaults: Mapping[str, Sequence[str]] = {
        "preprocessors": ("nbgrader.preprocessors.GetGrades", "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor")
    }
    exporter = "autograder.plugins.pages.PageExporter"


def plug_in(c: Config, judge: str = "") -> None:
    """Put the plug-ins where nbgrader loads them.

    Args:
        judge: what the judge of the course's own notebooks is imported by, which gives their marks; without one, everything is graded
            by nbgrader's own rules.
    """
    c.Application.logging_config = LOGGING
    Grading.of(c, "Autograde")
    Releasing.of(c, "GenerateAssignment")
    Returning.of(c, "GenerateFeedback")
    c.NbGraderAPI.GenerateFeedback.PageExporter.renew = False  # a program that says `force=False` means it
    c.ZipCollectApp.setdefault("collector_plugin", "autograder.plugins.collecting.Collector")
    c.ZipCollectApp.setdefault("extractor_plugin", "autograder.plugins.collecting.Extractor")
    for name, value in FORMGRADER.items():
        c.HTMLExporter.setdefault(name, value)
    c.PageExporter.filters = {}  # an HTMLExporter too, with ways of its own
    c.PageExporter.preprocessors = []
    if judge:
        _for_judged_notebooks(c, judge)


def _for_judged_notebooks(c: Config, judge: str) -> None:
    c[SECTION].name = judge
    c.GenerateAssignment.preprocessors = [
        "autograder.plugins.agreeing.SamePoints",
        "nbgrader.preprocessors.IncludeHeaderFooter",
        "nbgrader.preprocessors.InstantiateTests",
        "nbgrader.preprocessors.LockCells",
        "autograder.plugins.releasing.BlankGuesses",
        "autograder.plugins.releasing.MarkExperiments",
        "nbgrader.preprocessors.ClearSolutions",
        "nbgrader.preprocessors.ClearOutput",
        "autograder.plugins.releasing.ReadOnlyTexts",
        "autograder.plugins.releasing.Stable",
        "nbgrader.preprocessors.CheckCellMetadata",
        "nbgrader.preprocessors.ComputeChecksums",
        "nbgrader.preprocessors.SaveCells",
        "nbgrader.preprocessors.ClearHiddenTests",
        "nbgrader.preprocessors.ClearMarkScheme",
        "nbgrader.preprocessors.ComputeChecksums",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.Autograde.sanitize_preprocessors = [
        "autograder.plugins.repairing.Repair",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.GenerateFeedback.preprocessors.insert(1, "autograder.plugins.hiding.HideHiddenTests")


def _ours(preprocessor: Any) -> Any:
    """What stands for a preprocessor that a course names, by its class or by what it is imported by."""
    name = preprocessor if isinstance(preprocessor, str) else f"{preprocessor.__module__}.{preprocessor.__qualname__}"
    package, _, kind = name.rpartition(".")
    return IN_PLACE_OF.get(kind, preprocessor) if package.startswith("nbgrader.preprocessors") else preprocessor


def _with_ours(ours: str, named: Any) -> Any:
    """An exporter that does what ours does, and the rest as the one that a course names; that one alone where they do not fit."""
    if named == ours:
        return ours
    mine, theirs = import_item(ours), import_item(named) if isinstance(named, str) else named
    base = next(kind for kind in mine.__mro__ if kind.__module__.startswith("nbconvert."))
    if issubclass(theirs, mine) or not issubclass(theirs, base):
        return theirs
    return type(theirs.__name__, (mine, theirs), {})
