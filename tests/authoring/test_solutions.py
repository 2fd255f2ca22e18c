"""What students are handed when a notebook is closed: its answers, the reasons, and what every known mistake gives."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.__main__ import run
from autograder.authoring import solutions
from autograder.authoring.kit import make_kit
from autograder.authoring.mutants import Unreleased, stored_answers
from autograder.authoring.solutions import make_solutions, mistakes
from autograder.authoring.solutions.copying import worked
from autograder.authoring.solutions.page import as_page
from autograder.authoring.solutions.styles import other_styles
from autograder.authoring.solutions.telling import told
from autograder.exercises import NOTEBOOKS, every_exercise, exercise_named, exercises_in, tasks_in
from autograder.exercises.model import Exercise, lesson
from autograder.judging.reference import expected, given
from autograder.problems import Problem
from autograder.settings import ROOT
from course.trial.comparing import difference
from course.trial.observing import Observation
from course.trial.text import marked_up
from tests.support.kernels import run_in_kernel

each_exercise = pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)


@cache
def source(notebook: str) -> NotebookNode:
    return nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4)


@cache
def copy(notebook: str) -> NotebookNode:
    return worked(notebook)


def cell(notebook: NotebookNode, name: str) -> str:
    (found,) = (one.source for one in notebook.cells if one.id == name)
    return str(found)


def answer(exercise: Exercise) -> str:
    """The cell of an answer, as its source has it."""
    return cell(source(exercise.notebook), f"{exercise.name.replace('_', '-')}-solution")


def beneath(notebook: str, name: str) -> str:
    """What is told under the answer to an exercise."""
    return cell(copy(notebook), f"{name.replace('_', '-')}-worked")


def folded(text: str) -> list[tuple[str, str]]:
    """What can be unfolded of the known mistakes: the line that is seen, and what is behind it."""
    return re.findall(r"^<details><summary>(✗ .*?)</summary>(.*?)</details>$", text, re.DOTALL | re.MULTILINE)


def behind(notebook: str, name: str, mistake: str) -> str:
    """What is behind the line of a mistake."""
    (known,) = (one for one in exercise_named(notebook, name).mistakes if one.__name__ == mistake)
    (found,) = (shown for seen, shown in folded(beneath(notebook, name)) if marked_up(lesson(known)) in seen)
    return found


# --------------------------------------------------------------------------------------------------- the copy as a whole


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_worked_copy_holds_all_answers_and_nothing_for_those_who_solve(notebook: str) -> None:
    made, cells = copy(notebook), {one.id: one for one in source(notebook).cells}
    nbformat.validate(made)
    assert not [one.id for one in made.cells if "nbgrader" in one.metadata]
    code = "\n".join(one.source for one in made.cells if one.cell_type == "code")
    assert not re.search(r"^(### |check\(|judge\(|progress\(|#hand_in)", code, re.MULTILINE)
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)", "".join(one.source for one in made.cells))
    for exercise in exercises_in(notebook):
        solved = cell(made, f"{exercise.name.replace('_', '-')}-solution")
        assert solved == re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", answer(exercise)).rstrip()
    for one in made.cells:
        if one.cell_type == "code":
            assert one.outputs == cells[one.id].outputs


def test_a_worked_copy_says_what_it_is_under_its_title() -> None:
    title, note, *_ = copy("03_causal_mask").cells
    assert title.source.startswith("# 03 · ")
    assert note.source.startswith("> **Worked copy.** Every exercise is solved here.")


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_under_each_answer_stand_the_reason_other_answers_and_every_mistake(notebook: str) -> None:
    ids = [one.id for one in copy(notebook).cells]
    for exercise in exercises_in(notebook):
        name = exercise.name.replace("_", "-")
        assert ids.index(f"{name}-worked") == ids.index(f"{name}-solution") + 1
        text = beneath(notebook, exercise.name)
        assert text.startswith(f"**Why.** {exercise.why}\n\n<details><summary><b>Also right:</b> ")
        assert f"**Known mistakes: {len(exercise.mistakes)}.**" in text
        seen = "\n".join(line for line, _ in folded(text))
        assert [one.__name__ for one in exercise.mistakes if marked_up(lesson(one)) not in seen] == []
        assert "\n\n" not in text[text.index("<summary>✗") :]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_what_was_to_be_guessed_is_told(notebook: str) -> None:
    made = copy(notebook).cells
    for one in source(notebook).cells:
        if "prediction" in one.metadata.get("tags", ()):
            place = [each.id for each in made].index(one.id)
            guess = one.source.split(" = ")[1].split("  #")[0]
            right = guess if guess.isdecimal() else f"({guess[1]})"
            assert made[place + 1].source.startswith(f"**What is right: {right}")


def test_a_guess_among_letters_is_told_in_words() -> None:
    assert cell(copy("07_caught_cheating"), "guess-last-right") == (
        "**What is right: (c)** It jumps up to the entropy, or a little above."
    )
    assert cell(copy("02_matrices"), "guess-spread-right") == "**What is right: (c)** it doubles"


def test_a_question_in_words_has_its_model_answer_and_nothing_for_the_marker() -> None:
    (task,) = tasks_in("10_capstone")
    text = cell(copy("10_capstone"), task.name)
    assert text.startswith("**Room 6.** *What one sees:*")
    assert "**Room 8.**" in text
    assert "marker" not in text
    assert "<!--" not in text


@pytest.mark.parametrize("notebook", ["00_shapes", pytest.param("03_causal_mask", marks=pytest.mark.thorough)])
def test_a_worked_copy_runs_from_top_to_bottom(notebook: str, tmp_path: Path) -> None:
    made = nbformat.from_dict(copy(notebook))
    run_in_kernel(made, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    shown = [one for each in made.cells for one in each.get("outputs", ())]
    assert shown
    assert not [one for one in shown if one.output_type == "error" or one.get("name") == "stderr"]


# ------------------------------------------------------------------------------------------------------ other right answers


@each_exercise
def test_two_or_three_other_ways_are_right_where_they_would_stand(exercise: Exercise) -> None:
    codes = other_styles(exercise, answer(exercise))
    assert len(set(codes)) == len(codes) <= 3
    assert len(codes) >= 2, f"{exercise.name} has {len(codes)} @right in another style than the solution: write two"
    for code in codes:
        assert f"```python\n{code}\n```" in beneath(exercise.notebook, exercise.name)
        scope: dict[str, Any] = {}
        for one in source(exercise.notebook).cells:
            needed = one.id in ("setup", "carried-over") or one.metadata.get("nbgrader", {}).get("solution")
            if needed and one.cell_type == "code":
                exec(one.source, scope)
        exec(code, scope)
        for case in exercise.public:
            assert difference(expected(exercise, case), given(exercise, scope[exercise.name], case, False)) is None


def test_the_solution_itself_is_no_other_way() -> None:
    exercise = exercise_named("03_causal_mask", "mask_scores")
    line = "return np.where(keep, S, -np.inf)"
    assert line in answer(exercise)
    assert line not in "".join(other_styles(exercise, answer(exercise)))


def test_another_way_calls_what_the_notebook_has_defined() -> None:
    codes = other_styles(exercise_named("05_block", "stack"), answer(exercise_named("05_block", "stack")))
    assert "mha(" in codes[1]
    assert "def attention_of_heads" not in codes[1]


# ------------------------------------------------------------------------------------------------------------ known mistakes


def test_a_mistake_is_shown_by_the_smallest_case_with_both_tables() -> None:
    shown = " ".join(re.sub(r"<[^>]*>", " ", behind("00_shapes", "pairwise_dots", "dots_turned")).split())
    assert shown == (
        "With X = [[ 1. 2.] [ 0. -1.]] Y = [[3. 1.] [5. 4.]] The result has the right shape. Entry [0, 1] should be 13; yours is -1. "
        "expected yours 5 13 -1 -4 5 -1 13 -4"
    )


def test_a_mistake_in_numbers_is_shown_by_numbers_also_where_a_smaller_case_has_another_dtype() -> None:
    shown = behind("03_causal_mask", "zero_renorm", "divides_by_the_number_kept")
    assert "yours is float64" not in shown
    assert "<th style='text-align:left'>expected</th>" in shown


def test_the_tables_are_made_of_the_stored_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = exercise_named("00_shapes", "pairwise_dots")
    stored = stored_answers(exercise)
    (turned,) = (one for one in stored.mistakes if one.name == "dots_turned")
    other = replace(turned, answers=(Observation(turned.answers[0].result * 1000), *turned.answers[1:]))
    changed = replace(stored, mistakes=tuple(other if one is turned else one for one in stored.mistakes))
    assert "13000" not in told(exercise, answer(exercise))
    monkeypatch.setattr(mistakes, "stored_answers", lambda _: changed)
    assert "13000" in told(exercise, answer(exercise))


@pytest.mark.parametrize(
    ("notebook", "name", "mistake", "words"),
    [
        ("02_matrices", "attention", "loops_over_tokens", "a loop is left"),
        ("03_causal_mask", "mask_scores", "masks_in_place", "The call changed S in place"),
        ("03_causal_mask", "causal_keep", "zeros_and_ones", "The result should be bool; yours is float64."),
        ("06_batching", "load_numpy", "numpy_type_for_module", "Your code raises TypeError: "),
        (
            "03_causal_mask",
            "causal_keep",
            "fixed_size_of_the_largest_model",
            "it keeps its points: no case has so many",
        ),
        ("01_token_loops", "attend_loop", "all_of_them_twice", "rows to project, all calls together; 6 are enough."),
        (
            "07_caught_cheating",
            "verdict",
            "not_a_number_is_honest",
            "A ValueError that is raised here counts as an answer: the call is refused.",
        ),
    ],
)
def test_what_no_table_shows_is_told_in_words(notebook: str, name: str, mistake: str, words: str) -> None:
    assert words in behind(notebook, name, mistake)


def test_mistakes_with_the_same_answer_share_a_table() -> None:
    first, *_ = folded(beneath("03_causal_mask", "causal_keep"))
    assert first[0].count("✗") > 1
    tables = [shown for _, shown in folded(beneath("03_causal_mask", "causal_keep"))]
    assert len(set(tables)) == len(tables)


def test_of_many_mistakes_those_come_first_that_go_wrong_in_most_cases() -> None:
    exercise = exercise_named("00_shapes", "mix_rows")
    assert len(exercise.mistakes) > mistakes.MANY
    stored = stored_answers(exercise)
    wrong = {
        marked_up(one.lesson): sum(map(bool, map(difference, stored.expected, one.answers))) for one in stored.mistakes
    }
    most = [
        max(wrong[line] for line in seen.removeprefix("✗ ").split("<br>✗ "))
        for seen, _ in folded(beneath("00_shapes", "mix_rows"))
    ]
    assert most == sorted(most, reverse=True)
    assert most[0] > most[-1]


def test_of_few_mistakes_the_order_is_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = exercise_named("00_shapes", "mix_rows")
    declared = [lesson(mistake) for mistake in exercise.mistakes]
    monkeypatch.setattr(mistakes, "MANY", len(declared))
    first = [declared.index(group.lessons[0]) for group in mistakes.groups(exercise)]
    assert first == sorted(first)


# ------------------------------------------------------------------------------------------------------------------- the page


@pytest.mark.parametrize("notebook", ["00_shapes", "06_batching"])
def test_the_page_needs_nothing_else(notebook: str) -> None:
    page = as_page(copy(notebook))
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not re.search(r"<(script|link|iframe|object|embed)\b", page)
    assert not re.search(r"\bsrc=['\"](?!data:)|@import|url\((?!['\"]?data:)", page)
    assert "<math" in page
    assert "$$" not in page
    for exercise in exercises_in(notebook):
        assert page.count(f"Known mistakes: {len(exercise.mistakes)}.") >= 1


def test_what_is_folded_is_folded_on_the_page_too() -> None:
    page = as_page(copy("00_shapes"))
    plain = unescape(page.replace("<br/>", "<br>"))
    for exercise in exercises_in("00_shapes"):
        for seen, _ in folded(beneath("00_shapes", exercise.name)):
            assert f"<details><summary>{unescape(seen)}</summary>" in plain
    assert page.count("<details") == page.count("</details>")
    assert "**" not in re.sub(r"<pre.*?</pre>|<code.*?</code>|alt=\"[^\"]*\"", "", page, flags=re.DOTALL)


# ---------------------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "solutions"
    assert not [*(ROOT / "release").rglob("*worked*"), *(ROOT / "source").rglob("*worked*")]


def test_the_command_writes_both_and_says_where(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["solutions", "00", "--folder", str(folder)])
    assert not ended.value.code
    written = [folder / "00_shapes-worked.html", folder / "00_shapes-worked.ipynb"]
    assert sorted(folder.iterdir()) == written
    assert sorted(line.partition(", ")[0] for line in capsys.readouterr().out.splitlines()) == [*map(str, written)]
    nbformat.validate(nbformat.read(written[1], as_version=4))


@pytest.mark.parametrize(
    ("name", "said"),
    [("03_causal_msk", "did you mean 03_causal_mask?"), ("99", "there are 00_shapes, 01_token_loops")],
)
def test_a_notebook_that_there_is_not_is_refused(
    name: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["solutions", name, "--folder", str(folder)])
    assert ended.value.code == 2
    told = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert f"there is no notebook '{name}'; {said}" in told
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as ended:
        run(["solutions", "00_shapes", "--folder", str(tmp_path / "file" / "solutions")])
    told = capsys.readouterr().err
    assert ended.value.code == 1
    assert told.startswith(f"{tmp_path / 'file' / 'solutions'} cannot be written (Not a directory).")
    assert "--folder FOLDER" in told


@pytest.mark.parametrize("place", solutions.HANDED_OUT)
def test_nothing_is_written_where_it_would_be_handed_out(place: str) -> None:
    with pytest.raises(
        Problem, match=f"what lies in {place}/ is handed out. Name another folder, such as build/solutions"
    ):
        make_solutions("00_shapes", ROOT / place / "00_shapes")


def test_what_check_does_not_know_yet_has_to_be_released_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreleased(_: Exercise) -> None:
        raise Unreleased("run `make release` first")

    monkeypatch.setattr(mistakes, "stored_answers", unreleased)
    with pytest.raises(Problem, match="run `make release` first"):
        make_solutions("00_shapes", folder)
    assert not folder.exists()


# ------------------------------------------------------------------------------------------------------- nothing ahead of time


def texts_in(path: Path) -> Iterator[tuple[str, str]]:
    """Every file of a zip, and of the wheel in it, with its text."""
    with ZipFile(path) as opened:
        for name in opened.namelist():
            content = opened.read(name)
            if name.endswith(".whl"):
                yield from texts_in(io.BytesIO(content))  # type: ignore[arg-type]
            else:
                yield name, content.decode(errors="replace")


def test_no_kit_and_no_release_tells_why(folder: Path, tmp_path: Path) -> None:
    make_solutions("00_shapes", folder)
    reasons = [exercise.why.split(". ")[0] for exercise in every_exercise()]
    held = dict(texts_in(make_kit("03_causal_mask", tmp_path)))
    assert any(name.endswith("course/checking.py") for name in held)
    assert not [name for name in held if "worked" in name or "solutions" in name]
    files = [path for room in ("release", "course") for path in (ROOT / room).rglob("*") if path.is_file()]
    held |= {str(path): path.read_text(errors="replace") for path in files if "__pycache__" not in path.parts}
    assert [name for name, text in held.items() if any(reason in " ".join(text.split()) for reason in reasons)] == []
