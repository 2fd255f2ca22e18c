"""What an exercise is. Everything else, from the hidden test to the class report, derives from these declarations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import numpy as np

from autograder.verdicts.cells import ANSWER
from course.trial.cases import Case, case

__all__ = [
    "ANSWER",
    "B",
    "Case",
    "Exercise",
    "F",
    "Implementation",
    "Probe",
    "Task",
    "about_the_idea",
    "case",
    "equivalence",
    "equivalent",
    "exercise_in",
    "known_by_its_answers",
    "lesson",
    "misses_the_idea",
    "mistake",
    "parameter_axes",
    "probe",
    "result_axes",
    "right",
    "right_to_seven_digits",
]

F = np.ndarray
"""An array of floats, where mistakes and right answers, whose shapes are those of the oracle, name their types."""

B = np.ndarray
"""An array of booleans, likewise."""

Implementation = Callable[..., Any]
Draw = Callable[[np.random.Generator], list[Case]]
Measure = Literal["value", "lines"]


@dataclass(frozen=True)
class Probe:
    """A property that the hidden test tries.

    Attributes:
        shows: the property, as a student reads it in the feedback: "keeps float32".
        points: what it is worth; an exercise is worth the sum.
        draw: fresh cases from a fresh generator.
        measures: "value" compares each case with the oracle. "lines" takes two cases, a small and a large one, and
            also wants the large one to run no more Python lines than the small one (counted in the student's process).
        part: the one entry of a dictionary that this probe looks at, or None for all of a result.
        strict: whether it is about form or digits ("keeps float32"). A slip of form costs a quarter of every probe that shows it,
            and all of a strict one where no other shows it.
    """

    shows: str
    points: float
    draw: Draw
    measures: Measure = "value"
    part: str | None = None
    strict: bool = False


@dataclass(frozen=True)
class Exercise:
    """One function that students write.

    Attributes:
        oracle: the reference, written from the definition; its name, signature and annotations are the student's.
            It is called with float64 where a case has float32.
        notebook: the notebook it is in, "00_shapes".
        public: fixed cases that `check` runs, smallest first.
        probes: what the hidden test tries.
        mistakes: wrong implementations. The docstring is what the student reads.
        variants: implementations that differ in style and must get full marks.
        uses: names of exercises of the same notebook that this one may call, and that these call; they are lent while it is judged.
        view: the name by which `course.trial.views` knows how results are looked at before they are compared.
        why: why the right answer is right and the usual other ideas are not, in Markdown; it stands in worked copies, and nowhere before.
    """

    oracle: Implementation
    notebook: str
    public: tuple[Case, ...]
    probes: tuple[Probe, ...]
    mistakes: tuple[Implementation, ...]
    variants: tuple[Implementation, ...]
    uses: tuple[str, ...] = ()
    view: str | None = None
    why: str = ""

    @property
    def name(self) -> str:
        return self.oracle.__name__

    @property
    def points(self) -> float:
        return sum(probe.points for probe in self.probes)

    @property
    def vectorised(self) -> bool:
        """Whether loops are looked for; then `check` too wants the lines not to grow from its first to its last case."""
        return any(probe.measures == "lines" for probe in self.probes)

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.oracle, eval_str=True)


@dataclass(frozen=True)
class Task:
    """A question that is answered in prose, and that a person marks; its name is that of its cell in the notebook."""

    name: str
    notebook: str
    points: float


def result_axes(exercise: Exercise) -> str | list[str] | None:
    """The axis names of the result, as its annotation gives them.

    "n m" for an array, and for a dictionary whose entries all have these axes; one such string for each part of a tuple.
    """
    annotation = exercise.signature.return_annotation
    if get_origin(annotation) is dict:
        annotation = get_args(annotation)[1]
    parts = [getattr(part, "dim_str", "") for part in get_args(annotation)]
    return parts if any(parts) else getattr(annotation, "dim_str", None)


def parameter_axes(exercise: Exercise) -> tuple[tuple[str, str], ...]:
    """The name of each parameter, and the names of its axes, as its annotation gives them: ("Q", "n k"); "" where it has none."""
    parameters = exercise.signature.parameters.values()
    return tuple((each.name, getattr(each.annotation, "dim_str", "")) for each in parameters)


def exercise_in(module: ModuleType, notebook: str) -> Exercise:
    """The exercise that a module declares: what stands in it under the marks below, in the order in which it stands there.

    The oracle has the module's name. `PUBLIC` are the public cases; `USES` and `VIEW` stand where there is something to say. What
    follows the first line of the module's docstring is the `why`.
    """
    here = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    return Exercise(
        oracle=getattr(module, module.__name__.rpartition(".")[2]),
        notebook=notebook,
        public=module.PUBLIC,
        probes=tuple(probe for value in here for probe in getattr(value, "probes", ())),
        mistakes=tuple(value for value in here if getattr(value, "role", "") == "mistake"),
        variants=tuple(value for value in here if getattr(value, "role", "") == "right"),
        uses=getattr(module, "USES", ()),
        view=getattr(module, "VIEW", None),
        why=_after_the_first_line(module),
    )


def _after_the_first_line(module: ModuleType) -> str:
    """The paragraphs of a module's docstring but for the first, each in one line."""
    _, *paragraphs = (inspect.getdoc(module) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def probe(
    points: float, measures: Measure = "value", part: str | tuple[str, ...] | None = None, *, strict: bool = False
) -> Callable[[Draw], Draw]:
    """Mark a function that draws cases as a probe; the arguments are the attributes of `Probe`. Its docstring is what the probe shows.

    With several parts it is one probe for each of them, worth these points each; its docstring says `{part}` where that one is named.
    """

    def mark(draw: Draw) -> Draw:
        shows = " ".join((inspect.getdoc(draw) or "").split())
        parts = part if isinstance(part, tuple) else (part,)
        draw.probes = tuple(  # type: ignore[attr-defined]
            Probe(shows.replace("{part}", str(one)), points, draw, measures, one, strict) for one in parts
        )
        return draw

    return mark


def mistake(implementation: Implementation) -> Implementation:
    """Mark a wrong answer that students are known to give. Its docstring is what they read."""
    implementation.role = "mistake"  # type: ignore[attr-defined]
    return implementation


def misses_the_idea(implementation: Implementation) -> Implementation:
    """Mark a mistake that does not do what the exercise is about, however right its numbers: it keeps half of the points at most."""
    implementation.misses_the_idea = True  # type: ignore[attr-defined]
    return mistake(implementation)


def equivalent(reason: str) -> Callable[[Implementation], Implementation]:
    """Mark a mistake that no input in the exercise's range tells from a right answer, and say why."""

    def mark(implementation: Implementation) -> Implementation:
        implementation.equivalent_because = reason  # type: ignore[attr-defined]
        return mistake(implementation)

    return mark


def right_to_seven_digits(implementation: Implementation) -> Implementation:
    """Mark a mistake whose float64 answers went through float32. What is left of their digits depends on the processor, so that it is
    known by how many there are, and not by the digits; its student is told that."""
    implementation.seven_digits = True  # type: ignore[attr-defined]
    return mistake(implementation)


def right(implementation: Implementation) -> Implementation:
    """Mark a right answer in another style, which must get full marks."""
    implementation.role = "right"  # type: ignore[attr-defined]
    return implementation


def lesson(mistake: Implementation) -> str:
    """What the student who made this mistake reads."""
    text = inspect.getdoc(mistake)
    if not text:
        raise ValueError(f"the mistake {mistake.__name__} has no docstring, so nobody could be told of it")
    return " ".join(text.split())


def about_the_idea(mistake: Implementation) -> bool:
    """Whether this mistake misses what the exercise is about."""
    return getattr(mistake, "misses_the_idea", False)


def equivalence(mistake: Implementation) -> str | None:
    """Why this mistake cannot be told from a right answer, or None where it can."""
    return getattr(mistake, "equivalent_because", None)


def known_by_its_answers(mistake: Implementation) -> bool:
    """Whether this mistake is named to whoever gives its answers."""
    return equivalence(mistake) is None and not getattr(mistake, "seven_digits", False)
