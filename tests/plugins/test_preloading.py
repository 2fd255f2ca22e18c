"""What a zygote imports beforehand is found without parsing, whatever stands in a student's cells."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import ClearOutput
from traitlets.config import Config

from autograder.engine import Given, Session, Zygote, best_walls, pool
from autograder.plugins import preloading
from autograder.plugins.bounds import MOST_CODE
from autograder.plugins.confining import confined
from autograder.plugins.kernels_needed import IMPORTS_IPYKERNEL
from autograder.plugins.preloading import modules_of, shared_zygote
from autograder.plugins.sandbox import Sandbox
from autograder.settings import ROOT, settings_in
from tests.support.stock import PLUGGED, cell, stock_course

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
SANDBOX = Sandbox(config=settings_in(ROOT))
IMPORTS = {
    "import numpy as np": {"numpy", "numpy.random"},
    "import os, torch.nn as nn": {"torch"},
    "x = 1; import numpy; import torch": {"numpy", "numpy.random", "torch"},
    "if True:\n    from matplotlib import pyplot as plt": {"matplotlib", "matplotlib.pyplot"},
    "import matplotlib.pyplot as plt": {"matplotlib", "matplotlib.pyplot"},
    "from course import check, figures": {"course", "course.figures"},
    "from course.figures import (\n    shapes,  # numpy\n    no_such_figure,\n)": {
        "course",
        "course.figures",
        "course.figures.shapes",
    },
    "import course.mine": {"course", "course.mine"},
    "%matplotlib inline\nimport torch": {"torch"},
    "from os import path  # import numpy later": {"numpy", "numpy.random"},  # one too many
    "from .numpy import torch": set(),
    "important = numpy": set(),
    "import antigravity": set(),
}


@pytest.mark.parametrize("source", IMPORTS)
def test_well_known_modules_are_found(source: str) -> None:
    assert modules_of([source], SANDBOX) == IMPORTS[source]


def test_for_a_single_submission_nothing_is_imported_that_only_a_function_asks_for() -> None:
    cell = "import numpy as np; import pandas\ndef picture():\n    import torch\n\tfrom scipy import stats\nclass A: import sklearn"
    some = {"numpy", "numpy.random", "pandas", "sklearn"}
    assert modules_of([cell], SANDBOX) == some | {"torch", "scipy"}
    assert modules_of([cell], SANDBOX, alone=True) == some


@pytest.mark.parametrize("others", [(), (".ipynb_checkpoints/one.ipynb",), ("data/rain.csv",)], ids=str)
def test_what_is_begun_early_is_used(others: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class whose notebooks find files beside them starts one zygote too, and not one for nothing before it."""
    nbformat.write(new_notebook(cells=[new_code_cell("import numpy")]), str(tmp_path / "one.ipynb"))
    for name in others:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    started = []

    class Counted(Zygote):
        def __init__(self, *given: Any, **named: Any) -> None:
            started.append(self)
            super().__init__(*given, **named)

    monkeypatch.setattr(preloading, "Zygote", Counted)
    given = Given({name: tmp_path / name for name in others if not name.endswith(".ipynb")})
    preloading.begin(tmp_path, SANDBOX, alone=False)
    begun = len(started)
    with shared_zygote(tmp_path.glob("*.ipynb"), SANDBOX, given) as place:
        if place is None:
            pytest.skip("no process is shared where there is no inner wall")
        assert len(started) == 1
    assert begun == (best_walls() == "both" and not given.files)


@pytest.mark.usefixtures("walls")
@pytest.mark.parametrize("handed_in", [("ada",), ("ada", "eve")], ids=len)
def test_nbgraders_own_command_starts_one_before_it_looks_at_anybody(
    handed_in: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing for nothing: no second one for a single submission, whose functions nobody may call."""
    course = stock_course(tmp_path, PLUGGED)
    folder = course.root / "source" / "one"
    folder.mkdir(parents=True)
    cells = [new_code_cell("import numpy\ndef later():\n    import sklearn"), cell(new_code_cell("numpy"), "test", 1)]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), str(folder / "one.ipynb"))
    course.generate_assignment("one")
    for student in handed_in:
        shutil.copytree(course.root / "release" / "one", course.folder("submitted", student, "one"))
    events: list[object] = []

    class Told(Zygote):
        def __init__(self, modules: Sequence[str], *given: Any, **named: Any) -> None:
            events.append({"sklearn", "numpy"}.intersection(modules))
            super().__init__(modules, *given, **named)

    class Sanitised(ClearOutput):
        def preprocess(self, *given: Any) -> Any:
            events.append("a submission")
            return super().preprocess(*given)

    monkeypatch.setattr(pool, "Zygote", Told)
    monkeypatch.setattr("nbgrader.preprocessors.ClearOutput", Sanitised)
    pool.discard()
    course.autograde("one", "*")
    alone = len(handed_in) == 1
    assert events == [{"numpy"} if alone else {"numpy", "sklearn"}, *["a submission"] * len(handed_in)]
    pool.discard()


IN_KERNELS = {"of R": ("ir", "library(dplyr)"), "with ipykernel": ("python3", "import numpy\nimport ipykernel")}
SET = {"by each notebook": {}, "for all": {"NotebookClient": {"kernel_name": "python3"}}}


@pytest.mark.parametrize("kind", IN_KERNELS)
@pytest.mark.parametrize("how", SET)
def test_a_class_that_gets_kernels_of_its_own_starts_no_zygote(kind: str, how: str, tmp_path: Path) -> None:
    """One that needs them only because of a name, which the course's settings overrule, starts one as ever."""
    name, imports = IN_KERNELS[kind]
    kernel = {"kernelspec": {"name": name, "display_name": name}}
    nbformat.write(new_notebook(cells=[new_code_cell(imports)], metadata=kernel), str(tmp_path / "one.ipynb"))
    sandbox = Sandbox(config=Config(SET[how]))
    if best_walls() == "outer":
        pytest.skip("no process is shared where there is no inner wall")
    assert begun_and_shared(tmp_path, sandbox) == ((kind, how) == ("of R", "for all"))
    nbformat.write(new_notebook(cells=[new_code_cell("import numpy")]), str(tmp_path / "another.ipynb"))
    assert begun_and_shared(tmp_path, sandbox)


def begun_and_shared(folder: Path, sandbox: Sandbox) -> bool:
    """Whether a class with these notebooks has a zygote."""
    preloading.begin(folder, sandbox, alone=False)
    with shared_zygote(folder.glob("*.ipynb"), sandbox) as place:
        return place is not None


def test_what_public_cases_are_made_of_is_at_hand_in_each_submission_and_nothing_more() -> None:
    """A process that had to read it anew would have missed it first."""
    asked = (
        "from course import answers\nbefore = answers._read.cache_info().misses\nanswers.find('qkv', mistakes=False)\n"
    )
    asked += "print(answers._read.cache_info().misses - before, [*{*globals()} & {'name', 'np'}])"
    with shared_zygote([ROOT / "release" / "02_matrices" / "02_matrices.ipynb"], SANDBOX) as place:
        if place is None:
            pytest.skip("no process is shared without an inner wall")
        with Session(place) as session:
            ((_, said),) = session.run(asked, 60.0).messages
    assert said["text"] == "0 []\n"


def test_what_numpy_imports_late_is_there_at_once_and_not_seen_before() -> None:
    """As where numpy imports it: nobody sees it first, it draws other numbers in each process, and its files are not read again."""
    asked = "import sys\nimport numpy as np\nfirst = 'numpy.random' in sys.modules\n"
    asked += "opened = []\nsys.addaudithook(lambda event, _: event == 'open' and opened.append(event))\n"
    asked += "drawn = np.random.rand()\nprint(first, 'numpy.random' in sys.modules, len(opened), drawn)"
    with shared_zygote([ROOT / "release" / "02_matrices" / "02_matrices.ipynb"], SANDBOX) as place:
        if place is None:
            pytest.skip("no process is shared without an inner wall")
        said = []
        for _ in range(2):
            with Session(place) as session:
                ((_, content),) = session.run(asked, 60.0).messages
                said.append(content["text"].split())
    assert [told[:3] for told in said] == [["False", "True", "0"]] * 2
    assert said[0][3] != said[1][3]


LONG = {
    "statements": "a=1;",
    "lines": "\n",
    "blank": " ",
    "sums": "1+",
    "minus": "-",
    "brackets": "(",
    "nested": "[" * 99 + "]" * 99 + "\n",
    "attributes": ".a",
    "decorators": "@a\n",
    "comparisons": "a<",
    "f-strings": "f'{a}'\n",
    "digits": "9",
    "zero bytes": "a\0",
    "half characters": "\ud800",
    "lambdas": "lambda:",
    "imports": "import a\n",
    "words": "import ",
    "from": "from ",
    "from many": "from a import (",
    "spaces": "import" + " " * 1000,
    "lines after": "import" + "\n" * 1000,
}
BEGIN = {"attributes": "import a", "digits": "a = ", "decorators": "", "from": "from course import a, "}


@pytest.mark.parametrize("kind", LONG)
def test_no_code_holds_up_the_grader(kind: str) -> None:
    source = BEGIN.get(kind, "") + LONG[kind] * (MOST_CODE // len(LONG[kind]) - 10)

    def spent() -> float:
        began = time.process_time()
        modules_of([source], SANDBOX)
        IMPORTS_IPYKERNEL.search(source)
        return time.process_time() - began

    assert confined(spent) < 1.0
