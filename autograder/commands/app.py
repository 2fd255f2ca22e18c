"""What all commands share: how they are found, and how they end."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

COMPLETES = Path(sys.argv[0]).name != "__main__.py"
"""Whether a shell could complete this: `autograder`, and not `python -m autograder`."""

app = typer.Typer(no_args_is_help=True, add_completion=COMPLETES, pretty_exceptions_enable=False)

CourseOption = Annotated[
    Path | None,
    typer.Option(help="a folder with nbgrader_config.py; if not given, the course that one stands in"),
]
USAGE_ERROR = cast(type[Any], typer.BadParameter.__base__)
"""What typer raises of a command line that it cannot read: click's class, or a copy of its own."""


@app.callback()
def about() -> None:
    """Grade a class. In a checkout of the course, also make the course and prove it."""


def say(text: object, err: bool = False) -> None:
    """Print some lines, in which nothing that a student wrote moves the cursor or changes a colour."""
    from autograder.plugins.printable import lines

    typer.echo(lines(str(text)), err=err)


def exit_with(work: Callable[[], int]) -> NoReturn:
    """End with the exit code of some work, and with a sentence where it could not be done."""
    from autograder.problems import Problem

    try:
        code = work()
    except Problem as problem:
        say(str(problem), err=True)
        code = problem.code
    sys.exit(code)


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """End with what is amiss and what to do, and without a traceback, where it is something that a user can bring about."""
    from nbclient.exceptions import CellExecutionError

    from autograder.engine import NoSuchWalls
    from autograder.folder import NbgraderFailed
    from autograder.problems import Problem

    try:
        yield
    except Problem as problem:
        say(str(problem), err=True)
        sys.exit(problem.code)
    except NoSuchWalls as error:
        sys.exit(str(error))
    except NbgraderFailed as error:
        sys.exit(f"nbgrader could not make the release; mend source/ where it says so:\n{error}")
    except CellExecutionError as error:
        sys.exit(f"A cell of the notebook raised, and its outputs were not stored; mend it in source/:\n{error}")


def run(words: list[str]) -> NoReturn:
    """Do what a command line asks for, and exit.

    Where that has `--json`, there is an object also where a command does not begin, or breaks. What the output cannot hold, as a name
    in another script, is written as Python would escape it.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if "--json" not in words:
        app(words)
    try:
        code = app(words, standalone_mode=False) or 0
        error = "Stopped before anything was done." if code else ""
    except USAGE_ERROR as found:
        code, error = found.exit_code, found.format_message()
    except Exception as found:
        traceback.print_exc()
        code, error = 1, f"The grader has a fault: {type(found).__name__}: {found}. What was finished is kept."
    if error:
        say(error, err=True)
        typer.echo(json.dumps({"assignment": None, "error": error, "code": code}))
    sys.exit(code)
