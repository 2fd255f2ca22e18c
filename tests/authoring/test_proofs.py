"""What was proved is not proved again, and whatever a proof rests on ends it when it changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import mutants, proofs, replay
from autograder.authoring.proofs import digest, keep, recall
from autograder.dependencies import imported
from autograder.exercises import exercises_in, names_in
from autograder.folder import ROOT
from tests import proved


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made checkout: a module that imports another, and a file of data."""
    files = {
        "a.py": "from room import b\n",
        "room/__init__.py": "",
        "room/b.py": "import json\n",
        "room/c.py": "",
        "d.json": "{}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(proofs, "ROOT", tmp_path)
    monkeypatch.setattr(proofs, "PLACE", tmp_path / ".proofs")
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "matters"),
    [("a.py", True), ("room/b.py", True), ("room/__init__.py", True), ("d.json", True), ("room/c.py", False)],
)
def test_a_proof_rests_on_files_and_on_what_they_import(checkout: Path, changed: str, matters: bool) -> None:
    before = digest(["a.py", "d.json"])
    with (checkout / changed).open("a") as file:
        file.write("\n")
    assert (digest(["a.py", "d.json"]) != before) == matters


def test_a_proof_rests_on_how_numbers_are_computed(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(["a.py"])
    monkeypatch.setenv("OMP_NUM_THREADS", "77")
    proofs._surroundings.cache_clear()
    assert digest(["a.py"]) != before
    proofs._surroundings.cache_clear()


def test_what_is_kept_is_found_as_long_as_it_rests_on_the_same(checkout: Path) -> None:
    assert recall("rooms/a", "1") is None
    keep("rooms/a", "1", [3])
    assert recall("rooms/a", "1") == [3]
    assert recall("rooms/a", "2") is None
    (checkout / ".proofs" / "rooms" / "a.json").write_text("[")
    assert recall("rooms/a", "1") is None


def test_mutants_that_were_proved_are_not_run_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (exercise, *_) = exercises_in("00_shapes")
    first = mutants.proved([exercise], (1,))
    assert {row.role for row in first} == {"right", "mistake"}
    monkeypatch.setattr(mutants, "rows", lambda *_: pytest.fail("they are run again"))
    assert mutants.proved([exercise], (1,)) == first


def test_what_is_in_trouble_is_never_kept(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (exercise, *_) = exercises_in("00_shapes")
    asked: list[str] = []

    def in_trouble(exercise: Any, seeds: Any) -> list[mutants.Row]:
        asked.append(exercise.name)
        return [mutants.Row(exercise.name, "slip", "mistake", "survived", "survives the hidden test")]

    monkeypatch.setattr(mutants, "rows", in_trouble)
    for _ in range(2):
        assert mutants.proved([exercise], (1,))[0].trouble
    assert len(asked) == 2


def test_notebooks_that_were_run_are_run_again_only_where_they_failed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes, run = [1, 0], []
    monkeypatch.setattr(replay, "_run", lambda folders, told: run.append(folders) or codes.pop(0))
    assert [replay.replay(["00_shapes"]) for _ in range(3)] == [1, 0, 0]
    assert run == [["source/00_shapes"]] * 2


@pytest.mark.parametrize("notebook", ["00_shapes", "10_capstone"])
def test_a_notebook_rests_on_itself_its_exercises_and_what_it_imports(notebook: str) -> None:
    found = replay.rests_on(notebook)
    assert {f"source/{notebook}", "course/checking.py", "course/client.py"} <= set(found) | _imported(found)
    assert f"autograder/exercises/{notebook[3:]}" in found
    assert ("course/figures/capstone.py" in _imported(found)) == (notebook == "10_capstone")
    assert [name for name in found if not (ROOT / name).exists()] == []


def _imported(names: list[str]) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix() for path in proofs.with_imports(ROOT, [n for n in names if n.endswith(".py")])
    }


# ------------------------------------------------------------------------------------------------ pytest --changed


def test_what_tests_are_said_to_rest_on_is_there() -> None:
    named = {name for names in proved.RESTS_ON.values() for name in names}
    assert [name for name in (*proved.RESTS_ON, *named) if not (ROOT / name).exists()] == []


def test_a_changed_file_of_tests_is_proved_again_and_no_other_is() -> None:
    for file in proved._files_of_tests():
        reached = {path.relative_to(ROOT).as_posix() for path in proofs.files(proved.rests_on(file), KNOWN)}
        others = {name for name in reached if name.startswith("tests/") and Path(name).name.startswith("test_")}
        assert others == ({file} if proved.rests_on(file) else set())


KNOWN: dict[Path, list[Path]] = {}


@pytest.mark.parametrize(
    ("file", "used", "unused"),
    [
        ("tests/plugins/test_exchange.py", "tests/support/users.py", "tests/grading/conftest.py"),
        ("tests/plugins/test_stock_class.py", "tests/support/stock_class.py", "tests/support/users.py"),
        ("tests/grading/test_words.py", "tests/grading/conftest.py", "tests/support/users.py"),
        ("tests/grading/test_words.py", "tests/support/quick.py", "tests/support/stock_class.py"),
        ("tests/grading/test_equality.py", "tests/support/submissions.py", "tests/engine/conftest.py"),
        ("tests/attacks/test_attacks.py", "tests/attacks/arms.py", "tests/support/users.py"),
        ("tests/attacks/test_attacks.py", "tests/support/submissions.py", "tests/support/quick.py"),
        ("tests/course/test_museum.py", "tests/support/hands.py", "tests/support/recorded.py"),
        ("tests/browser/test_lab.py", "tests/browser/front_end.py", "tests/browser/likeness.py"),
        ("tests/browser/test_looks.py", "tests/browser/pictures/message-dark.png", "release/04_heads/04_heads.ipynb"),
        ("tests/engine/test_given.py", "tests/conftest.py", "tests/support/submissions.py"),
    ],
)
def test_a_file_of_tests_rests_on_the_fixtures_above_it_and_on_the_support_that_it_imports(
    file: str, used: str, unused: str
) -> None:
    reached = proofs.files(proved.rests_on(file), KNOWN)
    assert ROOT / used in reached
    assert (ROOT / unused).is_file()
    assert ROOT / unused not in reached


def test_what_lies_beside_a_file_of_tests_is_imported_only_where_the_whole_folder_counts() -> None:
    """A neighbour is imported by a name that does not say where it is, so that nobody finds it."""
    for file in proved._files_of_tests():
        folder = Path(file).parent
        if folder.as_posix() in proved.rests_on(file):
            continue
        names = {name.partition(".")[0] for name in imported((ROOT / file).read_bytes(), folder.parts)}
        assert [name for name in names if (ROOT / folder / f"{name}.py").is_file()] == [], file


def test_changed_leaves_out_what_passed_and_runs_it_again_when_it_changes(tmp_path: Path) -> None:
    """In a copy of the checkout without its notebooks, so that no proof of this one is touched."""
    copy = tmp_path / "copy"
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        if not name.startswith(("source/", "release/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    file, other = (copy / "tests" / "course" / "trial" / f"test_{name}.py" for name in ("text", "message"))
    for one in (file, other):
        one.write_text("def test_it() -> None:\n    assert True\n")

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(file), str(other), *options]
        return subprocess.run(command, cwd=copy, env={"PYTHONPATH": str(copy)}, capture_output=True, text=True).stdout

    assert "2 passed" in run("--changed")
    assert "2 files of tests rest on nothing that has changed" in run("--changed")
    assert "2 passed" in run()
    with file.open("a") as grown:
        grown.write("\n\ndef test_that() -> None:\n    assert False\n")
    for _ in range(2):  # what failed is kept by nobody
        said = run("--changed")
        assert "1 failed, 1 passed" in said
        assert "1 files of tests rest on nothing that has changed" in said


def test_the_exercises_of_a_notebook_are_found_without_importing_them() -> None:
    code = "import sys; from autograder.exercises import names_in; names_in('05_block'); print('autograder.exercises.block.ffn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
    assert "ffn" in names_in("05_block")
