"""A pytest plug-in for nbgrader's own tests: where they build nbgrader's objects themselves, and so read no settings, it plugs in as well."""

from __future__ import annotations

import functools
from typing import Any

import nbgrader.preprocessors
from nbgrader.apps import NbGraderAPI  # brings in the converters, whose own lists so keep nbgrader's classes
from traitlets.config import Config

from autograder.plugins.config import plug_in
from autograder.plugins.saving import SaveVerdicts

start = NbGraderAPI.__init__


@functools.wraps(start)
def with_the_plugins(self: NbGraderAPI, *arguments: Any, config: Config, **keywords: Any) -> None:
    settings = Config()
    plug_in(settings, judge="autograder.this_course.JUDGE")
    settings.merge(config)
    start(self, *arguments, config=settings, **keywords)


NbGraderAPI.__init__ = with_the_plugins
nbgrader.preprocessors.SaveAutoGrades = SaveVerdicts
