"""The instructor's files: every submission finds them in its folder, may change them for itself, and gets no copy of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.engine import CellRun, Given, Session, TooMuchToSend, Zygote, given
from autograder.engine.inside import walls
from autograder.engine.outer import Walls

LARGE = 8 << 20


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("source")
    (folder / "data").mkdir()
    (folder / "data.csv").write_text("1,2\n")
    (folder / "data/ü b.txt").write_text("more")
    (folder / "tool.py").write_text("def tool():\n    return 1\n")
    with (folder / "data/large.bin").open("wb") as large:
        large.truncate(LARGE)
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module", params=["both", "outer", "none"])
def place(request: pytest.FixtureRequest, files: dict[str, Path]) -> Iterator[Zygote]:
    kind: Walls = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(given, "IN_MEMORY", 1 << 20)
        found = Given(files)
        assert set(found.let_in) == {"data/large.bin"}
        with Zygote(walls=kind, given=found) as zygote:
            yield zygote


def test_a_folder_is_laid_over_and_not_copied(place: Zygote) -> None:
    if place.place.walls == "both":
        with Session(place.place, folder="a/b") as session:
            assert " /home/student/a/b overlay " in printed(session.run("print(open('/proc/mounts').read())"))


def printed(run: CellRun) -> str:
    assert run.reply.get("status") == "ok", run
    return "".join(content["text"] for kind, content in run.messages if kind == "stream")


CHANGES = """
import os
open("data.csv", "a").write("3,4\\n")
open("data/ü b.txt", "w").write("less")
open("data/new.txt", "w").write("new")
os.remove("tool.py")
os.remove("data/large.bin")
open("data/large.bin", "w").write("small now")
"""


def test_files_that_are_given_are_there_and_may_be_changed(place: Zygote) -> None:
    with Session(place.place, {"mine.txt": b"mine"}, folder="ada/ps 1") as session:
        look = "import os, tool\nprint(tool.tool(), open('data.csv').read(), sorted(os.listdir()), os.path.getsize('data/large.bin'))"
        assert printed(session.run(look)) == f"1 1,2\n ['data', 'data.csv', 'mine.txt', 'tool.py'] {LARGE}\n"
        assert printed(session.run("p = os.getcwd().split(os.sep)\nprint(p[-2:])")) == "['ada', 'ps 1']\n"
        printed(session.run(CHANGES))
        assert session.files() == {
            "data.csv": b"1,2\n3,4\n",
            "data/ü b.txt": b"less",
            "data/new.txt": b"new",
            "data/large.bin": b"small now",
            "tool.py": None,
        }


def test_what_one_submission_changes_no_other_sees_nor_the_instructor(place: Zygote, files: dict[str, Path]) -> None:
    before = {name: (path.stat().st_mtime_ns, path.stat().st_size) for name, path in files.items()}
    with Session(place.place, folder="a/b") as one:
        printed(one.run(CHANGES))
        spread = "for top in ('/opt/given', '/opt/beside', '/opt/layers'):\n    for at, _, names in os.walk(top):\n"
        spread += "        for name in [*names, 'planted']:\n            try:\n                open(f'{at}/{name}', 'w').write('planted')\n"
        spread += "            except OSError:\n                pass"
        if place.place.walls == "both":
            printed(one.run(spread))
    if place.place.walls != "outer":  # that one is built anew for each
        with Session(place.place, folder="a/b") as other:
            look = "import os\nprint(open('data.csv').read(), sorted(os.listdir()), sorted(os.listdir('data')), os.path.getsize('data/large.bin'))"
            expected = f"1,2\n ['data', 'data.csv', 'tool.py'] ['large.bin', 'ü b.txt'] {LARGE}\n"
            assert printed(other.run(look)) == expected
            assert other.files() == {}
    assert {name: (path.stat().st_mtime_ns, path.stat().st_size) for name, path in files.items()} == before


def test_what_an_earlier_notebook_removed_or_replaced_stays_so(place: Zygote) -> None:
    own = {"data.csv": b"mine", "data/large.bin": b"mine too"}
    with Session(place.place, own, folder="c/b", removed=["tool.py"]) as session:
        look = "import os\nprint(open('data.csv').read(), open('data/large.bin').read(), os.path.exists('tool.py'))"
        assert printed(session.run(look)) == "mine mine too False\n"


def test_a_large_file_is_not_changed_in_place(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "IN_MEMORY", 0)
    with Zygote(walls="both", given=Given(files)) as zygote, Session(zygote.place) as session:
        assert session.run("open('data.csv', 'r+').write('x')").reply["ename"] in ("OSError", "PermissionError")
        assert printed(session.run("print(open('data.csv').read())")) == "1,2\n\n"


def test_files_that_only_the_grader_may_read_are_given_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "IN_MEMORY", 0)
    tmp_path.chmod(0o700)
    (tmp_path / "private.txt").write_text("private")
    (tmp_path / "private.txt").chmod(0o600)
    private = Given({"private.txt": tmp_path / "private.txt"})
    with Zygote(walls="both", given=private) as zygote, Session(zygote.place) as session:
        assert printed(session.run("print(open('private.txt').read())")) == "private\n"


def test_where_the_kernel_lays_nothing_over_there_are_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mount(kind: str, *_: object) -> None:
        if kind == "overlay":
            raise OSError("no such device")

    for name in ("GIVEN", "LAYERS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(walls, name, str(tmp_path / name))
    monkeypatch.setattr(walls.linux, "mount", mount)
    monkeypatch.setattr(walls.linux, "leave_mount", lambda _: None)
    (tmp_path / "GIVEN" / "data.csv").write_text("1,2\n")
    (tmp_path / "GIVEN" / "large").symlink_to("/opt/beside/0")
    walls._lay_over(str(tmp_path / "home"), 0, "")
    assert (tmp_path / "home" / "data.csv").read_text() == "1,2\n"
    assert (tmp_path / "home" / "large").readlink() == Path("/opt/beside/0")


def test_more_than_fits_into_memory_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "MOST_LET_IN", 2)
    monkeypatch.setattr(given, "MOST_IN_MEMORY", 10)
    for number in range(5):
        (tmp_path / f"{number}").write_bytes(bytes(4 + number))
    with pytest.raises(TooMuchToSend, match="pack them into at most 2 larger ones"):
        Given({path.name: path for path in tmp_path.iterdir()})
