"""Run a module of nbgrader's own tests in a process of its own, with the plug-ins or without."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import nbgrader

SAID = {"error": "error", "failure": "failed", "skipped": "skipped"}
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Run:
    """What came of it.

    Attributes:
        outcomes: for each test, "passed", "failed", "error" or "skipped".
        ran: the classes of the exporters and preprocessors that nbgrader ran, in full.
        output: what pytest printed.
    """

    outcomes: dict[str, str]
    ran: set[str]
    output: str


def run(module: str, plugged: bool = True, only: Sequence[str] = ()) -> Run:
    """Run one of nbgrader's test modules or packages.

    Args:
        module: its name below `nbgrader.tests`.
        plugged: whether nbgrader reads the plug-ins' settings; else it is as its authors made it.
        only: the names of the tests to run; all of them where there are none.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "nbgrader").symlink_to(
            Path(nbgrader.__file__).parent
        )  # some tests look for a checkout of nbgrader here
        (folder / "home").mkdir()
        command = [
            sys.executable,
            "-P",
            "-m",
            "pytest",
            "-q",
            "-o",
            "addopts=",
            "-p",
            "no:cacheprovider",
            "-p",
            "witness",
        ]
        command += ["-p", "plugged"] if plugged else []
        command += ["-k", " or ".join(only)] if only else []
        command += ["--junit-xml", "junit.xml", "--pyargs", f"nbgrader.tests.{module}"]
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment(folder, plugged),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        report, ran = folder / "junit.xml", folder / "ran.txt"
        return Run(
            {name(case): outcome(case) for case in ElementTree.parse(report).iter("testcase")}
            if report.exists()
            else {},
            set(ran.read_text().splitlines()) if ran.exists() else set(),
            done.stdout,
        )


def environment(folder: Path, plugged: bool) -> dict[str, str]:
    """Nothing of this machine's Jupyter settings, and alembic on the path."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "PYTEST", "NBGRADER"))}
    return {
        **kept,
        "HOME": str(folder / "home"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)]),
        "WITNESS_REPORT": str(folder / "ran.txt"),
        **({"JUPYTER_CONFIG_PATH": str(HERE / "config")} if plugged else {}),
    }


def name(case: ElementTree.Element) -> str:
    return f"{case.attrib['classname']}.{case.attrib['name']}".strip(".")


def outcome(case: ElementTree.Element) -> str:
    tags = {child.tag for child in case}
    return next((said for tag, said in SAID.items() if tag in tags), "passed")
