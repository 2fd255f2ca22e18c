"""What a process keeps warm serves whoever would have got the same anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import course
from autograder.engine import Limits, borrowed, discard, opened, start_early

LIBRARY = Path(course.__file__).parent


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    discard()
    yield
    discard()


def found(libraries: Sequence[Path]) -> str:
    """Whether a submission finds the students' library, and the address of its zygote."""
    with borrowed(lambda alone: set(), libraries, Limits()) as place, opened(place, {}, {}, "ada/work", []) as session:
        return f"{session.run('import course').reply['status']} at {place.address}"


@pytest.mark.usefixtures("walls")
def test_two_courses_after_each_other_find_each_its_own_library() -> None:
    without, with_it = found([]), found([LIBRARY])
    assert without.startswith("error")
    assert with_it.startswith("ok")
    assert found([LIBRARY]) == with_it
    assert found([]).startswith("error")


@pytest.mark.usefixtures("walls")
def test_more_is_imported_for_the_second_submission_than_for_one_that_may_be_the_only_one() -> None:
    def zygote(of_many: set[str]) -> tuple[str, bool]:
        """Where a submission's process comes from, and whether that had imported `colorsys`."""
        asked = "import sys; opened = []; sys.addaudithook(lambda event, _: opened.append(event)); import colorsys; print('open' in opened)"
        with (
            borrowed(lambda alone: set() if alone else of_many, [], Limits()) as place,
            opened(place, {}, {}, "ada/work", []) as session,
        ):
            ((_, said),) = session.run(asked).messages
            return str(place.address), said["text"] == "False\n"

    first, second, third = (zygote({"colorsys"}) for _ in range(3))
    assert not first[1]
    assert second[1]
    assert third == second
    discard()
    assert zygote(set()) == zygote(set()), "nothing is begun anew for nothing"


@pytest.mark.usefixtures("walls")
def test_what_is_started_early_is_lent_and_the_first_submission_may_still_be_the_only_one() -> None:
    asked: list[bool] = []

    def lent() -> str:
        def wanted(alone: bool) -> set[str]:
            asked.append(alone)
            return {"colorsys"}

        with borrowed(wanted, [], Limits()) as place, opened(place, {}, {}, "ada/work", []) as session:
            return f"{session.run('import colorsys').reply['status']} at {place.address}"

    start_early({"colorsys", "json"}, [], Limits())
    assert lent() == lent()
    assert asked == [True, False]
    before = lent()
    start_early({"colorsys"}, [], Limits())
    assert lent() == before, "nothing is begun anew for nothing"
