"""Course folders of their own, in which notebook 00 is released; which tests run beside which; and what becomes of tests where no
walls can be built, or no browser, PostgreSQL or hub is."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path

import nbgrader.api
import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from autograder.engine.doctor import remedy
from autograder.engine.outer import WALLS_VARIABLE, best_walls, why_not
from autograder.folder import Course
from tests.browser.chromium import NO_BROWSER, REMEDY
from tests.support.needed import HUB, POSTGRES

for asks_for_colours in ("CLICOLOR_FORCE", "FORCE_COLOR", "PY_COLORS"):  # tests read what commands print
    os.environ.pop(asks_for_colours, None)
pytest_plugins = ["tests.proved", "tests.costs"]
pytest.register_assert_rewrite("tests.browser.paths", "tests.browser.likeness", "tests.browser.visit")
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # a busy one draws and runs slowly, and is no failure
NewCourse = Callable[[], Course]
NO_WALLS = "walls around submissions cannot be built here"
REQUIRED = "REQUIRE_WALLS"  # set in the environment where a test that is left out is a failure
ONE_AFTER_ANOTHER = (
    "tests/browser/",  # a browser, a server and kernels fill a machine
    "tests/authoring/test_site.py",  # it looks at the same site
    "tests/plugins/test_executing.py",  # in these, cells have a few seconds
    "tests/plugins/test_hostile_answers.py",
    "tests/plugins/test_stock_class.py",
)
TOGETHER = "one after another"
# nbgrader starts alembic for each new gradebook, to be told the same word each time.
nbgrader.api.get_alembic_version = cache(nbgrader.api.get_alembic_version)


class ByFile(LoadFileScheduling):
    """Each file goes to one worker, so that a class that a whole file looks at is graded once; some files share one. What costs most is
    begun first: left to the end, one worker would wait for another."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        from tests.costs import kept

        self._costs: Counter[str] = Counter()
        for file, cost in () if config.getoption("shuffled") is not None else kept().items():
            self._costs[self._split_scope(file)] += cost  # type: ignore[assignment]

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return TOGETHER if file.startswith(ONE_AFTER_ANOTHER) else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(max(self.workqueue, key=self._costs.__getitem__), last=False)
        super()._assign_work_unit(node)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffled", type=int, metavar="SEED", help="run files, and the tests in each, in an order drawn from this"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests into an order that nobody thought of, if that is asked for. Those of a file stay together, as do those of a parameter
    for which a fixture was made."""
    seed = config.getoption("shuffled")
    if seed is not None:
        drawn = random.Random(seed)
        files = {item.path: drawn.random() for item in items}
        places = {item: drawn.random() for item in items}
        items.sort(key=lambda item: (files[item.path], _made_for(item), places[item]))


def _made_for(item: pytest.Item) -> tuple[str, ...]:
    """The parameters of a test for which a fixture of its whole file is made."""
    given = getattr(item, "callspec", None)
    made = given._arg2scope if given else {}
    return tuple(
        str(given.indices[name]) for name, scope in sorted(made.items()) if given and scope.value != "function"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return ByFile(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="session")
def walls() -> None:
    """Whatever needs both walls asks for them here: where they cannot be built it is left out, or fails where they are required."""
    reason = why_not("both")
    if reason and os.environ.get(REQUIRED):
        pytest.fail(f"{NO_WALLS}, and {REQUIRED} is set: {reason}", pytrace=False)
    if reason:
        pytest.skip(NO_WALLS)


@pytest.fixture
def no_such_walls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The environment asks for walls of a kind that there is not."""
    monkeypatch.setenv(WALLS_VARIABLE, "thick")
    best_walls.cache_clear()
    yield
    best_walls.cache_clear()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests were left out because there are no walls, no browser, no server or no hub, and how to have them run."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    if without_walls := sum(NO_WALLS in why for why in skipped):
        reason = why_not("both")
        terminalreporter.write_line(
            f"tests skipped because {NO_WALLS}, {without_walls}: {reason}. To run them: {remedy(reason)}, and then `make test`.",
            yellow=True,
        )
    if without_browser := sum(NO_BROWSER in why for why in skipped):
        terminalreporter.write_line(
            f"tests skipped because {NO_BROWSER}, {without_browser}: the course was not tried as students meet it. "
            f"To run them: {REMEDY}, and then `make test`.",
            yellow=True,
        )
    for needed in (POSTGRES, HUB):
        if without := sum(needed.missing in why for why in skipped):
            terminalreporter.write_line(
                f"tests skipped because {needed.missing}, {without}. To run them: {needed.remedy}, and then `make test-all`.",
                yellow=True,
            )


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder in which 00_shapes has been released. Tests take copies of it."""
    course = Course.copied(tmp_path_factory.mktemp("released") / "course")
    course.generate_assignment("00_shapes")
    return course.root


@pytest.fixture(scope="session")
def new_course(released: Path, tmp_path_factory: pytest.TempPathFactory) -> NewCourse:
    """Make a course folder with 00_shapes released and nobody in it."""
    numbers = count(1)

    def make() -> Course:
        return Course(shutil.copytree(released, tmp_path_factory.mktemp("course") / str(next(numbers))))

    return make
