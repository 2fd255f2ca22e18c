"""`pytest --changed` leaves out what was proved before and rests on nothing that has changed, and what only `make test-all` proves.

What was proved before is known in two ways. Every whole run keeps, for each file of tests below, that all of it passed, and what that
rested on; of a file whose tests see one notebook or one exercise each, this is kept of the tests of each. And a clone comes from a branch
of which `make test-all` has passed: some files of tests are left out until something that they rest on differs from that branch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from autograder.authoring.proofs import Checkout, differing, keep, recall
from autograder.settings import ROOT

COURSE = (
    "course/*.py",
    "course/answers/index.json",
    "course/figures",
    "course/kit",
    "course/records.json",
    "course/trial",
)
"""The students' library without the answers that `check` compares with."""

PACKAGES = ("constraints.txt", "pyproject.toml")

LISTED = ("autograder/exercises/*/__init__.py",)
"""Which exercises there are, and their names."""

ONE_NOTEBOOK = (*COURSE, "course/answers/{notebook}", "source/{notebook}")
GRADER = (
    "autograder/__main__.py",
    "autograder/authoring/sample.py",
    "autograder/bench",
    "autograder/commands",
    "autograder/engine",
    "autograder/exercises/__init__.py",
    "autograder/exercises/shapes",
    "autograder/folder.py",
    "autograder/grading",
    "autograder/judging",
    "autograder/verdicts",
    "autograder/mathematics.py",
    "autograder/plugins",
    "autograder/settings.py",
    "autograder/this_course.py",
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
    "autograder/verdicts",
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
SITE = (
    "CONTRIBUTING.md",
    "README.md",
    "autograder/authoring/site",
    "constraints.txt",
    "docs",
    "release",
    "source",
)

RESTS_ON: dict[str, tuple[str, ...]] = {
    "tests/attacks": (*GRADER, "tests/attacks"),
    "tests/authoring/test_answers.py": ("course", "autograder/exercises"),
    "tests/authoring/test_completeness.py": ("course", "autograder/exercises", "docs"),
    "tests/authoring/test_notebooks.py": ("course", "autograder/exercises", "source"),
    "tests/authoring/test_release_bytes.py": (
        *LISTED,
        "autograder/exercises/{room}",
        "autograder/plugins",
        "nbgrader_config.py",
        "release/{notebook}",
        "source/{notebook}",
    ),
    "tests/authoring/test_sample.py": GRADER,
    "tests/authoring/test_sample_code.py": (
        *ONE_NOTEBOOK,
        *LISTED,
        "autograder/exercises/{room}",
    ),
    "tests/authoring/test_site.py": (*SITE, "course", "autograder/exercises"),
    "tests/authoring/test_solutions.py": ("course", "autograder/exercises", "release", "source"),
    "tests/authoring/test_ungraded.py": ONE_NOTEBOOK,
    "tests/authoring/test_unwritten.py": (*ONE_NOTEBOOK, "release/{notebook}"),
    "tests/course": COURSE,
    "tests/course/test_checking.py": (
        "course",
        "autograder/exercises",
        "autograder/judging",
        "autograder/verdicts",
        "source",
    ),
    "tests/course/test_client.py": ("course", "autograder/exercises", "autograder/judging", "autograder/verdicts"),
    "tests/course/test_front_ends.py": (*COURSE, "course/answers/00_shapes", "release/00_shapes"),
    "tests/course/test_figures.py": (*COURSE, "course/answers/03_causal_mask"),
    "tests/course/test_figures_legible.py": (*COURSE, "source/{notebook}"),
    "tests/course/test_home.py": (*COURSE, "course/answers/00_shapes"),
    "tests/course/test_kit.py": (*COURSE, "course/answers/00_shapes"),
    "tests/course/test_latest.py": ("course",),
    "tests/course/test_mine.py": ("course", "source"),
    "tests/course/test_stuck.py": ("course", "autograder/judging", "autograder/verdicts", "docs", "release"),
    "tests/browser": STUDENTS,
    "tests/browser/test_index.py": (*STUDENTS, "autograder/authoring", "docs", "release", "source"),
    "tests/browser/test_site_seen.py": SITE,
    "tests/browser/test_class_report.py": (*GRADER, "autograder/exercises/causal_mask"),
    "tests/browser/test_feedback_page.py": GRADER,
    "tests/browser/test_formgrader.py": (*GRADER, *CAPSTONE),
    "tests/browser/test_hub.py": (*GRADER, *STUDENTS, "docs/hub"),
    "tests/engine": (*GRADER, "course"),
    "tests/engine/test_outputs.py": (*GRADER, *ONE_NOTEBOOK, "autograder/exercises/{room}", "release/{notebook}"),
    "tests/grading": GRADER,
    "tests/grading/test_processes.py": (*GRADER, *CAPSTONE),
    "tests/grading/test_questions.py": (*GRADER, *CAPSTONE),
    "tests/grading/test_report_page.py": (*GRADER, "autograder/exercises/causal_mask"),
    "tests/grading/test_store.py": (),
    "tests/judging": JUDGE,
    "tests/judging/test_capstone.py": (*CAPSTONE, *LISTED, "autograder/judging", "autograder/verdicts"),
    "tests/judging/test_cells.py": (
        "autograder/judging",
        "autograder/verdicts",
    ),
    "tests/judging/test_fairness.py": (
        "autograder/judging",
        "autograder/verdicts",
    ),
    "tests/judging/test_forging.py": (
        *LISTED,
        "autograder/exercises/batching",
        "autograder/exercises/capstone",
        "autograder/exercises/causal_mask",
        "autograder/exercises/token_loops",
        "autograder/judging",
        "autograder/verdicts",
    ),
    "tests/judging/test_interview.py": (
        *LISTED,
        "autograder/exercises/{room}",
        "autograder/judging",
        "autograder/verdicts",
    ),
    "tests/judging/test_verdict.py": (
        "autograder/judging",
        "autograder/verdicts",
    ),
    "tests/lms": (*GRADER, "autograder/lms"),
    "tests/nbgrader_suite": (*GRADER, "tests/nbgrader_suite"),
    "tests/plugins": GRADER,
    "tests/plugins/test_agreeing.py": (),
    "tests/plugins/test_exchange.py": (*GRADER, "docs/hub"),
    "tests/plugins/test_experiments.py": (*GRADER, "release/{notebook}"),
    "tests/plugins/test_rendering.py": (*GRADER, "source/{notebook}"),
    "tests/test_another_course.py": (*GRADER, "autograder/pyproject.toml", "constraints.txt", "docs/example"),
    "tests/test_bench.py": (*GRADER, "autograder/authoring/measured.py"),
    "tests/test_first_minute.py": ("autograder/bench", "course", "release/00_shapes", "source/00_shapes"),
    "tests/test_kills.py": GRADER,
}
"""What a file of tests rests on besides itself, or all files of a folder but those that are named too. What is not here, or rests on
everything, as an empty list says, is never left out.

A test with a parameter `notebook`, or `exercise`, sees that notebook for `{notebook}` and its folder of exercises for `{room}`,
and no other; every other test of the file sees all of them.
"""


CAME_PROVED = (
    "tests/authoring/test_sample.py",
    "tests/authoring/test_sample_code.py",
    "tests/authoring/test_site.py",
    "tests/authoring/test_unwritten.py",
    "tests/browser",
    "tests/course/test_figures_legible.py",
    "tests/course/test_front_ends.py",
    "tests/engine",
    "tests/grading",
    "tests/lms",
    "tests/nbgrader_suite",
    "tests/plugins",
    "tests/test_another_course.py",
    "tests/test_bench.py",
    "tests/test_kills.py",
)
PROVED_HERE = (
    "tests/engine/test_network.py",
    "tests/engine/test_session.py",
    "tests/grading/test_equality.py",
    "tests/plugins/test_executing.py",
)
"""Files of tests, and folders of them, that a clone does not prove again as long as they rest on what it was cloned with; and those
among them that every machine proves for itself: walls, processes, and a class that gets what nbgrader gives. What depends on how a
processor computes is in none of these."""


class Proof(NamedTuple):
    """That some tests pass.

    Attributes:
        file: the file that they are in.
        part: the notebook that they see, or "" where they may see any.
        digest: of what they rest on.
    """

    file: str
    part: str
    digest: str

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.file.removesuffix(".py"), self.part)))

    @property
    def is_kept(self) -> bool:
        return any(recall(f"{kind}/{self.name}", self.digest) for kind in ("all", "most"))


def named_for(file: str) -> tuple[str, ...]:
    """What is said above of a file of tests; nothing where it is never left out."""
    places = (Path(file), *Path(file).parents)
    return next((RESTS_ON[place.as_posix()] for place in places if place.as_posix() in RESTS_ON), ())


def rests_on(file: str, notebook: str = "") -> tuple[str, ...]:
    """What a file of tests rests on: what is named above, itself, and the fixtures above it. What these import, it rests on too.

    Args:
        notebook: the only one that the tests see; "" where they may see any.

    Returns:
        Names for a `Checkout`; nothing where the file is never left out.
    """
    named = named_for(file)
    seen = {"notebook": notebook or "*", "room": notebook.partition("_")[2] or "*"}
    above = [(place / "conftest.py").as_posix() for place in Path(file).parents]
    fixtures = [one for one in above if (ROOT / one).is_file()]
    return (*(one.format(**seen) for one in named), file, *fixtures) if named else ()


def part_of(file: str, parameters: dict[str, Any]) -> str:
    """The notebook that a test sees, by its parameters; "" where it may see any."""
    if not any("{" in name for name in named_for(file)):
        return ""
    seen = getattr(parameters.get("exercise"), "notebook", parameters.get("notebook", ""))
    return seen if isinstance(seen, str) else ""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--changed", action="store_true", help="leave out what was proved before, and what make test-all proves"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: proved by `make test-all`, and left out by --changed")
    config.pluginmanager.register(Proofs(config), "proofs")


LEFT_OUT = "left_out"
CLONED = "came_proved"
PROOF = "proof"


class Proofs:
    """What one run leaves out, and what it proves. Where tests run in processes of their own, these leave out, and the first one keeps."""

    def __init__(self, config: pytest.Config) -> None:
        self._changed: bool = config.getoption("--changed")
        chosen = ("keyword", "markexpr", "maxfail", "deselect", "lf", "stepwise")
        self._whole = not any(config.getoption(name, None) for name in chosen)
        self._whole &= not any("::" in one for one in config.args)
        self._asked = [config.invocation_params.dir / one.partition("::")[0] for one in config.args]
        self._checkout = Checkout()  # as things are before anything runs
        self._proofs: dict[tuple[str, str], Proof | None] = {}
        self._passed: dict[Proof, bool] = defaultdict(lambda: True)
        self._lost: set[str] = set()
        self._left_out: set[Proof] = set()
        self._differing = differing() if self._changed else None
        self._as_cloned: dict[Proof, bool] = {}
        self._came_proved: set[Proof] = set()

    def _proof(self, file: str, part: str) -> Proof | None:
        if (file, part) not in self._proofs:
            names = rests_on(file, part)
            self._proofs[file, part] = Proof(file, part, self._checkout.digest(names)) if names else None
        return self._proofs[file, part]

    def _is_left_out(self, proof: Proof | None) -> bool:
        if not self._changed or proof is None:
            return False
        if proof in self._left_out or proof.is_kept:
            self._left_out.add(proof)
        elif self._is_as_cloned(proof):
            self._came_proved.add(proof)
        else:
            return False
        return True

    def _is_as_cloned(self, proof: Proof) -> bool:
        if self._differing is None or not is_among(proof.file, CAME_PROVED) or is_among(proof.file, PROVED_HERE):
            return False
        if proof not in self._as_cloned:
            names = (*rests_on(proof.file, proof.part), *PACKAGES)
            self._as_cloned[proof] = not self._checkout.rests_on_any(names, self._differing)
        return self._as_cloned[proof]

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Do not even import a file of which nothing will run."""
        if collection_path.suffix != ".py" or not collection_path.name.startswith("test_") or not self._changed:
            return None
        asked = any(collection_path.is_relative_to(one) for one in self._asked)  # pytest also looks at what lies beside
        file = collection_path.relative_to(ROOT).as_posix() if asked and collection_path.is_relative_to(ROOT) else ""
        whole = not any("{" in name for name in named_for(file))
        return True if file and whole and self._is_left_out(self._proof(file, "")) else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        out = []
        for item in items:
            file, _, _ = item.nodeid.partition("::")
            proof = self._proof(file, part_of(file, _parameters(item)))
            item.stash[KEY] = proof
            if self._is_left_out(proof) or (self._changed and item.get_closest_marker("thorough")):
                out.append(item)
        if out:
            config.hook.pytest_deselected(items=out)
            left_out = set(out)
            items[:] = [item for item in items if item not in left_out]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        outcome: Any = yield
        proof = item.stash.get(KEY, None)
        setattr(outcome.get_result(), PROOF, proof and tuple(proof))  # it may travel to another process

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        proof = getattr(report, PROOF, None)
        if proof:
            self._passed[Proof(*proof)] &= report.passed
        elif not report.passed:  # of a process that died
            self._lost.add(report.nodeid.partition("::")[0])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self._left_out |= {Proof(*proof) for proof in output.get(LEFT_OUT, ())}
        self._came_proved |= {Proof(*proof) for proof in output.get(CLONED, ())}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[LEFT_OUT] = [tuple(proof) for proof in self._left_out]
            session.config.workeroutput[CLONED] = [tuple(proof) for proof in self._came_proved]
            return
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._left_out | self._came_proved:
            session.exitstatus = pytest.ExitCode.OK
        if not self._whole or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        for proof, passed in self._passed.items():
            if passed and proof.file not in self._lost:
                keep(f"{'most' if self._changed else 'all'}/{proof.name}", proof.digest)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        run = {proof.file for proof in self._passed}
        whole = {proof.file for proof in self._left_out} - run
        parts = [proof for proof in self._left_out if proof.file in run]
        more = f"; of {len(parts)} notebooks, so do their tests in other files" if parts else ""
        if whole or parts:
            terminalreporter.write_line(
                f"{len(whole)} files of tests rest on nothing that has changed since they passed here, and were left out{more}."
            )
        if cloned := {proof.file for proof in self._came_proved}:
            terminalreporter.write_line(
                f"{len(cloned)} files of tests rest on nothing that differs from the branch that was cloned, which has passed them; they "
                "were left out. `make test-all` proves them on this machine."
            )


KEY = pytest.StashKey[Proof | None]()


def is_among(file: str, names: tuple[str, ...]) -> bool:
    """Whether a file is one of these, or in one of these folders."""
    return any(file == name or file.startswith(f"{name}/") for name in names)


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def files_of_tests() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
