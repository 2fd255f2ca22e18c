"""The gradebook as the plug-ins need it: whether it can be used, and grades that a person has to give."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, create_engine, inspect, make_url, text
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from autograder.plugins.printable import printable

REVISION = re.compile(r"""^(revision|down_revision) = ["'](\w+)["']""", re.MULTILINE)
TO_USE = (
    "Close what else uses it, make it writable, or run `nbgrader db upgrade` if nbgrader is newer than it; then run the same "
    "command again."
)
TO_REPAIR = "Put a backup of it in its place, or move it away and run `nbgrader generate_assignment` to begin another."
TO_UPGRADE = "Make a copy of it, and run `nbgrader db upgrade`."
DRIVER = "`pip install --constraint constraints.txt --editable '.[instructor,postgres]'`"
TO_INSTALL = "Install the nbgrader that it was made with."


def trouble_with(db_url: str) -> str:
    """Why a gradebook cannot be used, and what to do; "" where it can, or where there is none yet. Nothing in it is changed."""
    try:
        engine = create_engine(db_url)
        try:
            with engine.connect() as connection:
                return _damage(db_url, connection) or _schema(db_url, connection)
        finally:
            engine.dispose()
    except SQLAlchemyError as error:
        return sentence(db_url, error)
    except ImportError as error:
        return f"{_named(db_url)} could not be used: {error}. Install its driver; for PostgreSQL, {DRIVER}."


def sentence(db_url: str, error: SQLAlchemyError) -> str:
    """What went wrong with a gradebook, and what to do."""
    reason = printable(str(getattr(error, "orig", None) or error))
    if isinstance(error, OperationalError | IntegrityError):
        return f"{_named(db_url)} could not be used: {reason}. What was finished is kept. {TO_USE}"
    return f"{_named(db_url)} is damaged, or is none: {reason}. It was left as it is. {TO_REPAIR}"


def wait_for_a_person(gradebook: Gradebook, grades: Iterable[Any]) -> None:
    """Have a person give these grades, whatever was given automatically before."""
    for grade in grades:
        grade.auto_score = None
        grade.needs_manual_grade = True
    gradebook.db.commit()


def _damage(db_url: str, connection: Connection) -> str:
    if connection.dialect.name != "sqlite":
        return ""
    found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if found != "ok":
        return f"{_named(db_url)} is damaged: {printable(str(found))}. It was left as it is. {TO_REPAIR}"
    version = connection.exec_driver_sql("PRAGMA user_version").scalar()
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    connection.exec_driver_sql(f"PRAGMA user_version = {version}")  # fails where it cannot be written to
    connection.rollback()
    return ""


def _schema(db_url: str, connection: Connection) -> str:
    if not inspect(connection).has_table("alembic_version"):
        return ""
    version = str(connection.scalar(text("SELECT version_num FROM alembic_version")))
    known = _revisions()
    if version in known and version not in known.values():
        return ""
    if version not in known:
        return f"{_named(db_url)} was made by another nbgrader: {printable(version)} is no schema that is known here. {TO_INSTALL}"
    return f"{_named(db_url)} was made by an older nbgrader, whose schema is {version}. {TO_UPGRADE}"


@cache
def _revisions() -> dict[str, str | None]:
    """The schemas that nbgrader knows, each with the one before it. To ask alembic, which runs what it reads, takes 0.3 s."""
    found: dict[str, str | None] = {}
    for script in Path(ALEMBIC_DIR, "versions").glob("*.py"):
        stated = dict(REVISION.findall(script.read_text(encoding="utf-8")))
        found[stated["revision"]] = stated.get("down_revision")
    return found


def _named(db_url: str) -> str:
    return f"The gradebook {printable(make_url(db_url).render_as_string())}"
