"""`check`: what a student runs under each exercise, and `progress`, which runs it for a whole notebook."""

from __future__ import annotations

import dis
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from course import answers
from course.answers import StoredExercise, StoredMistake
from course.cells import running_shell
from course.latest import bound_by, defining, exercise_of, left_over
from course.remembered import remember
from course.trial.cases import Case, sizes_coincide
from course.trial.circumstances import circumstances
from course.trial.comparing import (
    Certainty,
    Difference,
    Match,
    difference,
    faintness,
    is_sure,
    lines_grow,
    match,
    recognise,
    same_answers,
)
from course.trial.form import SEVEN_DIGITS, in_form
from course.trial.functions import Function
from course.trial.looping import where_it_loops
from course.trial.message import Comparison, Message, State
from course.trial.missing import missing_name, no_function, not_an_array, which_cell_to_run
from course.trial.observing import PATIENCE, Observation, Raised, looked_at, own_line
from course.trial.ranks import held_up, staying
from course.trial.reaching import innermost, names_reached
from course.trial.relation import relation
from course.trial.silence import silently
from course.trial.situation import SMALL, leaves, out_of_the_ordinary, situation
from course.trial.text import LOOP_LEFT, Axes, axes_at, explain, folded, in_common, recognised, show, what
from course.trial.values import Value, bare
from course.trial.views import seen
from course.trial.where import where

VISIBLE = 4.0  # digits to which a table is read: a difference behind them is not seen in it
REMEMBERS = (
    "Called twice with the same arguments, it gives two different answers: something outlives the call, such as a list or an array "
    "that is made outside the function, or a random number is drawn."
)
LIKE_BEFORE = (
    "Right in every public case, and wrong with other numbers in the shapes of one of them. Is something kept from an earlier call, and "
    "found again by its shape?"
)
OLDER_VERSION = (
    "You have run a newer {} since, and its cell stopped with an error before it was defined: look under that cell. "
    "What is said here is of the version before it."
)
GIVE_A_NAME = " Give it the exercise's name, `its_name = ...`, and then write check(its_name)."
LAYOUTS = {"F": "a transpose, `T.T`,", "strided": "a slice with a step, `T[:, ::2]`,"}
OTHERWISE_IN_MEMORY = (
    "Right for new arrays, whose numbers lie in memory one after another, row by row. In {} they lie otherwise, and there, "
    "of the same numbers, it makes something else. Indices, `reshape` and `ravel()` do not ask how numbers lie; "
    '`order="K"`, `.view()` and a new `.shape` do.'
)
VIEWS = "A row or a slice of an array is a view of it: `+=`, and whatever else changes the one, changes both."
ONLY_A_LOOP = f"The values are right. {LOOP_LEFT}"
NOTHING_MORE = "The hidden test looks at the same, and at nothing else."
OF_FORM = ("type", "dtype", "shape", "changed")  # kinds of difference that an answer of the right numbers may show
VALIDATOR_WIDTH = 80  # `nbgrader validate` cuts longer lines off


@dataclass(frozen=True)
class Result:
    """What `check` found. Print it, or let the notebook show it; it is true where the answer is correct.

    Attributes:
        raised: the kind of exception, such as "NameError", that ends the case which the message shows; "" where none does.
        mistakes: the names of the known mistakes that the answers are those of.
    """

    exercise: str
    message: Message
    raised: str = ""
    mistakes: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        return self.message.state

    @property
    def text(self) -> str:
        return self.message.text()

    @property
    def html(self) -> str:
        return self.message.html()

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    def to_json(self) -> dict[str, Any]:
        """What was found, for a tool: {"exercise": "mix_rows", "state": "not yet", ...}, all of it fit for `json.dumps`.

        Returns:
            The exercise's name, under "exercise", and the parts of the message: "state", one of "correct", "not yet",
            "not written", "not run" and "unknown"; "caution", a text, most often empty; "sentences", "lessons" (of known
            mistakes), "reasons" and "notes", each a list of texts; and "comparison", the texts "expected" and "yours",
            or None.
        """
        return {"exercise": self.exercise, **self.message.to_json()}

    def __bool__(self) -> bool:
        return self.state == "correct"


class CheckFailed(Exception):
    """A check that does not pass, under nbgrader's Validate, which looks at nothing but exceptions."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.text)
        self.result = result

    def _render_traceback_(self) -> list[str]:
        return folded(self.result.text, VALIDATOR_WIDTH).split("\n")


class Stopped(KeyboardInterrupt):
    """A check that its student has stopped: a sentence in place of a traceback through the course's own lines."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def check(function: Callable[..., object]) -> Result | None:
    """Try `function` on the public cases of the exercise under whose name the notebook has it, and say what came of it.

    A notebook shows the result. In a script, a line that is `check(function)` and no more prints it.

    Returns:
        The result, or None while nbgrader grades: what counts then is the hidden test.

    Raises:
        CheckFailed: only under nbgrader's Validate, for anything but a correct answer.
        Stopped: it was interrupted; it says where.
    """
    execution = os.environ.get("NBGRADER_EXECUTION")
    if execution == "autograde":
        return None
    began = time.monotonic()
    name, others = exercise_of(function, sys._getframe(1))
    try:
        result = examine(function, name)
    except KeyboardInterrupt as stop:
        raise Stopped(_stopped(name, stop, time.monotonic() - began)) from None
    if exercise := answers.find(result.exercise):
        remember(exercise.notebook, {result.exercise: result.state}, {result.exercise: function})
    if others:
        result = _warned(result, f"This is the check of {name}; here {' and '.join(others)} is the same function.")
    if execution != "validate":
        result = _warned(result, OLDER_VERSION.format(result.exercise)) if left_over(function) else result
        if running_shell() is None and _is_a_line_of_a_script(sys._getframe(1)):
            print(result)
        return result
    if not result:
        raise CheckFailed(result)
    from IPython.display import display

    display(result)  # what a cell returns is taken for a score by nbgrader, which says so in the terminal
    return None


def _is_a_line_of_a_script(caller: FrameType) -> bool:
    """Whether the call in which a frame is stands in what Python was started with, and by itself, so that nothing takes its value."""
    if caller.f_globals.get("__name__") != "__main__":
        return False
    behind = (one for one in dis.get_instructions(caller.f_code) if one.offset > caller.f_lasti)
    return next(behind).opname == "POP_TOP"


def _stopped(name: str, stop: KeyboardInterrupt, seconds: float) -> str:
    """Where a function was when it was stopped."""
    at = own_line(stop)
    where = f" It was at line {at.line} of {at.function}, `{at.source}`." if at.source else ""
    return f"{name}: stopped after {seconds:.0f} s, without an answer.{where} Is there a loop that does not end?"


def _warned(result: Result, caution: str) -> Result:
    return replace(result, message=replace(result.message, caution=f"{result.message.caution} {caution}".strip()))


def examine(function: Any, name: str = "") -> Result:
    """`check`, whoever asks. What the function prints is heard once for each public case.

    Args:
        name: of the exercise that it is to be; "" stands for its own.
    """
    name = name or str(getattr(function, "__name__", type(function).__name__))
    exercise = answers.find(name)
    if exercise is None:
        return _plain(name, "unknown", _meant(function, name))
    if not callable(function):
        told = no_function(name, what(looked_at(function)), bound_by(name))
        return Result(name, Message("not yet", (f"{name}: not yet.", told)))
    with staying():
        return _examined(exercise, function)


def _examined(exercise: StoredExercise, function: Any) -> Result:
    name = exercise.name
    tried = try_publicly(exercise, function)
    if tried is None:
        return _plain(
            name,
            "not written",
            f"{name}: not written yet. Put your code where `raise NotImplementedError()` is, and run both cells again.",
        )
    if any(tried.differences) or tried.loops:
        return _wrong(function, tried)
    if again := tried_again(exercise, function, tried.observed):
        return Result(name, Message("not yet", (f"{name}: not yet.",), reasons=again))
    return _correct(exercise, tried.observed)


@dataclass(frozen=True)
class Tried:
    """What a function gave in the public cases.

    Attributes:
        exercise: whose cases these are; where one that went wrong took long, as if it had none after that.
        observed, differences: case by case, what came of it, and in what that is wrong.
        hurried: whether one took long, so that nothing is tried twice.
    """

    exercise: StoredExercise
    observed: list[Observation]
    differences: list[Difference | None]
    hurried: bool

    @property
    def loops(self) -> bool:
        """Whether a loop is left where there should be none."""
        return self.exercise.vectorised and lines_grow(self.observed)


def try_publicly(exercise: StoredExercise, function: Any) -> Tried | None:
    """Try a function on the public cases of an exercise; None where it is not written yet."""
    observed: list[Observation] = []
    differences: list[Difference | None] = []
    for place, case in enumerate(exercise.cases):
        clock, worked = time.monotonic(), time.process_time()
        observed.append(seen(exercise.view, case.run(function, exercise.vectorised)))
        # what other programs take of the machine is no time of this case's
        took = time.monotonic() - clock if held_up(observed[-1]) else time.process_time() - worked
        differences.append(difference(exercise.expected[place], observed[-1]))
        raised = observed[-1].raised
        if raised is not None and raised.unwritten and not _begin_elsewhere(exercise, function):
            return None
        if took > PATIENCE and differences[-1]:
            return Tried(_beginning(exercise, place + 1), observed, differences, hurried=True)
    return Tried(exercise, observed, differences, hurried=False)


def tried_again(exercise: StoredExercise, function: Any, observed: list[Observation]) -> tuple[str, ...]:
    """What to say of an answer that is right in every public case, and then, tried once more, is not."""
    with silently():
        return _again(exercise, function, observed)


def _again(exercise: StoredExercise, function: Any, observed: list[Observation]) -> tuple[str, ...]:
    if _remembers(exercise, function, observed, 0):
        return (REMEMBERS,)
    for case, expected in exercise.turned:
        if found := difference(expected, seen(exercise.view, case.run(function))):
            return (LIKE_BEFORE, *_told_in(exercise, case, found))
    freedom = [sum(map(_long_axes, case.arguments)) for case in exercise.cases]
    i = freedom.index(max(freedom))
    for order, example in LAYOUTS.items() if freedom[i] else ():
        found = difference(exercise.expected[i], seen(exercise.view, exercise.cases[i].laid(order).run(function)))
        if found:
            return (OTHERWISE_IN_MEMORY.format(example), *_told_in(exercise, exercise.cases[i], found))
    return ()


def _told_in(exercise: StoredExercise, case: Case, found: Difference) -> tuple[str, ...]:
    """A case, and in what an answer differs there."""
    names = case.names([name for name, _ in exercise.parameters])
    return (*situation(case, exercise.parameters), explain(found, exercise.axes, names))


def _long_axes(argument: Value | Function) -> int:
    """How many axes of the arrays in an argument are longer than 1, and so can lie in memory in another way."""
    if isinstance(argument, (list, tuple, dict)):
        return sum(map(_long_axes, argument.values() if isinstance(argument, dict) else argument))
    array = bare(argument)
    return sum(length > 1 for length in array.shape) if isinstance(array, np.ndarray) else 0


def _remembers(exercise: StoredExercise, function: Any, observed: list[Observation], i: int) -> bool:
    """Whether a case has another answer when it is tried once more."""
    case = exercise.cases[i]
    if case.harness is not None:
        return False
    return not same_answers([exercise.expected[i]], [observed[i]], [seen(exercise.view, case.run(function))])


def _meant(thing: Any, name: str) -> str:
    """What to write, for somebody who has checked something else than a function that is an exercise."""
    every = [name for notebook in answers.notebooks() for name in answers.names(notebook)]
    if isinstance(thing, str):
        return f"check takes the function itself: check({thing if thing in every else 'its_name'}), without quotation marks."
    if not callable(thing):
        return f"check takes the function itself, not {what(looked_at(thing))}: check(its_name), without calling it."
    near = get_close_matches(name, every, n=1)
    nameless = name == "<lambda>" or not hasattr(thing, "__name__")
    more = f" Did you mean {near[0]}?" if near else GIVE_A_NAME if nameless else ""
    return f"check goes by the function's name, and there is no exercise called {name}.{more}"


def _beginning(exercise: StoredExercise, count: int) -> StoredExercise:
    """The exercise as if it had no more public cases than so many."""
    mistakes = tuple(replace(mistake, answers=mistake.answers[:count]) for mistake in exercise.mistakes)
    return replace(exercise, cases=exercise.cases[:count], expected=exercise.expected[:count], mistakes=mistakes)


def _plain(name: str, state: State, text: str) -> Result:
    return Result(name, Message(state, (text,)))


def said_of_a_right_one(exercise: StoredExercise) -> str:
    """What an answer is told that is right in every public case."""
    count = len(exercise.cases)
    cases = "the public case" if count == 1 else f"all {count} public cases"
    more = "The hidden tests try more." if any(case.arguments for case in exercise.cases) else NOTHING_MORE
    return f"{exercise.name}: correct on {cases}. {more}"


def _correct(exercise: StoredExercise, observed: list[Observation]) -> Result:
    warned = list(dict.fromkeys(text for one in observed for text in one.warned))
    on_the_way = (f"On the way Python warned: {'; '.join(warned)}. The answers are right all the same.",)
    return Result(
        exercise.name, Message("correct", (said_of_a_right_one(exercise),), notes=on_the_way if warned else ())
    )


def _wrong(function: Any, tried: Tried) -> Result:
    """What to say of a wrong answer."""
    exercise, observed, differences = tried.exercise, tried.observed, tried.differences
    elsewhere = _begin_elsewhere(exercise, function)
    failing = [i for i, found in enumerate(differences) if found]
    mistakes, certainty = known(exercise, observed)
    wrong = [observed[i] for i in failing]
    said = dict.fromkeys(mistake.lesson for mistake in mistakes)  # variants of one mistake have one lesson
    lessons = () if elsewhere else tuple(recognised(lesson, wrong, certainty) for lesson in said)
    reasons: list[str] = []
    comparison: Comparison | None = None
    raised = ""
    if failing:
        plain = plainest(
            exercise, observed, differences, digits=not lessons, pictured=not (mistakes and is_sure(certainty))
        )
        i, found, comparison = plain.place, plain.found, plain.comparison
        reasons += plain.reasons
        if found.kind == "raised":
            raised = found.given.kind
            reasons += _about_names_and_lists(exercise, function, found.given)
        if found.kind == "changed" and not lessons:
            reasons.append(VIEWS)
        with silently():
            remembers = found.kind == "value" and not tried.hurried and _remembers(exercise, function, observed, i)
        reasons += [REMEMBERS] if remembers else []
        if not (mistakes and is_sure(certainty)):
            reasons += _in_common(exercise, observed, differences)
        slip = next((one for one in differences if one and one.kind in OF_FORM), None)
        if slip and found.kind == "value" and mistakes and certainty == "but for form":
            reasons.append(f"Besides, in another case: {_sentence(exercise, i, slip)}")
    else:
        reasons.append(only_a_loop(function))
    return Result(
        exercise.name,
        Message(
            "not yet",
            sentences=(f"{exercise.name}: not yet.", *elsewhere),
            lessons=lessons,
            reasons=tuple(reasons),
            comparison=comparison,
            notes=_warnings([observed[i]] if failing else observed),
        ),
        raised,
        tuple(mistake.name for mistake in mistakes) if certainty != "nearly" else (),
    )


def only_a_loop(function: Any) -> str:
    """What to say of an answer whose values are right, and which loops."""
    return " ".join([ONLY_A_LOOP, *where_it_loops(function)])


@dataclass(frozen=True)
class FailingCase:
    """A public case that does not stand, and what is said of it.

    Attributes:
        place: which case it is.
        found: what is wrong there.
        reasons: the case and that, in sentences.
        comparison: the results beside each other, where that shows more.
    """

    place: int
    found: Difference
    reasons: tuple[str, ...]
    comparison: Comparison | None


def plainest(
    exercise: StoredExercise,
    observed: Sequence[Observation],
    differences: Sequence[Difference | None],
    digits: bool = True,
    pictured: bool = False,
) -> FailingCase:
    """Of the public cases that do not stand, of which there is at least one, the one in which that is easiest to see; `told_of` it.

    Args:
        digits, pictured: as for `told_of`.
    """
    i, found = min(((i, found) for i, found in enumerate(differences) if found), key=partial(_hard_to_follow, exercise))
    reasons, comparison = told_of(exercise, i, observed[i], found, digits=digits, pictured=pictured)
    return FailingCase(i, found, tuple(reasons), comparison)


def told_of(
    exercise: StoredExercise, i: int, observed: Observation, found: Difference, *, digits: bool, pictured: bool = False
) -> tuple[list[str], Comparison | None]:
    """What is said of a public case in which an answer is wrong: what was done there and what came of it, and both results where they
    are to be seen side by side.

    Args:
        exercise: whose case it is.
        i: which of its public cases.
        observed: the answer to it.
        found: in what that differs from the right one.
        digits: whether to say what it points to that only some digits are right.
        pictured: whether to draw where a result differs.
    """
    if parts := _parts(exercise, i, observed):
        return parts, None
    said = [*situation(exercise.cases[i], exercise.parameters), _sentence(exercise, i, found, digits=digits)]
    if found.kind == "changed" and leaves(found.given) <= SMALL:
        before, after = exercise.cases[i].arguments[int(found.path[0])], show(found.given)
        unseen = not isinstance(before, Function) and show(before) == after
        said.append("Only its last digits are other ones now." if unseen else f"Afterwards it is\n{after}")
    if found.kind in ("value", "shape", "type") and found.given is not None:
        want, got = (_entry(one.result, found.path) for one in (exercise.expected[i], observed))
        if show(want) != show(got):  # else the sentence has all digits
            picture = where(want, got, axes_at(_axes(exercise, i), found.path)) if pictured else ""
            return said, Comparison(want, got, picture)
    return said, None


def _sentence(exercise: StoredExercise, i: int, found: Difference, *, digits: bool = True) -> str:
    names = exercise.cases[i].names([name for name, _ in exercise.parameters])
    return explain(found, _axes(exercise, i), names, digits=digits)


def _axes(exercise: StoredExercise, i: int) -> Axes:
    """What the axes of a case's result are called."""
    return exercise.axes if exercise.cases[i].harness is None else None


def _in_common(
    exercise: StoredExercise, observed: list[Observation], differences: list[Difference | None]
) -> list[str]:
    """In what the wrong results are like the right ones, and when they are wrong, where anything is seen."""
    cases = exercise.cases[: len(observed)]
    recast = [in_form(*pair) for pair in zip(exercise.expected, observed, strict=False)]
    found = relation(exercise.expected, recast, cases, exercise.parameters)
    when = circumstances(cases, [one is not None for one in differences], exercise.parameters)
    alike = [] if found is None else [in_common(*found)]
    return alike + ([f"Of the {len(cases)} public cases, it is wrong in exactly those where {when}."] if when else [])


def _parts(exercise: StoredExercise, i: int, observed: Observation) -> list[str]:
    """Where answers are seen through a view, its sentence on each entry that does not stand."""
    expected, given = exercise.expected[i].result, observed.result
    if exercise.view is None or not isinstance(given, dict) or set(given) != set(expected):
        return []
    return [f"{name}: {given[name]}" for name in expected if given[name] != expected[name]]


@dataclass(frozen=True)
class _Trial:
    """One public case, for `recognise`.

    Attributes:
        place: which of the stored answers are of this case.
        expected, observed: what a right answer gives, and what the student's gave.
        loops: whether the student's lines grow with the size of the case.
        least: a tolerance below which none goes; 0, but where answers are looked at in the form that was asked for.
    """

    place: int
    expected: Observation
    observed: Observation
    loops: bool
    least: float = 0.0

    @property
    def failed(self) -> bool:
        return difference(self.expected, self.observed) is not None

    def match(self, mistake: StoredMistake) -> Match:
        loops = (self.loops, mistake.loops)
        return match([self.expected], [self.observed], [self._answer(mistake)], loops, self.least)

    @property
    def size(self) -> int:
        return 1

    def agreement(self, mistake: StoredMistake) -> int:
        return int(same_answers([self.expected], [self.observed], [self._answer(mistake)], self.least))

    def in_form(self) -> _Trial:
        return replace(self, observed=in_form(self.expected, self.observed), least=SEVEN_DIGITS)

    def _answer(self, mistake: StoredMistake) -> Observation:
        answer = mistake.answers[self.place]
        return in_form(self.expected, answer) if self.least else answer


def known(exercise: StoredExercise, observed: list[Observation]) -> tuple[list[StoredMistake], Certainty]:
    """The known mistakes that these answers to the public cases point to, and how surely."""
    loops = exercise.vectorised and lines_grow(observed)
    pairs = zip(exercise.expected, observed, strict=True)
    trials = [_Trial(place, want, got, loops) for place, (want, got) in enumerate(pairs)]
    return recognise(exercise.mistakes, trials)


def _about_names_and_lists(exercise: StoredExercise, function: Any, raised: Raised) -> list[str]:
    """What to do about an exception, where that is known: a cell that was not run, a list where an array should be."""
    if name := missing_name(raised):
        other = answers.find(name)
        here = answers.names(exercise.notebook)
        begun = bool(defining(name))
        return [which_cell_to_run(name, here, other.notebook if other else "", exercise.parameters, begun)]
    given, asked = not_an_array(raised)
    if not given:
        return []
    called = getattr(innermost(function), "__globals__", {}).get(raised.function)
    with silently():
        handed = raised.function != exercise.name and callable(called) and bool(examine(called, raised.function))
    blame = f" `{raised.function}` is right: look at what you hand to it." if handed else ""
    return [f"A {given} has no `.{asked}`, and an array has: `np.array(...)` makes one.{blame}"]


def _begin_elsewhere(exercise: StoredExercise, function: Any) -> list[str]:
    """Where what this one calls fails its own check, or is no function any more, that is the place to begin."""
    scope = getattr(innermost(function), "__globals__", {})
    called = names_reached(function) & scope.keys()
    with silently():
        waiting = [
            name
            for name in exercise.uses
            if name in called and callable(scope[name]) and not examine(scope[name], name)
        ]
    return [f"It calls {name}, whose own check does not pass yet: begin there." for name in waiting] + [
        f"It calls {name}. {no_function(name, what(looked_at(scope[name])), bound_by(name))}"
        for name in answers.names(exercise.notebook)
        if name in called and not callable(scope[name])
    ]


def _entry(result: Value, path: tuple[int | str, ...]) -> Value:
    """The entry of a dictionary in which the difference lies; all of a result that is not one."""
    while path and isinstance(result, dict) and path[0] in result:
        result, path = result[path[0]], path[1:]
    return result


def _hard_to_follow(
    exercise: StoredExercise, failing: tuple[int, Difference]
) -> tuple[bool, bool, bool, bool, bool, int]:
    """How hard it is to see what went wrong in a case: a difference in the last digits is harder than one in the first, a harness
    harder than a plain call, something out of the ordinary harder than plain numbers, arguments of which only the shapes are shown harder
    than numbers, sizes that coincide harder than such as tell the axes apart, and a large case harder than a small one."""
    i, found = failing
    case, axes = exercise.cases[i], dict(exercise.parameters)
    unseen = any(leaves(bare(argument)) > SMALL for argument in case.arguments)
    return (
        faintness(found) > VISIBLE,
        case.harness is not None,
        any(map(out_of_the_ordinary, case.arguments)),
        unseen,
        sizes_coincide(case.handed(list(axes)), axes),
        leaves(case.arguments),
    )


def _warnings(observed: list[Observation]) -> tuple[str, ...]:
    texts = dict.fromkeys(text for one in observed for text in one.warned)
    return tuple(f"Python warned: {text}" for text in texts)
