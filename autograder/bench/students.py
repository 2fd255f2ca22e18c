"""`python -m autograder.bench students`: how long a student's first minute is, from the kernel's start to the first check that passes.

Each is measured in a real kernel of its own, on a released notebook with the right answers put in.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty
from typing import Annotated, Any

import nbformat
import typer
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbformat import NotebookNode
from rich.console import Console
from rich.table import Table

from autograder.authoring.sample import answers_in
from autograder.exercises import NOTEBOOKS
from autograder.exercises.model import ANSWER
from autograder.settings import ROOT

FIRST = ("00_shapes", "03_causal_mask", "05_block", "06_batching")
SET_UP = ("torch-here", "setup", "carried-over")
"""The ids of the cells that a student runs before the first answer, pictures aside."""

PARTS = ("kernel to its first answer", "set-up", "first check", "all, with the answer's cell")
PATIENCE = 600.0
CLOCK = "__import__('time').process_time()"


class Stopped(RuntimeError):
    """A cell did not do what it does for a student; the message says which."""


@dataclass(frozen=True)
class Spent:
    """Seconds, by the clock on the wall and of the kernel's processor time."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


NOTHING = Spent(0.0, 0.0)


class Kernel:
    """A kernel that runs one cell after another.

    Attributes:
        started: what it took until it answered for the first time.
    """

    def __init__(self, manager: KernelManager, client: BlockingKernelClient, begun: float) -> None:
        self._lives: Callable[[], bool] = manager.is_alive
        self._client, self._cpu = client, 0.0
        reply = self._reply(client.execute("", user_expressions={"cpu": CLOCK}))
        self.started = Spent(time.perf_counter() - begun, self._cpu_of(reply))
        while not self._is_heard():
            pass

    def run(self, cell: NotebookNode) -> tuple[Spent, str]:
        """Run a cell, until all that it shows is here.

        Returns:
            What it took, and the text of its result.

        Raises:
            Stopped: it raised an exception, and is none that may.
        """
        begun = time.perf_counter()
        message = self._client.execute(cell.source, user_expressions={"cpu": CLOCK})
        result = "".join(self._results(message))
        reply = self._reply(message)
        wall = time.perf_counter() - begun
        if reply["status"] != "ok":
            if "raises-exception" in cell.metadata.get("tags", ()):
                return Spent(wall, 0.0), result
            raise Stopped(f"The cell {cell.id} stopped with {reply['ename']}: {reply['evalue']}")
        return Spent(wall, self._cpu_of(reply)), result

    def _is_heard(self) -> bool:
        """Whether what cells show arrives here yet, which it does a little later than replies."""
        self._reply(self._client.execute(""))
        with suppress(Empty):
            self._client.get_iopub_msg(timeout=0.1)
            return True
        return False

    def _reply(self, message: str) -> dict[str, Any]:
        while True:
            reply = self._told(self._client.get_shell_msg)
            if reply["parent_header"].get("msg_id") == message:
                return dict(reply["content"])

    def _results(self, message: str) -> Iterator[str]:
        while True:
            told = self._told(self._client.get_iopub_msg)
            if told["parent_header"].get("msg_id") != message:
                continue
            if told["msg_type"] == "execute_result":
                yield told["content"]["data"]["text/plain"]
            if told["msg_type"] == "status" and told["content"]["execution_state"] == "idle":
                return

    def _told(self, channel: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while self._lives() and time.monotonic() < until:
            with suppress(Empty):
                return channel(timeout=1.0)
        raise Stopped(
            "The kernel has ended." if not self._lives() else f"The kernel has said nothing for {PATIENCE:.0f} s."
        )

    def _cpu_of(self, reply: dict[str, Any]) -> float:
        before, self._cpu = self._cpu, float(reply["user_expressions"]["cpu"]["data"]["text/plain"])
        return self._cpu - before


@contextmanager
def fresh_kernel() -> Iterator[Kernel]:
    """A kernel as a student's notebook gets one, in an empty folder."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NBGRADER_")}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        manager = KernelManager(kernel_name="python3")
        begun = time.perf_counter()
        manager.start_kernel(cwd=folder, env=variables, stderr=subprocess.DEVNULL)  # it warns of its own transport
        client = manager.client()
        try:
            client.start_channels()
            yield Kernel(manager, client, begun)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def solved(notebook: str) -> list[NotebookNode]:
    """The code cells of a released notebook, with the answers of its source in them."""
    named = f"{notebook}/{notebook}.ipynb"
    answers = answers_in(ROOT / "source" / named)
    cells = [cell for cell in nbformat.read(str(ROOT / "release" / named), 4).cells if cell.cell_type == "code"]
    for cell in cells:
        cell.source = answers.get(_grade_id(cell).removesuffix(ANSWER), cell.source) if _answers(cell) else cell.source
    return cells


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _answers(cell: NotebookNode) -> bool:
    return _grade_id(cell).endswith(ANSWER)


def first_minute(cells: Sequence[NotebookNode]) -> dict[str, Spent]:
    """What each part takes until the first check passes.

    Raises:
        Stopped: it does not pass.
    """
    answer = next(cell for cell in cells if _answers(cell))
    check = next(cell for cell in cells if _grade_id(cell) == _grade_id(answer).removesuffix(ANSWER))
    with fresh_kernel() as kernel:
        set_up = sum((kernel.run(cell)[0] for cell in cells if cell.id in SET_UP), NOTHING)
        defined, _ = kernel.run(answer)
        checked, said = kernel.run(check)
    if ": correct" not in said:
        raise Stopped(f"A right answer's check says: {said}")
    return dict(zip(PARTS, (kernel.started, set_up, checked, kernel.started + set_up + defined + checked), strict=True))


def slowest(cells: Sequence[NotebookNode]) -> tuple[str, Spent]:
    """The id of the cell that takes longest where all are run in order, and what it takes."""
    with fresh_kernel() as kernel:
        taken = {cell.id: kernel.run(cell)[0] for cell in cells}
    return max(taken.items(), key=lambda item: item[1].wall)


def main(
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes")] = None,
    repeats: Annotated[int, typer.Option(help="how often each is measured, in a fresh kernel")] = 3,
    cells: Annotated[bool, typer.Option("--cells", help="tell each notebook's slowest cell instead: minutes")] = False,
) -> None:
    """Measure, and print a table."""
    if unknown := sorted({*(notebooks or ())} - {*NOTEBOOKS}):
        raise typer.BadParameter(f"there is no {', '.join(unknown)}; there are {', '.join(NOTEBOOKS)}")
    console = Console(width=None if sys.stdout.isatty() else 150)
    if cells:
        tell_slowest(console, notebooks or list(NOTEBOOKS))
    else:
        tell_first_minute(console, notebooks or list(FIRST), repeats)


def tell_first_minute(console: Console, notebooks: Sequence[str], repeats: int) -> None:
    table = Table(title=f"A student's first minute, {repeats} fresh kernels for each notebook", title_justify="left")
    for title in ("", ""):
        table.add_column(title)
    for title in ("seconds", "fastest", "CPU s", "least"):
        table.add_column(title, justify="right")
    for notebook in notebooks:
        written = solved(notebook)
        taken = [first_minute(written) for _ in range(repeats)]
        for place, part in enumerate(PARTS):
            spent = [one[part] for one in taken]
            numbers = [each for one in (_walls(spent), _cpus(spent)) for each in (statistics.median(one), min(one))]
            table.add_row("" if place else notebook, part, *(f"{number:.2f}" for number in numbers))
        table.add_section()
    console.print(table)


def tell_slowest(console: Console, notebooks: Sequence[str]) -> None:
    table = Table(title="The slowest cell of each notebook, solved", title_justify="left")
    for title in ("", "cell"):
        table.add_column(title)
    for title in ("seconds", "CPU s"):
        table.add_column(title, justify="right")
    for notebook in notebooks:
        name, spent = slowest(solved(notebook))
        table.add_row(notebook, name, f"{spent.wall:.1f}", f"{spent.cpu:.1f}")
    console.print(table)


def _walls(spent: Sequence[Spent]) -> list[float]:
    return [one.wall for one in spent]


def _cpus(spent: Sequence[Spent]) -> list[float]:
    return [one.cpu for one in spent]
