"""How a verdict came about, for an instructor whom a student asks: what was sent, what came back, what was expected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.exercises.model import Exercise, known_by_its_answers, result_axes
from autograder.judging.interview import Examined, Trial
from course.trial.cases import Case
from course.trial.comparing import Difference
from course.trial.functions import Function
from course.trial.observing import Observation
from course.trial.text import explain, indented, show
from course.trial.values import Tensor, Value, bare, layout

ALIKE = 3
"""Mistakes that are named beside a failing case, those that agree most often first."""


def explained(examined: Examined, seed: int) -> str:
    """The verdict, and for each property that was missed its smallest failing case, as a cell to paste.

    Args:
        examined: what came of an answer.
        seed: the number of the class's paper, from which the cases are drawn again.
    """
    told = [repr(examined.verdict)]
    if examined.verdict.outcome != "not attempted":
        for place, trial in enumerate(examined.trials):
            told += ["", *_property(trial, place, seed)] if trial.failed else []
    return "\n".join(told)


def _property(trial: Trial, place: int, seed: int) -> Iterator[str]:
    sheet = trial.paper.sheets[place]
    failing = [i for i, one in enumerate(trial.looked) if one.found]
    yield f"--- {sheet.probe.shows}"
    if trial.loops:
        lines = " and ".join(str(got.counts["lines"]) for got in trial.got)
        yield f"From the smallest to the largest case, it runs {lines} lines of Python: a loop is left."
    if not failing:
        return
    smallest = min(failing, key=lambda i: _size(trial.cases[i]))
    case, looked = trial.cases[smallest], trial.looked[smallest]
    yield f"It fails in {len(failing)} of the {len(trial.cases)} cases that were tried. The smallest of these:"
    yield ""
    yield indented("\n".join(as_cell(trial.paper.exercise, case, place, smallest, seed)))
    yield ""
    assert looked.found is not None
    yield _sentence(trial.paper.exercise, case, looked.found)
    yield "expected:"
    yield indented(_shown(looked.want))
    yield "given:"
    yield indented(_shown(looked.got))
    yield _alike(trial)


def _sentence(exercise: Exercise, case: Case, found: Difference) -> str:
    names = case.names(tuple(exercise.signature.parameters))
    return explain(found, result_axes(exercise) if case.harness is None else None, names)


def _shown(observed: Observation) -> str:
    if observed.raised is not None:
        line = f", line {observed.raised.line}: {observed.raised.source}" if observed.raised.line else ""
        return f"{observed.raised.kind}: {observed.raised.message}{line}"
    return show(observed.result)


def _alike(trial: Trial) -> str:
    """The known mistakes that answer most cases of this property as this answer does."""
    mistakes = filter(known_by_its_answers, trial.paper.exercise.mistakes)
    counted = sorted(((trial.agreement(mistake), mistake.__name__) for mistake in mistakes), reverse=True)
    agreeing = [f"{name} in {cases} of {len(trial.cases)}" for cases, name in counted[:ALIKE] if cases]
    return f"known mistakes that answer alike: {', '.join(agreeing) or 'none'}"


def as_cell(exercise: Exercise, case: Case, place: int, number: int, seed: int) -> list[str]:
    """Lines that call the function named like the exercise on a case.

    Plain values are written out, so that a student can run them too. What cannot be written, a function that counts or a
    make-believe device, is drawn from the paper again, where this package is installed.
    """
    names = case.names(tuple(exercise.signature.parameters))
    if case.harness is None and not any(isinstance(argument, Function) for argument in case.arguments):
        given = [f"{name} = {as_code(value)}" for name, value in zip(names, case.arguments, strict=False)]
        heads = ["import numpy as np", *(["import torch"] if "torch." in "".join(given) else [])]
        heads += ["from math import inf, nan"] if any(word in line for line in given for word in ("inf", "nan")) else []
        return [*heads, *given, f"{exercise.name}({', '.join(names[: len(given)])})"]
    return [
        "from autograder.judging.paper import paper_of",
        f'sheet = paper_of("{exercise.notebook}", "{exercise.name}", {seed}).sheets[{place}]',
        f"(*sheet.cases, *sheet.again)[{number}].run({exercise.name})",
    ]


def as_code(value: Value) -> str:
    """A value as Python that makes it again, to the last digit and as it lies in memory."""
    if isinstance(value, Tensor):
        return f"torch.from_numpy({as_code(value.array)})"
    if isinstance(value, np.ndarray):
        rows = repr(value.tolist()).replace("], [", "],\n    [")
        made = f'np.array({rows}, "{value.dtype}")'
        made += f".reshape({value.shape})" if not value.size else ""
        if layout(value) == "F":
            return f"np.asfortranarray({made})"
        return made if layout(value) == "C" else f"np.repeat({made}, 2, axis=-1)[..., ::2]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {as_code(part)}" for key, part in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{as_code(part)}, " for part in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_code, value)) + "]"
    return repr(value)


def _size(case: Case) -> int:
    """How much there is to read in a case."""
    return sum(_numbers(argument) for argument in case.arguments if not isinstance(argument, Function))


def _numbers(value: Value) -> int:
    value = bare(value)
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        return sum(map(_numbers, value.values()))
    return sum(map(_numbers, value)) if isinstance(value, (list, tuple)) else 1
