"""Control groups of Linux, version 2: where this process may make some, the kernel itself bounds the memory of each submission.

A group is a folder. Groups are made below the one that this process was started in, and that one may then hold no process itself:

    the group that was found        bounds nothing
        autograder-rest             whoever was in it before; bounds nothing
        autograder-...              one submission each: what takes more memory than it allows is killed as a whole
"""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PREFIX = "autograder-"
REST = f"{PREFIX}rest"
PROCESS = Path("/proc/self")
SYSTEMD = Path("/run/systemd/system")  # there where systemd runs this machine
UNSEEN = "0"  # as the kernel lists a process that is in another namespace
TRIES = 20  # whoever is moved may fork meanwhile
SECONDS_TO_END = 10.0
SECONDS_TO_ANSWER = 30.0

VERSION_2 = "boot with `systemd.unified_cgroup_hierarchy=1`"
SCOPE = "put `systemd-run --scope -p Delegate=yes` before the command"
USERS_SCOPE = "put `systemd-run --user --scope -p Delegate=yes` before the command"
WRITABLE = "give this user a control group of version 2, with its memory controller; in a container, have /sys/fs/cgroup writable"
OWN = "start this in a control group of its own"


class NoGroups(Exception):
    """No groups can be made here: why, and what helps."""


class Bound(NamedTuple):
    """Where groups are made, and how many bytes of memory one allows."""

    home: str
    most: int


class Group:
    """A group for one submission, for as long as this process holds it.

    Attributes:
        door: a descriptor; a process that writes "0" there is in the group from then on, with all that it starts.

    Raises:
        OSError: the kernel gives none.
    """

    def __init__(self, bound: Bound) -> None:
        home = Path(bound.home)
        with _locked(home, fcntl.LOCK_SH):
            self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))
            self._held = os.open(self._folder, os.O_RDONLY)
            fcntl.flock(self._held, fcntl.LOCK_SH)
        try:
            _write(self._folder / "memory.max", str(bound.most))
            _write(self._folder / "memory.oom.group", "1")
            with suppress(FileNotFoundError):  # a kernel that does not count what is swapped
                _write(self._folder / "memory.swap.max", "0")
            self.door = os.open(self._folder / "cgroup.procs", os.O_WRONLY)
        except OSError:
            _remove(self._folder)
            os.close(self._held)
            raise

    @property
    def populated(self) -> bool:
        """Whether a process is in it."""
        return _populated(self._folder)

    @property
    def overflowed(self) -> bool:
        """Whether the kernel has killed in it for want of memory."""
        words = _words(self._folder / "memory.events")
        return dict(zip(words[::2], words[1::2], strict=False)).get("oom_kill", "0") != "0"

    def entered(self, command: list[str]) -> list[str]:
        """How to start a command in it."""
        return ["sh", "-c", 'echo 0 > "$0"; exec "$@"', str(self._folder / "cgroup.procs"), *command]

    def close(self) -> None:
        """Kill whoever is in it, and remove it; one that does not go is left to the next run."""
        os.close(self.door)
        _remove(self._folder)
        os.close(self._held)


def allowing(most: int) -> Bound | None:
    """So many bytes for each group; None where this process may make no groups."""
    found = home()
    return Bound(str(found), most) if found else None


def take(bound: Bound | None) -> Group | None:
    """A group for one submission; None where there are none, or the kernel gives no more of them."""
    try:
        return Group(bound) if bound else None
    except OSError:
        return None


@lru_cache(maxsize=1)
def home() -> Path | None:
    """Where this process may make groups, None where it may not; `why_not` says why."""
    return None if why_not() else find()


@lru_cache(maxsize=1)
def why_not() -> str:
    """What keeps this process from making groups, and what helps; "" where nothing does."""
    try:
        found = find()
        settle(found)
        Group(Bound(str(found), 1 << 30)).close()
    except NoGroups as error:
        return str(error)
    except OSError as error:
        return f"the kernel refuses: {error.strerror}"
    return ""


def find(process: Path = PROCESS, systemd: Path = SYSTEMD) -> Path:
    """The group that this process was started in, if groups with a bound of their own may be made in it. Nothing is changed.

    Args:
        process: what /proc says of this process.
        systemd: there if systemd runs this machine. Then only a group that it has given away (`Delegate=yes`) may be changed, whoever asks.

    Raises:
        NoGroups: it is not to be had, or not to be changed.
    """
    try:
        mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
        named = (process / "cgroup").read_text().splitlines()
    except OSError:
        raise NoGroups("control groups are Linux's, and this is not Linux") from None
    booted = systemd.is_dir()
    help_ = WRITABLE if not booted else USERS_SCOPE if os.getuid() else SCOPE
    place = _place(mounts, named)
    if place is None:
        raise NoGroups(f"no control groups of version 2 are mounted here; {VERSION_2}")
    if "memory" not in _words(place / "cgroup.controllers"):
        if any(kind == "cgroup" and "memory" in options.split(",") for kind, options in map(_kind, mounts)):
            raise NoGroups(f"memory is counted by control groups of version 1 here; {VERSION_2}")
        raise NoGroups(f"the control group that this runs in does not count memory; {help_}")
    if not all(os.access(path, os.W_OK) for path in (place, place / "cgroup.procs", place / "cgroup.subtree_control")):
        raise NoGroups(f"the control group that this runs in is not this user's; {help_}")
    if booted and not _delegated(place):
        raise NoGroups(f"the control group that this runs in is systemd's own; {help_}")
    return place


def settle(folder: Path) -> None:
    """Have a group bound those in it: whoever is in it itself moves to one that bounds nothing. What killed runs have left goes.

    Raises:
        OSError: the kernel refuses.
        NoGroups: not all who are in it can be moved.
    """
    with _locked(folder, fcntl.LOCK_EX):
        _reclaim(folder)
        if "memory" in _words(folder / "cgroup.subtree_control"):
            return
        for _ in range(TRIES):
            if (folder / "cgroup.type").exists():  # else it is the root of all, which may hold processes
                _move(folder, folder / REST)
            try:
                _write(folder / "cgroup.subtree_control", "+memory")
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
            else:
                return
    raise NoGroups(f"the control group that this runs in is shared with processes that cannot be moved; {OWN}")


def _place(mounts: list[list[str]], named: list[str]) -> Path | None:
    """The folder of the group that a process was in before it, or another, settled there."""
    for mount in mounts:
        if _kind(mount)[0] == "cgroup2":
            for line in named:
                with suppress(ValueError):  # it lies beside what is mounted
                    if line.startswith("0::"):
                        place = Path(mount[4]) / PurePosixPath(line[3:]).relative_to(mount[3])
                        return place.parent if place.name == REST else place
    return None


def _kind(mount: list[str]) -> tuple[str, str]:
    """The kind of file system of a line of mountinfo, and its options."""
    after = mount.index("-")
    return mount[after + 1], mount[-1]


def _delegated(place: Path) -> bool:
    """Whether systemd says that what is below the unit which a group belongs to is not its own to change."""
    unit = next((part for part in reversed(place.parts) if part.endswith((".scope", ".service", ".slice"))), "-.slice")
    manager = ["--user"] if any(part.startswith("user@") for part in place.parts) else []
    asked = ["systemctl", *manager, "show", "--property=Delegate", "--value", "--", unit]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == "yes"


def _move(source: Path, target: Path) -> None:
    processes = _words(source / "cgroup.procs")
    if UNSEEN in processes:
        raise NoGroups(f"the control group that this runs in is shared with processes out of sight; {OWN}")
    target.mkdir(exist_ok=True)
    for process in processes:
        with suppress(ProcessLookupError):
            _write(target / "cgroup.procs", process)


def _reclaim(folder: Path) -> None:
    """Remove the groups that nobody holds; what still runs in them is killed."""
    for left in folder.glob(f"{PREFIX}*"):
        if left.name != REST:
            with suppress(OSError):
                descriptor = os.open(left, os.O_RDONLY)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(left)
                finally:
                    os.close(descriptor)


def _remove(folder: Path) -> None:
    with suppress(OSError):  # a kernel older than 5.14 has none; whose process it is kills it as well
        _write(folder / "cgroup.kill", "1")
    end = time.monotonic() + SECONDS_TO_END
    while time.monotonic() < end:
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                return
            time.sleep(0.001)
        else:
            return


def _populated(folder: Path) -> bool:
    return _words(folder / "cgroup.events")[:2] == ["populated", "1"]


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _write(path: Path, text: str) -> None:
    """In one call, and to a file that is there: the kernel makes all that are."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
