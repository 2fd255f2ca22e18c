"""What was proved is not proved again, and whatever a proof rests on ends it when it changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import mutants, proofs, replay
from autograder.authoring.proofs import Checkout, keep, recall
from autograder.dependencies import imported
from autograder.exercises import exercises_in, names_in
from autograder.settings import ROOT
from tests import proved
from tests.conftest import ONE_AFTER_ANOTHER


def digest(names: list[str]) -> str:
    """As things are now."""
    return Checkout().digest(names)


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
    kept = Checkout()
    before = kept.digest(["a.py", "*.json"])
    with (checkout / changed).open("a") as file:
        file.write("\n")
    assert (digest(["a.py", "*.json"]) != before) == matters
    assert kept.digest(["a.py", "*.json"]) == before  # as things were when it was first asked


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
    assert {row.role for row in first} == {"right", "mistake", "idle"}
    monkeypatch.setattr(mutants, "rows", lambda *_: pytest.fail("they are run again"))
    assert mutants.proved([exercise], (1,)) == first


def test_what_is_in_trouble_is_never_kept(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (exercise, *_) = exercises_in("00_shapes")
    asked: list[str] = []

    def in_trouble(exercise: Any, *_: Any) -> list[mutants.Row]:
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


CHECKOUT = Checkout()


def test_what_tests_are_said_to_rest_on_is_there() -> None:
    named = {name for file in proved.files_of_tests() for name in proved.rests_on(file)}
    assert [name for name in (*proved.RESTS_ON, *named) if not any(ROOT.glob(name))] == []


def test_what_a_clone_leaves_out_is_there_and_rests_on_something() -> None:
    named = (*proved.CAME_PROVED, *proved.PROVED_HERE)
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert all(proved.is_among(name, proved.CAME_PROVED) for name in proved.PROVED_HERE)
    files = [file for file in proved.files_of_tests() if file in proved.CAME_PROVED]
    assert [file for file in files if not proved.rests_on(file)] == []


def test_what_runs_one_after_another_is_there() -> None:
    assert all(any(ROOT.glob(f"{name}*")) for name in ONE_AFTER_ANOTHER)


def test_a_changed_file_of_tests_is_proved_again_and_no_other_is() -> None:
    for file in proved.files_of_tests():
        reached = {path.relative_to(ROOT).as_posix() for path in CHECKOUT.reached(proved.rests_on(file))}
        others = {name for name in reached if name.startswith("tests/") and Path(name).name.startswith("test_")}
        assert others == ({file} if proved.rests_on(file) else set())


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
        ("tests/course/test_museum.py", "course/trial/values.py", "autograder/exercises/devices/mlp_tp.py"),
        ("tests/course/test_checking.py", "autograder/exercises/devices/mlp_tp.py", "tests/support/recorded.py"),
        (
            "tests/judging/test_capstone.py",
            "autograder/exercises/block/block.py",
            "autograder/exercises/devices/mlp_tp.py",
        ),
        ("tests/judging/test_forging.py", "autograder/exercises/parts.py", "autograder/exercises/devices/mlp_tp.py"),
        ("tests/judging/test_fuzz.py", "autograder/exercises/devices/mlp_tp.py", "source/09_devices/09_devices.ipynb"),
        ("tests/browser/test_lab.py", "tests/browser/front_end.py", "tests/browser/likeness.py"),
        ("tests/browser/test_looks.py", "tests/browser/pictures/message-dark.png", "release/04_heads/04_heads.ipynb"),
        ("tests/engine/test_given.py", "tests/conftest.py", "tests/support/submissions.py"),
    ],
)
def test_a_file_of_tests_rests_on_what_it_imports_or_names_and_on_the_fixtures_above_it(
    file: str, used: str, unused: str
) -> None:
    reached = CHECKOUT.reached(proved.rests_on(file))
    assert ROOT / used in reached
    assert (ROOT / unused).is_file()
    assert ROOT / unused not in reached


@pytest.mark.parametrize(
    "file",
    [
        "authoring/test_sample_code.py",
        "authoring/test_unwritten.py",
        "authoring/test_ungraded.py",
        "engine/test_outputs.py",
    ],
)
def test_tests_of_one_notebook_rest_on_that_one_and_the_others_of_the_file_on_all(file: str) -> None:
    one = CHECKOUT.reached(proved.rests_on(f"tests/{file}", "09_devices"))
    every = CHECKOUT.reached(proved.rests_on(f"tests/{file}"))
    for name in ("source/09_devices/09_devices.ipynb", "course/answers/09_devices/mlp_tp.json"):
        assert ROOT / name in one
    for name in ("source/10_capstone/10_capstone.ipynb", "course/answers/04_heads/mha_loop.json"):
        assert ROOT / name in every - one
    assert ROOT / "course" / "checking.py" in one


def test_the_notebook_that_a_test_sees_is_read_from_its_parameters() -> None:
    file = "tests/authoring/test_sample_code.py"
    (exercise, *_) = exercises_in("00_shapes")
    assert proved.part_of(file, {"exercise": exercise}) == "00_shapes"
    assert proved.part_of(file, {"notebook": "09_devices"}) == "09_devices"
    assert proved.part_of(file, {"name": "09_devices"}) == ""
    assert proved.part_of("tests/judging/test_forging.py", {"notebook": "09_devices"}) == ""


def test_what_lies_beside_a_file_of_tests_is_imported_only_where_the_whole_folder_counts() -> None:
    """A neighbour is imported by a name that does not say where it is, so that nobody finds it."""
    for file in proved.files_of_tests():
        folder = Path(file).parent
        if folder.as_posix() in proved.rests_on(file):
            continue
        names = {name.partition(".")[0] for name in imported((ROOT / file).read_bytes(), folder.parts)}
        assert [name for name in names if (ROOT / folder / f"{name}.py").is_file()] == [], file


SEEN = """
import pytest

@pytest.mark.parametrize("notebook", ["00_shapes", "10_capstone"])
def test_it(notebook: str) -> None:
    assert True
"""


def copied(copy: Path) -> Path:
    """A copy of the checkout without its notebooks and fixtures, so that no proof of this one is touched."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        if not name.startswith(("source/", "release/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    (copy / "tests" / "conftest.py").write_text('pytest_plugins = ["tests.proved"]\n')
    return copy


def pytest_in(copy: Path, *words: str) -> str:
    alone = ["-p", "no:cacheprovider", "-p", "xdist"]
    command = [sys.executable, "-m", "pytest", *alone, *words]
    env = {"PYTHONPATH": str(copy), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True)
    return f"{done.stdout}{done.stderr}\nended with {done.returncode}"


def test_changed_leaves_out_what_passed_and_runs_it_again_when_it_changes(tmp_path: Path) -> None:
    copy = copied(tmp_path / "copy")
    file, other = (copy / "tests" / "course" / "trial" / f"test_{name}.py" for name in ("text", "message"))
    for one in (file, other):
        one.write_text("def test_it() -> None:\n    assert True\n")
    seen = copy / "tests" / "authoring" / "test_unwritten.py"
    seen.write_text(SEEN)

    def run(*options: str) -> str:
        return pytest_in(copy, *map(str, (file, other, seen)), *options)

    assert "4 passed" in run("--changed", "-n", "1")
    said = run("--changed")
    assert "3 files of tests rest on nothing that has changed" in said
    assert "ended with 0" in said
    with file.open("a") as grown:
        grown.write("\n\ndef test_that() -> None:\n    assert False\n")
    (copy / "release" / "10_capstone").mkdir(parents=True)
    (copy / "release" / "10_capstone" / "10_capstone.ipynb").write_text("{}")
    said = run("--changed", "-n", "1")
    assert "1 failed, 2 passed" in said
    assert "1 files of tests rest on nothing that has changed" in said
    said = run("--changed")  # what failed is kept by nobody, and what passed is kept, a notebook at a time
    assert "1 failed, 1 passed" in said
    assert "2 files of tests rest on nothing that has changed" in said
    assert "1 failed, 4 passed" in run()


def git(folder: Path, *words: str) -> None:
    """A command of git's, as somebody without settings."""
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


def test_a_clone_differs_by_what_was_committed_written_added_and_removed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    for name in ("same", "committed", "wrïtten", "removed", ".gitignore"):
        (origin / name).write_text("ignored")
    git(origin, "init")
    git(origin, "add", ".")
    git(origin, "commit", "-m", "all")
    git(tmp_path, "clone", str(origin), str(clone))
    monkeypatch.setattr(proofs, "ROOT", clone)
    assert proofs.differing() == frozenset()
    (clone / "committed").write_text("new")
    git(clone, "commit", "-am", "one")
    (clone / "wrïtten").write_text("new")
    (clone / "removed").unlink()
    for name in ("added", "ignored"):
        (clone / name).touch()
    assert proofs.differing() == {"committed", "wrïtten", "removed", "added"}
    (origin / "same").write_text("of somebody else")
    git(origin, "commit", "-am", "another")
    git(clone, "fetch")
    assert proofs.differing() == {"committed", "wrïtten", "removed", "added"}
    for folder in (origin, tmp_path):  # what was cloned from nowhere, and what git does not know
        monkeypatch.setattr(proofs, "ROOT", folder)
        assert proofs.differing() is None


@pytest.mark.parametrize(
    ("changed", "matters"), [("a.py", True), ("room/b.py", True), ("room/gone.py", False), ("gone.json", True)]
)
def test_what_is_reached_may_be_gone(checkout: Path, changed: str, matters: bool) -> None:
    assert Checkout().rests_on_any(["a.py", "*.json"], {changed}) == matters
    assert Checkout().rests_on_any(["a.py", "room"], {"room/gone.py"})


def test_a_clone_leaves_out_what_its_branch_has_passed_until_it_differs(tmp_path: Path) -> None:
    origin, clone = copied(tmp_path / "origin"), tmp_path / "clone"
    files = [f"tests/{name}.py" for name in ("plugins/test_metadata", "engine/test_session", "course/test_verdicts")]
    for file in files:
        (origin / file).write_text("def test_it() -> None:\n    assert True\n")
    git(origin, "init")
    git(origin, "add", ".")
    git(origin, "commit", "-m", "all")
    git(tmp_path, "clone", str(origin), str(clone))
    assert "3 passed" in pytest_in(origin, *files, "--changed")
    for processes in ((), ("-n", "1")):
        said = pytest_in(clone, *files, "--changed", *processes)
        assert "2 passed" in said  # walls, and what a processor may compute in another way, are proved on every machine
        assert "1 files of tests rest on nothing that differs from the branch that was cloned" in said
        assert "ended with 0" in said
        (clone / ".proofs").rename(tmp_path / f"kept{len(processes)}")
    with (clone / "autograder" / "plugins" / "printable.py").open("a") as grown:
        grown.write("\n")
    assert "3 passed" in pytest_in(clone, *files, "--changed")


def test_the_exercises_of_a_notebook_are_found_without_importing_them() -> None:
    code = "import sys; from autograder.exercises import names_in; names_in('05_block'); print('autograder.exercises.block.ffn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
    assert "ffn" in names_in("05_block")
