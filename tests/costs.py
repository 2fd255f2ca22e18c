"""What each file of tests costs, in processor time: told at the end of a whole run, and held against what it cost before.

A cost is counted in loops of `one_loop`, timed in the same run, so that no machine and no neighbour matters much. What was kept
(`tests/costs.json`) also says which files are begun first.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pytest

KEPT = Path(__file__).with_name("costs.json")
TWICE = 2
MATTERS = 300
"""Loops, less than a hundredth of all. A file that costs so much more than before is looked at; below that, which file is the first in
its worker to need something decides, and when processes end that nobody waits for."""
FEW = 10
"""Files by which it can be told what a machine does to all of them."""
DEAREST = 10
COSTS = "costs"
LOOPS = "loops"


def kept() -> dict[str, float]:
    """Loops by file, as they were when somebody last said `make costs`."""
    found: dict[str, float] = json.loads(KEPT.read_text())
    return found


def one_loop() -> float:
    """Processor seconds that a loop of Python's takes."""
    began, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number * number % 7
    return time.process_time() - began


def spent() -> float:
    """Processor seconds of this process, of those that it waited for, and of all below it."""
    total = 0.0
    this = psutil.Process()
    for one in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):
            times = one.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def dearer(costs: dict[str, float], before: dict[str, float]) -> list[str]:
    """A sentence for each file that costs more than twice what was kept of it, and enough more to matter.

    Where most files cost more than was kept of them, it is the machine, on which loops are quicker than what tests do: a file is then
    held against the others.

    Args:
        costs: loops by file, in this run.
        before: the same, as kept.
    """
    grown = [costs[file] / before[file] for file in costs.keys() & before.keys() if before[file] > MATTERS]
    times = max(1.0, median(grown)) if len(grown) >= FEW else 1.0
    wanted = {file: times * before.get(file, 0.0) for file in costs}
    return [
        f"{file} costs {cost:.0f} loops, and {wanted[file]:.0f} are kept of it: make it cheaper, or say `make costs` and why."
        for file, cost in sorted(costs.items())
        if cost > TWICE * wanted[file] and cost > wanted[file] + MATTERS
    ]


def table(costs: dict[str, float], tests: dict[str, int], second: float) -> list[str]:
    """Processor seconds by folder, and the dearest files.

    Args:
        costs: loops by file.
        tests: how many there are, by file.
        second: loops in one of these.
    """
    by_folder: Counter[str] = Counter()
    of_folder: Counter[str] = Counter()
    for file, cost in costs.items():
        folder = Path(file).parent.as_posix()
        by_folder[folder] += cost  # type: ignore[assignment]
        of_folder[folder] += tests.get(file, 0)
    files = sorted(costs, key=lambda file: -costs[file])[:DEAREST]
    rows = [
        *((f"{folder}/", of_folder[folder], cost) for folder, cost in by_folder.most_common()),
        ("all of them", sum(of_folder.values()), sum(costs.values())),
        *((file, tests.get(file, 0), costs[file]) for file in files),
    ]
    return [
        f"{'processor time':56}{'tests':>7}{'seconds':>9}{'loops':>8}",
        *(f"{name:56}{some:7}{cost / second:9.1f}{cost:8.0f}" for name, some, cost in rows),
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--costs",
        choices=("tell", "keep"),
        help="tell what each file costs, and fail where one became twice as dear; or keep it",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--costs"):
        config.pluginmanager.register(Costs(config), "costs")


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _is_last_of_its_file(item: pytest.Item, following: pytest.Item | None) -> bool:
    return following is None or _file(item) != _file(following)


class Costs:
    """What one run costs. Where tests run in processes of their own, these count, and the first one tells."""

    def __init__(self, config: pytest.Config) -> None:
        self._keeps = config.getoption("--costs") == "keep"
        self._seconds: Counter[str] = Counter()
        self._tests: Counter[str] = Counter()
        self._loops = [one_loop()]
        self._before = self._most = spent()
        self._sentences: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._tests[nodeid.partition("::")[0]] += 1

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        yield
        if _is_last_of_its_file(item, nextitem):
            now = spent()
            self._seconds[_file(item)] += max(now, self._most) - self._before  # type: ignore[assignment]
            self._before = now

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """What servers and browsers have spent is known while they are there: some end with nobody who waits for them."""
        if _is_last_of_its_file(item, nextitem):
            self._most = spent()

    def pytest_collection_finish(self) -> None:
        self._before = spent()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self._seconds.update(output.get(COSTS, {}))
        self._loops += output.get(LOOPS, [])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self._loops.append(one_loop())
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput |= {COSTS: dict(self._seconds), LOOPS: self._loops}
            return
        costs = {file: seconds * self.second for file, seconds in self._seconds.items()}
        if self._keeps:
            every = {file: cost for file, cost in (kept() | costs).items() if Path(file).exists()}
            KEPT.write_text(json.dumps({file: round(every[file], 1) for file in sorted(every)}, indent=1) + "\n")
        else:
            self._sentences = dearer(costs, kept())
        if self._sentences and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def second(self) -> float:
        """Loops in a second of this run."""
        return 1 / median(self._loops)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        costs = {file: seconds * self.second for file, seconds in self._seconds.items()}
        for line in table(costs, self._tests, self.second):
            terminalreporter.write_line(line)
        for sentence in self._sentences:
            terminalreporter.write_line(sentence, red=True)
