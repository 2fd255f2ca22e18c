"""Errors are shown as a kernel shows them (test_outputs.py), and what that takes does not grow with what is imported."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType

import pytest

from autograder.engine import Session, Zygote
from autograder.engine.inside.tracebacks import quickly_shown
from tests.support.counting import calls

AGES = 600.0  # seconds; only what hangs takes so long, however busy the machine is
FILE = "/tmp/ipykernel_1/1.py"
PRINT_KEPT = """
*_, kept = get_ipython().history_manager.exceptions.values()
print("\\n".join(kept["traceback"]), end="")
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Zygote() as zygote, Session(zygote.place) as session:
        yield session


@pytest.fixture
def frame() -> FrameType:
    """A frame of a cell, while it runs."""
    scope: dict[str, object] = {"sys": sys}
    exec(compile("frame = sys._getframe()", FILE, "exec"), scope)
    found = scope["frame"]
    assert isinstance(found, FrameType)
    return found


def test_an_error_is_remembered_as_it_was_shown(session: Session) -> None:
    run = session.run("def f():\n    return 1 / 0\nf()", AGES)
    assert run.reply["ename"] == "ZeroDivisionError"
    ((_, error),) = run.messages
    ((_, printed),) = session.run(PRINT_KEPT, AGES).messages
    assert printed["text"] == "\n".join(error["traceback"])


def test_an_error_that_renders_itself_is_shown_so(session: Session) -> None:
    session.run("class Own(Exception):\n    def _render_traceback_(self):\n        return ['as I say']", AGES)
    ((_, error),) = session.run("raise Own", AGES).messages
    assert error["traceback"] == ["as I say"]


MANY = 1000


def test_an_errors_time_does_not_grow_with_what_is_imported(frame: FrameType, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> None:
        with quickly_shown({FILE}):
            assert inspect.getmodule(frame) is None

    ask()  # what is coloured is imported with the first
    few = calls(ask)
    for number in range(MANY):
        monkeypatch.setitem(sys.modules, f"made_up_{number}", ModuleType(f"made_up_{number}"))
    assert calls(ask) < few + MANY / 10  # a few more are Python's own, which collects now and then


def test_what_belongs_to_a_module_is_found_and_afterwards_all_is_as_it_was(frame: FrameType) -> None:
    own = inspect.getmodule
    with quickly_shown({FILE}):
        assert inspect.getmodule(sys._getframe()) is sys.modules[__name__]
        assert inspect.getmodule is not own
    assert inspect.getmodule is own
    assert inspect.getmodule(frame) is None
