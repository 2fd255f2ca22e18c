"""What cells say of themselves is checked once for all notebooks that say the same."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooOldError, ValidationError

from autograder.plugins import metadata
from autograder.plugins.metadata import Metadata


@pytest.fixture(autouse=True)
def _nothing_passed_yet() -> Iterator[None]:
    metadata._passed.clear()
    yield
    metadata._passed.clear()


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[NotebookNode]:
    """Notebooks that nbgrader looked at."""
    seen: list[NotebookNode] = []
    check = MetadataValidator.validate_nb

    def noting(self: MetadataValidator, nb: NotebookNode) -> None:
        seen.append(nb)
        check(self, nb)

    monkeypatch.setattr(MetadataValidator, "validate_nb", noting)
    return seen


def notebook(source: str = "", **others: object) -> NotebookNode:
    stated = {"grade_id": "a", "schema_version": 3, "grade": True, "solution": False, "locked": True, "points": 1}
    return new_notebook(cells=[new_code_cell(source, metadata={"nbgrader": stated | others}), new_markdown_cell()])


def test_it_is_checked_once(checked: list[NotebookNode]) -> None:
    for source in ("one", "two", "three"):
        Metadata().preprocess(notebook(source), {})
    assert len(checked) == 1


def test_what_says_something_else_is_checked(checked: list[NotebookNode]) -> None:
    for points in (1, 2, 1):
        Metadata().preprocess(notebook(points=points), {})
    assert len(checked) == 2


@pytest.mark.parametrize(
    ("others", "error"), [({"grade_id": ""}, ValidationError), ({"schema_version": 2}, SchemaTooOldError)]
)
def test_what_is_wrong_is_refused_each_time(others: dict[str, object], error: type[Exception]) -> None:
    Metadata().preprocess(notebook(), {})
    for _ in range(2):
        with pytest.raises(error):
            Metadata().preprocess(notebook(**others), {})


def test_a_warning_is_given_each_time(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        with caplog.at_level(logging.WARNING):
            Metadata().preprocess(notebook(cell_type="markdown"), {})
    assert len(caplog.records) == 2
