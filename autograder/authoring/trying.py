"""One exercise tried as its author tries it: everything that is made of it is made, and everything that it must hold is proved."""

from __future__ import annotations

import subprocess
import sys

from autograder.authoring.declared import undeclared
from autograder.authoring.mutants import chosen, main
from autograder.authoring.outputs import store_outputs
from autograder.authoring.release import contradictions, make_release, state
from autograder.authoring.replay import replay
from autograder.settings import ROOT

MADE = ("source/", "release/", "course/answers/")
TESTS = ("tests/authoring", "tests/judging/test_interview.py", "tests/engine/test_outputs.py")


def attempt(name: str) -> int:
    """Release, run, prove and test the notebook of an exercise, or a notebook; stop at the first that fails.

    A notebook whose stored outputs are still what it shows is not stored again.

    Returns:
        0 where all is well.

    Raises:
        Unknown: there is no such exercise and no such notebook.
    """
    if found := undeclared():
        print("\n".join(found))
        return 1
    exercises = chosen([name])
    (notebook,) = {exercise.notebook for exercise in exercises}
    state([notebook])
    if found := contradictions():
        print("\n".join(found))
        return 1
    make_release([notebook])
    print(f"release/{notebook}: made")
    if replay([notebook], told=False):
        store_outputs(ROOT / "source" / notebook / f"{notebook}.ipynb")
        make_release([notebook])
        print(
            f"source/{notebook}: shows something else than was stored; stored anew, `git diff source/{notebook}` shows what"
        )
    code = main(exercises) or _test(notebook, [exercise.name for exercise in exercises])
    if not code:
        print(
            f"{name}: all of it holds. Then `make lint`, and commit the exercise with README.md, docs/shapes.md, {', '.join(MADE)}."
        )
    return code


def _test(notebook: str, names: list[str]) -> int:
    """The tests that have a case for the notebook, or for one of these exercises."""
    command = [sys.executable, "-m", "pytest", *TESTS, "-k", " or ".join([notebook, *names])]
    return subprocess.run(command, cwd=ROOT, check=False).returncode
