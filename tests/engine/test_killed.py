"""Whoever is killed, and whenever: no process stays, and no folder once the next one starts."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.engine import KilledByMachine, Session, Zygote, kernels, temporary
from autograder.engine.outer import WALLS_VARIABLE, Walls
from tests.support.waiting import SECONDS, until

SESSION = """
import sys
from pathlib import Path
from autograder.engine import Session, Zygote
print("go", flush=True)
with Zygote([], [Path(sys.argv[2])], walls=sys.argv[1]) as zygote, Session(zygote.place) as session:
    session.run(sys.argv[3])
    print("ran", flush=True)
    sys.stdin.read()
"""
KERNEL = """
import sys
from pathlib import Path
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from autograder.engine import temporary
from autograder.engine.kernels import walled_kernels
print("go", flush=True)
with temporary.folder() as place, walled_kernels(place, place, [Path(sys.argv[2])]) as manager:
    cell = new_code_cell(sys.argv[3])
    client = NotebookClient(new_notebook(cells=[cell]), kernel_manager_class=manager)
    with client.setup_kernel():
        client.execute_cell(cell, 0)
        print("ran", flush=True)
        sys.stdin.read()
"""
DETACHED = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"
HOSTS = {"session": (SESSION, 8), "kernel": (KERNEL, 2)}
"""What a grader does, and how often it is killed."""


def family(marker: str) -> list[int]:
    """The processes that have a marker in their arguments, in their environment, or in what is mounted for them."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if any(marker.encode() in (folder / name).read_bytes() for name in ("cmdline", "environ", "mountinfo")):
                    found.append(int(folder.name))
    return found


def child(process: int, depth: int) -> int | None:
    """The first child, or the first child's, and so on; None where there is none yet."""
    found = process
    for _ in range(depth):
        with suppress(OSError):
            children = Path(f"/proc/{found}/task/{found}/children").read_text().split()
            if children:
                found = int(children[0])
                continue
        return None
    return found


VICTIMS = {"the grader": 0, "its guard": 1, "bubblewrap": 2, "bubblewrap's child": 3}


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a short path: that of a socket in it may have 107 bytes."""
    return tmp_path_factory.mktemp("k")


CASES = [
    *((victim, "both") for victim in VICTIMS),
    *((victim, "none") for victim in ("the grader", "its guard", "bubblewrap")),
]
"""Where there are no walls, the zygote, or the kernel, stands in bubblewrap's place."""


@pytest.mark.thorough
@pytest.mark.parametrize(("victim", "walls"), CASES)
@pytest.mark.parametrize("kind", HOSTS)
def test_a_kill_at_any_moment_leaves_nothing(
    kind: str, victim: str, walls: Walls, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, places = place / "library", place / "t"
    library.mkdir()
    (library / "__init__.py").touch()
    places.mkdir()
    code, kills = HOSTS[kind]
    cell = "1" if walls == "none" and victim == "its guard" else DETACHED  # there nobody is left who could find it
    dice = random.Random(f"{kind} {victim} {walls}")
    monkeypatch.setattr(tempfile, "tempdir", str(places))
    for number in range(kills):
        host = subprocess.Popen(
            [sys.executable, "-c", code, walls, str(library), cell],
            env={**os.environ, "TMPDIR": str(places), "HOME": str(place), WALLS_VARIABLE: walls},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert host.stdout is not None
        assert host.stdin is not None
        assert host.stdout.readline() == b"go\n"
        if number == 0:
            assert b"ran\n" in host.stdout  # so that one is killed at rest
        depth = VICTIMS[victim]
        assert until(lambda depth=depth, host=host: child(host.pid, depth) or host.poll() is not None)
        time.sleep(dice.choice([0.002, 0.02, 0.2, 1.0]) * dice.random())
        with suppress(ProcessLookupError, TypeError):
            os.kill(child(host.pid, depth), signal.SIGKILL)  # type: ignore[arg-type]
        host.stdin.close()
        assert until(lambda host=host: host.poll() is not None)
        host.stdout.close()
        assert until(lambda: not family(str(place))), family(str(place))
    temporary.reclaim()
    assert list(places.iterdir()) == []


@pytest.mark.parametrize("kind", HOSTS)
def test_a_kill_while_bubblewrap_starts_leaves_nothing(kind: str, place: Path) -> None:
    programs, places, begun = place / "programs", place / "t", place / "begun"
    programs.mkdir()
    places.mkdir()
    slow = programs / "bwrap"
    slow.write_text(f'#!/bin/sh\ntouch {begun}\nsleep 1\nexec {shutil.which("bwrap")} "$@"\n')
    slow.chmod(0o755)
    host = subprocess.Popen(
        [sys.executable, "-c", HOSTS[kind][0], "both", str(programs), "1"],
        env={
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TMPDIR": str(places),
            "HOME": str(place),
            WALLS_VARIABLE: "both",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert until(begun.exists)
    host.kill()
    host.communicate()
    assert until(lambda: not family(str(place))), family(str(place))
    assert list(places.iterdir()) == []


@pytest.mark.parametrize("walls", ["both", "none"])
def test_a_kernel_behind_its_guard_is_interrupted_and_has_no_input(
    walls: Walls, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "best_walls", lambda: walls)
    read = "import subprocess\nsubprocess.run(['cat'])\nprint('end')"
    cells = [new_code_cell(source) for source in ("import time\ntime.sleep(1000)", read)]
    with kernels.walled_kernels(place, place) as manager:
        NotebookClient(
            new_notebook(cells=cells),
            kernel_manager_class=manager,
            timeout_func=lambda cell: SECONDS if cell is cells[1] else 1,
            interrupt_on_timeout=True,
            allow_errors=True,
        ).execute()
    assert [cells[0].outputs[0].ename, cells[1].outputs[0].text] == ["KeyboardInterrupt", "end\n"]


def test_folders_of_those_who_live_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_own", {})  # as in a process that has made none
    code = "import sys\nfrom autograder.engine import temporary\nprint(temporary.make(), flush=True)\nsys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, stdin=-1, stdout=-1, text=True
    )
    assert holder.stdout is not None
    made = Path(holder.stdout.readline().strip())
    others = tmp_path / "autograder-somebody-elses"
    others.mkdir()
    temporary.reclaim()
    assert made.is_dir()
    holder.kill()
    holder.communicate()
    assert made.is_dir()
    with temporary.folder() as own:
        assert sorted(tmp_path.iterdir()) == sorted([own, others])
    assert list(tmp_path.iterdir()) == [others]


def test_a_folder_is_removed_when_its_maker_ends(tmp_path: Path) -> None:
    code = "from autograder.engine import temporary\ntemporary.make()"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []


def test_only_folders_are_made_and_so_nothing_else_is_left(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from autograder.engine import temporary
def killed(event, arguments):
    if event == "os.remove":
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(killed)
os.mkdir(temporary.make() / "its own")
"""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_abandoned_when_it_is_locked_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"autograder-{os.getpid()}-whose-number-this-process-has-by-now").mkdir()
    temporary.reclaim()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_takes_for_abandoned_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    really, others = fcntl.flock, iter([Path.rmdir])

    def locked(descriptor: int, how: int) -> None:
        for remove in others:
            remove(*tmp_path.iterdir())
        really(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", locked)
    monkeypatch.setattr(temporary, "_own", {})
    with temporary.folder() as made:
        assert list(tmp_path.iterdir()) == [made]


# ------------------------------------------------------------------------------------------------ by somebody else


def below(pid: int) -> list[int]:
    """The descendants of a process, those that were begun later last."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            found += [child, *below(child)]
    return found


def test_a_submission_that_somebody_else_kills_is_told_from_one_that_ends_itself(zygote: Zygote) -> None:
    with Session(zygote.place) as session:
        session.start("import time\nprint('begun', flush=True)\ntime.sleep(1000)")
        os.kill(below(zygote.pid)[-1], signal.SIGKILL)
        with pytest.raises(KilledByMachine):
            session.finish(60)
        assert not session.alive
    for ends in ("os._exit(3)", "os.abort()", "import ctypes; ctypes.string_at(0)"):
        with Session(zygote.place) as session:
            assert session.run(f"import os; {ends}", 60).end == "died"
    with Session(zygote.place) as session:
        assert session.run("import os; os.kill(os.getpid(), 9); os.kill(1, 9)", 60).end == "finished"
