"""nbgrader's own tests, run with this repository's plug-ins: whatever passes on stock nbgrader passes with them.

They are run where the plug-ins, what runs submissions, or a version has changed since they were last run; else what came of it is stored.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from suite import run
from traitlets.config import Config

from autograder.plugins.config import plug_in
from tests.support.stored import stored

pytestmark = pytest.mark.thorough  # all that nbgrader's authors test

MODULES = (
    "apps.test_nbgrader_autograde",
    "apps.test_nbgrader_generate_assignment",
    "apps.test_nbgrader_generate_feedback",
    "apps.test_nbgrader_export",
    "apps.test_nbgrader_zip_collect",
    "apps.test_api",
    "preprocessors.test_saveautogrades",
)
"""Where what is of the plug-ins is run. The others, such as nbgrader's gradebook and its validating, would see nothing of them."""
# what does not pass, with the plug-ins or without: the outcome, and why
KNOWN_ON_STOCK = {
    "apps.test_nbgrader_autograde": {
        "TestNbGraderAutograde.test_many_students": (
            "skipped",
            "nbgrader's authors want a PostgreSQL of one's own for it",
        ),
        "TestNbGraderAutograde.test_infinite_loop_with_output": ("skipped", "it takes too long, and too much memory"),
    },
    "apps.test_api": {
        "TestNbGraderAPI.test_get_released_assignments_windows": ("skipped", "it is for Windows"),
    },
}
REPLACED = {"nbgrader.preprocessors.execute.Execute", "nbgrader.preprocessors.saveautogrades.SaveAutoGrades"}

RESTS_ON = ("autograder/engine", "autograder/plugins", "autograder/verdicts", "tests/nbgrader_suite")


@functools.cache
def with_the_plugins(module: str) -> dict[str, Any]:
    """How many tests of a module passed, the outcomes of the others, and the classes that nbgrader ran."""

    def find() -> dict[str, Any]:
        done = run(module)
        others = {name: outcome for name, outcome in done.outcomes.items() if outcome != "passed"}
        assert others == known_in(module), done.output
        return {"passed": len(done.outcomes) - len(others), "others": others, "ran": sorted(done.ran)}

    found: dict[str, Any] = stored(f"nbgrader_suite/{module}", RESTS_ON, find)
    return found


def known_in(module: str) -> dict[str, str]:
    return {name: outcome for name, (outcome, _) in KNOWN_ON_STOCK.get(module, {}).items()}


@pytest.mark.parametrize("module", MODULES)
def test_with_the_plugins_all_pass_but_what_is_known(module: str) -> None:
    done = with_the_plugins(module)
    assert done["passed"] > 0
    assert done["others"] == known_in(module)


@pytest.mark.parametrize("module", KNOWN_ON_STOCK)
def test_what_is_known_comes_out_the_same_on_stock(module: str) -> None:
    def find() -> dict[str, Any]:
        done = run(module, plugged=False, only=tuple(name.split(".")[-1] for name in known_in(module)))
        assert done.outcomes == known_in(module), done.output
        return {"outcomes": done.outcomes, "ran": sorted(done.ran)}

    done = stored(f"nbgrader_suite/{module}.stock", ("tests/nbgrader_suite",), find)
    assert done["outcomes"] == known_in(module)
    assert not any(name.startswith("autograder.") for name in done["ran"])


def test_the_plugins_were_in_effect() -> None:
    settings = Config()
    plug_in(settings, judge="autograder.this_course.JUDGE")
    autograde = settings.Autograde
    ours = {
        name
        for name in (
            autograde.exporter_class,
            settings.GenerateFeedback.exporter_class,
            *autograde.sanitize_preprocessors,
            *autograde.autograde_preprocessors,
            *settings.GenerateAssignment.preprocessors,
            *settings.GenerateFeedback.preprocessors,
        )
        if name.startswith("autograder.plugins.")
    }
    ran = set().union(*(with_the_plugins(module)["ran"] for module in MODULES))
    assert ours
    assert ours <= ran
    assert not REPLACED & ran
