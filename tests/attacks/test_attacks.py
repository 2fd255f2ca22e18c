"""No attack earns more than its honest work, harms anybody, or ends the run; each works where nothing stands against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from tests.support.stored import stored

pytestmark = pytest.mark.thorough  # several classes, graded behind walls, without, and in stock nbgrader

ATTACKS = {attack.name: attack for attack in (*FORGING, *CELLS, *REACHING, *BOMBING)}
ENDLESS = [attack for attack in ATTACKS.values() if attack.endless]
ENDING = [attack for attack in ATTACKS.values() if not attack.endless]
IN_STOCK = [attack for attack in ENDING if attack.works == "stock" and not attack.alone]
UNWALLED = [attack for attack in ATTACKS.values() if attack.works == "unwalled"]
ALONE = [attack for attack in ATTACKS.values() if attack.alone]
Start = Callable[..., Future[Arm]]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, walls: None) -> Iterator[Start]:
    """Begin to grade a class, three at a time."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(3))

        def begin(course: Course, attacks: Sequence[Attack], *others: object, **settings: Any) -> Future[Arm]:
            there = stack.enter_context(world(tmp_path_factory.mktemp("world"), [attack.name for attack in attacks]))
            return pool.submit(graded, course, there, attacks, *others, **settings)

        yield begin


@pytest.fixture(scope="module")
def arms(new_course: Callable[[], Course], start: Start) -> dict[str, Future[Arm]]:
    """The classes behind the walls; those who never come to an end are in one of their own."""
    return {
        "walled": start(new_course(), ENDING, STUDENTS),
        "endless": start(new_course(), ENDLESS, seconds_per_cell=SHORT),
    }


@pytest.fixture(scope="module")
def successful(new_course: Callable[[], Course], start: Start, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The attacks that work where nothing stands against them: by nbgrader's own rules, or in the engine without walls.

    Which do is stored: it depends on what they try, on what they try it against, and on nothing else.
    """

    def stock(attacks: Sequence[Attack], **settings: Any) -> tuple[Sequence[Attack], Future[Arm]]:
        return attacks, start(stock_course(tmp_path_factory.mktemp("stock") / "course"), attacks, **settings)

    def in_stock() -> list[str]:
        classes = [stock(IN_STOCK[::2]), stock(IN_STOCK[1::2]), stock(ENDLESS, seconds_per_cell=SHORT)]
        alone = [stock([attack]) for attack in ALONE]  # where it works, it ends the run
        return [name for attacks, arm in (*classes, *alone) for name in succeeding(attacks, arm.result())]

    def unwalled() -> list[str]:
        return succeeding(UNWALLED, start(new_course(), UNWALLED, AUTOGRADER_WALLS="none").result())

    tried = ("tests/attacks", "tests/support/submissions.py", "course/checking.py", "course/client.py", "course/trial")
    engine = ("autograder/engine", "autograder/plugins")
    return {*stored("attacks_in_stock", tried, in_stock), *stored("attacks_unwalled", (*tried, *engine), unwalled)}


def succeeding(attacks: Sequence[Attack], arm: Arm) -> list[str]:
    """The names of the attacks of a class, each of which succeeded; the honest work in it has all marks, unless the run was ended."""
    for attack in attacks:
        outcome = arm.outcomes[attack.name]
        assert attack.succeeded(outcome), (attack.name, outcome.scores, outcome.verdicts, outcome.said[-2000:])
    assert attacks[0].alone or arm.outcomes[VICTIM].scores == POINTS
    return [attack.name for attack in attacks]


@pytest.fixture
def walled(arms: dict[str, Future[Arm]]) -> Arm:
    return arms["walled"].result()


@pytest.mark.parametrize("arm", ["walled", "endless"])
def test_the_run_comes_to_its_end(arms: dict[str, Future[Arm]], arm: str) -> None:
    done = arms[arm].result()
    assert done.returncode == 0, done.log


@pytest.mark.parametrize("name", [VICTIM, *(HONEST + student.name for student in STUDENTS)])
def test_honest(walled: Arm, name: str) -> None:
    outcome = walled.outcomes[name]
    assert (outcome.scores, outcome.verdicts, outcome.waiting) == (POINTS, PASSED, ())


@pytest.mark.parametrize("name", ATTACKS)
def test_stopped(arms: dict[str, Future[Arm]], name: str, record_property: Callable[[str, object], None]) -> None:
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


@pytest.mark.parametrize(
    "name", [attack.name for attack in ATTACKS.values() if attack.works not in ("heard", "mended")]
)
def test_succeeds_without(successful: set[str], name: str) -> None:
    assert name in successful


@pytest.mark.parametrize("name", [attack.name for attack in ATTACKS.values() if attack.works == "heard"])
def test_is_heard_on_top_of_right_answers(walled: Arm, name: str) -> None:
    outcome = walled.outcomes[name + HEARD]
    assert ATTACKS[name].succeeded(outcome), (outcome.scores, outcome.verdicts, outcome.said[-2000:])
