"""A student's copies say of their language what the kernel says, so that opening one changes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from ipykernel.ipkernel import IPythonKernel

from autograder.folder import ROOT
from course.copies import settle

NAME = "00_shapes.ipynb"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "release" / "00_shapes", tmp_path / "work" / "00_shapes") / NAME


def test_a_copy_says_what_the_kernel_says_and_is_else_as_released(copy: Path) -> None:
    released = json.loads(copy.read_text(encoding="utf-8"))
    settle(copy.parents[1])
    settled = json.loads(copy.read_text(encoding="utf-8"))
    assert settled["metadata"].pop("language_info") == IPythonKernel().language_info
    del released["metadata"]["language_info"]
    assert settled == released


def test_a_notebook_that_was_open_before_is_left_as_it_is(copy: Path) -> None:
    settle(copy.parent)
    opened = copy.read_text(encoding="utf-8").replace('"version": "3.', '"version": "2.')
    copy.write_text(opened, encoding="utf-8")
    settle(copy.parent)
    assert copy.read_text(encoding="utf-8") == opened
