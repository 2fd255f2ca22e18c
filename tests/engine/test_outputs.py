"""What a notebook shows in the engine is what it shows in a kernel."""

from __future__ import annotations

import configparser
import re
import socket
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import LimitOutput

from autograder.engine import Session, Zygote
from autograder.exercises import NOTEBOOKS, exercises_in
from autograder.judging.hearing import hear
from autograder.judging.paper import Paper
from course.client import SOCKET_VARIABLE
from tests.support.calm import assert_calm
from tests.support.kernels import run_in_kernel
from tests.support.shown import Output, looks

SOON, NEVER_ENDS = 2.0, "sleepy()"  # seconds for such a cell
AGES = 600.0  # seconds; only what hangs takes so long, however busy the machine is
ROOT = Path(__file__).resolve().parents[2]
UNCOMPILED = {"CXX": "no-such-compiler"}  # compiling takes half a minute, and is told in times alone


class Shown:
    """nbclient's own treatment of messages, for messages that did not come from a kernel."""

    def __init__(self, notebook: NotebookNode) -> None:
        self.notebook = notebook
        self.client = NotebookClient(notebook)
        self.client.reset_execution_trackers()

    def add(self, index: int, messages: list[tuple[str, dict[str, Any]]]) -> None:
        cell = self.notebook.cells[index]
        cell.outputs = []
        self.client.clear_before_next_output = False
        for kind, content in messages:
            message = {"header": {"msg_type": kind}, "msg_type": kind, "content": content, "parent_header": {}}
            self.client.process_message(message, cell, index)


def in_engine(
    zygote: Zygote, notebook: NotebookNode, name: str = "", files: dict[str, bytes] | None = None
) -> NotebookNode:
    """Run a notebook in the engine, with files beside it; test cells of this course are heard by the judge."""
    judged = {exercise.name: exercise for exercise in exercises_in(name)} if name else {}
    shown = Shown(notebook)
    with Session(zygote.place, files, variables=UNCOMPILED) as session:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code" or not cell.source.strip():
                continue
            exercise = judged.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            near, far = socket.socketpair()
            with near:
                with far:
                    session.start(cell.source, far if exercise else None, SOCKET_VARIABLE if exercise else None)
                if exercise:
                    hear(Paper(exercise, 1), near, AGES)
            run = session.finish(seconds(cell))
            assert not name or run.end == "finished", cell.source
            shown.add(index, run.messages)
    return notebook


def seconds(cell: NotebookNode) -> float:
    return SOON if NEVER_ENDS in cell.source else AGES


def sanitised() -> list[tuple[re.Pattern[str], str]]:
    config = configparser.RawConfigParser()
    config.read(ROOT / "tests" / "nbval_sanitize.cfg")
    return [(re.compile(config[name]["regex"]), config[name]["replace"]) for name in config.sections()]


@pytest.mark.thorough  # what `replay` compares in a kernel, in the engine
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_source_notebook_shows_what_is_stored(zygote: Zygote, notebook: str) -> None:
    """The outputs that are stored were made by a kernel, and nbval compares them with a kernel's."""
    stored = nbformat.read(str(ROOT / "source" / notebook / f"{notebook}.ipynb"), as_version=4)
    run = in_engine(zygote, nbformat.from_dict(stored), notebook)
    rules = sanitised()

    def compared(cell: NotebookNode) -> str:
        text = repr(looks(cell.outputs))
        for pattern, replacement in rules:
            text = pattern.sub(replacement, text)
        return re.sub(r"data:image/png;base64,[\w+/=]+", "data:image/png", text)

    for before, after in zip(stored.cells, run.cells, strict=True):
        if before.cell_type != "code":
            continue
        if "nbval-ignore-output" in before.metadata.get("tags", ()):
            assert [kind for kind, _ in looks(before.outputs)] == [kind for kind, _ in looks(after.outputs)]
        else:
            assert compared(before) == compared(after), before.source


@pytest.mark.thorough  # in a kernel, some are run by tests/authoring/test_unwritten.py
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_released_notebook_with_nothing_written_runs_to_its_end_without_a_traceback(
    zygote: Zygote, notebook: str
) -> None:
    released = nbformat.read(str(ROOT / "release" / notebook / f"{notebook}.ipynb"), as_version=4)
    assert_calm(in_engine(zygote, released), notebook)


CELLS = {
    "both streams": "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('out again')",
    "a result": "x = 2\nx + 1",
    "the last result": "_ + _2",
    "nothing": "x;",
    "an error": "def f():\n    return 1 / 0\nf()",
    "an error with a cause": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
    "a syntax error": "x = = 2",
    "rich": "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>a</b>'), Markdown('*b*'))\nHTML('c')",
    "metadata": "display({'text/plain': 'a'}, metadata={'a': 1}, raw=True)",
    "a picture": "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    "a figure as a result": "figure, axes = plt.subplots()\nplt.close(figure)\nfigure",
    "seaborn-like settings": "%config InlineBackend.figure_formats = ['svg']\nplt.plot([1, 2]);",
    "an update": "handle = display('first', display_id='h')",
    "updated elsewhere": "from IPython.display import update_display\nupdate_display('second', display_id='h')\nprint('x')",
    "cleared": "from IPython.display import clear_output\nprint('a')\nclear_output()\nprint('b')",
    "cleared at the next": "print('a')\nclear_output(wait=True)\nprint('b')",
    "a shell command": "!echo hello; echo trouble >&2",
    "bash": "%%bash\necho hello\necho trouble >&2",
    "await": "import asyncio\nawait asyncio.sleep(0.01)\n'done'",
    "a running loop": (
        "waiting = asyncio.sleep(0)\ntry:\n    asyncio.run(waiting)\nexcept RuntimeError as error:\n    print(error)\nwaiting.close()"
    ),
    "a task": "task = asyncio.get_event_loop().create_task(asyncio.sleep(0, 5))",
    "its result": "await task",
    "input": "input('name? ')",
    "a warning": "import warnings\nwarnings.warn('careful')",
    "exit by exception": "import sys\nsys.exit(3)",
    "history": "print(len(In), Out[2])",
    "main": "__name__, '__file__' in globals()",
    "capture": "%%capture kept\nprint('hidden')",
    "captured": "kept.stdout",
    "time": "%%timeit -n1 -r1 -q\npass",
    "help": "len?",
    "long": "list(range(2000))",
    "unicode": "print('é \\u2264 \\U0001f600')",
    "a class": "class A:\n    __repr__ = lambda self: 'A'\n    def _repr_html_(self):\n        return '<i>A</i>'\nA()",
    "a broken repr": "class B:\n    def __repr__(self):\n        raise RuntimeError('no')\nB()",
    "arrays": "import numpy as np\nnp.arange(6.0).reshape(2, 3)",
    "tensors": "import torch\ntorch.ones(2)",
    "a seeded draw": "torch.manual_seed(0)\ntorch.rand(2)",
    "who is asking": "type(get_ipython()).__name__, 'IPKernelApp' in get_ipython().config",
    "a frame": "try:\n    from IPython.core.display import display_html\n    display_html('<p>1</p>', raw=True)\nexcept ImportError:\n    pass",
    "latex": "from IPython.display import Latex, Math, SVG, Image\nMath('x^2')",
    "pictures": "Image(data=b'\\x89PNG\\r\\n\\x1a\\n', format='png')",
    "an exception group": "raise ExceptionGroup('two', [ValueError('a'), TypeError('b')])",
    "a custom traceback": (
        "class Told(Exception):\n    def _render_traceback_(self):\n        return ['told']\nraise Told('x')"
    ),
}


PACKED = {
    "a picture as bytes": (
        "from PIL import Image\npicture = Image.new('RGB', (4, 4))\nfrom IPython.display import *\nimport numpy as np\n"
        "import datetime, decimal, fractions\npicture"
    ),
    "shown": "display(picture)\nanswer = 42",
    "and what follows": "answer",
    "a formula": "import sympy\nsympy.init_printing()\nx = sympy.symbols('x')\nx**2",
    "bytes": "display({'image/png': b'a picture', 'text/plain': 'a'}, raw=True)",
    "a result of bytes": (
        "class Q:\n    __repr__ = lambda self: 'q'\nclass P(Q):\n    def _repr_png_(self):\n        return b'png', {'width': np.int64(3)}\n"
        "    def _repr_jpeg_(self):\n        return b'jpeg'\n    def _repr_pdf_(self):\n        return b'pdf'\nP()"
    ),
    "a bundle": (
        "class M:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n"
        "        return {'application/json': {'a': np.int64(1), 'b': np.float32(0.5)}, 'image/png': b'x', 'text/plain': 'm'}, {'k': (1, 2)}\nM()"
    ),
    "a bundle that is shown": "display(M())",
    "an update": "display({'text/plain': 'u', 'image/png': b'u'}, raw=True, display_id='u');",
    "updated": "update_display({'text/plain': 'v', 'image/png': b'v'}, raw=True, display_id='u')",
    "published": "publish_display_data({'image/jpeg': b'j'}, {'image/jpeg': {'width': np.int32(2)}})",
    "numbers": "display({'application/json': {'a': [np.float64(1.5), np.int8(3), True, None]}}, raw=True)",
    "an array": "display({'application/json': np.arange(3)}, raw=True)",
    "a set": "display({'application/json': {'a': {1}, 'b': (2, 3), 'c': range(2), 'd': (n for n in [4])}}, raw=True)",
    "times": (
        "display({'application/json': [datetime.datetime(2024, 1, 2, 3, tzinfo=datetime.timezone.utc), datetime.date(2024, 1, 2)]}, raw=True)"
    ),
    "no number": "display({'application/json': [float('nan'), float('inf')]}, raw=True)",
    "a fraction": "display({'application/json': [fractions.Fraction(1, 2)]}, raw=True)",
    "a decimal": "display({'application/json': [decimal.Decimal('1.5')]}, raw=True)",
    "an object": "display({'application/json': [object]}, raw=True)",
    "an object among metadata": "display({'text/plain': 'a'}, metadata={'a': object}, raw=True)",
    "keys": "display({'application/json': {1: 'a', None: 'b', True: 'c'}}, raw=True)",
    "keys that are no keys": "display({'application/json': {(1, 2): 'a'}}, raw=True)",
    "half a character": "display({'text/plain': 'a\\ud800'}, raw=True)",
    "lines": "display({'text/plain': ['a\\n', 'b']}, raw=True)",
    "a result with metadata": "class W(Q):\n    def _repr_html_(self):\n        return 'w', {'a': {1, 2}}\nW()",
    "a broken picture": "class B(Q):\n    def _repr_png_(self):\n        raise RuntimeError('no')\nB()",
    "still here": "answer",
}


def test_outputs_are_packed_as_a_kernel_packs_them(zygote: Zygote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    cells = [new_code_cell(source) for source in PACKED.values()]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "p"}})
    ours = in_engine(zygote, nbformat.from_dict(notebook))
    run_in_kernel(notebook, allow_errors=True)
    for name, our, wanted in zip(PACKED, ours.cells, notebook.cells, strict=True):
        assert written(our) == written(wanted), name


def written(cell: NotebookNode) -> list[Any]:
    """A cell's outputs as they stand in the file, without where in a kernel or in the engine a warning or an error arose."""
    notebook = nbformat.reads(nbformat.writes(new_notebook(cells=[cell])), as_version=4)
    return [
        (output.name, re.findall(r"\w+Warning.*", output.text) or output.text)
        if output.output_type == "stream"
        else (output.ename, output.evalue)
        if output.output_type == "error"
        else (output.output_type, output.data, output.metadata)
        for output in notebook.cells[0].outputs
    ]


def test_a_notebook_of_everything_shows_what_a_kernel_shows(zygote: Zygote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # ipykernel behaves otherwise under pytest
    cells = [new_code_cell(source) for source in CELLS.values()]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "p"}})
    ours = in_engine(zygote, nbformat.from_dict(notebook))
    run_in_kernel(notebook, allow_errors=True, iopub_timeout=60)
    shown = {name: looks(cell.outputs) for name, cell in zip(CELLS, ours.cells, strict=True)}
    wanted = {name: looks(cell.outputs) for name, cell in zip(CELLS, notebook.cells, strict=True)}
    assert shown == wanted


WAITING = "go, done = threading.Event(), threading.Event()\ndef work():\n    go.wait()\n    say()\n    done.set()\n"
GOES_ON = "go.set()\nprint(done.wait(60))"
GOING_ON = {
    "who speaks": (
        "import asyncio, contextvars, decimal, gc, sys, threading\nimport numpy as np\nloop = asyncio.get_running_loop()\n"
        "def say(*_):\n    print('out')\n    print('err', file=sys.stderr)\n    display('shown')\n"
        "async def speak():\n    while True:\n        say()\n        await asyncio.sleep(0.001)\n"
        "async def fail():\n    1 / 0\nawait asyncio.sleep(0)"
    ),
    "a task": "task = asyncio.create_task(speak())\nprint('begun')",
    "goes on in a cell that waits": "await asyncio.sleep(0.05)\nprint('mine')",
    "and after one that does not": "import time\ntime.sleep(0.05)\n'mine'",
    "until it is cancelled": "task.cancel()\nawait asyncio.sleep(0.01)\ntask.cancelled()",
    "a task of a cell that waits for it": "async def once():\n    say()\nawait asyncio.create_task(once())",
    "callbacks": "loop.call_soon(say)\nloop.call_later(0.02, say)\nloop.call_soon_threadsafe(say)\nloop.create_future().cancel();",
    "are called": "await asyncio.sleep(0.1)",
    "what is done": "future = loop.create_future()\nfuture.add_done_callback(say)",
    "tells": "future.set_result(1)\nawait asyncio.sleep(0.01)",
    "a callback that is run where it is added": "later = loop.call_later(0.01, say)\nawait asyncio.sleep(0.1)",
    "a thread": f"{WAITING}thread = threading.Thread(target=work)\nthread.start()",
    "speaks in the latest cell": f"{GOES_ON}\nthread.join()",
    "a thread with this cell's context": f"{WAITING}future = asyncio.ensure_future(asyncio.to_thread(work))\nawait asyncio.sleep(0.01)",
    "speaks in that": f"{GOES_ON}\nawait future",
    "a thread that is told": (
        f"{WAITING}parent = get_ipython().get_parent()\ndef told():\n    sys.stdout.set_thread_parent(parent)\n    work()\n"
        "thread = threading.Thread(target=told)\nthread.start()"
    ),
    "speaks where it was told": f"{GOES_ON}\nthread.join()",
    "an error in a callback": "loop.call_soon(lambda: 1 / 0);",
    "is nobody's": "await asyncio.sleep(0.01)",
    "an error that nobody asks for": "task = asyncio.create_task(fail(), name='failing')",
    "is told when it is thrown away": "del task\ngc.collect();",
    "a display": "handle = display('first', display_id='shown')",
    "is updated from its cell": "async def update():\n    await asyncio.sleep(0.01)\n    handle.update('late')\ntask = asyncio.create_task(update())",
    "and not afterwards": "await task",
    "a table of steps": "steps = []\nasync def step():\n    while len(steps) < 5:\n        steps.append(1)\n        await asyncio.sleep(0)\ntask = asyncio.create_task(step())",
    "is filled between two cells": "len(steps), task.done()",
    "settings": "decimal.getcontext().prec = 5\nnp.seterr(all='raise')\nnp.set_printoptions(precision=2)\nvariable = contextvars.ContextVar('v')\ntoken = variable.set(1)",
    "hold for all cells": "print(decimal.Decimal(1) / 3, np.array([1 / 3]), variable.get())\nnp.ones(1) / 0",
    "but a cell's that waits": "await asyncio.sleep(0)\nprint(variable.get())\nvariable.set(2);",
    "are its own": "print(variable.get())\nvariable.reset(token)\nvariable.get('none')",
}


def test_what_goes_on_while_later_cells_run_is_shown_where_a_kernel_shows_it(
    zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ipykernel tells of each message which cell it belongs to, and nbclient keeps what belongs to the one that runs."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    cells = [new_code_cell(source) for source in GOING_ON.values()]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "p"}})
    ours = in_engine(zygote, nbformat.from_dict(notebook))
    run_in_kernel(notebook, allow_errors=True, iopub_timeout=60)
    shown = {name: looks(cell.outputs) for name, cell in zip(GOING_ON, ours.cells, strict=True)}
    wanted = {name: looks(cell.outputs) for name, cell in zip(GOING_ON, notebook.cells, strict=True)}
    assert shown == wanted


ERRORS = {
    "in a cell": "1 / 0",
    "in a function": "def f(x):\n    y = x - 1\n    return 1 / y\n\nf(1)",
    "in a function of an earlier cell": "f(1)",
    "in a module beside the notebook": "import helper\nhelper.divide(1, 0)",
    "in a library that such a module calls": "helper.parse('{')",
    "in what shows an object of such a module": "helper.Thing()",
    "while such a module is imported": "import raising",
    "a syntax error in such a module": "import bad",
    "a name that such a module has not": "from helper import nothing",
    "no such module": "import nothing_of_this_name",
    "a name that a library has not": "from numpy import nothing",
    "a cause": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('b') from error",
    "a context": "try:\n    {}['a']\nexcept KeyError:\n    1 / 0",
    "no context": "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('b') from None",
    "a chain": (
        "def chain(n):\n    try:\n        chain(n - 1) if n else f(1)\n    except Exception as error:\n"
        "        raise ValueError(n) from error\nchain(2)"
    ),
    "a syntax error": "x = 1\nfor i in range(3)\n    print(i)",
    "an indentation": "def g():\nreturn 1",
    "a bracket": "print((1",
    "return": "return 1",
    "a name": "undefined_name",
    "a library in C": "import numpy as np\nnp.zeros(3) @ np.zeros(4)",
    "a library in Python": "np.linalg.inv(np.zeros((2, 2)))",
    "an assertion of a library": "np.testing.assert_allclose([1, 2], [1, 3])",
    "exec": "exec('a = 1\\nb = a / 0')",
    "compile": "exec(compile('def q():\\n    return 1 / 0\\nq()', 'somewhere.py', 'exec'))",
    "a decorator": (
        "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*arguments):\n        return f(*arguments)\n"
        "    return inner\n@loud\ndef k(x):\n    return x['a']\nk(3)"
    ),
    "recursion": "def r(n):\n    return r(n + 1)\nr(0)",
    "an exit": "raise SystemExit",
    "an exit from a function": "import sys\ndef leave():\n    sys.exit('bye')\nleave()",
    "an interrupt": "raise KeyboardInterrupt",
    "a group": (
        "def group():\n    errors = []\n    for x in (0, 'a'):\n        try:\n            1 / x\n        except Exception as error:\n"
        "            errors.append(error)\n    raise ExceptionGroup('many', errors)\ngroup()"
    ),
    "except*": "try:\n    group()\nexcept* TypeError:\n    f(1)",
    "await": "import asyncio\nasync def later():\n    await asyncio.sleep(0)\n    return 1 / 0\nawait later()",
    "a cell that awaits": "await asyncio.sleep(0)\n1 / 0",
    "gather": "await asyncio.gather(later(), later())",
    "a note": "error = ValueError('v')\nerror.add_note('a note')\nraise error",
    "a generator": "def generate():\n    yield 1\n    1 / 0\nlist(generate())",
    "a pool of threads": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool:\n    pool.submit(f, 1).result()",
    "a thread": "import threading\nthread = threading.Thread(target=f, args=(1,), name='T')\nthread.start()\nthread.join()",
    "printed": "import traceback\ntry:\n    f(1)\nexcept ZeroDivisionError:\n    traceback.print_exc()",
    "a run": "%run raising.py",
    "bash": "%%bash\nexit 3",
    "input": "input('name? ')",
    "a password": "import getpass\ngetpass.getpass()",
    "a debugger": "breakpoint()",
    "the debugger's class": "import pdb\npdb.Pdb",
    "a stream": "sys.stdout.buffer",
    "too long": f"import time\ndef {NEVER_ENDS}:\n    while True:\n        time.sleep(0.01)\n{NEVER_ENDS}",
    "and after it": "f(1)",
}
BESIDE = {
    "helper.py": (
        "import json\n\n\ndef divide(a, b):\n    return a / b\n\n\ndef parse(text):\n    return json.loads(text)\n\n\n"
        "class Thing:\n    def __repr__(self):\n        raise ValueError('no repr')\n"
    ),
    "raising.py": "def inner():\n    raise RuntimeError('while importing')\n\n\ninner()\n",
    "bad.py": "def f(:\n    pass\n",
}


def test_errors_show_the_frames_that_stock_nbgrader_shows(
    zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The student's frames and none of the engine's, also where a traceback is too long for nbgrader and is cut."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    for name, text in BESIDE.items():
        (tmp_path / name).write_text(text)
    cells = [new_code_cell(source) for source in ERRORS.values()]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "p"}})
    ours = in_engine(zygote, nbformat.from_dict(notebook), files={name: text.encode() for name, text in BESIDE.items()})
    patience = {"timeout_func": seconds, "interrupt_on_timeout": True, "iopub_timeout": 60}
    beside = {"metadata": {"path": str(tmp_path)}}
    run_in_kernel(notebook, allow_errors=True, resources=beside, **patience)
    for made in (ours, notebook):
        LimitOutput().preprocess(made, {})
    for name, our, wanted in zip(ERRORS, ours.cells, notebook.cells, strict=True):
        assert looks(our.outputs) == looks(wanted.outputs), name


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("import os\nos.write(1, b'raw\\n');", [("stdout", "raw\n")]),
        ("import os\nprint('a')\nos.write(2, b'raw\\n');", [("stdout", "a\n"), ("stderr", "raw\n")]),
        ("import subprocess\nsubprocess.run(['echo', 'process']);", [("stdout", "process\n")]),
    ],
)
def test_what_is_written_below_pythons_streams_is_shown_with_its_cell(
    zygote: Zygote, source: str, shown: list[Output]
) -> None:
    """In a kernel a thread brings it, in time or not."""
    notebook = in_engine(zygote, new_notebook(cells=[new_code_cell(source)]))
    assert looks(notebook.cells[0].outputs) == shown
