"""One exercise tried as its author tries it: everything that is made of it is made, and everything that it must hold is proved."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from autograder.authoring.completeness import lacking
from autograder.authoring.declared import undeclared
from autograder.authoring.mutants import chosen, main
from autograder.authoring.outputs import store_outputs
from autograder.authoring.release import contradictions, graded_otherwise, make_release, state
from autograder.authoring.replay import replay
from autograder.settings import ROOT

MADE = ("source/", "release/", "course/answers/")
TESTS = ("tests/authoring", "tests/judging/test_interview.py")


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
    if found := graded_otherwise([notebook]):
        print("\n".join(found))
        return 1
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
    code = main(exercises)
    if found := [line for exercise in exercises for line in lacking(exercise)]:
        print("\n".join(found))
        return 1
    code = code or _test(notebook, [exercise.name for exercise in exercises])
    if not code:
        print(
            f"{name}: all of it holds. Then `make lint`, and commit the exercise with README.md, docs/shapes.md, {', '.join(MADE)}."
        )
    return code


def _test(notebook: str, names: list[str]) -> int:
    """Run the tests that have a case for the notebook, or for one of these exercises; what does not hold is said in sentences."""
    asked = [*TESTS, "-m", "not thorough", "-k", " or ".join([notebook, *names])]
    with TemporaryDirectory() as folder:
        report = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", *asked, "--tb=no", "-rN", f"--junitxml={report}"]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if code and report.exists():
            print("\n".join(failures(report.read_text(encoding="utf-8"))))
            print(f"What pytest has to say of it: {shlex.join(['pytest', *asked])}")
    return code


def failures(report: str) -> list[str]:
    """What did not hold of a run of pytest, in sentences: the name of each test that failed, its case, and what it found.

    Args:
        report: pytest's, in the form of JUnit.
    """
    lines = []
    for test in ElementTree.fromstring(report).iter("testcase"):
        for failed in (*test.iterfind("failure"), *test.iterfind("error")):
            name, _, case = test.get("name", "").partition("[")
            found = failed.get("message", "").partition("\n")[0].removeprefix("AssertionError: ")
            of_it = f" ({case.removesuffix(']')})" if case else ""
            lines.append(f"Not so yet: {name.removeprefix('test_').replace('_', ' ')}{of_it}: {found}")
    return lines
