"""What students get: what `make release` would make now, and nothing in it that gives an answer away."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from typer.testing import CliRunner

import autograder.authoring.release as release
from autograder.__main__ import app
from autograder.authoring import proofs
from autograder.exercises import NOTEBOOKS, every_exercise, exercises_in, tasks_in
from autograder.folder import Course, NbgraderFailed
from autograder.plugins.releasing import CELL_ID, FOLDED, KERNELSPEC, TAGS
from autograder.settings import ROOT
from tests.support.leaks import cells_of, flat, functions, leaked, solution_texts

CARRIED_OVER = "carried-over"
# One product of two arguments, as they are or turned: notebook 00 shows them all side by side and asks which is meant.
ONE_PRODUCT = re.compile(r"return v\d(\.T)? [@*] v\d(\.T)?")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' package, built without the network and unpacked as pip unpacks it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (archive,) = folder.glob("*.whl")
    with ZipFile(archive) as opened:
        opened.extractall(folder / "unpacked")
    return folder / "unpacked"


def notebook_of(notebook: str, release: Path = ROOT / "release") -> Path:
    """What students get; tests/authoring/test_release_bytes.py makes it again."""
    return release / notebook / f"{notebook}.ipynb"


# --------------------------------------------------------------------------------------------- where a class was graded


@pytest.fixture
def graded(new_course: Callable[[], Course], monkeypatch: pytest.MonkeyPatch) -> Course:
    """A checkout in which notebook 00 was released, and ada's work graded."""
    course = new_course()
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission("00_shapes", "ada")
    for name, folder in (("ROOT", "."), ("ANSWERS", "course/answers"), ("RELEASE", "release")):
        monkeypatch.setattr(release, name, course.root / folder)
    monkeypatch.setattr(release, "Course", lambda: course)
    shutil.copytree(ROOT / "course" / "answers", course.root / "course" / "answers")
    shutil.copytree(ROOT / "docs", course.root / "docs")
    shutil.copy(ROOT / "README.md", course.root)
    return course


def lies_in(folder: Path) -> dict[str, bytes]:
    """What is made, and what it is made of, in a checkout."""
    files = (path for path in folder.rglob("*.*") if path.is_file() and path.suffix != ".db")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def change(course: Course, how: str) -> None:
    """Change the graded cells of notebook 00."""
    path = course.root / "source" / "00_shapes" / "00_shapes.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "mix_rows"]
    if how == "lost":
        notebook.cells.remove(*cells)
    else:
        other = new_code_cell("check(mix_rows)", metadata=deepcopy(cells[0].metadata))
        other.metadata.nbgrader.grade_id = "mix_rows" if how == "twice" else "of_none"
        notebook.cells.append(other)
    nbformat.write(notebook, path)


@pytest.mark.parametrize(("how", "cell"), [("lost", "mix_rows"), ("got", "of_none")])
@pytest.mark.parametrize("command", [["release", "00"], ["try", "mix_rows"]], ids=" ".join)
def test_where_a_class_was_graded_with_other_cells_nothing_is_made_and_what_to_do_is_said(
    command: list[str], how: str, cell: str, graded: Course
) -> None:
    change(graded, how)
    before = lies_in(graded.root)
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert done.output == (
        f"00_shapes was graded in this folder, and its graded cells were others then ({cell}): the marks would fit no more. "
        "Nothing was made. Change it in another clone; or move class/ away, and back when you grade.\n"
    )
    assert lies_in(graded.root) == before


def test_where_a_class_was_graded_with_the_cells_that_there_are_a_release_is_made(graded: Course) -> None:
    path = notebook_of("00_shapes", graded.root / "release")
    made = path.read_bytes()
    path.write_text("{}")
    done = CliRunner().invoke(app, ["release", "00"])
    assert done.exit_code == 0, done.output
    assert path.read_bytes() == made


def test_where_a_release_fails_all_that_was_made_before_stays(graded: Course) -> None:
    change(graded, "twice")
    before = lies_in(graded.root)
    with pytest.raises(NbgraderFailed, match="mix_rows"):
        release.make_release(("00_shapes",))
    assert lies_in(graded.root) == before


# ------------------------------------------------------------------------------------------------- what is stale


@pytest.fixture
def committed(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout that has one notebook, whose committed files are up to date."""
    monkeypatch.setattr(release, "NOTEBOOKS", ("00_shapes",))
    monkeypatch.setattr(release, "stated", dict)
    monkeypatch.setattr(release, "write_answers", lambda to, *_: (to / "dots.json").write_text("answers"))
    for name, folder in (("ROOT", "."), ("ANSWERS", "course/answers"), ("RELEASE", "release")):
        monkeypatch.setattr(release, name, tmp_path / folder)
    shutil.copytree(released / "release", tmp_path / "release")
    (tmp_path / "course" / "answers").mkdir(parents=True)
    (tmp_path / "course" / "answers" / "dots.json").write_text("answers")
    return tmp_path


def test_what_is_up_to_date_is_not_stale(committed: Path) -> None:
    assert release.stale(("00_shapes",)) == []


def test_what_would_change_and_what_has_no_source_any_more_is_stale_and_named(committed: Path) -> None:
    (committed / "course" / "answers" / "dots.json").write_text("other answers")
    (committed / "course" / "answers" / "99_gone").mkdir()
    (committed / "course" / "answers" / "99_gone" / "gone.json").write_text("answers")
    notebook_of("00_shapes", committed / "release").unlink()
    assert release.stale(("00_shapes",)) == [
        "course/answers/99_gone/gone.json",
        "course/answers/dots.json",
        "release/00_shapes/00_shapes.ipynb",
    ]


def test_what_was_up_to_date_is_made_again_only_when_it_rests_on_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    stale = ["release/00_shapes/00_shapes.ipynb"]
    monkeypatch.setattr(proofs, "PLACE", tmp_path)
    monkeypatch.setattr(release, "stale", lambda some: asked.append(list(some)) or list(stale))
    assert release.newly_stale() == stale
    stale.clear()
    assert release.newly_stale() == release.newly_stale() == []
    monkeypatch.setattr(release, "rests_on", lambda notebook: [f"source/{notebook[:2]}*"])
    assert release.newly_stale() == []
    assert asked == [list(NOTEBOOKS), list(NOTEBOOKS), [], list(NOTEBOOKS)]


@pytest.mark.parametrize(
    "used", ["autograder/exercises/devices/mlp_tp.py", "autograder/plugins/releasing.py", "course/trial/values.py"]
)
def test_a_release_rests_on_its_exercises_and_on_what_makes_it(used: str) -> None:
    reached = proofs.Checkout().reached(release.rests_on("09_devices"))
    assert ROOT / used in reached
    assert ROOT / "autograder" / "exercises" / "heads" / "mha.py" not in reached
    for name in (
        "source/09_devices/09_devices.ipynb",
        "release/09_devices/09_devices.ipynb",
        "course/answers/09_devices/mlp_tp.json",
    ):
        assert ROOT / name in reached


def test_what_says_something_else_than_the_exercises_declare_is_stale(
    committed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "stated", lambda: {committed / "README.md": "other points"})
    assert release.stale(("00_shapes",)) == ["README.md"]


# ------------------------------------------------------------------------------------------------------- the form


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_released_notebook_holds_listed_metadata_and_no_outputs(notebook: str) -> None:
    read = nbformat.read(str(notebook_of(notebook)), as_version=4)
    nbformat.validate(read)
    assert (read.nbformat, read.nbformat_minor) == (4, 5)
    assert read.metadata == {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    for cell in read.cells:
        assert set(cell.metadata) <= {"nbgrader", "deletable", "editable", "experiment", "jupyter", "tags"}
        assert cell.metadata.get("jupyter", FOLDED) == FOLDED
        assert set(cell.metadata.get("tags", ())) <= set(TAGS)
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_cell_ids_are_unique_words(notebook: str) -> None:
    ids = [cell.id for cell in cells_of(notebook_of(notebook))]
    assert len(set(ids)) == len(ids)
    assert all(CELL_ID.fullmatch(name) for name in ids)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_guess_is_left_to_the_reader(notebook: str) -> None:
    code = "\n".join(cell.source for cell in cells_of(notebook_of(notebook)) if cell.cell_type == "code")
    guesses = re.findall(r"^guess\w* = (\w+)", code, re.MULTILINE)
    assert guesses
    assert set(guesses) == {"None"}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_exercise_waits_to_be_written_and_can_be_checked(notebook: str) -> None:
    cells = {cell.id: cell for cell in cells_of(notebook_of(notebook))}
    for exercise in exercises_in(notebook):
        name = exercise.name.replace("_", "-")
        assert cells[f"{name}-solution"].source.rstrip().endswith("raise NotImplementedError()")
        assert cells[name].source == f"check({exercise.name})"


# ------------------------------------------------------------------------------------------------------- no leaks


@pytest.mark.parametrize(
    "planted",
    [
        "def pairwise_dots(A, B):\n    return A @ B.T",
        "def helper(first: 'n d', second) -> None:\n    '''Not what it seems.'''\n    return first @ second.T",
        "table = (lambda rows, others: rows @ others.T)(X, X)",
        "class Box:\n    def dots(a, b): return a @ b.T",
        "def pairwise_dots(A, B):\n    out = np.zeros((len(A), len(B)))\n    for i in range(len(A)):\n        for j in range(len(B)):\n"
        "            out[i, j] = sum(A[i, x] * B[j, x] for x in range(A.shape[1]))\n    return out",
        "def hoisted(S, dim=-1):\n    z = np.exp(S - S.max(axis=dim, keepdims=True))\n    return z / z.sum(axis=dim, keepdims=True)",
    ],
)
def test_an_answer_is_found_whatever_its_names_are(planted: str) -> None:
    assert leaked(planted)


def test_an_answer_of_an_earlier_notebook_passes_under_its_own_name_alone() -> None:
    mix = "def {}(W, V):\n    return W @ V"
    assert not leaked(mix.format("mix_rows"), before="01_token_loops")
    assert leaked(mix.format("mix_rows"), before="00_shapes")
    assert leaked(mix.format("mine"), before="01_token_loops")


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_no_function_in_a_released_notebook_is_an_answer_an_oracle_or_a_mistake(notebook: str) -> None:
    for cell in cells_of(notebook_of(notebook)):
        if cell.cell_type == "code":
            assert leaked(cell.source, before=notebook if cell.id == CARRIED_OVER else "") == [], cell.id


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_no_text_in_a_released_notebook_is_that_of_an_answer(notebook: str) -> None:
    for cell in cells_of(notebook_of(notebook)):
        for other in NOTEBOOKS:
            if cell.id == CARRIED_OVER and other < notebook:
                continue
            for answer in solution_texts(other):
                assert f"\n{answer}\n" not in f"\n{flat(cell.source)}\n", (cell.id, answer)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_released_notebook_says_nothing_of_the_hidden_tests(notebook: str) -> None:
    text = notebook_of(notebook).read_text()
    for secret in ("HIDDEN TEST", "BEGIN SOLUTION", "judge(", "import judge", "autograder"):
        assert secret not in text
    for exercise in every_exercise():
        assert not [probe.shows for probe in exercise.probes if probe.shows in text]


@pytest.mark.parametrize("path", sorted((ROOT / "course").rglob("*.py")), ids=lambda path: path.name)
def test_no_function_of_the_students_library_is_an_answer_an_oracle_or_a_mistake(path: Path) -> None:
    code = path.read_text()
    bare = {name for name, form in functions(code) if ONE_PRODUCT.fullmatch(form)}
    assert bare <= {"lambda"}
    assert [found for found in leaked(code) if found[0] not in bare] == []


# ------------------------------------------------------------------------------------------------------ the wheel


def test_the_wheel_holds_the_students_library_alone(wheel: Path) -> None:
    files = {str(path.relative_to(wheel)) for path in wheel.rglob("*") if path.is_file()}
    ours = {name for name in files if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in ours} == {"course"}
    assert {Path(name).suffix for name in ours} == {".py", ".json", ".mplstyle", ".typed"}
    assert {f"course/answers/{e.notebook}/{e.name}.json" for e in every_exercise()} | {
        "course/answers/index.json"
    } <= ours
    assert {"course/figures/course.mplstyle", "course/py.typed", "course/checking.py"} <= ours
    assert not [name for name in files if name.endswith("entry_points.txt")]


def test_the_wheel_holds_the_files_of_the_checkout_and_no_others(wheel: Path) -> None:
    for path in (wheel / "course").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (ROOT / path.relative_to(wheel)).read_bytes()


def test_no_text_in_the_wheel_is_that_of_an_answer_or_of_a_hidden_test(wheel: Path) -> None:
    answers = [answer for notebook in NOTEBOOKS for answer in solution_texts(notebook)]
    shown = [probe.shows for exercise in every_exercise() for probe in exercise.probes]
    assert len(answers) == len(list(every_exercise())) + sum(len(tasks_in(notebook)) for notebook in NOTEBOOKS)
    for path in (wheel / "course").rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert not [answer for answer in answers if f"\n{answer}\n" in f"\n{flat(text)}\n"], path.name
            assert not [property_ for property_ in shown if property_ in text], path.name


def test_the_wheel_asks_for_nothing_that_only_instructors_need(wheel: Path) -> None:
    (metadata,) = wheel.glob("*.dist-info/METADATA")
    wanted = re.findall(r"^Requires-Dist: (.*)$", metadata.read_text(), re.MULTILINE)
    plain = sorted(line for line in wanted if "extra ==" not in line)
    assert plain == ["ipython", "jaxtyping", "matplotlib", "numpy"]


def test_on_a_students_machine_check_answers_and_judge_says_when_hidden_tests_run(wheel: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'autograder':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent)\n"
        f"sys.path.insert(0, {str(wheel)!r})\n"
        "import course, course.figures.shapes\n"
        f"assert course.__file__.startswith({str(wheel)!r})\n"
        "def mix_rows(W, V):\n    return W @ V\n"
        "print(course.check(mix_rows))\n"
        "print(course.judge(mix_rows))\n"
        "print(course.figures.shapes.mixing())\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    checked, judged, picture = run.stdout.strip().split("\n")
    assert checked == "mix_rows: correct on all 9 public cases. The hidden tests try more."
    assert judged.startswith("The hidden tests run when your instructor grades")
    assert picture.startswith("[Picture] ")
