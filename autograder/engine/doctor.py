"""What this machine can do: which walls it builds, whether they hold, and how to get what is missing."""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.engine import groups
from autograder.engine.outer import KINDS, WALLS_VARIABLE, Walls, best_walls, why_not
from autograder.engine.session import Session
from autograder.engine.zygote import Zygote, ZygoteFailed

MEANING: dict[Walls, str] = {
    "both": "both walls: bubblewrap around all, and namespaces, limits and seccomp around each submission",
    "outer": "the outer wall, built anew for each submission (slower: a second or more each)",
    "none": "no walls: submissions run with your rights and can see what you can see",
}
NAMESPACES = (
    "let unprivileged users have namespaces: `sysctl user.max_user_namespaces=10000`; on Debian also "
    "`sysctl kernel.unprivileged_userns_clone=1`; on Ubuntu 24.04 and later `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; "
    "in a container, start it with namespaces allowed"
)
BUBBLEWRAP = "`apt-get install bubblewrap` (Fedora: `dnf install bubblewrap`; macOS has none: grade on Linux)"

REMEDIES = {
    "bubblewrap is not installed": BUBBLEWRAP,
    "setpriv is not installed": "install util-linux",
    "not Linux": BUBBLEWRAP,
    "no seccomp": "grade on x86-64 or arm64",
}

ROOT = str(Path(__file__).resolve().parents[2])
TRIALS = {
    "cells run": "True",
    "this checkout cannot be seen": f"__import__('os').path.exists({ROOT!r}) is False",
    "other processes cannot be seen": "not {n for n in __import__('os').listdir('/proc') if n.isdecimal()} - {'1'}",
    "the network is cut": (
        "(lambda s: s.settimeout(2) or s.connect_ex(('192.0.2.1', 80)))(__import__('socket').socket()) == 101"
    ),
    "loopback works": (
        "(lambda s, t: s.bind(('127.0.0.1', 0)) or s.listen() or t.connect(s.getsockname()) or True)"
        "(__import__('socket').socket(), __import__('socket').socket())"
    ),
    "nothing outside can be written": "not any(__import__('os').access(path, 2) for path in ('/', '/usr', '/opt', '/etc', '/dev'))",
    "privileged calls are refused": "__import__('ctypes').CDLL(None).unshare(0x10000000) == -1",
}
OWN_PROCESSES = "its own processes can be seen"
COMFORTS = {OWN_PROCESSES: "__import__('os').path.exists('/proc/self/status')"}
"""What some notebooks need, and no wall does."""

WHOLE_PROC = (
    "psutil, and what starts processes through it, such as joblib's and scikit-learn's n_jobs, fail in notebooks: parts of /proc are "
    "covered here; in a container, start it with them uncovered (Docker: `--security-opt systempaths=unconfined`)"
)

COUNTED = "counted from outside, four times a second: processes, files in memory, every socket as full, locks, areas of addresses and inotify"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at: whether it holds, what was seen, and what helps where it does not.

    Attributes:
        wall: whether the walls do not hold without it.
    """

    what: str
    holds: bool
    seen: str
    remedy: str = ""
    wall: bool = True


def diagnose() -> list[Diagnosis]:
    """Look at this machine, and try the walls it gives."""
    found = [Diagnosis("system", True, f"{platform.system()} {platform.release()} on {platform.machine()}")]
    found.append(
        Diagnosis("python", sys.version_info >= (3, 11), platform.python_version(), "use Python 3.11 or later")
    )
    for kind in ("outer", "both"):
        reason = why_not(kind)
        name = f"{kind} wall" if kind == "outer" else "inner wall"
        found.append(Diagnosis(name, not reason, reason or "can be built", remedy(reason) if reason else ""))
    found.append(
        Diagnosis(
            "in use",
            best_walls() == "both",
            MEANING[best_walls()],
            f"see above; {WALLS_VARIABLE} can force one of {', '.join(KINDS)}",
        )
    )
    return [*found, *_tried()]


def remedy(reason: str) -> str:
    """What helps against what keeps this machine from building walls."""
    return next((help_ for part, help_ in REMEDIES.items() if part in reason), NAMESPACES)


def _memory(session: Session) -> str:
    """What bounds the memory of a submission, such as the one that is running, and why it is that."""
    if best_walls() == "none":
        return "no submission's is limited altogether"
    if session.grouped:
        return f"bounded by the kernel, with a control group for each submission below {groups.home()}, and {COUNTED}"
    return f"{COUNTED}, and not bounded by the kernel, which would count all that it keeps, and at once: {groups.why_not() or 'it let no process into a control group'}"


def _tried() -> list[Diagnosis]:
    """What a submission's process finds, seen from within."""
    walls = best_walls()
    begun = time.monotonic()
    try:
        with Zygote() as zygote, Session(zygote.place) as session:
            ready = time.monotonic() - begun
            found = [
                Diagnosis("zygote", True, f"ready after {ready:.1f} s"),
                Diagnosis("memory", True, _memory(session)),
            ]
            for what, expression in {**TRIALS, **COMFORTS}.items():
                shown = session.run(expression, 60).messages
                holds = any(content.get("data", {}).get("text/plain") == "True" for _, content in shown)
                meaning = WHOLE_PROC if what == OWN_PROCESSES else MEANING[walls]
                found.append(Diagnosis(what, holds, "yes" if holds else "no", "" if holds else meaning, what in TRIALS))
            return found
    except ZygoteFailed as error:
        return [Diagnosis("zygote", False, str(error), "please report this, with what stands above")]
