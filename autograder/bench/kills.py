"""`python -m autograder.bench.kills`: kill grading at every stage, through both doors, and see what is left and what the next run does.

After each kill the same command is run to its end. Then the gradebook and the graded notebooks have to be there as after a run that nobody
disturbed, and no process, no temporary folder and no lock may be left.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from nbgrader.api import Gradebook

from autograder.bench.classes import make_course
from autograder.bench.measuring import descendants
from autograder.engine.inside import linux
from autograder.folder import Course
from autograder.grading.store import only_run
from autograder.settings import ROOT

NOTEBOOK = "00_shapes"
STUDENTS = 4
SECONDS_TO_LEAVE = 60.0  # that what was started has to end by itself, on a machine that may be busy
SECONDS_TO_END = 1800.0

State = tuple[dict[str, tuple[object, ...]], list[str]]
Door = Callable[[Course], list[str]]


def stock_door(course: Course) -> list[str]:
    return [str(Path(sys.executable).with_name("nbgrader")), "autograde", NOTEBOOK]


def class_door(course: Course) -> list[str]:
    return [sys.executable, "-m", "autograder", "grade", NOTEBOOK, "--course", str(course.root), "--jobs", "2", "--yes"]


DOORS: dict[str, Door] = {"nbgrader": stock_door, "class": class_door}

KILLS: dict[str, tuple[signal.Signals, bool]] = {
    "SIGKILL": (signal.SIGKILL, False),
    "SIGKILL to all": (signal.SIGKILL, True),
    "SIGTERM": (signal.SIGTERM, False),
    "SIGINT": (signal.SIGINT, False),
    "SIGINT to all": (signal.SIGINT, True),
}
"""A signal, and whether it goes to the whole process group, as a terminal sends it."""


@dataclass(frozen=True)
class Moment:
    """When to kill: so many seconds after a stage was reached."""

    stage: str
    after: float

    def __str__(self) -> str:
        return f"{self.after:.2f} s after {self.stage}"


@dataclass
class Kill:
    """One kill, and what came of it.

    Attributes:
        door, how, moment: of what, with what, when.
        early: whether the command was still running.
        wrong: what is not as it should be, in words.
    """

    door: str
    how: str
    moment: Moment
    early: bool = True
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = "; ".join(self.wrong) or ("all as undisturbed" if self.early else "it was through by then")
        return f"{self.door:9}{self.how:15}{self.moment!s:45}{said}"


Stage = Callable[[Course, Path], bool]


def _graded(course: Course) -> int:
    return len([*course.class_folder.glob(f"autograded/*/{NOTEBOOK}")])


def _runs(word: str, count: int = 1) -> bool:
    return sum(word in _command(pid) for pid in descendants(os.getpid())) >= count


STAGES: dict[str, Stage] = {
    "the first temporary folder": lambda course, temporary: any(temporary.iterdir()),
    "the first submission": lambda course, temporary: _runs("inside.zygote", 3),  # bubblewrap, the zygote, and its fork
    "the first graded folder": lambda course, temporary: _graded(course) > 0,
    "the first walls": lambda course, temporary: _runs("bwrap"),
    "the last graded folder": lambda course, temporary: _graded(course) == STUDENTS,
    "the start": lambda course, temporary: True,
}
"""How far a run has come, by its course and the folder for its temporary files."""


def moments(times: int) -> Iterator[Moment]:
    """So many moments: each stage, at once and then ever later."""
    delays = (0.0, 0.05, 0.3, 0.1, 0.6, 0.02, 1.0)
    return itertools.islice((Moment(stage, delay) for delay in itertools.cycle(delays) for stage in STAGES), times)


def kill(original: Course, door: str, how: str, moment: Moment, undisturbed: State, folder: Path) -> Kill:
    """Grade a copy of a course, kill that, look at what is left, grade again, and look at what there is then."""
    seen = Kill(door, how, moment)
    course = Course(shutil.copytree(original.root, folder / "course"))
    temporary = folder / "tmp"
    temporary.mkdir()
    before = set(descendants(os.getpid()))
    log = folder / "log"
    process = _start(DOORS[door](course), course, temporary, log)
    while process.poll() is None and not STAGES[moment.stage](course, temporary):
        time.sleep(0.002)
    with suppress(subprocess.TimeoutExpired):
        process.wait(moment.after)
    seen.early = process.poll() is None
    number, everybody = KILLS[how]
    if seen.early:
        (os.killpg if everybody else os.kill)(process.pid, number)
    process.wait(SECONDS_TO_END)
    left = _wait_for(before)
    if left:
        seen.wrong.append("left running: " + ", ".join(f"{_name(pid)} ({_command(pid)[:80]})" for pid in left))
        _end(before)
    again = _start(DOORS[door](course), course, temporary, log)
    if again.wait(SECONDS_TO_END):
        seen.wrong.append(f"the next run ended with {again.returncode}: {log.read_text(errors='replace')[-300:]}")
    if _wait_for(before):
        seen.wrong.append("left running by the next run")
        _end(before)
    if folders := sorted(path.name for path in temporary.iterdir()):
        seen.wrong.append(f"temporary: {', '.join(folders)}")
    if journals := [path.name for path in course.class_folder.glob("*.db-*")]:
        seen.wrong.append(f"beside the gradebook: {', '.join(journals)}")
    try:
        with only_run(course.class_folder / "graded"):
            pass
    except Exception as locked:
        seen.wrong.append(f"locked: {locked}")
    found = state(course)
    seen.wrong += [
        f"{student}: {found[0].get(student)} in place of {grades}"
        for student, grades in undisturbed[0].items()
        if found[0].get(student) != grades
    ]
    if found[1] != undisturbed[1]:
        seen.wrong.append(f"other files: {sorted({*found[1]} ^ {*undisturbed[1]})}")
    shutil.rmtree(folder)
    return seen


def state(course: Course) -> State:
    """What grading came to: by student every grade, and the files in all graded folders."""
    grades: dict[str, tuple[object, ...]] = {}
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        for submission in gradebook.notebook_submissions(NOTEBOOK, NOTEBOOK):
            found = [(grade.name, grade.auto_score, bool(grade.needs_manual_grade)) for grade in submission.grades]
            grades[submission.student.id] = tuple(sorted(found))
    graded = course.class_folder / "autograded"
    return grades, sorted(str(path.relative_to(graded)) for path in graded.rglob("*"))


def _hears_ctrl_c() -> None:
    """Where this was started in the background of a script, interrupts are ignored, and by whatever it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _start(command: Sequence[str], course: Course, temporary: Path, log: Path) -> subprocess.Popen[bytes]:
    variables = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    with log.open("ab") as out:
        return subprocess.Popen(
            command,
            cwd=course.root,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            preexec_fn=_hears_ctrl_c,
            start_new_session=True,
        )


def _wait_for(before: set[int]) -> list[int]:
    """Those descendants that are new and do not end by themselves; whom this process has adopted it lets go."""
    until = time.monotonic() + SECONDS_TO_LEAVE
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        left = [pid for pid in descendants(os.getpid()) if pid not in before]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def _end(before: set[int]) -> None:
    for pid in descendants(os.getpid()):
        if pid not in before:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    _wait_for(before)


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def main(
    times: Annotated[int, typer.Option(help="kills through each door")] = 50,
    door: Annotated[str, typer.Option(help="one of the doors alone: nbgrader or class")] = "",
) -> None:
    """Kill, print what came of each, and exit with 1 where anything was not as undisturbed."""
    linux.adopt_orphans()  # what outlives a killed command is found below this process
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as made:
        folder = Path(made)
        original = make_course(folder / "original", NOTEBOOK, STUDENTS, stock=False)
        for name in [door] if door else DOORS:
            undisturbed = _undisturbed(original, name, folder / "undisturbed")
            for number, (moment, how) in enumerate(zip(moments(times), itertools.cycle(KILLS), strict=False)):
                seen = kill(original, name, how, moment, undisturbed, folder / f"{number}")
                failed += bool(seen.wrong)
                print(seen, flush=True)
    print(
        f"{failed} of {times * (1 if door else len(DOORS))} kills left something else than a run that nobody disturbs"
    )
    sys.exit(bool(failed))


def _undisturbed(original: Course, door: str, folder: Path) -> State:
    course = Course(shutil.copytree(original.root, folder / "course"))
    (folder / "tmp").mkdir()
    done = _start(DOORS[door](course), course, folder / "tmp", folder / "log")
    if done.wait(SECONDS_TO_END):
        raise RuntimeError((folder / "log").read_text(errors="replace"))
    found = state(course)
    shutil.rmtree(folder)
    return found


if __name__ == "__main__":
    typer.run(main)
