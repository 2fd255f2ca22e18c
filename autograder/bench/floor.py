"""`python -m autograder.bench.floor COURSE NOTEBOOK`: what the cells of a class cost in one warm process, and nothing else.

No isolation, no gradebook, no notebook written: each submission's cells run one after another in one IPython shell,
judged in the same process on one paper, whose right answers the first of them wait for. Prints the seconds of processor
time for each submission.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ["NBGRADER_EXECUTION"] = "autograde"

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from autograder.bench.classes import ON_ONE_PAPER, STOCKS
from autograder.folder import Course

WARMING = 3


def cost(shell: InteractiveShell, path: Path) -> float:
    """The seconds of processor time that a notebook's cells take."""
    cells = [cell.source for cell in nbformat.read(str(path), as_version=4).cells if cell.cell_type == "code"]
    shell.reset(new_session=True)
    begun = time.process_time()
    with capture_output():
        for source in cells:
            shell.run_cell(source.replace(STOCKS, ON_ONE_PAPER), store_history=True)
    return time.process_time() - begun


def main(root: Path, notebook: str) -> list[float]:
    course = Course(root)
    course_folder = course.root / "class" / "autograded"  # with its hidden tests put back
    paths = [course_folder / student / notebook / f"{notebook}.ipynb" for student in course.submitters(notebook)]
    shell = InteractiveShell.instance()
    for path in paths[:WARMING]:
        cost(shell, path)
    return [cost(shell, path) for path in paths]


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
