"""No attack earns more than its honest work, harms anybody, or ends the run; each works where nothing stands against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from arms import HEARD, HONEST, SHORT, Arm, graded, stock_course
from attack import PASSED, POINTS, ROW, Attack
from bombing import BOMBING
from cells import CELLS
from forging import FORGING
from honest import STUDENTS
from reaching import REACHING, VICTIM
from world import world

from autograder.folder import Course

pytestmark = pytest.mark.thorough  # several classes, graded behind walls, without, and in stock nbgrader

ATTACKS = {attack.name: attack for attack in (*FORGING, *CELLS, *REACHING, *BOMBING)}
ENDLESS = [attack for attack in ATTACKS.values() if attack.endless]
ENDING = [attack for attack in ATTACKS.values() if not attack.endless]
IN_STOCK = [attack for attack in ENDING if attack.works == "stock" and not attack.alone]
UNWALLED = [attack for attack in ATTACKS.values() if attack.works == "unwalled"]
ALONE = [attack for attack in ATTACKS.values() if attack.alone]
Arms = dict[str, Future[Arm]]


@pytest.fixture(scope="module")
def arms(new_course: Callable[[], Course], tmp_path_factory: pytest.TempPathFactory, walls: None) -> Iterator[Arms]:
    """The classes: behind the walls, without walls, by nbgrader's own rules; and those who would end a run, each alone.

    Those who never come to an end are in classes of their own.
    """
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(3))

        def start(course: Course, attacks: list[Attack], *others: object, **settings: Any) -> Future[Arm]:
            there = stack.enter_context(world(tmp_path_factory.mktemp("world"), [attack.name for attack in attacks]))
            return pool.submit(graded, course, there, attacks, *others, **settings)

        def stock() -> Course:
            return stock_course(tmp_path_factory.mktemp("stock") / "course")

        yield {
            "walled": start(new_course(), ENDING, STUDENTS),
            "endless": start(new_course(), ENDLESS, seconds_per_cell=SHORT),
            "endless in stock": start(stock(), ENDLESS, seconds_per_cell=SHORT),
            "unwalled": start(new_course(), UNWALLED, AUTOGRADER_WALLS="none"),
            "stock": start(stock(), IN_STOCK[::2]),
            "stock too": start(stock(), IN_STOCK[1::2]),
            **{attack.name: start(stock(), [attack]) for attack in ALONE},
        }


@pytest.fixture
def walled(arms: Arms) -> Arm:
    return arms["walled"].result()


@pytest.mark.parametrize("arm", ["walled", "endless"])
def test_the_run_comes_to_its_end(arms: Arms, arm: str) -> None:
    done = arms[arm].result()
    assert done.returncode == 0, done.log


@pytest.mark.parametrize("name", [VICTIM, *(HONEST + student.name for student in STUDENTS)])
def test_honest(walled: Arm, name: str) -> None:
    outcome = walled.outcomes[name]
    assert (outcome.scores, outcome.verdicts, outcome.waiting) == (POINTS, PASSED, ())


@pytest.mark.parametrize("name", ATTACKS)
def test_stopped(arms: Arms, name: str, record_property: Callable[[str, object], None]) -> None:
    attack = ATTACKS[name]
    outcome = arms["endless" if attack.endless else "walled"].result().outcomes[name]
    graded_as = outcome.scores, outcome.verdicts, outcome.waiting
    stopped = graded_as == (attack.earns, attack.ends, ())
    if attack.works != "heard":
        stopped = stopped and not attack.succeeded(outcome)
    marks = f"{sum(score or 0 for score in outcome.scores):g}/{sum(attack.earns):g}"
    said = "stopped" if stopped else "NOT STOPPED"
    verdicts = ", ".join(outcome.verdicts)
    record_property(ROW, f"{name:26}{attack.works:10}{said:12}{marks:5}{verdicts:33}{attack.tries}")
    assert stopped, (graded_as, outcome.said[-2000:])


@pytest.mark.parametrize("name", [attack.name for attack in ATTACKS.values() if attack.works != "mended"])
def test_succeeds_without(arms: Arms, name: str) -> None:
    attack = ATTACKS[name]
    if attack.works == "heard":
        arm, student = "walled", name + HEARD
    elif attack.endless:
        arm, student = "endless in stock", name
    elif attack.works == "unwalled" or attack.alone:
        arm, student = (name if attack.alone else "unwalled"), name
    else:
        arm, student = ("stock" if attack in IN_STOCK[::2] else "stock too"), name
    outcome = arms[arm].result().outcomes[student]
    assert attack.succeeded(outcome), (outcome.scores, outcome.verdicts, outcome.said[-2000:])


@pytest.mark.parametrize("arm", ["stock", "stock too", "endless in stock", "unwalled"])
def test_honest_work_has_all_marks_there_too(arms: Arms, arm: str) -> None:
    assert arms[arm].result().outcomes[VICTIM].scores == POINTS
