"""What a process keeps warm serves whoever would have got the same anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import course
from autograder.engine import Limits, borrowed, discard, opened

LIBRARY = Path(course.__file__).parent


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    discard()
    yield
    discard()


def found(libraries: Sequence[Path]) -> str:
    """Whether a submission finds the students' library, and the address of its zygote."""
    with borrowed(set, libraries, Limits()) as place, opened(place, {}, {}, "ada/work", []) as session:
        return f"{session.run('import course').reply['status']} at {place.address}"


@pytest.mark.usefixtures("walls")
def test_two_courses_after_each_other_find_each_its_own_library() -> None:
    without, with_it = found([]), found([LIBRARY])
    assert without.startswith("error")
    assert with_it.startswith("ok")
    assert found([LIBRARY]) == with_it
    assert found([]).startswith("error")
