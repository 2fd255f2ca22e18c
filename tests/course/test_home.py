"""How far all notebooks are: what their checks last said, where that is kept, and when it is said that it may be otherwise now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course import answers, check, progress, remembered
from course.folders import RECORD
from course.overview import ALL_DONE, CHANGED, LAST, NOTHING_YET, Overview, Row, Standing, overview
from course.remembered import FILE, recalled

NAME = "00_shapes"
RIGHT = "def pairwise_dots(X, Y):\n    return X @ Y.T"
WRONG = "def pairwise_dots(X, Y):\n    return Y @ X.T"
STUB = "def pairwise_dots(X, Y):\n    raise NotImplementedError()"
WITHOUT_POSIX = (
    "import sys\nfor name in ('fcntl', 'grp', 'pwd', 'resource', 'termios'):\n    sys.modules[name] = None\n"
)

Write = Callable[..., None]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder, seen from notebook 00."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    (tmp_path / RECORD).mkdir()
    (tmp_path / NAME).mkdir()
    monkeypatch.chdir(tmp_path / NAME)
    return tmp_path


def save(folder: Path, *sources: str, notebook: str = NAME) -> None:
    """Save a notebook with these cells of code."""
    title = {"cell_type": "markdown", "metadata": {}, "source": "# 00 · Reading a *matrix* product <b>\n\nText."}
    code = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []} for source in sources]
    path = folder / notebook / f"{notebook}.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": [title, *code], "metadata": {}, "nbformat": 4}))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, cell: Callable[..., dict[str, Any]]) -> Write:
    """Run a cell in this kernel, check what it defines, and save the notebook with it or with something else."""

    def run(work: Path, source: str, saved: str | None = None) -> None:
        (function,) = [value for value in cell(source).values() if callable(value)]
        monkeypatch.setattr(sys.modules["__main__"], function.__name__, function, raising=False)
        save(work, source if saved is None else saved)
        check(function)

    return run


def said_of(work: Path, name: str = "pairwise_dots") -> str:
    """What is told of an exercise of notebook 00."""
    if not (work / NAME / f"{NAME}.ipynb").is_file():
        save(work)
    (row,) = [row for row in overview(work).rows if NAME in row.link]
    return next(str(one) for one in row.exercises if one.name == name)


# ------------------------------------------------------------------------------------------------------- what is told


@pytest.mark.parametrize(("source", "state"), [(RIGHT, "correct"), (WRONG, "not yet"), (STUB, "not written")])
def test_what_a_check_said_is_told_of_the_answer_that_stands_there(
    work: Path, ran: Write, source: str, state: str
) -> None:
    ran(work, source)
    assert said_of(work) == f"pairwise_dots: {state}"
    assert said_of(work, "mix_rows") == "mix_rows: not checked"


def test_another_answer_than_the_one_that_was_checked_is_not_said_to_be_correct(work: Path, ran: Write) -> None:
    ran(work, RIGHT, saved=WRONG)
    assert said_of(work) == f"pairwise_dots: correct {CHANGED}"
    assert overview(work).rows[0].mark != "✓"


def test_of_a_notebook_that_cannot_be_read_it_is_said_when_it_was_checked(work: Path, ran: Write) -> None:
    ran(work, RIGHT)
    (work / NAME / f"{NAME}.ipynb").write_text("{")
    assert said_of(work) == f"pairwise_dots: correct {LAST}"


def test_all_notebooks_stand_there_with_links_marks_and_what_comes_next(
    work: Path, ran: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(work, WRONG)
    progress()
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "✗ 00 · Reading a matrix product <b>: 0 of 3 checks passed"
    assert told[1] == "      pairwise_dots: not yet"
    assert len(told) == 5  # of what neither lies here nor was checked nothing is said
    assert told[-1] == "Next: pairwise_dots in 00 · Reading a matrix product <b>."
    html = overview(work)._repr_html_()
    assert "<a href='../00_shapes/00_shapes.ipynb'>00 · Reading a matrix product &lt;b&gt;</a>" in html
    assert "<b aria-hidden='true'>✗</b>" in html


def test_what_comes_next_is_a_link_to_the_answer_itself(work: Path, ran: Write) -> None:
    ran(work, WRONG)
    assert "href='../00_shapes/00_shapes.ipynb#cell-id=pairwise-dots-solution'" in overview(work)._repr_html_()


def test_what_passed_as_another_answer_is_not_counted_among_what_passes(work: Path, ran: Write) -> None:
    ran(work, RIGHT, saved=WRONG)
    assert overview(work).rows[0].checks == "0 of 3 checks passed"


def test_what_was_handed_in_last_stands_there_with_its_time(work: Path, ran: Write) -> None:
    ran(work, RIGHT)
    (work / "hand_in").mkdir()
    for name in (f"{NAME}-2026-10-05-143010.ipynb", f"{NAME}-2026-10-04-235959.ipynb", f"{NAME}-mine.ipynb"):
        (work / "hand_in" / name).touch()
    assert repr(overview(work)).startswith(
        "· 00 · Reading a matrix product <b>: 1 of 3 checks passed, handed in 2026-10-05 14:30\n"
    )
    assert "2026-10-05 14:30" in overview(work)._repr_html_()


def test_seen_from_the_page_beside_them_links_lead_into_the_folders(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(work)
    monkeypatch.chdir(work)
    assert overview(work).rows[0].link == "00_shapes/00_shapes.ipynb"


def test_what_was_not_begun_is_no_row(work: Path, ran: Write) -> None:
    save(work, notebook="01_token_loops")
    save(work)
    assert repr(overview(work)) == f"{NOTHING_YET}\nNext: pairwise_dots in 00 · Reading a matrix product <b>."
    assert NOTHING_YET in overview(work)._repr_html_()
    ran(work, RIGHT)
    assert repr(overview(work)).count("checks passed") == 1


def test_where_all_is_done_it_says_so(work: Path) -> None:
    done = Row("00 · Reading a matrix product", "", (Standing("pairwise_dots", "correct"),))
    assert repr(Overview([done])) == f"✓ {done.title}: 1 of 1 checks passed\n{ALL_DONE}"
    assert ALL_DONE in Overview([done])._repr_html_()


def test_a_notebook_that_lies_there_no_more_is_told_without_a_link(work: Path, ran: Write) -> None:
    ran(work, RIGHT)
    (work / NAME / f"{NAME}.ipynb").unlink()
    (row,) = overview(work).rows
    assert (row.title, row.link, str(row.exercises[0])) == (NAME, "", f"pairwise_dots: correct {LAST}")


def test_where_no_notebook_lies_the_one_that_runs_is_told(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(work, RIGHT)
    (work / FILE).unlink()
    (work / NAME / f"{NAME}.ipynb").unlink()
    progress()
    assert "✓ correct      pairwise_dots" in capsys.readouterr().out


def test_the_notebook_that_is_named_is_checked_now_and_kept(
    work: Path, ran: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(work, RIGHT)
    (work / FILE).unlink()
    progress("00")
    assert "✓ correct      pairwise_dots" in capsys.readouterr().out
    assert {name: one.state for name, one in recalled(work)[NAME].items()} == {"pairwise_dots": "correct"}


def test_a_cell_that_was_not_run_since_does_not_wipe_out_what_was_said(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(work, RIGHT)
    monkeypatch.delattr(sys.modules["__main__"], "pairwise_dots")
    progress("00")
    assert said_of(work) == "pairwise_dots: correct"


def test_a_function_that_was_carried_over_says_nothing_of_its_own_notebook(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "01_token_loops").mkdir()
    monkeypatch.chdir(work / "01_token_loops")
    ran(work, RIGHT)
    progress("00")
    assert said_of(work) == "pairwise_dots: not checked"


# ------------------------------------------------------------------------------------------------- where it is kept


def test_it_lies_beside_the_notebooks_and_holds_no_answer(work: Path, ran: Write) -> None:
    ran(work, RIGHT)
    assert [path.name for path in work.iterdir() if path.is_file()] == [FILE]
    assert [path.name for path in (work / NAME).iterdir()] == [f"{NAME}.ipynb"]  # which is what is handed in
    assert "X @ Y" not in (work / FILE).read_text(encoding="utf-8")


def test_in_folders_that_nbgrader_fetched_it_is_kept_too(work: Path, ran: Write) -> None:
    (work / RECORD).rmdir()
    ran(work, RIGHT)
    assert said_of(work) == "pairwise_dots: correct"


@pytest.mark.parametrize("place", ["source", "class/submitted/alice", "class/autograded/alice"])
def test_in_a_course_folder_of_nbgraders_nothing_is_left(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (work / RECORD).rmdir()
    (work / "nbgrader_config.py").touch()
    (work / "source").mkdir()
    (work / place / NAME).mkdir(parents=True)
    monkeypatch.chdir(work / place / NAME)
    ran(work, RIGHT)
    assert list(work.rglob(f"{FILE}*")) == []


@pytest.mark.parametrize("place", ["content", "ps1"])
def test_a_notebook_that_lies_alone_leaves_nothing_and_tells_of_itself(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """As in Colab, or in a folder of another name, which nbgrader would hand in as a whole."""
    (work / "elsewhere" / place).mkdir(parents=True)
    monkeypatch.chdir(work / "elsewhere" / place)
    ran(work, RIGHT)
    progress()
    assert "✓ correct      pairwise_dots" in capsys.readouterr().out
    assert list(work.rglob(f"{FILE}*")) == []


@pytest.mark.parametrize("execution", ["autograde", "validate"])
def test_nothing_is_kept_while_nbgrader_runs(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], execution: str
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    ran(work, RIGHT)
    progress("00")
    progress()
    assert list(work.rglob(f"{FILE}*")) == []
    assert "of 3 checks" not in capsys.readouterr().out


def test_where_nothing_can_be_written_nothing_is_said_of_it(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(remembered.Path, "touch", refuse)
    ran(work, RIGHT)
    monkeypatch.undo()
    assert not (work / FILE).exists()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "[]",
        '"x"',
        "[" * 100_000,
        '{"00_shapes": 1}',
        '{"00_shapes": {"pairwise_dots": {"state": "correct"}}}',
        '{"00_shapes": {"pairwise_dots": {"state": "<b>", "cell": "0"}}}',
        b"\xff\xfe\x00",
    ],
)
def test_a_broken_file_is_as_if_it_were_not_there(work: Path, ran: Write, broken: str | bytes) -> None:
    (work / FILE).write_bytes(broken if isinstance(broken, bytes) else broken.encode())
    save(work)
    assert said_of(work) == "pairwise_dots: not checked"
    ran(work, RIGHT)
    assert said_of(work) == "pairwise_dots: correct"


def test_kernels_that_write_at_once_lose_nothing(work: Path) -> None:
    """Each in a process of its own, without what only POSIX has, and each another exercise of one notebook."""
    save(work)
    names = answers.names(NAME)
    script = WITHOUT_POSIX + (
        "import linecache\nfrom course.remembered import remember\n"
        "source = 'def f(): pass'\nlinecache.cache['<cell>'] = (1, None, [source], '<cell>')\n"
        "scope = {}\nexec(compile(source, '<cell>', 'exec'), scope)\ninput()\n"
        "for i in range(40):\n"
        "    for state in ('not yet', 'correct'):\n"
        "        remember('00_shapes', {sys.argv[1]: state}, {sys.argv[1]: scope['f']})\n"
    )
    kernels = [
        subprocess.Popen([sys.executable, "-c", script, name], stdin=subprocess.PIPE, cwd=work / NAME) for name in names
    ]
    for kernel in kernels:
        assert kernel.stdin
        kernel.stdin.write(b"\n")
        kernel.stdin.close()
    assert [kernel.wait() for kernel in kernels] == [0] * len(names)
    assert {name: one.state for name, one in recalled(work)[NAME].items()} == dict.fromkeys(names, "correct")
    assert [path.name for path in work.iterdir() if path.is_file()] == [FILE]


def test_a_kernel_that_was_killed_while_it_wrote_stops_nobody(
    work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "PATIENCE", 0.0)
    (work / f"{FILE}.lock").touch()
    ran(work, RIGHT)
    assert said_of(work) == "pairwise_dots: correct"


def test_the_file_is_replaced_whole(work: Path, ran: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(work, WRONG)
    before = (work / FILE).read_bytes()

    def stopped(*_: object) -> None:
        raise OSError("the machine went off")

    monkeypatch.setattr(os, "replace", stopped)
    ran(work, RIGHT)
    assert (work / FILE).read_bytes() == before
