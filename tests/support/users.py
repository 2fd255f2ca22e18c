"""Several system users on one machine, each with a home, who share nbgrader's exchange, at its usual place; the machine itself stays as it is.

Each command sees mounts of its own: a list of users that has these in it, and the interpreter, its packages, the checkout and what
lies in /usr/local/share at places that everybody may read, wherever they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from autograder.settings import ROOT

FIRST_ID = 52_001
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
ENTER = """
set -e
place=$1 folder=$2; shift 2
mount --bind "$place/etc/passwd" /etc/passwd
mount --bind "$place/etc/group" /etc/group
mount --bind "$place/share" /usr/local/share
mount --bind "$BASE" "$place/python"
mount --bind "$PREFIX/lib" "$place/env/lib"
mount --bind "$CHECKOUT" "$place/checkout"
cd "$folder"
exec "$@"
"""
BECOME = ["--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]


def obstacle() -> str:
    """What keeps a test from having users of its own; "" where nothing does."""
    if os.geteuid() != 0:
        return "several system users need root: `sudo make test`"
    missing = [name for name in ("unshare", "mount", "setpriv") if shutil.which(name) is None]
    if missing:
        return f"several system users need {' and '.join(missing)}, of util-linux"
    tried = subprocess.run(["unshare", "--mount", "mount", "--bind", "/etc", "/etc"], capture_output=True, text=True)
    return f"several system users need mounts: {tried.stderr.strip()}" if tried.returncode else ""


needs_users = pytest.mark.skipif(bool(obstacle()), reason=obstacle())


@dataclass(frozen=True)
class Machine:
    """A place that everybody may look into, with homes, a Python and an exchange."""

    place: Path

    @classmethod
    def made(cls, place: Path, *users: str) -> Machine:
        """Set up `place`, an empty folder that others can reach."""
        place.chmod(0o755)
        for name in ("etc", "python", "env/bin", "env/lib", "checkout", "home", "share/nbgrader/exchange"):
            (place / name).mkdir(parents=True)
        (place / "share" / "nbgrader" / "exchange").chmod(0o777)  # as nbgrader asks
        passwd, group = Path("/etc/passwd").read_text(), Path("/etc/group").read_text()
        for number, user in enumerate(users, FIRST_ID):
            home = place / "home" / user
            home.mkdir(mode=0o700)
            os.chown(home, number, number)
            passwd += f"{user}:x:{number}:{number}::{home}:/bin/sh\n"
            group += f"{user}:x:{number}:\n"
        (place / "etc" / "passwd").write_text(passwd)
        (place / "etc" / "group").write_text(group)
        (place / "env" / "pyvenv.cfg").write_text(f"home = {place}/python/bin\ninclude-system-site-packages = false\n")
        for name in ("etc", "share"):
            shutil.copytree(Path(sys.prefix, name), place / "env" / name)
        (place / "env" / "bin" / "python").symlink_to(place / "python" / "bin" / PYTHON)
        alembic = place / "env" / "bin" / "alembic"
        alembic.write_text(f'#!/bin/sh\nexec {place}/env/bin/python -m alembic "$@"\n')
        alembic.chmod(0o755)
        return cls(place)

    def home(self, user: str) -> Path:
        return self.place / "home" / user

    def give(self, user: str, folder: Path) -> None:
        """Let a folder of a user's home, and all in it, be the user's."""
        owner = self.home(user).stat()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)

    @property
    def exchange(self) -> Path:
        """Where the course's assignments are handed out, and in."""
        return self.place / "share" / "nbgrader" / "exchange" / "attention"

    def start(self, user: str, folder: Path, *words: str) -> subprocess.Popen[str]:
        """Begin a command of Python, `-m nbgrader ...`, as a user in a folder."""
        variables = self.variables | {"HOME": str(self.home(user)), "USER": user}
        told = [f"{name}={value}" for name, value in variables.items()]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", *BECOME, "env", "-i", *told]
        return self.enter(folder, *become, "python", *words, stdout=subprocess.PIPE)

    @property
    def variables(self) -> dict[str, str]:
        """What programs are told, so that they run what this machine has."""
        return {
            "PATH": f"{self.place}/env/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{self.place}/checkout",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LD_LIBRARY_PATH": f"{self.place}/python/lib",
        }

    def enter(self, folder: Path, *command: str, stdout: IO[bytes] | int) -> subprocess.Popen[str]:
        """Begin a command as root, in a folder."""
        mounted = {"BASE": sys.base_prefix, "PREFIX": sys.prefix, "CHECKOUT": str(ROOT)}
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", ENTER, "sh", self.place, folder, *command],
            env={**os.environ, **mounted},
            text=True,
            stdout=stdout,
            stderr=subprocess.STDOUT,
        )

    def run(self, user: str, folder: Path, *words: str) -> str:
        """What a command printed, which has to succeed."""
        return printed(self.start(user, folder, *words))


def printed(running: subprocess.Popen[str]) -> str:
    """What a command printed once it has ended, which has to be well."""
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 0, said
    return said
