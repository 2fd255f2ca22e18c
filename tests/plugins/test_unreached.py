"""A notebook that wants the network, where a course gives it none: the log names the setting, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from autograder.folder import Course
from tests.support.stock import PLUGGED, cell, nbgrader, stock_course, write

pytestmark = pytest.mark.usefixtures("walls")
SETTING = "c.Sandbox.network"
IN_VAIN = {
    "urllib": "import urllib.request\nurllib.request.urlopen('https://data.example.org')",
    "an-address": "import socket\nsocket.create_connection(('192.0.2.1', 80))",
    "a-cause": (
        "import socket\ntry:\n    socket.gethostbyname('data.example.org')\nexcept OSError as error:\n"
        "    raise ValueError('no data') from error"
    ),
    "told": "import socket\ntry:\n    socket.gethostbyname('data.example.org')\nexcept OSError as error:\n    print(error)",
    "a-kernel": "import ipykernel\nimport socket\nsocket.gethostbyname('data.example.org')",
}
OTHER_ERRORS = [
    "import socket\nsocket.create_connection(('127.0.0.1', 1))",
    "socket.getaddrinfo('127.0.0.1', 'no such service')",
    "open('data.csv')",
    "raise TimeoutError('timed out')",
    "wanted = 'Temporary failure in name resolution'  # a line of code is no error\n1 / 0",
]


def handed_in(root: Path, students: dict[str, list[str]], settings: str = "") -> Course:
    course = stock_course(root, PLUGGED + settings)
    for folder, sources in {
        root / "source" / "ps1": [],
        **{course.folder("submitted", who, "ps1"): cells for who, cells in students.items()},
    }.items():
        write(folder / "ps1.ipynb", [*map(new_code_cell, sources), cell(new_code_cell("assert True"), "test", 1)])
    course.generate_assignment("ps1")
    return course


def test_the_log_names_the_setting_for_those_who_wanted_the_network_alone(tmp_path: Path) -> None:
    course = handed_in(tmp_path, {**{name: ["2", source] for name, source in IN_VAIN.items()}, "others": OTHER_ERRORS})
    told = [line for line in nbgrader(course.root, "autograde", "ps1").splitlines() if SETTING in line]
    assert sorted(line.partition("ps1 of ")[2].partition(" asked")[0] for line in told) == sorted(
        f"{name}: cell 2 of 3" for name in IN_VAIN
    )


def test_nothing_is_said_where_the_course_has_listed_hosts(tmp_path: Path) -> None:
    course = handed_in(tmp_path, {"ada": [IN_VAIN["an-address"]]}, f"{SETTING} = ['data.example.org']")
    log = nbgrader(course.root, "autograde", "ps1")
    assert "Writing" in log
    assert SETTING not in log
