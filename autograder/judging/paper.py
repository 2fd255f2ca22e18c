"""An exercise's hidden cases, drawn once: what a whole class is asked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from autograder.exercises import exercise_named
from autograder.exercises.model import Exercise, Implementation, Probe
from autograder.judging.again import again
from autograder.judging.heard import Looked, Replies
from autograder.judging.idle import IDLE
from autograder.judging.reference import expected, given
from autograder.judging.sketch import Sketch, sketch
from course.trial.cases import Case
from course.trial.form import in_form
from course.trial.functions import Function
from course.trial.observing import Observation
from course.trial.values import Callback, Kept

AT_HAND = 256
"""Papers that a process keeps; a notebook has some five exercises, and a class one seed or a few."""


@dataclass(frozen=True)
class Sheet:
    """One probe's cases.

    Attributes:
        cases: what was drawn.
        again: for the first probe that looks at values, one of these once more, and one like it, which show what an answer remembers.
    """

    probe: Probe
    cases: tuple[Case, ...]
    again: tuple[Case, ...] = ()


class Paper:
    """What every answer to an exercise is tried on. What is right there, and what known mistakes answer, is worked out when it is
    first wanted, and once.

    Args:
        exercise: what is tried.
        seed: what the cases are drawn from; the same seed gives the same cases.

    Attributes:
        replies: what was said to it.
    """

    def __init__(self, exercise: Exercise, seed: int) -> None:
        self.exercise = exercise
        self.seed = seed
        self._expected: dict[tuple[int, str | None], Observation] = {}
        self._given: dict[tuple[int, Implementation, bool], Observation] = {}
        self._compared: dict[tuple[int, Implementation, bool, str | None, int], Observation] = {}
        self._sketches: dict[int, Sketch] = {}
        self._requests: dict[tuple[int, bool, tuple[str, ...], tuple[str, ...]], Kept] = {}
        self.replies = Replies()

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """The probes with their cases, in the exercise's order."""
        rng = np.random.default_rng(self.seed)
        remembering = next((probe for probe in self.exercise.probes if probe.measures == "value"), None)
        return tuple(self._sheet(probe, rng, probe is remembering) for probe in self.exercise.probes)

    @cached_property
    def idle(self) -> frozenset[Probe]:
        """The probes that an answer passes which does nothing."""
        return frozenset(sheet.probe for sheet in self.sheets if any(self._passes(answer, sheet) for answer in IDLE))

    def _passes(self, answer: Implementation, sheet: Sheet) -> bool:
        part, lines = sheet.probe.part, sheet.probe.measures == "lines"
        given = (self.given(answer, case, lines, part) for case in sheet.cases)
        return not any(
            Looked(self.expected(case, part), got).found for case, got in zip(sheet.cases, given, strict=True)
        )

    def _sheet(self, probe: Probe, rng: np.random.Generator, twice: bool) -> Sheet:
        cases = probe.draw(rng)
        return Sheet(probe, tuple(cases), tuple(again(cases)) if twice else ())

    def expected(self, case: Case, part: str | None = None) -> Observation:
        """The observation that a right answer gives in one of this paper's cases, or the part of it that a probe looks at.

        Raises:
            OracleFailed: the oracle raised something that is no refusal.
        """
        key = id(case), part  # the paper keeps its cases, so that none has another's identity
        if key not in self._expected:
            whole = expected(self.exercise, case) if part is None else self.expected(case)
            self._expected[key] = part_of(whole, part)
        return self._expected[key]

    def given(
        self,
        mistake: Implementation,
        case: Case,
        count_lines: bool,
        part: str | None = None,
        recast: Observation | None = None,
    ) -> Observation:
        """The observation that a known mistake gives in one of this paper's cases.

        Args:
            part: the part of it that a probe looks at.
            recast: what was expected, in whose form it is to be; None leaves it in its own.
        """
        key = id(case), mistake, count_lines
        if key not in self._given:
            self._given[key] = given(self.exercise, mistake, case, count_lines)
        if part is None and recast is None:
            return self._given[key]
        compared = *key, part, id(recast)  # what was expected is kept too
        if compared not in self._compared:
            answer = part_of(self._given[key], part)
            self._compared[compared] = answer if recast is None else in_form(recast, answer)
        return self._compared[compared]

    def request(self, case: Case, count_lines: bool, lend: tuple[str, ...], own: tuple[str, ...]) -> Kept:
        """What a student's process is sent, to call its function on one of this paper's cases.

        Args:
            lend: the functions that are lent.
            own: those that are lent only where the student's own, which is right, no longer stands under its name.
        """
        key = id(case), count_lines, lend, own
        if key not in self._requests:
            arguments = tuple(Callback(a.name) if isinstance(a, Function) else a for a in case.arguments)
            asked = {"arguments": arguments, "harness": case.harness, "lines": count_lines}
            known = {"exercise": self.exercise.name, "lend": list(lend), "own": list(own)}
            self._requests[key] = Kept({"do": "call", **asked, **known})
        return self._requests[key]

    def sketch(self, answer: Observation) -> Sketch:
        """An answer of `given` in short."""
        if id(answer) not in self._sketches:  # it is kept, so that none has another's identity
            self._sketches[id(answer)] = sketch(answer)
        return self._sketches[id(answer)]


def part_of(observed: Observation, part: str | None) -> Observation:
    """The observation with one entry of its dictionary as the result; unchanged where there is no such entry."""
    return replace(observed, result=observed.result[part]) if has_part(observed, part) else observed


def has_part(observed: Observation, part: str | None) -> bool:
    return part is not None and isinstance(observed.result, dict) and part in observed.result


@lru_cache(AT_HAND)
def paper_of(notebook: str, name: str, seed: int) -> Paper:
    """The paper of one exercise in a run; from one seed, each exercise of a notebook gets cases of its own."""
    own = hashlib.sha256(f"{seed} {notebook} {name}".encode()).digest()
    return Paper(exercise_named(notebook, name), int.from_bytes(own[:8]))
