"""What a notebook finds imported in the engine is what it finds in a fresh kernel, whatever the zygote has imported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook

import course
from autograder.engine import Session, Zygote
from tests.support.kernels import run_in_stock_kernel
from tests.support.sampled import sampled

LIBRARY = Path(course.__file__).parent

WANTED = {
    "nothing": "pass",
    "numpy": "import numpy as np",
    "numpy.random": "import numpy as np\nnp.random.default_rng(0)",
    "numpy.linalg": "from numpy import linalg",
    "matplotlib": "import matplotlib",
    "matplotlib.pyplot": "import matplotlib.pyplot as plt",
    "matplotlib, drawn": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.close('all')",
    "torch": "import torch",
    "torch.nn.functional": "import torch.nn.functional as F",
    "course": "import course",
    "course.figures": "from course.figures import causal",
    "jaxtyping": "from jaxtyping import Float",
    "PIL": "from PIL import Image",
    "sympy": "import sympy",
    "networkx": "import networkx as nx",
    "pandas": "import pandas as pd",
    "scipy": "import scipy",
    "scipy.stats": "from scipy import stats",
    "scipy.optimize": "import scipy.optimize",
    "sklearn": "import sklearn",
    "sklearn.svm": "from sklearn.svm import SVC",
    "seaborn": "import seaborn",
    "requests": "import requests",
    "yaml": "import yaml",
    "dask": "import dask.array",
    "jinja2": "import jinja2",
    "xml": "import xml",
    "xml.etree": "import xml.etree.ElementTree",
    "standard library": "import statistics, fractions, csv, concurrent.futures, multiprocessing.pool, unittest.mock",
}
AVAILABLE = [name for name in WANTED if name == "nothing" or " " in name or find_spec(name.partition(".")[0])]
OFTEN = {
    "nothing",
    "numpy",
    "matplotlib, drawn",
    "torch",
    "course.figures",
    "pandas",
    "scipy.stats",
    "xml.etree",
    "standard library",
}
WARMED = [
    "course", "course.figures", "course.figures.causal", "jaxtyping", "matplotlib", "matplotlib.pyplot", "numpy", "numpy.random", "torch",
    *("PIL.Image", "sympy", "networkx", "pandas", "scipy", "scipy.stats", "scipy.optimize", "sklearn.svm", "seaborn", "requests", "yaml"),
    *("dask.array", "jinja2", "xml.etree.ElementTree", "statistics", "fractions", "csv", "concurrent.futures", "multiprocessing.pool"),
]  # fmt: skip

LOOK = """
import json as _json, sys as _sys, types as _types, warnings as _warnings, os as _os, signal as _signal, threading as _threading
print(_json.dumps({
    'modules': sorted(name for name in _sys.modules if not name.startswith('encodings.')),  # which are there hangs on files' contents
    'attributes': sorted(
        f'{name}.{own}' for name in _sys.modules if not name.startswith('encodings.') for package, _, own in [name.rpartition('.')]
        if isinstance(vars(_sys.modules.get(package, _types)).get(own), _types.ModuleType)
    ),
    'names': {
        name: sorted(n for n in vars(_sys.modules[name]) if n not in ('__warningregistry__', '__cached__')) for name in _sys.modules
        if name.partition('.')[0] in ('matplotlib', 'numpy', 'scipy', 'pandas', 'xml', 'concurrent', 'torch', 'course', 'sympy', 'inspect', 'builtins')
        and isinstance(_sys.modules[name], _types.ModuleType)
    },
    'filters': [str(one) for one in _warnings.filters],
    'signals': [str(_signal.getsignal(number)) for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGCHLD)],
    'inspect': __import__('inspect').getfile.__module__,
    'folders': [entry.endswith('site-packages') for entry in _sys.path if not entry][:1],
    'error': hasattr(_sys, 'last_value'),
}))
"""


@pytest.fixture(scope="module")
def warmed() -> Iterator[Zygote]:
    with Zygote(WARMED, [LIBRARY]) as running:
        yield running


def in_kernel(folder: Path, *cells: str) -> list[str]:
    """What each cell shows in a fresh kernel that runs in this folder."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "p"}
    run_in_stock_kernel(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    return ["".join(map(shown, cell.outputs)) for cell in notebook.cells]


def in_engine(zygote: Zygote, *cells: str, files: dict[str, bytes] | None = None) -> list[str]:
    """What each cell shows in a fork of the zygote."""
    with Session(zygote.place, files) as session:
        return ["".join(shown(content) for _, content in session.run(cell, 120).messages) for cell in cells]


def shown(output: Mapping[str, Any]) -> str:
    """A printed text, a plain result, or an error's name and message."""
    if "ename" in output:
        return f"{output['ename']}: " + re.sub(r" \(/.*\)", "", output["evalue"])  # where the module lies
    return str(output.get("data", {}).get("text/plain", "") if output.get("name") != "stdout" else output["text"])


@pytest.mark.parametrize("name", sampled(AVAILABLE, OFTEN.__contains__))
def test_what_an_import_brings_is_what_it_brings_in_a_fresh_kernel(
    warmed: Zygote, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # ipykernel behaves otherwise under pytest
    ours = [json.loads(text) for text in in_engine(warmed, LOOK, WANTED[name] + LOOK)]
    wanted = [json.loads(text) for text in in_kernel(tmp_path, LOOK, WANTED[name] + LOOK)]
    for our, want in zip(ours, wanted, strict=True):
        for what in want:
            assert our[what] == want[what], what


FILES = {"yaml.py": b"x = 'mine'", "statistics.py": b"x = 'mine'", "own.py": b"import networkx"}
CELLS = (
    "np.arange(3)",
    "plt.plot([1])",
    "import sys\n[name in sys.modules for name in ('numpy', 'torch', 'matplotlib', 'course', 'json', 'xml', 'stack_data')]",
    "sys.modules['numpy']",
    "import matplotlib\nmatplotlib.pyplot",
    "matplotlib.pyplot.figure()",
    "__import__('matplotlib').pyplot",
    "import importlib\nimportlib.import_module('matplotlib').pyplot",
    "import xml\nxml.etree",
    "import concurrent\nconcurrent.futures.ThreadPoolExecutor.__name__",
    "import os.path\nos.path.join('a', 'b')",
    "hasattr(importlib, 'util'), importlib.util.find_spec('sympy').origin.rpartition('/')[2]",
    "importlib.util.find_spec('sympy.core').submodule_search_locations[0].rpartition('/')[2], 'sympy' in sys.modules",
    "importlib.util.find_spec('sympy.nothing'), importlib.util.find_spec('nothing')",
    "import nothing",
    "import numpy.nothing",
    "from numpy import nothing",
    "from matplotlib import pyplot\npyplot.get_backend(), matplotlib.pyplot is pyplot",
    "import csv\nreader = csv.reader\nimportlib.reload(csv) is csv, csv.__spec__.loader.__class__.__name__, csv.__loader__ is csv.__spec__.loader",
    "import fractions\nhalf = fractions.Fraction(1, 2)\ndel sys.modules['fractions']\nimport fractions as again\nagain is fractions",
    "import pickle\npickle.loads(pickle.dumps(again.Fraction(1, 2)))",
    "sys.modules['networkx'] = None\nimport networkx",
    "import own",
    "del sys.modules['networkx']\nimport own\nown.networkx.__name__, own.networkx.Graph.__module__",
    "import pkgutil\npkgutil.get_data('jinja2', 'py.typed'), [one.name for one in pkgutil.iter_modules() if one.name in ('numpy', 'own')]",
    "import yaml\nyaml.x",
    "import statistics\nstatistics.mean([1, 2])",
    "import inspect\ninspect.getsource(statistics.mean)[:9]",
    "import numpy as np\nnp.random.seed(1)\nfloat(np.random.rand())",
    "import torch\ntorch.manual_seed(0)\nfloat(torch.rand(1))",
    "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as pool:\n    print(pool.submit(importlib.import_module, 'sympy').result().__name__)",
    "class Finder:\n    @staticmethod\n    def find_spec(name, path=None, target=None):\n        if name == 'jaxtyping':\n            raise RuntimeError('found')\nsys.meta_path.insert(0, Finder)\nimport jaxtyping",
)  # fmt: skip
MOVE = "import os\nos.mkdir('sub')\nos.chdir('sub')"


def test_asking_for_a_module_in_any_way_gives_what_a_fresh_kernel_gives(
    warmed: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    ours, wanted = in_engine(warmed, *CELLS, files=FILES), in_kernel(tmp_path, *CELLS)
    for cell, our, want in zip(CELLS, ours, wanted, strict=True):
        assert our == want, cell


def test_a_file_beside_the_notebook_goes_before_what_is_installed_for_whoever_imports_it(warmed: Zygote) -> None:
    """Here matplotlib imports it, which has imported the right one long ago."""
    cells = ("import matplotlib", "import cycler\ncycler.x", "import numpy\nnumpy.__name__")
    error, mine, numpy = in_engine(warmed, *cells, files={"cycler.py": b"x = 'mine'"})
    assert error == "ImportError: cannot import name 'Cycler' from 'cycler'"
    assert (mine, numpy) == ("'mine'", "'numpy'")


@pytest.mark.parametrize("cells", [("import multiprocessing", MOVE), (MOVE, "import multiprocessing")])
def test_processes_that_are_started_anew_look_for_modules_where_multiprocessing_was_imported(
    warmed: Zygote, cells: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    look = "import multiprocessing.process\nos.path.relpath(multiprocessing.process.ORIGINAL_DIR)"
    ours = in_engine(warmed, *cells, look)
    assert ours == in_kernel(tmp_path, *cells, look)
    assert ours[-1] == ("'.'" if cells[0] == MOVE else "'..'")


def test_unseeded_numbers_are_each_submissions_own(warmed: Zygote) -> None:
    cell = "import random, numpy, torch\nrandom.random(), float(numpy.random.rand()), float(torch.rand(1))"
    (first,), (second,) = in_engine(warmed, cell), in_engine(warmed, cell)
    assert all(one != other for one, other in zip(eval(first), eval(second), strict=True))
