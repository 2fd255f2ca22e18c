"""A PostgreSQL server of a test's own, which nobody reaches but through a socket in its folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import OperationalError

from autograder.folder import Course
from autograder.settings import CONFIG
from tests.support.needed import POSTGRES
from tests.support.waiting import until

OWNER = "postgres"  # the server refuses to run as root
_numbers = count(1)


@dataclass(frozen=True)
class Postgres:
    """A running server, by the folder that its socket lies in."""

    folder: Path

    def url(self, database: str) -> str:
        """What a course writes as its db_url."""
        url = URL.create("postgresql+psycopg", OWNER, database=database, query={"host": str(self.folder)})
        return url.render_as_string()

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"gradebook{next(_numbers)}"
        engine = create_engine(self.url(OWNER), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)


def kept_in(course: Course, database: str) -> Course:
    """A course whose gradebook is the database at an address from now on."""
    with (course.root / CONFIG).open("a") as config:
        config.write(f"c.CourseDirectory.db_url = {database!r}\n")
    return Course(course.root)


@contextmanager
def running() -> Iterator[Postgres]:
    """A server, for as long as it is needed. A test that asks for one is left out where it cannot be, or fails where it is required.

    Raises:
        RuntimeError: it did not start; the message says what it printed.
    """
    initdb, server = (_program(name) for name in ("initdb", "postgres"))
    user = OWNER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="postgres-") as place:  # a socket's path is short
        folder = Path(place)
        if user:
            shutil.chown(folder, user, user)
        data, log = folder / "data", folder / "log"
        made = subprocess.run(
            [
                initdb,
                "--no-sync",
                "--auth=trust",
                f"--username={OWNER}",
                "--encoding=UTF8",
                "--locale=C",
                f"--pgdata={data}",
            ],
            **_alone(user),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}")
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": place,
            "fsync": "off",
            "deadlock_timeout": "100ms",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with log.open("wb") as said:
            process = subprocess.Popen([server, "-D", data, *options], **_alone(user), stdout=said, stderr=said)
        try:
            if (
                not until(lambda: process.poll() is not None or _answers(Postgres(folder)))
                or process.poll() is not None
            ):
                raise RuntimeError(f"the server did not start:\n{log.read_text()}")
            yield Postgres(folder)
        finally:
            process.send_signal(signal.SIGINT)  # it ends its connections, and then itself
            process.wait()


def _program(name: str) -> str:
    debians = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    folders = os.pathsep.join([*map(str, reversed(debians)), os.environ["PATH"]])
    found = shutil.which(name, path=folders)
    return found or POSTGRES.leave_out()


def _alone(user: str | None) -> dict[str, Any]:
    """How a program of the server's is started: as a user who has no other rights, from a folder that everybody may enter."""
    rights: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user else {}
    return {**rights, "cwd": "/"}


def _answers(server: Postgres) -> bool:
    engine = create_engine(server.url(OWNER))
    try:
        engine.connect().close()
    except OperationalError:
        return False
    finally:
        engine.dispose()
    return True
