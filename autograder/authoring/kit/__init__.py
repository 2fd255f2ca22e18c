"""The kit: one zip that a student unpacks and starts, with nothing in it that comes after its last notebook.

Some modules of `course` compute what a later exercise asks for: the blocks that race in 08, the module whose weights 06 loads. So
only those go into a kit that its notebooks import, and only the answers to their own exercises' public cases.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

from packaging.requirements import Requirement

from autograder.authoring.answers import in_lines
from autograder.authoring.kit.notebooks import write_notebooks
from autograder.dependencies import imported, modules, with_imports
from autograder.exercises import NOTEBOOKS, names_in
from autograder.problems import FAILED, Problem
from autograder.settings import ROOT
from course import __version__
from course.answers import INDEX

FOLDER = "attention-in-matrices-kit"
"""What the zip unpacks to: not the folder of a student's own notebooks, `attention-in-matrices`, wherever it is unpacked."""
HERE = Path(__file__).parent
ALWAYS = ("course/__init__.py", "course/__main__.py", "course/kit")
ON_DEMAND = {"course/trial/claims.py": "02_matrices", "course/modules.py": "06_batching"}
"""What is imported when an exercise is checked that needs it, and the first notebook that has such an exercise."""
TORCH_FROM = "06_batching"
ABOUT_TORCH = re.compile(r"^- \*\*PyTorch\*\*.*\n", re.MULTILINE)
DATA = ("course/py.typed", "course/figures/course.mplstyle", "course/kit/settings")
RECORDS = {"course/recording.py": "course/records.json"}


def make_kit(last: str, folder: Path) -> Path:
    """Write the kit up to a notebook.

    Args:
        last: the last notebook in it, "03_causal_mask". Those before it should be closed: it holds their solutions, where later ones build on them.
        folder: where the zip is written.

    Returns:
        The zip: "attention-in-matrices-kit-03.zip".
    """
    notebooks = NOTEBOOKS[: NOTEBOOKS.index(last) + 1]
    with TemporaryDirectory() as temporary:
        kit, package = Path(temporary) / FOLDER, Path(temporary) / "package"
        write_notebooks(last, kit / "notebooks")
        for file in library(notebooks):
            place = package / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, place)
        index = {"notebooks": [{notebook: list(names_in(notebook))} for notebook in notebooks]}
        (package / "course" / "answers" / INDEX).write_text(in_lines(index), encoding="utf-8")
        number = last.partition("_")[0]
        version = f"{__version__}+{int(number)}.{_digest([kit, package])}"
        _build(package, version, kit)
        _write_requirements(kit, version)
        shutil.copy(HERE / "start.py", kit)
        (wheel,) = kit.glob("*.whl")
        for name, text in (("START.md", start_text(last)), ("environment.yml", (HERE / "environment.yml").read_text())):
            (kit / name).write_text(text.replace("WHEEL", wheel.name), encoding="utf-8")
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / f"{FOLDER}-{number}.zip"
        with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=9) as opened:
            for path in _files(kit):
                opened.write(path, path.relative_to(kit.parent).as_posix())
    return archive


def start_text(last: str) -> str:
    """What to do first; nothing of PyTorch where no notebook needs it."""
    text = (HERE / "START.md").read_text(encoding="utf-8")
    return text if last >= TORCH_FROM else ABOUT_TORCH.sub("", text)


def library(notebooks: Iterable[str]) -> list[str]:
    """The files of `course` that these notebooks and their checks need, relative to the checkout; the index of answers is none of them."""
    notebooks = tuple(notebooks)
    cells = [cell for name in notebooks for cell in _code(ROOT / "release" / name / f"{name}.ipynb")]
    asked = {file for cell in cells for name in imported(cell.encode(), ()) for file in modules(name, ROOT)}
    starts = {path.relative_to(ROOT).as_posix() for path in asked if path.is_relative_to(ROOT / "course")}
    reached = {path.relative_to(ROOT).as_posix() for path in with_imports(ROOT, {*ALWAYS, *starts})}
    reached -= {file for file, first in ON_DEMAND.items() if first not in notebooks}
    found = {path for path in reached if path.startswith("course/")}
    found |= {path.relative_to(ROOT).as_posix() for name in DATA for path in _files(ROOT / name)}
    found |= {data for module, data in RECORDS.items() if module in found}
    found |= {f"course/answers/{notebook}/{name}.json" for notebook in notebooks for name in names_in(notebook)}
    return sorted(found)


def _code(path: Path) -> Iterator[str]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def _files(place: Path) -> list[Path]:
    within = [place] if place.is_file() else sorted(place.rglob("*"))
    return [path for path in within if path.is_file() and "__pycache__" not in path.parts]


def _digest(folders: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for folder in folders:
        for path in _files(folder):
            found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:8]


def _build(package: Path, version: str, out: Path) -> None:
    """Build the wheel of what lies in `package`, under a version of its own, so that pip takes it for another than the last."""
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, package)
    start = package / "course" / "__init__.py"
    start.write_text(
        re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', start.read_text(encoding="utf-8")), encoding="utf-8"
    )
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    built = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    if built.returncode:
        raise Problem(f"The wheel could not be built:\n{built.stdout}{built.stderr}", FAILED)


def _write_requirements(kit: Path, version: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    (kit / "requirements.txt").write_text("".join(f"{name}=={pins[name]}\n" for name in wanted), encoding="utf-8")
    shutil.copy(ROOT / "constraints.txt", kit)
    says = {
        "version": version,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "packages": len(_needed(wanted)),
        "wheel": next(kit.glob("*.whl")).name,
        "torch": f"torch=={pins['torch']}",
    }
    (kit / "kit.json").write_text(json.dumps(says, indent=1) + "\n", encoding="utf-8")


def _needed(names: Iterable[str]) -> set[str]:
    """These packages and all that they need, as far as they are installed here."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        one = waiting.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in found:
            continue
        try:
            needs = requires(name) or []
        except PackageNotFoundError:  # of another system
            continue
        found.add(name)
        extras = one.extras or {""}
        further = [Requirement(line) for line in needs]
        waiting += [
            need for need in further if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found
