"""Several system users on one machine, each with a home, who share nbgrader's exchange; the machine itself stays as it is.

Each command sees mounts of its own: a list of users that has these in it, and the interpreter, its packages and the checkout
at places that everybody may read, wherever they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.folder import CONFIG, ROOT

FIRST_ID = 52_001
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
BECOME = """
set -e
place=$1 user=$2 folder=$3; shift 3
mount --bind "$place/etc/passwd" /etc/passwd
mount --bind "$place/etc/group" /etc/group
mount --bind "$BASE" "$place/python"
mount --bind "$PREFIX/lib" "$place/env/lib"
mount --bind "$CHECKOUT" "$place/checkout"
cd "$folder"
exec setpriv --reuid="$user" --regid="$user" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs env -i \
    PATH="$place/env/bin:/usr/bin:/bin" HOME="$place/home/$user" USER="$user" LANG=C.UTF-8 \
    PYTHONPATH="$place/checkout" PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="$place/python/lib" "$@"
"""


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
        for name in ("etc", "python", "env/bin", "env/lib", "checkout", "home", "exchange"):
            (place / name).mkdir(parents=True)
        (place / "exchange").chmod(0o777)  # as nbgrader asks
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
        shutil.copytree(Path(sys.prefix, "share"), place / "env" / "share")
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

    def configure(self, folder: Path) -> None:
        """Have nbgrader use the exchange of this machine."""
        with (folder / CONFIG).open("a") as config:
            config.write(
                f"\nc = get_config()\nc.CourseDirectory.course_id = 'attention'\nc.Exchange.root = '{self.place}/exchange'\n"
            )

    def start(self, user: str, folder: Path, *words: str) -> subprocess.Popen[str]:
        """Begin a command of Python, `-m nbgrader ...`, as a user in a folder."""
        variables = {**os.environ, "BASE": sys.base_prefix, "PREFIX": sys.prefix, "CHECKOUT": str(ROOT)}
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", BECOME, "sh", self.place, user, folder, "python", *words],
            env=variables,
            text=True,
            stdout=subprocess.PIPE,
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
