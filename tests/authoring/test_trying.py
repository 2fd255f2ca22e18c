"""One exercise tried by its author: what is said when a notebook shows something new, and when all of it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import replay, trying
from autograder.authoring.trying import attempt


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The exit codes of the steps, all of which are well; nothing is made."""
    codes = {"replay": 0, "main": 0, "_test": 0}

    def step(name: str) -> Any:
        return lambda *_, **__: codes[name]

    for name in codes:
        monkeypatch.setattr(trying, name, step(name))
    for name in ("undeclared", "state", "contradictions"):
        monkeypatch.setattr(trying, name, lambda *_: [])
    for name in ("make_release", "store_outputs"):
        monkeypatch.setattr(trying, name, lambda *_: None)
    return codes


def test_when_all_of_it_holds_the_next_step_is_said(done: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    assert attempt("mix_rows") == 0
    made, well = capsys.readouterr().out.splitlines()
    assert made == "release/00_shapes: made"
    assert well.startswith("mix_rows: all of it holds. Then `make lint`, and commit")


def test_outputs_that_change_are_no_failure_and_can_be_looked_at(
    done: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    done["replay"] = 1
    assert attempt("mix_rows") == 0
    assert "stored anew, `git diff source/00_shapes` shows what" in capsys.readouterr().out


@pytest.mark.parametrize("failing", ["main", "_test"])
def test_where_something_fails_nothing_is_said_to_hold(
    done: dict[str, int], failing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done[failing] = 1
    assert attempt("mix_rows") == 1
    assert "holds" not in capsys.readouterr().out


@pytest.mark.parametrize("told", [True, False])
def test_what_differs_is_printed_where_it_was_asked_for(
    told: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_it.py").write_text("def test_it() -> None:\n    assert False\n")
    assert replay._run([str(tmp_path)], told) == 1
    assert ("FAILED" in capfd.readouterr().out) == told


def test_a_replay_that_fails_comes_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(replay, "recall", lambda *_: None)
    monkeypatch.setattr(replay, "_run", lambda *_: 1)
    assert replay.replay(["00_shapes"]) == 1
    assert "`python -m autograder outputs NAME` stores that" in capsys.readouterr().out
