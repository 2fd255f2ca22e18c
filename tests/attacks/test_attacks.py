"""No attack earns more than its honest work, harms anybody, or ends the run; each works where nothing stands against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from arms import HEARD, HONEST, Arm, graded, stock_course
from attack import PASSED, POINTS, ROW, Attack
from bombing import BOMBING
from cells import CELLS
from forging import FORGING
from honest import STUDENTS
from reaching import REACHING, VICTIM
from world import world

from autograder.course import Course

ATTACKS = {attack.name: attack for attack in (*FORGING, *CELLS, *REACHING, *BOMBING)}
IN_STOCK = [attack for attack in ATTACKS.values() if attack.works == "stock" and not attack.alone]
UNWALLED = [attack for attack in ATTACKS.values() if attack.works == "unwalled"]
ALONE = [attack for attack in ATTACKS.values() if attack.alone]
Arms = dict[str, Future[Arm]]


@pytest.fixture(scope="module")
def arms(new_course: Callable[[], Course], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arms]:
    """The classes: behind the walls, without walls, by nbgrader's own rules; and those who would end a run, each alone."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(3))

        def start(course: Course, attacks: list[Attack], *others: object, **environment: str) -> Future[Arm]:
            there = stack.enter_context(world(tmp_path_factory.mktemp("world"), [attack.name for attack in attacks]))
            return pool.submit(graded, course, there, attacks, *others, **environment)

        def stock() -> Course:
            return stock_course(tmp_path_factory.mktemp("stock") / "course")

        yield {
            "walled": start(new_course(), list(ATTACKS.values()), STUDENTS),
            "unwalled": start(new_course(), UNWALLED, AUTOGRADER_WALLS="none"),
            "stock": start(stock(), IN_STOCK[::2]),
            "stock too": start(stock(), IN_STOCK[1::2]),
            **{attack.name: start(stock(), [attack]) for attack in ALONE},
        }


@pytest.fixture
def walled(arms: Arms) -> Arm:
    return arms["walled"].result()


def test_the_run_comes_to_its_end(walled: Arm) -> None:
    assert walled.returncode == 0, walled.log


@pytest.mark.parametrize("name", [VICTIM, *(HONEST + student.name for student in STUDENTS)])
def test_honest(walled: Arm, name: str) -> None:
    outcome = walled.outcomes[name]
    assert (outcome.scores, outcome.verdicts, outcome.waiting) == (POINTS, PASSED, ())


@pytest.mark.parametrize("name", ATTACKS)
def test_stopped(walled: Arm, name: str, record_property: Callable[[str, object], None]) -> None:
    attack, outcome = ATTACKS[name], walled.outcomes[name]
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
    elif attack.works == "unwalled" or attack.alone:
        arm, student = (name if attack.alone else "unwalled"), name
    else:
        arm, student = ("stock" if attack in IN_STOCK[::2] else "stock too"), name
    outcome = arms[arm].result().outcomes[student]
    assert attack.succeeded(outcome), (outcome.scores, outcome.verdicts, outcome.said[-2000:])


@pytest.mark.parametrize("arm", ["stock", "stock too", "unwalled"])
def test_honest_work_has_all_marks_there_too(arms: Arms, arm: str) -> None:
    assert arms[arm].result().outcomes[VICTIM].scores == POINTS
