"""What a submission finds under /proc: its own processes, the machine's plain facts, and nobody else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.engine import Session, Zygote, outer
from autograder.engine import zygote as starting
from autograder.engine.doctor import OWN_PROCESSES, diagnose
from autograder.engine.inside.walls import SHOWN

CHILD = "import psutil, subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)\n"
STILL = "child.communicate(b'x')\n"


def said(session: Session, source: str) -> str:
    run = session.run(source, 120)
    assert run.reply.get("status") == "ok", run
    return "".join(content["text"] for kind, content in run.messages if kind == "stream")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[one.pid for one in psutil.Process().children()] == [child.pid]", True),
        ("psutil.Process(child.pid).ppid() == psutil.Process().pid", True),
        ("psutil.Process(child.pid).memory_info().rss > 0 and bool(psutil.Process(child.pid).memory_maps())", True),
        ("sorted(psutil.pids()) == sorted([psutil.Process().pid, child.pid])", True),
        ("psutil.cpu_count() == len(open('/proc/cpuinfo').read().split('processor\\t')) - 1", True),
        ("'MemTotal' in open('/proc/meminfo').read() and 'VmRSS' in open('/proc/self/status').read()", True),
    ],
)
def test_a_submission_sees_its_own_processes(zygote: Zygote, expression: str, value: object) -> None:
    with Session(zygote.place) as session:
        assert said(session, f"{CHILD}print({expression})\n{STILL}") == f"{value}\n"


def test_processes_are_worked_with_in_every_usual_way(zygote: Zygote) -> None:
    script = (
        "import multiprocessing\nfrom concurrent.futures import ProcessPoolExecutor\n"
        "from worker import square\n"
        "for method in ('fork', 'spawn', 'forkserver'):\n"
        "    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:\n"
        "        print(list(pool.map(square, range(4))))\n"
        "with multiprocessing.Pool(2) as pool:\n"
        "    print(pool.map(square, range(4)))\n"
    )
    with Session(zygote.place, {"worker.py": b"def square(x):\n    return x * x\n"}) as session:
        assert said(session, script) == "[0, 1, 4, 9]\n" * 4


def test_nothing_of_the_machine_but_plain_facts_is_shown(zygote: Zygote) -> None:
    look = (
        "import os\n"
        "for entry in os.scandir('/proc'):\n"
        "    try:\n"
        "        held = os.listdir(entry.path) if entry.is_dir() else open(entry.path, 'rb').read(1)\n"
        "    except OSError:\n"
        "        held = b''\n"
        "    if held and not entry.name.isdecimal():\n"
        "        print(entry.name)"
    )
    with Session(zygote.place) as session:
        assert set(said(session, look).split()) <= SHOWN
        writable = (
            "import os\nprint([f for p, _, fs in os.walk('/proc/sys') for f in fs if os.access(f'{p}/{f}', os.W_OK)])"
        )
        assert said(session, writable) == "[]\n"
        assert (
            said(session, "print(os.access('/proc/self/oom_score_adj', os.W_OK), os.access('/proc/1/mem', os.W_OK))")
            == "False False\n"
        )


def test_no_process_of_the_zygotes_world_is_seen(zygote: Zygote) -> None:
    with Session(zygote.place) as other, Session(zygote.place) as session:
        other.run("import subprocess\nsubprocess.Popen(['sleep', '100'])")
        assert (
            said(session, "import os\nprint([name for name in os.listdir('/proc') if name.isdecimal()])") == "['1']\n"
        )


@pytest.fixture
def covered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where parts of /proc are covered, as containers have it."""

    def command(*arguments: Any, **keywords: Any) -> tuple[list[str], Mapping[str, str]]:
        argv, variables = outer.command(*arguments, **keywords)
        place = argv.index("--proc") + 2
        return [*argv[:place], "--ro-bind", "/dev/null", "/proc/uptime", *argv[place:]], variables

    monkeypatch.setattr(starting, "command", command)
    monkeypatch.setattr(outer, "OWN_PROC", ())


@pytest.mark.usefixtures("covered")
def test_where_proc_is_covered_there_are_facts_and_no_processes_and_the_doctor_says_so() -> None:
    with Zygote(walls="both") as zygote, Session(zygote.place) as session:
        assert said(session, "import os\nprint(sorted(os.listdir('/proc')))") == "['cpuinfo', 'meminfo', 'stat']\n"
    finding = next(one for one in diagnose() if one.what == OWN_PROCESSES)
    assert not finding.holds
    assert not finding.wall
    assert "n_jobs" in finding.remedy


def test_the_doctor_finds_what_this_machine_has(zygote: Zygote) -> None:
    with Session(zygote.place) as session:
        seen = said(session, "import os\nprint(os.path.exists('/proc/self/status'))")
    assert seen == f"{next(one for one in diagnose() if one.what == OWN_PROCESSES).holds}\n"
    assert Path("/proc", str(os.getpid()), "status").exists()
