"""What stands around the notebooks: copies that a newer kit brings up to date, handing in, and PyTorch where it is missing."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from course import hand_in, pytorch
from course.cells import Notebook, text
from course.kit import handing_in, lab, torch_here
from course.kit.copies import LANGUAGE, NoKit, bring
from course.kit.merging import NEW_TEXT, OLD_TEXT, merged

NAME = "00_shapes"


def code(name: str, source: str, **nbgrader: Any) -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": name.replace("-", "_"), **nbgrader}} if nbgrader else {}
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def words(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def notebook(*cells: dict[str, Any]) -> Notebook:
    return {"cells": list(cells), "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


ANSWER = code("dots-solution", "def dots(X, Y):\n    raise NotImplementedError()", solution=True, locked=False)
CHECK = code("dots", "check(dots)", solution=False, locked=True)
GUESS = code("guess", "guess = None")
OLD = notebook(words("task", "Add them."), ANSWER, CHECK, GUESS)
WRITTEN = {**ANSWER, "source": ["def dots(X, Y):\n", "    return X @ Y.T\n"]}


def sources(made: Notebook) -> list[str]:
    return [text(cell) for cell in made["cells"]]


# ----------------------------------------------------------------------------------------------- two versions in one


def test_what_the_course_mends_and_what_a_student_wrote_come_together() -> None:
    theirs = notebook(OLD["cells"][0], WRITTEN, CHECK, {**GUESS, "source": "guess = 'b'"})
    new = notebook(words("task", "Multiply them."), words("more", "Mind the shapes."), ANSWER, CHECK, GUESS)
    made, clashes = merged(OLD, theirs, new)
    assert sources(made) == ["Multiply them.", "Mind the shapes.", text(WRITTEN), "check(dots)", "guess = 'b'"]
    assert clashes == []


def test_own_cells_stay_behind_the_cell_that_they_stood_behind() -> None:
    theirs = notebook(words("mine-first", "Top"), OLD["cells"][0], ANSWER, code("mine", "dots(1, 2)"), CHECK, GUESS)
    made, _ = merged(OLD, theirs, notebook(words("new", "New"), *OLD["cells"]))
    assert [cell["id"] for cell in made["cells"]] == [
        "mine-first",
        "new",
        "task",
        "dots-solution",
        "mine",
        "dots",
        "guess",
    ]


def test_where_both_changed_an_answer_cell_the_students_counts_and_the_courses_is_shown() -> None:
    changed = {**ANSWER, "source": "def dots(X, Y, k):\n    raise NotImplementedError()"}
    made, clashes = merged(
        OLD, notebook(OLD["cells"][0], WRITTEN, CHECK, GUESS), notebook(OLD["cells"][0], changed, CHECK, GUESS)
    )
    assert clashes == ["dots-solution"]
    assert sources(made)[1] == text(WRITTEN)
    assert sources(made)[2].startswith(NEW_TEXT)
    assert "def dots(X, Y, k)" in sources(made)[2]
    assert made["cells"][1]["metadata"] == ANSWER["metadata"]


STUB = """def dots(X, Y):
    \"\"\"All dot products.

    Args:
        X: vectors, one a row.
    \"\"\"
    # your code
    raise NotImplementedError()"""
REWORDED = STUB.replace("# your code", "# one line is enough").replace("vectors, one a row", "n vectors of width d")
MINE = STUB.replace("raise NotImplementedError()", "S = X @ Y.T  # mine\n    return S")


def brought(old: str, mine: str, new: str) -> tuple[list[str], list[str]]:
    """What an answer cell becomes, with what stands under it, and what both sides changed."""
    made, clashes = merged(*(notebook({**ANSWER, "source": source}) for source in (old, mine, new)))
    return sources(made), clashes


def test_where_the_course_has_reworded_a_stub_the_answer_stands_with_the_new_words() -> None:
    (made,), clashes = brought(STUB, MINE, REWORDED)
    assert clashes == []
    assert made == REWORDED.replace("raise NotImplementedError()", "S = X @ Y.T  # mine\n    return S")


@pytest.mark.parametrize(
    ("mine", "new"),
    [
        (MINE, REWORDED.replace("(X, Y)", "(A, B)")),
        (MINE.replace("    # your code", "    # I think"), REWORDED),
        (MINE.replace("return S", "return S S").replace("def dots", "%time def dots"), REWORDED + "\n%timeit dots"),
    ],
    ids=["new code", "the same line", "no Python"],
)
def test_where_more_than_words_is_new_or_both_changed_a_line_both_versions_are_there(mine: str, new: str) -> None:
    made, clashes = brought(STUB, mine, new)
    assert clashes == ["dots-solution"]
    assert made[0] == mine
    assert new in made[1]


def test_an_unfinished_answer_stands_with_the_new_words_too() -> None:
    (made,), clashes = brought(STUB, MINE.replace("return S", "return (S"), REWORDED)
    assert clashes == []
    assert made.endswith("return (S")
    assert "n vectors of width d" in made


def test_where_both_changed_a_text_or_a_test_the_courses_counts_and_the_students_is_kept() -> None:
    theirs = notebook(words("task", "Add them. (My note)"), ANSWER, {**CHECK, "source": "print(1)"}, GUESS)
    new = notebook(words("task", "Multiply them."), ANSWER, {**CHECK, "source": "check(dots)  # again"}, GUESS)
    made, clashes = merged(OLD, theirs, new)
    assert clashes == ["task", "dots"]
    assert sources(made) == [
        "Multiply them.", OLD_TEXT, "Add them. (My note)", text(ANSWER), "check(dots)  # again", OLD_TEXT, "print(1)", "guess = None",
    ]  # fmt: skip
    assert [cell["id"] for cell in made["cells"] if cell["metadata"].get("nbgrader")] == ["dots-solution", "dots"]
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])


def test_what_the_course_has_no_more_goes_unless_it_was_written_in() -> None:
    theirs = notebook(OLD["cells"][0], WRITTEN, CHECK, GUESS)
    made, _ = merged(OLD, theirs, notebook(words("task", "Add them.")))
    assert sources(made) == ["Add them.", text(WRITTEN)]


def test_cells_without_ids_and_with_other_line_ends_are_known_all_the_same() -> None:
    """As Colab saves them, and an editor on Windows."""
    bare = [
        {key: value for key, value in cell.items() if key != "id"} for cell in (OLD["cells"][0], WRITTEN, CHECK, GUESS)
    ]
    bare[0]["source"] = "Add them.\r\n"
    made, clashes = merged(OLD, notebook(*bare), notebook(words("task", "Multiply them."), ANSWER, CHECK, GUESS))
    assert sources(made) == ["Multiply them.", text(WRITTEN), "check(dots)", "guess = None"]
    assert clashes == []


# --------------------------------------------------------------------------------------------------------- one's own copies


def given(folder: Path, made: Notebook, when: str = "") -> Path:
    place = folder / "notebooks" / NAME
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{NAME}.ipynb").write_text(json.dumps(made))
    if when:
        (folder / "kit.json").write_text(json.dumps({"made": when}))
    return folder / "notebooks"


def own(work: Path) -> Path:
    return work / NAME / f"{NAME}.ipynb"


def test_a_first_copy_is_one_that_jupyterlab_leaves_as_it_is(tmp_path: Path) -> None:
    assert list(bring(given(tmp_path, OLD), tmp_path / "work")) == [f"{NAME}: new."]
    made = json.loads(own(tmp_path / "work").read_text())
    assert made["metadata"]["language_info"] == LANGUAGE
    assert sources(made) == sources(OLD)


def test_nothing_is_touched_while_the_course_is_the_same(tmp_path: Path) -> None:
    list(bring(given(tmp_path, OLD), tmp_path / "work"))
    own(tmp_path / "work").write_text("half a notebook, just being saved")
    assert list(bring(given(tmp_path, OLD), tmp_path / "work")) == []
    assert own(tmp_path / "work").read_text().startswith("half")


def test_a_correction_reaches_a_copy_and_what_it_was_is_kept(tmp_path: Path) -> None:
    work = tmp_path / "work"
    list(bring(given(tmp_path, OLD, "2026-01-01"), work))
    before = json.dumps(notebook(OLD["cells"][0], WRITTEN, CHECK, GUESS))
    own(work).write_text(before)
    (said,) = bring(given(tmp_path, NEWER, "2026-02-01"), work)
    assert said.startswith(f"{NAME}: brought up to date, with what you wrote.")
    assert sources(json.loads(own(work).read_text()))[:2] == ["Multiply them.", text(WRITTEN)]
    (kept,) = (work / ".kit" / "before").iterdir()
    assert kept.read_text() == before


NEWER = notebook(words("task", "Multiply them."), ANSWER, CHECK, GUESS)
NEWEST = notebook(words("task", "Multiply them."), ANSWER, CHECK, GUESS, words("end", "That is all."))


@pytest.mark.parametrize("named", [True, False], ids=["as JupyterLab saves", "without the notebook's metadata"])
@pytest.mark.parametrize("at_once", [True, False], ids=["the same kit again", "a newer kit at once"])
def test_a_correction_that_an_old_tab_saved_over_arrives_all_the_same(
    named: bool, at_once: bool, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    list(bring(given(tmp_path, OLD, "2026-01-01"), work))
    tab = json.loads(own(work).read_text())
    list(bring(given(tmp_path, NEWER, "2026-02-01"), work))
    tab["cells"][1]["source"] = WRITTEN["source"]
    tab["metadata"] = tab["metadata"] if named else {}
    own(work).write_text(json.dumps(tab))
    if at_once:
        (said,) = bring(given(tmp_path, NEWER, "2026-02-01"), work)
        assert said.startswith(f"{NAME}: the course's last correction did not arrive")
        assert sources(json.loads(own(work).read_text())) == [
            "Multiply them.",
            text(WRITTEN),
            "check(dots)",
            "guess = None",
        ]
        kept = [json.loads(path.read_text()) for path in (work / ".kit" / "before").iterdir()]
        assert tab in kept
        assert list(bring(given(tmp_path, NEWER, "2026-02-01"), work)) == []
    list(bring(given(tmp_path, NEWEST, "2026-03-01"), work))
    made = json.loads(own(work).read_text())
    assert sources(made) == ["Multiply them.", text(WRITTEN), "check(dots)", "guess = None", "That is all."]


def test_new_words_in_a_stub_that_an_old_tab_saved_over_arrive_all_the_same(tmp_path: Path) -> None:
    """In the only cell that the course has changed the student has written, so that it looks like neither version."""
    work = tmp_path / "work"
    old, reworded = (notebook(words("task", "Add them."), {**ANSWER, "source": one}) for one in (STUB, REWORDED))
    list(bring(given(tmp_path, old, "2026-01-01"), work))
    tab = json.loads(own(work).read_text())
    tab["cells"][1]["source"] = MINE
    list(bring(given(tmp_path, reworded, "2026-02-01"), work))
    own(work).write_text(json.dumps(tab))
    list(bring(given(tmp_path, notebook(*reworded["cells"], words("end", "That is all.")), "2026-03-01"), work))
    assert "n vectors of width d" in sources(json.loads(own(work).read_text()))[1]


def test_what_a_student_takes_out_of_a_correction_stays_out(tmp_path: Path) -> None:
    work = tmp_path / "work"
    list(bring(given(tmp_path, OLD, "2026-01-01"), work))
    list(bring(given(tmp_path, NEWEST, "2026-02-01"), work))
    mine = json.loads(own(work).read_text())
    mine["cells"] = mine["cells"][:-1]
    mine["cells"][0]["source"] = "Add them."
    own(work).write_text(json.dumps(mine))
    assert list(bring(given(tmp_path, NEWEST, "2026-02-01"), work)) == []


def test_an_older_kit_changes_nothing(tmp_path: Path) -> None:
    work = tmp_path / "work"
    list(bring(given(tmp_path / "b", notebook(words("task", "Multiply them.")), "2026-02-01"), work))
    assert "A newer kit was here before" in next(iter(bring(given(tmp_path / "a", OLD, "2026-01-01"), work)))
    assert sources(json.loads(own(work).read_text())) == ["Multiply them."]


def test_what_is_no_notebook_is_left_alone_and_named(tmp_path: Path) -> None:
    work = tmp_path / "work"
    list(bring(given(tmp_path, OLD), work))
    own(work).write_text("{")
    (said,) = bring(given(tmp_path, notebook(ANSWER)), work)
    assert "cannot be read as a notebook" in said
    assert own(work).read_text() == "{"


def test_a_folder_without_notebooks_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoKit, match="the folder to which the kit was unpacked"):
        list(bring(tmp_path, tmp_path / "work"))


# -------------------------------------------------------------------------------------------------------------- handing in


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: Callable[..., dict[str, Any]]) -> Callable[..., None]:
    """A folder with notebook 00 in it; these lines are saved as its cells, and run."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(handing_in, "PATIENCE", 0.0)
    monkeypatch.setattr(handing_in, "_has_exchange", lambda _: False)
    (tmp_path / NAME).mkdir()
    monkeypatch.chdir(tmp_path / NAME)

    def put(saved: str, run: str) -> None:
        own(tmp_path).write_text(json.dumps(notebook(code("answer", saved))))
        for name, value in cell(run).items():
            monkeypatch.setattr(sys.modules["__main__"], name, value, raising=False)

    return put


RIGHT = "def pairwise_dots(X, Y):\n    return X @ Y.T\n"


@pytest.mark.parametrize("asked", ["00_shapes", "00", "0", 0])
def test_handing_in_makes_one_file_and_says_how_far_it_is(
    asked: Any, desk: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk(RIGHT, RIGHT)
    hand_in(asked)
    said = capsys.readouterr().out
    assert f"{NAME}: 1 of 3 checks pass." in said
    assert "✓ correct      pairwise_dots" in said
    assert "· not run      mix_rows" in said
    (kept,) = (tmp_path / "hand_in").iterdir()
    assert kept.read_bytes() == own(tmp_path).read_bytes()
    assert str(kept) in said.splitlines()
    (digits,) = re.findall(r"^Receipt: .*, SHA-256 ([0-9a-f]{16})\.\.\.$", said, re.MULTILINE)
    assert hashlib.sha256(kept.read_bytes()).hexdigest().startswith(digits)


def test_handing_in_the_same_once_more_makes_no_second_file_and_says_so(
    desk: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk(RIGHT, RIGHT)
    hand_in("00")
    first = capsys.readouterr().out
    hand_in("00")
    again = capsys.readouterr().out
    (kept,) = (tmp_path / "hand_in").iterdir()
    assert "nothing has changed since" in again
    assert str(kept) in again.splitlines()
    assert again.splitlines()[-1] == first.splitlines()[-1]  # the receipt


def test_what_is_wrong_is_not_said_to_be_not_run(desk: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    wrong = RIGHT.replace("Y.T", "Y")
    desk(wrong, wrong)
    hand_in(NAME)
    assert "✗ not yet      pairwise_dots" in capsys.readouterr().out


def test_what_was_run_and_not_saved_is_not_handed_in(
    desk: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk(RIGHT.replace("Y.T", "Y"), RIGHT)
    hand_in(NAME)
    said = capsys.readouterr().out
    assert "Ctrl+S" in said
    assert "Save it" in said
    assert not (tmp_path / "hand_in").exists()


def test_from_a_copy_the_copy_is_handed_in(
    desk: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a restart, so that nothing was run: Jupyter says which notebook the kernel belongs to, and so does VS Code."""
    desk("def pairwise_dots(X, Y):\n    raise NotImplementedError()\n", "")
    copy = own(tmp_path).with_name(f"{NAME}-Copy1.ipynb")
    copy.write_text(json.dumps(notebook(code("a", RIGHT), code("t", "check(pairwise_dots)"))))
    monkeypatch.setenv("JPY_SESSION_NAME", str(copy))
    hand_in(NAME)
    (kept,) = (tmp_path / "hand_in").iterdir()
    assert kept.read_bytes() == copy.read_bytes()
    assert kept.name.startswith(f"{NAME}-2")
    assert f"The file to hand in is {copy.name} as it was last saved" in capsys.readouterr().out
    monkeypatch.delenv("JPY_SESSION_NAME")
    monkeypatch.setattr(sys.modules["__main__"], "__vsc_ipynb_file__", str(copy), raising=False)
    hand_in(NAME)
    assert "nothing has changed since" in capsys.readouterr().out


@pytest.mark.parametrize("other", ["Untitled.ipynb", "console-1-0f", "gone.ipynb", f"{NAME}.ipynb", ""])
def test_what_is_no_copy_is_not_handed_in_for_it(
    desk: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    desk(RIGHT, RIGHT)
    (tmp_path / NAME / "Untitled.ipynb").write_text(json.dumps(notebook(code("a", "1 + 1"))))
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / NAME / other))
    hand_in(NAME)
    (kept,) = (tmp_path / "hand_in").iterdir()
    assert kept.read_bytes() == own(tmp_path).read_bytes()


UNWRITTEN = "def pairwise_dots(X, Y):\n    raise NotImplementedError()\n"
ANSWER_HERE = code("pairwise-dots-solution", UNWRITTEN, solution=True)
TEST_HERE = code("pairwise-dots", "check(pairwise_dots)", grade=True)


def handed_in(desk: Callable[..., None], tmp_path: Path, run: str, *cells: dict[str, Any]) -> None:
    desk(run, run)
    own(tmp_path).write_text(json.dumps(notebook(*cells)))
    hand_in(NAME)


@pytest.mark.parametrize(
    "cells",
    [
        (ANSWER_HERE, TEST_HERE, code("own", RIGHT)),
        (code("own", RIGHT), ANSWER_HERE, TEST_HERE),
        ({**ANSWER_HERE, "source": RIGHT}, TEST_HERE),
        ({**ANSWER_HERE, "source": "import math"}, code("own", RIGHT), TEST_HERE),
        (code("own", RIGHT),),
    ],
)
def test_of_what_is_judged_nothing_is_said(
    desk: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str], cells: tuple[dict[str, Any], ...]
) -> None:
    handed_in(desk, tmp_path, RIGHT, *cells)
    assert "will not count" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (
            ({**ANSWER_HERE, "source": RIGHT.replace("Y.T", "Y")}, TEST_HERE, code("own", RIGHT)),
            "pairwise_dots: what you ran last is in cell 3, and what is graded is in cell 1, which runs before its test. Write it into cell 1.",
        ),
        (
            (code("own", RIGHT), {**ANSWER_HERE, "source": RIGHT.replace("Y.T", "Y")}, TEST_HERE),
            "pairwise_dots: what you ran last is in cell 1, and what is graded is in cell 2",
        ),
        (
            ({**ANSWER_HERE, "source": RIGHT.replace("Y.T", "Y")}, TEST_HERE, {**ANSWER_HERE, "source": RIGHT}),
            "pairwise_dots: what you ran last is in cell 3, and what is graded is in cell 1, which runs before its test.",
        ),
    ],
)
def test_what_will_not_count_is_said_before_the_file_is_made(
    desk: Callable[..., None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    cells: tuple[dict[str, Any], ...],
    says: str,
) -> None:
    handed_in(desk, tmp_path, RIGHT, *cells)
    said = capsys.readouterr().out
    assert said.index(f"This will not count as it is now: {says}") < said.index("The file to hand in is")


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (
            ({**ANSWER_HERE, "source": RIGHT.replace("Y.T", "Y")}, TEST_HERE, {**ANSWER_HERE, "source": RIGHT}),
            "pairwise_dots: it is written in cell 1 and in cell 3, and what is graded is in cell 1, which runs before its test.",
        ),
        (
            ({**ANSWER_HERE, "source": f"class Mine:\n    {RIGHT.replace(chr(10), chr(10) + '    ')}"}, TEST_HERE),
            "pairwise_dots: its code is in a class, in cell 1. Take it out of the class: a function has to stand by itself.",
        ),
    ],
)
def test_what_will_not_count_is_said_too_where_nothing_was_run(
    desk: Callable[..., None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    cells: tuple[dict[str, Any], ...],
    says: str,
) -> None:
    handed_in(desk, tmp_path, "", *cells)
    assert f"This will not count as it is now: {says}" in capsys.readouterr().out


def test_code_in_a_cell_of_text_and_files_that_stay_here_are_told(
    desk: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / NAME / "helpers.py").write_text("")
    (tmp_path / NAME / "tools").mkdir()
    (tmp_path / NAME / "tools" / "all.py").write_text("")
    (tmp_path / NAME / "data.csv").write_text("")
    (tmp_path / NAME / "unused.py").write_text("")
    uses = code("uses", "from helpers import mix_rows\nimport numpy, math\nimport tools.all\nopen('data.csv')")
    handed_in(desk, tmp_path, "x = 1", words("w", RIGHT), uses)
    said = capsys.readouterr().out
    assert "pairwise_dots: its code is in cell 1, which is one of text. Make it a cell of code." in said
    stays = "stays here, for the notebook alone is handed in. Paste what you need of it into the notebook."
    assert [line.split(": ")[1] for line in said.splitlines() if stays in line] == [
        f"{name} {stays}" for name in ("data.csv", "helpers.py", "tools/")
    ]


@pytest.mark.parametrize(
    ("name", "says"), [("12", "There is no notebook 12"), ("01", "There is no 01_token_loops.ipynb")]
)
def test_what_cannot_be_handed_in_is_said(
    desk: Callable[..., None], capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    desk(RIGHT, RIGHT)
    hand_in(name)
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("execution", ["autograde", "validate"])
def test_nothing_is_handed_in_while_nbgrader_runs(
    desk: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, execution: str
) -> None:
    desk(RIGHT, RIGHT)
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    hand_in(NAME)
    assert not (tmp_path / "hand_in").exists()


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("import sys; sys.exit(0)", "too."),
        ("import sys; print('no course id', file=sys.stderr); sys.exit(1)", "(no course id). Hand in the file above."),
    ],
)
def test_an_exchange_is_used_where_there_is_one_and_its_refusal_is_told(
    desk: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    program: str,
    says: str,
) -> None:
    desk(RIGHT, RIGHT)
    (tmp_path / "nbgrader.py").write_text(program)  # what `python -m nbgrader` finds in the folder that it is run in
    monkeypatch.setattr(handing_in, "_has_exchange", lambda _: True)
    hand_in(NAME)
    assert capsys.readouterr().out.rstrip().endswith(says)
    assert len(list((tmp_path / "hand_in").iterdir())) == 1


# ----------------------------------------------------------------------------------------------------------------- PyTorch


def test_where_pytorch_is_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    pytorch()
    assert capsys.readouterr().out == ""


def test_where_it_is_missing_the_notebook_stops_with_how_to_get_it_and_how_large_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch_here, "find_spec", lambda _: None)
    with pytest.raises(torch_here.Waiting) as found:
        pytorch()
    shown = "\n".join(found.value._render_traceback_())
    assert "pytorch(get=True)" in shown
    assert "200 MB" in shown
    assert "Traceback" not in shown


def test_the_version_that_a_kit_names_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".kit").mkdir()
    (tmp_path / ".kit" / "kit.json").write_text('{"torch": "torch==9.9"}')
    (tmp_path / NAME).mkdir()
    monkeypatch.chdir(tmp_path / NAME)
    assert torch_here._pinned() == "torch==9.9"


# ------------------------------------------------------------------------------------------------------------- JupyterLab


def test_a_kernel_of_the_kits_jupyterlab_starts_without_a_warning(tmp_path: Path) -> None:
    given = dict(option.removeprefix("--KernelManager.").split("=") for option in lab.private())
    manager = KernelManager(kernel_name="python3", **given)
    said = tmp_path / "said.txt"
    with said.open("w") as stream:
        manager.start_kernel(stderr=stream)
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    assert "encryption" not in said.read_text()
