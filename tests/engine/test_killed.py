"""Whoever is killed, and whenever: no process stays, and no folder once the next one starts."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from autograder.engine import temporary
from autograder.engine.outer import Walls

HOST = """
import sys
from pathlib import Path
from autograder.engine import Session, Zygote
print("go", flush=True)
with Zygote([], [Path(sys.argv[2])], walls=sys.argv[1]) as zygote, Session(zygote.place) as session:
    session.run("1")
    print("ran", flush=True)
    sys.stdin.read()
"""
KILLS = 14
SECONDS = 60  # until it counts as hanging; on a quiet machine everything is over in a fraction of one


def family(marker: str) -> list[int]:
    """The processes that have a marker in their arguments, or in what is mounted for them."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if marker.encode() in (folder / "cmdline").read_bytes() or marker in (folder / "mountinfo").read_text():
                    found.append(int(folder.name))
    return found


def until(holds: Callable[[], object]) -> bool:
    """Whether it holds before long."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return bool(holds())


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


@pytest.mark.parametrize("walls", ["both", "none"])
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_at_any_moment_leaves_nothing(
    victim: str, walls: Walls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if walls == "none" and VICTIMS[victim] > 2:
        victim = "bubblewrap"  # the zygote itself, where there is none
    library, places = tmp_path / "library", tmp_path / "t"
    library.mkdir()
    (library / "__init__.py").touch()
    places.mkdir()
    dice = random.Random(f"{victim} {walls}")
    monkeypatch.setattr(tempfile, "tempdir", str(places))
    for number in range(KILLS):
        host = subprocess.Popen(
            [sys.executable, "-c", HOST, walls, str(library)],
            env={**os.environ, "TMPDIR": str(places)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert host.stdout is not None
        assert host.stdin is not None
        assert host.stdout.readline() == b"go\n"
        if number == 0:
            assert host.stdout.readline() == b"ran\n"  # so that one is killed at rest
        depth = VICTIMS[victim]
        assert until(lambda depth=depth, host=host: child(host.pid, depth) or host.poll() is not None)
        time.sleep(dice.choice([0.002, 0.02, 0.2, 1.0]) * dice.random())
        with suppress(ProcessLookupError, TypeError):
            os.kill(child(host.pid, depth), signal.SIGKILL)  # type: ignore[arg-type]
        host.stdin.close()
        assert until(lambda host=host: host.poll() is not None)
        host.stdout.close()
        assert until(lambda: not family(str(tmp_path))), family(str(tmp_path))
    temporary.reclaim()
    assert list(places.iterdir()) == []


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
