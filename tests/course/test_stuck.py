"""The page for those who are stuck quotes what is really said: each sentence is provoked, or found in what says it."""

from __future__ import annotations

import codeop
import inspect
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupyterlab
import nbgrader.validator
import numpy as np
import pytest
import torch
from jupyter_core.paths import jupyter_path

from autograder.judging import interview
from autograder.settings import ROOT
from course import check, checking, overview, standing, unwritten
from course.figures import shapes as figures
from course.kit import handing_in, torch_here
from course.trial import text

PAGE = (ROOT / "docs" / "stuck.md").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^### `([^`]+)`\n\n(.+?)\n\nMore in (\d\d): \[[^\]]+\]\(\.\./release/([^)#]+)#([^)]+)\)$", re.M | re.S
)
ENTRIES = ENTRY.findall(PAGE)
QUOTES = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)

Cell = Callable[..., dict[str, Any]]


def raised(provoke: Callable[[], object]) -> str:
    with pytest.raises(Exception) as found:  # noqa: PT011 - whatever is raised is what is read
        provoke()
    return str(found.value)


def warned(provoke: Callable[[], object]) -> str:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        provoke()
    return " ".join(str(one.message) for one in found)


table, row, square = np.ones((2, 3)), np.ones(3), torch.ones(2, 3)

SAID: dict[str, Callable[[], str]] = {
    "matmul: Input operand 1 has a mismatch in its core dimension 0": lambda: raised(lambda: table @ table),
    "operands could not be broadcast together with shapes": lambda: raised(lambda: table / table.sum(axis=1)),
    "is out of bounds for axis 0 with size": lambda: raised(lambda: row[3]),
    "too many indices for array": lambda: raised(lambda: row[0, 1]),
    "only 0-dimensional arrays can be converted to Python scalars": lambda: raised(lambda: float(row)),
    "was never closed": lambda: raised(lambda: compile("print((1", "cell", "exec")),
    "incomplete input": lambda: raised(lambda: compile("print((1", "cell", "exec", codeop.PyCF_ALLOW_INCOMPLETE_INPUT)),
    "name 'k' is not defined": lambda: raised(lambda: eval("k", {})),
    "expected an indented block after function definition": lambda: raised(
        lambda: compile("def f(x):\nreturn x", "cell", "exec")
    ),
    "encountered in exp": lambda: warned(lambda: np.exp(np.array([1e4]))),
    "encountered in divide": lambda: warned(lambda: np.zeros(1) / np.zeros(1)),
    "The truth value of an array with more than one element is ambiguous": lambda: raised(lambda: not row > 0),
    "cannot reshape array of size": lambda: raised(lambda: table.reshape(4, 2)),
    "all the input array dimensions except for the concatenation axis must match exactly": lambda: raised(
        lambda: np.concatenate([table, table.T], axis=1)
    ),
    "Not run: its cell was not run since this kernel started": lambda: standing.NOT_RUN,
    "is not defined yet. Run the cell with": lambda: inspect.getsource(unwritten),
    "the cell that begins to define it stopped with an error": lambda: inspect.getsource(unwritten),
    "You have run a newer": lambda: inspect.getsource(checking),
    "check takes the function itself": lambda: checked("mix_rows"),
    "One mistake that gives answers like these": lambda: text.PERHAPS,
    "A known mistake near yours, and wrong in more cases": lambda: text.NEARLY,
    "whose own check does not pass yet: begin there": lambda: inspect.getsource(checking),
    "Is there a loop that does not end?": lambda: inspect.getsource(checking),
    "Make your guess first": lambda: repr(figures.which_products_run(None)),
    "appears to have died. It will restart automatically": lambda: jupyterlabs_words(),
    "when last checked; the saved notebook has another answer": lambda: overview.CHANGED,
    "The following cell failed": lambda: inspect.getsource(nbgrader.validator),
    "What you ran last is not in": lambda: inspect.getsource(handing_in),
    "One call took too long; what had been earned before is kept": lambda: inspect.getsource(interview),
    "This notebook computes with PyTorch, which is not installed here yet": lambda: torch_here.MISSING,
    "expected m1 and m2 to have the same dtype": lambda: raised(lambda: square @ square.T.double()),
    "mat1 and mat2 shapes cannot be multiplied": lambda: raised(lambda: square @ square),
    "view size is not compatible with input tensor's size and stride": lambda: raised(lambda: square.T.view(6)),
    "Can't call numpy() on Tensor that requires grad": lambda: raised(lambda: square.clone().requires_grad_().numpy()),
}
"""What is said, by the words of it that the page quotes."""

OF_ANSWERS = {
    "not written yet. Put your code where": "def mix_rows(A, V):\n    raise NotImplementedError()",
    "and there is no exercise called": "def mix_row(A, V):\n    return A",
    "The result should have the shape": "def mix_rows(A, V):\n    return (A @ V)[0]",
    "Is there a return?": "def mix_rows(A, V):\n    A @ V",
    "should be float32; yours is float64": "def mix_rows(A, V):\n    return 1.0 * np.array((A @ V).tolist())",
    "in place; the caller still needs it as it was": "def mix_rows(A, V):\n    A *= 1.5\n    return A @ V",
    "Called twice with the same arguments, it gives two different answers": (
        "calls = []\ndef mix_rows(A, V):\n    calls.append(1)\n    return A @ V * len(calls)"
    ),
    "Right for new arrays, whose numbers lie in memory one after another, row by row": (
        "def mix_rows(A, V):\n    return A.ravel('K').reshape(A.shape) @ V"
    ),
    "known mistake gives exactly these answers": "def pairwise_dots(X, Y):\n    return Y @ X.T",
    "a loop is left, yours or one inside a helper you call": (
        "def scaled_scores(Q, K):\n    return np.array([[q @ k for k in K] for q in Q]) / Q.shape[1] ** 0.5\n"
        "def softmax(S, axis=-1):\n    P = np.exp(S - S.max(axis=axis, keepdims=True))\n    return P / P.sum(axis=axis, keepdims=True)\n"
        "def attention(Q, K, V):\n    A = softmax(scaled_scores(Q, K))\n    return np.stack([a @ V for a in A]), A"
    ),
    "the right value to some seven digits": "def mix_rows(A, V):\n    return (A.astype('f') @ V.astype('f')).astype(A.dtype)",
    "yours is nan": "def softmax_1d(s):\n    return np.exp(s) / np.exp(s).sum()",
}
"""Answers of which `check` says it."""


def checked(thing: Any) -> str:
    return checking.examine(thing).text


def jupyterlabs_words() -> str:
    files = [file for folder in jupyter_path("lab") for file in Path(folder, "static").glob("jlab_core.*.js")]
    assert files, jupyterlab.__version__
    return "".join(file.read_text(encoding="utf-8") for file in files)


def test_every_quotation_has_its_words_and_where_they_are_explained() -> None:
    assert [f"`{quote}`" for quote, *_ in ENTRIES] == QUOTES
    assert {quote for quote, *_ in ENTRIES} == SAID.keys() | OF_ANSWERS.keys()


@pytest.mark.parametrize("quote", SAID)
def test_it_is_said_in_these_words(quote: str) -> None:
    assert quote in SAID[quote]()


@pytest.mark.parametrize("quote", OF_ANSWERS)
def test_check_says_it_in_these_words(quote: str, cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    *_, function = [one for one in cell(OF_ANSWERS[quote], np=np).values() if inspect.isfunction(one)]
    assert quote in str(check(function))


@pytest.mark.parametrize("entry", ENTRIES, ids=[quote for quote, *_ in ENTRIES])
def test_the_heading_that_explains_it_is_there(entry: tuple[str, ...]) -> None:
    *_, number, path, anchor = entry
    cells = json.loads((ROOT / "release" / path).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(one["source"]) for one in cells if one["cell_type"] == "markdown"]
    headings = [heading for text in texts for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    assert path.startswith(number)
    assert anchor in [heading.replace(" ", "-") for heading in headings]


EXPLAINED_BY = {
    "matmul: Input operand 1 has a mismatch in its core dimension 0": "transposed",
    "operands could not be broadcast together with shapes": "Broadcasting",
    "is out of bounds for axis 0 with size": "count from zero",
    "too many indices for array": "Indexing",
    "only 0-dimensional arrays can be converted to Python scalars": "the axis you name is the one that disappears",
    "was never closed": "a bracket or a quotation mark",
    "incomplete input": "a bracket or a quotation mark",
    "name 'k' is not defined": "was not run since the notebook was opened",
    "expected an indented block after function definition": "four spaces further in",
    "encountered in exp": "overflow",
    "encountered in divide": "not a number",
    "The truth value of an array with more than one element is ambiguous": "`and`, `or`, `not` and `if`",
    "cannot reshape array of size": "reshape",
    "all the input array dimensions except for the concatenation axis must match exactly": "side by side",
    "not written yet. Put your code where": "Write your function, run its cell",
    "Not run: its cell was not run since this kernel started": "Run all of them, from the top",
    "is not defined yet. Run the cell with": "was not run since the notebook was opened",
    "the cell that begins to define it stopped with an error": "Mend that cell first",
    "You have run a newer": "is still the one from before",
    "and there is no exercise called": "goes by the name of the function",
    "check takes the function itself": "the name alone",
    "The result should have the shape": "We write shapes with letters",
    "Is there a return?": "It ends with `return`",
    "should be float32; yours is float64": "float32 in means float32 out",
    "in place; the caller still needs it as it was": "Arguments stay as they are",
    "Called twice with the same arguments, it gives two different answers": "Nothing is kept from one call to the next",
    "Right for new arrays, whose numbers lie in memory one after another, row by row": "in memory in any order",
    "known mistake gives exactly these answers": "common mistake",
    "One mistake that gives answers like these": "common mistake",
    "Is there a loop that does not end?": "does not come to an end",
    "the right value to some seven digits": "float32",
    "yours is nan": "not a number",
    "Make your guess first": "stay covered until you have made one",
}
"""Words of the paragraph to which a link leads, without which it does not explain what was said."""


@pytest.mark.parametrize("quote", EXPLAINED_BY)
def test_what_a_link_leads_to_speaks_of_it(quote: str) -> None:
    ((path, anchor),) = [(path, anchor) for said, _, _, path, anchor in ENTRIES if said == quote]
    cells = json.loads((ROOT / "release" / path).read_text(encoding="utf-8"))["cells"]
    texts = "\n\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "markdown")
    parts = re.split(r"^(?=#+ )", texts, flags=re.MULTILINE)
    (part,) = [part for part in parts if part.partition("\n")[0].lstrip("# ").replace(" ", "-") == anchor]
    assert EXPLAINED_BY[quote] in part
