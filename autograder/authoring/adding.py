"""A first draft of an exercise: a module that declares it, its name in the notebook's list, and its cells.

The draft asks for every number doubled, which works at once: whoever writes the exercise changes one thing after another, and `python
-m autograder try` says at any time what does not hold yet.
"""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.exercises import exercise_called, folder_of, names_in
from autograder.problems import Problem
from autograder.settings import ROOT

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LISTED = re.compile(r"^EXERCISES = \(.*?\)$", re.MULTILINE | re.DOTALL)
LONGEST = 120

MODULE = '''"""Every number of a matrix, doubled: `{name}`.

Say here, in 40 to 120 words, why the right answer is right, and why the usual other ideas are not.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def {name}(X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Entry (i, j) is twice that of X."""
    n, d = X.shape
    return np.array([[2 * X[i, j] for j in range(d)] for i in range(n)])


PUBLIC = (case(np.array([[1.0, 2.0], [0.5, -1.0]])), case(np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 4.0]])))


@probe(1.0)
def doubled(rng: np.random.Generator) -> list[Case]:
    """every number doubled, all sizes different"""
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, d)), case(normal(rng, d, n))]


@mistake
def squared(X: F) -> F:
    """you squared each number, which doubles a 2 and nothing else."""
    return X**2


@right
def added_to_itself(X: F) -> F:
    return X + X


@right
def doubled_by_multiply(X: F) -> F:
    return np.multiply(X, 2)
'''

TASK = """### Exercise 0 · `{name}`

*easy · 5 minutes · 1 point*

Say here what is asked for, and why anybody would want it.

**By hand.** With `X = [[1, 2]]` the answer is `[[2, 4]]`.

About 1 line."""

SOLUTION = '''def {name}(X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Every number of a matrix, doubled.

    Args:
        X: n rows of d numbers.

    Returns:
        A new matrix, of the dtype of X.
    """
    ### BEGIN SOLUTION
    return 2 * X
    ### END SOLUTION'''

TEST = """check({name})
### BEGIN HIDDEN TESTS
from course import judge
judge({name})
### END HIDDEN TESTS"""


def add(notebook: str, name: str, root: Path = ROOT) -> list[Path]:
    """Write the draft of an exercise, the last of its notebook.

    Args:
        notebook: one of the course's, "00_shapes".
        name: what the exercise, its oracle and its file are to be called.
        root: the checkout.

    Returns:
        The files that were written: the module, the list that names it, and the source notebook.

    Raises:
        Problem: nothing can have this name, or something has it already; nothing is written.
    """
    room = root / folder_of(notebook).replace(".", "/")
    module, listing = room / f"{name}.py", room / "__init__.py"
    source = root / "source" / notebook / f"{notebook}.ipynb"
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Problem(
            f"{name!r} is no name for an exercise: take small letters, digits and single underscores, as in row_sums."
        )
    if (taken := exercise_called(name)) is not None:
        raise Problem(f"{name} is an exercise of {taken.notebook} already: take another name.")
    if module.exists():
        raise Problem(f"{module.relative_to(root)} is there already: take another name.")
    stored = nbformat.read(str(source), as_version=4)
    names = names_in(notebook)
    stored.cells[_end_of(stored.cells, names[-1] if names else "") : 0] = _cells(name)
    module.write_text(MODULE.format(name=name), encoding="utf-8")
    listing.write_text(LISTED.sub(_listed((*names, name)), listing.read_text(encoding="utf-8")), encoding="utf-8")
    nbformat.write(stored, str(source))
    return [module, listing, source]


def _listed(names: tuple[str, ...]) -> str:
    quoted = [json.dumps(name) for name in names]
    line = f"EXERCISES = ({', '.join(quoted)}{',' if len(quoted) == 1 else ''})"
    return line if len(line) <= LONGEST else "EXERCISES = (\n" + "".join(f"    {one},\n" for one in quoted) + ")"


def _end_of(cells: list[NotebookNode], name: str) -> int:
    """Where the cells of an exercise end, its hints included; before the closing, where the notebook has no exercise."""
    own = [
        place
        for place, cell in enumerate(cells)
        if cell.id in (name.replace("_", "-"), f"{name.replace('_', '-')}-hints")
    ]
    closing = (place for place, cell in enumerate(cells) if cell.id == "closing")
    return own[-1] + 1 if own else next(closing, len(cells))


def _cells(name: str) -> list[NotebookNode]:
    cell_id = name.replace("_", "-")
    settings = {"schema_version": 3, "task": False}
    answer = settings | {"grade": False, "grade_id": f"{name}_solution", "locked": False, "solution": True}
    test = settings | {"grade": True, "grade_id": name, "locked": True, "solution": False, "points": 1}
    return [
        new_markdown_cell(TASK.format(name=name), id=f"{cell_id}-task"),
        new_code_cell(SOLUTION.format(name=name), id=f"{cell_id}-solution", metadata={"nbgrader": answer}),
        new_code_cell(TEST.format(name=name), id=cell_id, metadata={"nbgrader": test}),
    ]
