"""Where the system lets the grader make control groups, the kernel bounds each submission's memory; the doctor says which it is, and why."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.engine import Place, Session, Walls, Zygote, doctor, groups
from autograder.engine.groups import REST, Bound, NoGroups, find, settle
from autograder.engine.kernels import walled_kernels
from tests.support.hoards import HOARDS, HONEST
from tests.support.waiting import until

LITTLE = 128 << 20  # bytes

# ------------------------------------------------------------------------------- which group, and which sentence: anywhere


class Machine:
    """A made tree of control groups, and what /proc would say of a process in it.

    Args:
        own: the group that the process is in.
        controllers: what that group counts.
        systemd: whether systemd runs the machine.
        root: the group that is seen where the tree is mounted.
    """

    def __init__(
        self, folder: Path, own: str = "/a", controllers: str = "cpu memory", systemd: bool = False, root: str = "/"
    ) -> None:
        self.tree, self.process, self.systemd = folder / "tree", folder / "process", folder / "systemd"
        for made in (self.tree, self.process, *([self.systemd] if systemd else [])):
            made.mkdir()
        self.group = self.tree / own.removeprefix(root).lstrip("/")
        self.group.mkdir(parents=True, exist_ok=True)
        (self.group / "cgroup.controllers").write_text(controllers)
        for name in ("cgroup.procs", "cgroup.subtree_control"):
            (self.group / name).touch()
        self.mounts(f"30 20 0:26 {root} {self.tree} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate")
        (self.process / "cgroup").write_text(f"1:name=systemd:/elsewhere\n0::{own}\n")

    def mounts(self, *lines: str) -> None:
        (self.process / "mountinfo").write_text("20 1 0:1 / / rw - ext4 /dev/vda rw\n" + "\n".join(lines) + "\n")

    def find(self) -> Path:
        return find(self.process, self.systemd)

    def says(self) -> str:
        with pytest.raises(NoGroups) as refused:
            self.find()
        return str(refused.value)


SYSTEMCTL = """#!/bin/sh
case "$*" in
    "{asked}") echo yes ;;
    *) echo no ;;
esac
"""


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have systemd say of one unit that it is delegated, when it is asked with these words."""

    def say(asked: str) -> None:
        program = tmp_path / "bin" / "systemctl"
        program.parent.mkdir()
        program.write_text(SYSTEMCTL.format(asked=asked))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return say


def test_a_group_that_may_be_changed_is_taken(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.find() == machine.group
    assert sorted(path.name for path in machine.group.iterdir()) == [
        "cgroup.controllers",
        "cgroup.procs",
        "cgroup.subtree_control",
    ]


def test_the_root_of_all_groups_is_taken_where_nobody_manages_them(tmp_path: Path) -> None:
    assert Machine(tmp_path, own="/").find() == tmp_path / "tree"


def test_where_a_part_of_the_tree_is_mounted_the_group_is_found_in_it(tmp_path: Path) -> None:
    assert Machine(tmp_path, own="/docker/1234/b", root="/docker/1234").find() == tmp_path / "tree" / "b"


def test_who_was_moved_aside_by_an_earlier_run_finds_the_group_it_was_in(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (machine.process / "cgroup").write_text(f"0::/a/{REST}\n")
    assert machine.find() == machine.group


@pytest.mark.parametrize(
    ("own", "asked"),
    [
        ("/system.slice/run-1.scope", "show --property=Delegate --value -- run-1.scope"),
        ("/system.slice/grading.service/below", "show --property=Delegate --value -- grading.service"),
        (
            "/user.slice/user@1000.service/app.slice/run-1.scope",
            "--user show --property=Delegate --value -- run-1.scope",
        ),
    ],
)
def test_under_systemd_a_group_is_taken_that_it_has_given_away(
    tmp_path: Path, systemctl: Callable[[str], None], own: str, asked: str
) -> None:
    systemctl(asked)
    machine = Machine(tmp_path, own=own, systemd=True)
    assert machine.find() == machine.group


@pytest.mark.parametrize(
    ("user", "helps"),
    [
        (0, "put `systemd-run --scope -p Delegate=yes` before"),
        (1000, "put `systemd-run --user --scope -p Delegate=yes`"),
    ],
)
def test_under_systemd_no_other_group_is_touched(
    tmp_path: Path, systemctl: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, user: int, helps: str
) -> None:
    systemctl("--user show --property=Delegate --value -- user@1000.service")
    monkeypatch.setattr(os, "getuid", lambda: user)
    machine = Machine(tmp_path, own="/user@1000.service/app.slice", systemd=True)
    assert f"the control group that this runs in is systemd's own; {helps}" in machine.says()


def test_a_group_that_cannot_be_changed_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, how: how == os.W_OK and path.name != "cgroup.subtree_control")
    assert "is not this user's; give this user a control group of version 2" in machine.says()


def test_without_the_memory_controller_there_is_no_group(tmp_path: Path) -> None:
    assert "does not count memory; give this user a control group" in Machine(tmp_path, controllers="cpu pids").says()


def test_where_memory_is_counted_by_version_1_the_way_to_version_2_is_told(tmp_path: Path) -> None:
    machine = Machine(tmp_path, controllers="")
    machine.mounts(
        "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
        f"30 20 0:26 / {machine.tree} rw - cgroup2 cgroup2 rw",
    )
    assert machine.says() == (
        "memory is counted by control groups of version 1 here; boot with `systemd.unified_cgroup_hierarchy=1`"
    )


def test_where_no_tree_is_mounted_that_is_said(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.mounts("31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory")
    assert "no control groups of version 2 are mounted here" in machine.says()


def test_elsewhere_than_on_linux_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoGroups, match="not Linux"):
        find(tmp_path / "nothing", tmp_path)


def test_who_is_in_the_group_is_moved_aside_before_it_bounds_anybody(tmp_path: Path) -> None:
    group = Machine(tmp_path).group
    (group / "cgroup.type").write_text("domain")
    (group / "cgroup.procs").write_text("17")
    (group / REST).mkdir()
    (group / REST / "cgroup.procs").touch()
    settle(group)
    assert (group / REST / "cgroup.procs").read_text() == "17"
    assert (group / "cgroup.subtree_control").read_text() == "+memory"


def test_nobody_is_moved_where_not_all_can_be(tmp_path: Path) -> None:
    group = Machine(tmp_path).group
    (group / "cgroup.type").write_text("domain")
    (group / "cgroup.procs").write_text("17\n0\n")
    with pytest.raises(NoGroups, match="out of sight; start this in a control group of its own"):
        settle(group)
    assert not (group / REST).exists()
    assert (group / "cgroup.subtree_control").read_text() == ""


def test_nobody_is_moved_from_the_root_of_all_groups(tmp_path: Path) -> None:
    group = Machine(tmp_path, own="/").group
    (group / "cgroup.procs").write_text("17")
    settle(group)
    assert not (group / REST).exists()
    assert (group / "cgroup.subtree_control").read_text() == "+memory"


def test_groups_that_a_killed_run_left_are_removed_and_those_in_use_are_not(tmp_path: Path) -> None:
    group = Machine(tmp_path, own="/").group
    used = group / "autograder-used"
    for folder in (group / "autograder-left", used, group / REST, group / "others"):
        folder.mkdir()
    code = "import fcntl, os, sys\nfcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_SH)\nprint(flush=True)\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, str(used)], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        settle(group)
        assert sorted(path.name for path in group.iterdir() if path.is_dir()) == [REST, "autograder-used", "others"]
        holder.kill()
    settle(group)
    assert sorted(path.name for path in group.iterdir() if path.is_dir()) == [REST, "others"]


def test_what_is_being_made_is_not_taken_for_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = Machine(tmp_path, own="/").group
    shut: list[str] = []

    def try_to_lock(how: int, what: str) -> None:
        descriptor = os.open(group, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            shut.append(what)
        finally:
            os.close(descriptor)

    make, reclaim = tempfile.mkdtemp, groups._reclaim
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **how: (try_to_lock(fcntl.LOCK_EX, "while made"), make(**how))[1])
    monkeypatch.setattr(
        groups, "_reclaim", lambda place: (try_to_lock(fcntl.LOCK_SH, "while reclaimed"), reclaim(place))[1]
    )
    settle(group)
    groups.take(Bound(str(group), LITTLE))
    assert shut == ["while reclaimed", "while made"]


def test_the_doctor_says_in_one_line_what_bounds_memory_and_why(walls: None) -> None:
    (line,) = [finding.seen for finding in doctor.diagnose() if finding.what == "memory"]
    assert "counted from outside, four times a second" in line
    assert "\n" not in line
    reason = groups.why_not()
    assert (
        (reason in line)
        if reason
        else (f"bounded by the kernel, with a control group for each submission below {groups.home()}" in line)
    )


def test_a_submission_is_run_where_the_kernel_gives_no_more_groups(walls: None, tmp_path: Path) -> None:
    with Zygote(walls="both") as zygote:
        place = zygote.place._replace(bound=Bound(str(tmp_path / "gone"), LITTLE))
        with Session(place) as session:
            assert session.run("1").end == "finished"
            assert not session.grouped


# ------------------------------------------------------------------------------------------- the kernel itself: where it may


@pytest.fixture(scope="module")
def home(walls: None) -> Path:
    """Where groups can be made; the reason is told where they cannot."""
    found = groups.home()
    if found is None:
        pytest.skip(f"no control group can be had: {groups.why_not()}")
    return found


@pytest.fixture(scope="module")
def wide(home: Path) -> Iterator[Zygote]:
    """What is counted from outside may be far more than any test takes."""
    with Zygote(walls="both") as zygote:
        yield zygote


def bounded(zygote: Zygote, home: Path) -> Place:
    """The same zygote, for a submission whose group allows little."""
    return zygote.place._replace(bound=Bound(str(home), LITTLE))


def made(home: Path) -> set[str]:
    """The groups of submissions."""
    return {path.name for path in home.glob("autograder-*") if path.is_dir()} - {REST}


MANY_SMALL = """
import os, time
for _ in range(40):
    if not os.fork():
        kept = bytearray(b"1") * (10 << 20)
        time.sleep(120)
time.sleep(120)
"""
SEVERAL = {**HOARDS, "many small processes": MANY_SMALL}


@pytest.mark.parametrize("what", SEVERAL)
def test_the_kernel_alone_ends_who_hoards_and_nobody_else(wide: Zygote, home: Path, what: str) -> None:
    before = made(home)
    with Session(wide.place) as honest, Session(bounded(wide, home)) as session:
        assert honest.run(HONEST).end == "finished"
        assert session.run("1").end == "finished"
        assert session.run(SEVERAL[what], 300).end == "greedy"
        assert honest.run("len(kept)").reply["status"] == "ok"
    assert made(home) == before


def test_the_group_goes_with_its_submission(wide: Zygote, home: Path) -> None:
    before = made(home)
    with Session(bounded(wide, home)) as session:
        session.run("import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)")
        (name,) = made(home) - before
        assert len((home / name / "cgroup.procs").read_text().split()) == 2
        assert (home / name / "memory.max").read_text().strip() == str(LITTLE)
    assert made(home) == before


@pytest.mark.parametrize("kind", ["both", "outer"])
def test_each_submission_is_in_a_group_behind_either_wall(home: Path, kind: Walls) -> None:
    with Zygote(walls=kind) as zygote, Session(zygote.place) as session:
        assert session.grouped
        assert session.run("open('/proc/self/cgroup').read()").end == "finished"


def test_a_real_kernel_is_in_a_group_too_and_goes_with_it(home: Path, tmp_path: Path) -> None:
    before = made(home)

    async def start() -> None:
        with walled_kernels(tmp_path, tmp_path) as kind:
            manager = kind()
            await manager.start_kernel()
            (name,) = made(home) - before
            assert until((home / name / "cgroup.procs").read_text)

    asyncio.run(start())
    assert made(home) == before


HOST = """
import sys
import tempfile
from autograder.engine import Session, Zygote
with Zygote(walls="both") as zygote, Session(zygote.place) as session:
    session.start("import time\\ntime.sleep(1000)")
    print("runs", flush=True)
    sys.stdin.read()
"""


def test_what_is_left_when_the_grader_is_killed_goes_with_the_next_run(home: Path) -> None:
    before = made(home)
    with subprocess.Popen([sys.executable, "-c", HOST], stdin=-1, stdout=-1) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"runs\n"
        left = made(home) - before
        assert len(left) == 1
        host.kill()
    assert until(lambda: not any((home / name / "cgroup.procs").read_text() for name in left))
    code = "from autograder.engine import groups\nassert groups.home()"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert made(home) == before
