"""What a released notebook does when all of it is run before anything in it is answered."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from autograder.settings import ROOT
from course import racers
from course.figures import GUESS_FIRST, Covered
from tests.support.leaks import cells_of


def test_nobody_waits_for_a_compiler_whose_race_stays_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    called: list[None] = []
    monkeypatch.setattr(racers, "compiled", lambda: called.append(None))
    scope: dict[str, Any] = {"__name__": "08_clocks"}
    cells = [cell for cell in cells_of(ROOT / "release/08_clocks/08_clocks.ipynb") if cell.cell_type == "code"]
    ids = [cell.id for cell in cells]
    for cell in cells[: ids.index("picture-race")]:
        with suppress(NotImplementedError):
            exec(compile(cell.source, cell.id, "exec"), scope)
    assert called == []
    assert isinstance(scope["compiled"], Covered)
    assert repr(scope["compiled"]) == GUESS_FIRST
