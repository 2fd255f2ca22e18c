"""Which of nbgrader's documented settings load the plug-ins, for every nbgrader_config.py that wants them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from traitlets.config import Config

LOGGING = {
    "filters": {"printable": {"()": "autograder.plugins.printable.Printable"}},
    "handlers": {"console": {"filters": ["printable"]}},
    "loggers": {"autograder": {"handlers": ["console"], "propagate": False}},
}
"""Every message of nbgrader's commands passes the filter, the plug-ins' own too: students chose some of the words."""

LAYOUTS = [str(Path(__file__).parent), str(files("nbgrader") / "server_extensions" / "formgrader" / "templates")]
"""Where nbconvert looks for formgrader's folder `formgrade`: ours has one file, and nbgrader's all others."""


def plug_in(c: Config) -> None:
    """Put the plug-ins where nbgrader loads them. Nothing here is about one course: names, folders and stubs are set elsewhere."""
    c.Application.logging_config = LOGGING
    c.GenerateAssignment.exporter_class = "autograder.plugins.opening.ReleasingExporter"
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
    c.Autograde.pre_convert_hook = "autograder.plugins.reading.quarantine"
    c.Autograde.exporter_class = "autograder.plugins.starting.StartingExporter"
    c.Autograde.sanitize_preprocessors = [
        "autograder.plugins.repairing.Repair",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "autograder.plugins.gradebooks.Kernelspec",
        "autograder.plugins.gradebooks.Cells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.Autograde.autograde_preprocessors = [
        "autograder.plugins.executing.JudgedExecute",
        "nbgrader.preprocessors.IgnorePattern",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "autograder.plugins.saving.SaveVerdicts",
        "autograder.plugins.gradebooks.Penalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.ZipCollectApp.collector_plugin = "autograder.plugins.collecting.Collector"
    c.GenerateFeedback.pre_convert_hook = "autograder.plugins.returning.complete"
    c.GenerateFeedback.exporter_class = "autograder.plugins.pages.PageExporter"
    c.NbGraderAPI.GenerateFeedback.PageExporter.renew = False  # a program that says `force=False` means it
    c.GenerateFeedback.preprocessors = [
        "autograder.plugins.marked.Marked",
        "autograder.plugins.hiding.HideHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.HTMLExporter.extra_template_basedirs = LAYOUTS
    c.HTMLExporter.preprocessors = ["autograder.plugins.formgrading.BesideAnswers"]
    c.HTMLExporter.filters = {"markdown2html": "autograder.plugins.formgrading.markdown2html"}
    c.PageExporter.filters = {}  # an HTMLExporter too, with ways of its own
    c.PageExporter.preprocessors = []
