"""`pytest --changed` leaves out what was proved before and rests on nothing that has changed, and what only `make test-all` proves.

Every whole run keeps, for each file of tests below, that all of it passed, and what that rested on.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from autograder.authoring.proofs import digest_of, files, keep, recall
from autograder.folder import ROOT

GRADER = (
    "autograder/__main__.py",
    "autograder/authoring/sample.py",
    "autograder/bench",
    "autograder/engine",
    "autograder/exercises/__init__.py",
    "autograder/exercises/shapes",
    "autograder/folder.py",
    "autograder/grading",
    "autograder/judging",
    "autograder/plugins",
    "course/__init__.py",
    "course/answers/00_shapes",
    "course/answers/index.json",
    "course/figures/shapes.py",
    "nbgrader_config.py",
    "source/00_shapes",
)
CAPSTONE = ("autograder/exercises/capstone", "course/figures/capstone.py", "course/ranks.py", "source/10_capstone")
JUDGE = (
    "autograder/authoring/mutants.py",
    "autograder/exercises",
    "autograder/judging",
    "course/__init__.py",
    "course/answers",
)
IN_BROWSERS = {"00_shapes": "shapes", "03_causal_mask": "causal", "05_block": "block", "06_batching": "batching"}
STUDENTS = (
    "constraints.txt",
    "course/__init__.py",
    "course/modules.py",
    "course/parameters.py",
    "tests/browser/pictures",
    *(f"{folder}/{notebook}" for folder in ("course/answers", "release", "source") for notebook in IN_BROWSERS),
    *(f"course/figures/{figures}.py" for figures in IN_BROWSERS.values()),
)

RESTS_ON: dict[str, tuple[str, ...]] = {
    "tests/attacks": (*GRADER, "tests/attacks"),
    "tests/browser": STUDENTS,
    "tests/course": ("course", "autograder/exercises", "autograder/judging", "source"),
    "tests/course/test_front_ends.py": ("course", "release/00_shapes"),
    "tests/engine": (*GRADER, "course"),
    "tests/engine/test_outputs.py": (*GRADER, "course", "source", "autograder/exercises"),
    "tests/grading": GRADER,
    "tests/grading/test_processes.py": (*GRADER, *CAPSTONE),
    "tests/grading/test_questions.py": (*GRADER, *CAPSTONE),
    "tests/grading/test_store.py": (),
    "tests/judging": JUDGE,
    "tests/nbgrader_suite": (*GRADER, "tests/nbgrader_suite"),
    "tests/plugins": GRADER,
    "tests/plugins/test_agreeing.py": (),
    "tests/test_first_minute.py": ("autograder/bench", "course", "release/00_shapes", "source/00_shapes"),
    "tests/test_kills.py": GRADER,
}
"""What a file of tests rests on besides itself, or all files of a folder but those that are named too. What is not here, or rests on
everything, as an empty list says, is never left out."""


def rests_on(file: str) -> tuple[str, ...]:
    """What a file of tests rests on: what is named above, itself, and the fixtures above it. What these import, it rests on too.

    Nothing where it is never left out.
    """
    places = (Path(file), *Path(file).parents)
    named = next((RESTS_ON[place.as_posix()] for place in places if place.as_posix() in RESTS_ON), ())
    fixtures = [(place / "conftest.py").as_posix() for place in places[1:] if (ROOT / place / "conftest.py").is_file()]
    return (*named, file, *fixtures) if named else ()


def proof_of(file: str) -> tuple[str, str] | None:
    """The name of the proof that the tests of a file pass, and the digest of what that rests on; None where none is kept."""
    names = rests_on(file)
    return (file.removesuffix(".py"), digest_of(set().union(*map(_reached, names)))) if names else None


@cache
def _reached(name: str) -> frozenset[Path]:
    """The files behind one of these names, as things are when it is first asked for: most stand in many lists."""
    return frozenset(files([name], _imports))


_imports: dict[Path, list[Path]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--changed", action="store_true", help="leave out what was proved before, and what make test-all proves"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: proved by `make test-all`, and left out by --changed")
    config.pluginmanager.register(Proofs(config), "proofs")


class Proofs:
    """What one run leaves out, and what it proves."""

    def __init__(self, config: pytest.Config) -> None:
        self._changed = config.getoption("--changed")
        self._whole = not (config.option.keyword or config.option.markexpr or config.option.maxfail)
        self._whole &= not any("::" in one for one in config.args)
        self._begun = {name: proof_of(name) for name in _files_of_tests()}  # as things are before anything runs
        self._passed: dict[str, bool] = defaultdict(lambda: True)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not self._changed:
            return
        out = [item for item in items if item.get_closest_marker("thorough") or self._is_proved(_file_of(item.nodeid))]
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in set(out)]

    def _is_proved(self, file: str) -> bool:
        proof = self._begun.get(file)
        return proof is not None and any(recall(f"{kind}/{proof[0]}", proof[1]) for kind in ("all", "most"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed[_file_of(report.nodeid)] &= report.passed

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        worker = hasattr(session.config, "workerinput")
        if worker or not self._whole or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        for file, passed in self._passed.items():
            if passed and (proof := self._begun.get(file)):
                keep(f"{'most' if self._changed else 'all'}/{proof[0]}", proof[1])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._changed and (
            old := [file for file in self._begun if self._is_proved(file) and file not in self._passed]
        ):
            terminalreporter.write_line(
                f"{len(old)} files of tests rest on nothing that has changed since they passed here, and were left out."
            )


def _file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _files_of_tests() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
