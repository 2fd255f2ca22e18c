"""Judge one exercise over a link: send cases, compare what comes back, name the mistake.

Nothing that arrives is believed. What is not an observation is an attempt to be something else, and earns nothing.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from autograder.exercises import exercise_named
from autograder.exercises.model import (
    Case,
    Exercise,
    Implementation,
    Probe,
    known_by_its_answers,
    lesson,
    parameter_axes,
    result_axes,
)
from autograder.judging.fingerprint import fingerprint
from autograder.judging.heard import Heard, Looked, heard
from autograder.judging.paper import Paper, Sheet, has_part, part_of
from autograder.judging.reference import lend
from autograder.judging.showing import html
from autograder.judging.sketch import Sketch, sketch
from autograder.verdicts.verdict import ENDED, Finding, Outcome, Verdict
from course.trial.comparing import (
    OF_THE_RESULT,
    Certainty,
    Difference,
    Match,
    coarsest,
    is_sure,
    lines_grow,
    match,
    recognise,
    same_answers,
)
from course.trial.form import SEVEN_DIGITS
from course.trial.functions import Function
from course.trial.link import Allow, Link, by_the_clock
from course.trial.missing import no_function
from course.trial.observing import PATIENCE, STOPPED, Account, Observation
from course.trial.ranks import held_up
from course.trial.relation import relation
from course.trial.text import LOOP_LEFT, explain, in_common, recognised
from course.trial.values import Callback, Malformed, Value, bare, map_leaves, plain
from course.trial.views import seen

ASKS_PER_CALL = 5_000
ASKED_ELEMENTS = 5_000  # loops over every pair of them end in seconds
LISTENING_SECONDS = 3.0  # of the judge's processor time in one conversation, to read what comes and to answer questions
LONGEST_REASON = 500
FORM_KEEPS = 0.75  # of a probe's points, where an answer is right but for its form
SECONDS_PER_CALL = 20.0
REMEMBERS = "Called again, it answers differently: it keeps something from call to call."
QUESTION = {"say", "name", "arguments", "keywords"}
NO_FUNCTION = {"say": str, "now": str, "by": str}
TOO_OFTEN = "it calls `{name}` more than {most:,} times in one call, as an endless loop does"
TOO_LARGE = "it hands `{name}` more than a hidden test answers: arrays and integers that come to more than {most:,}"
BESIDE_A_RIGHT_ONE = "It is as asked, and counts once a result is right."
LIKE_BEFORE = "With other numbers, in the shapes of an earlier call: "


Merit = Literal["right", "form", "wrong"]
"""Of the answers to one probe: all right, right but for their form, or not."""


class Unreadable(Exception):
    """The other side said something that no honest client says."""


class TooMuch(Exception):
    """A question goes beyond what is answered in one call."""


class NoFunction(Exception):
    """There is nothing to call; it says why."""


@dataclass
class Trial:
    """One probe's cases, what was expected of each, and what came.

    Attributes:
        looked: case by case.
        least: a tolerance below which none goes; 0, but where answers are looked at in the form that was asked for.
    """

    paper: Paper
    lines: bool
    part: str | None = None
    least: float = 0.0
    cases: list[Case] = field(default_factory=list)
    looked: list[Looked] = field(default_factory=list)
    _sketches: dict[int, tuple[Sketch, float]] = field(init=False, default_factory=dict, repr=False)

    @property
    def wanted(self) -> list[Observation]:
        return [one.want for one in self.looked]

    @property
    def got(self) -> list[Observation]:
        return [one.got for one in self.looked]

    @property
    def loops(self) -> bool:
        """Whether lines were counted, and the student's grow with the size of the case."""
        return self.lines and lines_grow(self.got)

    @property
    def failed(self) -> bool:
        return self.loops or any(one.found for one in self.looked)

    @cached_property
    def _wrong_first(self) -> list[int]:
        """The cases' places; to be asked for once all are there."""
        return sorted(range(len(self.cases)), key=lambda place: self.looked[place].found is None)

    def match(self, mistake: Implementation) -> Match:
        """Whether the mistake gives these very answers, and whether that points to it."""
        if not all(self._agrees(mistake, place) for place in self._wrong_first):  # most differ in the first of these
            return "no"
        places = range(len(self.cases))
        mistaken = [self._answer(mistake, place) for place in places]
        return match(self.wanted, self.got, mistaken, (self.loops, self.lines and lines_grow(mistaken)), self.least)

    @property
    def size(self) -> int:
        return len(self.cases)

    def agreement(self, mistake: Implementation) -> int:
        """In how many cases the mistake answers as the student did."""
        return sum(self._agrees(mistake, place) for place in range(len(self.cases)))

    def in_form(self) -> Trial:
        """The same cases, and all answers in the form that was asked for."""
        return replace(self, least=SEVEN_DIGITS, looked=[one.recast for one in self.looked])

    def _agrees(self, mistake: Implementation, place: int) -> bool:
        want, got, answer = self.looked[place].want, self.looked[place].got, self._answer(mistake, place)
        if place not in self._sketches:
            self._sketches[place] = sketch(got), max(self.least, coarsest(want.result))
        drawn, least = self._sketches[place]
        return drawn.may_be(self.paper.sketch(answer), least) and same_answers([want], [got], [answer], self.least)

    def _answer(self, mistake: Implementation, place: int) -> Observation:
        """What the mistake answers to one case."""
        recast = self.looked[place].want if self.least else None
        return self.paper.given(mistake, self.cases[place], self.lines, self.part, recast)


@dataclass(frozen=True)
class Question:
    """One case, and whether the lines that run are to be counted."""

    case: Case
    lines: bool


class Call:
    """What goes on while the student's function is called on one case.

    Attributes:
        functions: those among the arguments; they are evaluated on this side.
        spent: what calls of them have cost.
        beyond: what the judge said where it was asked for more than it answers; "" where it was not.
        spared: seconds of the judge's processor time that its questions would have cost, had nobody asked them before.
        left, patience, clock: what is left of the time that it may take, of the time after which a wrong answer is not tried
            on more, and of that by the clock.
    """

    def __init__(self, question: Question, allow: Allow) -> None:
        self.question = question
        arguments = question.case.arguments
        self.functions = {a.name: replace(a, run=a.begin()) for a in arguments if isinstance(a, Function)}
        self.spent = dict.fromkeys(self.functions, 0)
        self.spared = 0.0
        self.beyond = ""
        self.left, self.patience, self.clock = allow(SECONDS_PER_CALL), allow(PATIENCE), by_the_clock(PATIENCE)

    def tried_patience(self, got: Observation) -> bool:
        """Whether it took so long that those like it would make everybody wait."""
        return (self.clock if held_up(got) else self.patience)() <= 0


@dataclass
class Interview:
    """One conversation, trial by trial.

    Attributes:
        lend: the exercises that are lent, as this one builds on them.
        own: those of which the student's own is right; they are lent too where it no longer stands under its name.
        ahead: the call that was asked for before what came of the last one was compared, so that neither side waits for
            the other; or what went wrong when it was asked for.
    """

    paper: Paper
    link: Link
    lend: tuple[str, ...]
    own: tuple[str, ...]
    listening: float
    allow: Allow
    trials: list[Trial] = field(default_factory=list)
    ahead: Call | OSError | None = None

    @property
    def exercise(self) -> Exercise:
        return self.paper.exercise

    def look_ahead(self, question: Question) -> None:
        """Have the student's function called on the case that is asked about next."""
        try:
            self.ahead = self._begin(question)
        except OSError as error:
            self.ahead = error

    def ask(self, question: Question) -> tuple[Call, Heard]:
        """Have the student's function called on one case, unless it has begun, and hear what came of it.

        Raises:
            NoFunction, Unreadable, Malformed, TimeoutError, EOFError, OSError: no observation came back.
        """
        call, self.ahead = self.ahead or self._begin(question), None
        if isinstance(call, OSError):
            raise call
        until = time.thread_time() + self.listening
        try:
            return call, self._hear(call, until)
        finally:
            self.listening = until - time.thread_time() - call.spared

    def _begin(self, question: Question) -> Call:
        self.link.send(self.paper.request(question.case, question.lines, self.lend, self.own))
        return Call(question, self.allow)

    def _hear(self, call: Call, until: float) -> Heard:
        case, lines = call.question.case, call.question.lines
        asked = 0
        while call.left() > 0 and time.thread_time() + call.spared < until:
            reply = self.link.receive()
            said = reply.get("say") if isinstance(reply, dict) else None
            if not isinstance(said, str):
                raise Unreadable("neither an observation nor a question")
            if said == "observed":
                listen = partial(self._observation, call, reply)
                return heard(reply, (id(case), lines, call.beyond, *call.spent.items()), listen)
            unheard = not any(trial.looked for trial in self.trials)
            if said == "no function" and unheard and {key: type(one) for key, one in reply.items()} == NO_FUNCTION:
                now, by = (reply[key][:LONGEST_REASON] for key in ("now", "by"))
                raise NoFunction(no_function(self.exercise.name, now, by))
            if said != "ask" or set(reply) != QUESTION or not isinstance(reply["name"], str):
                raise Unreadable("neither an observation nor a question")
            asked += 1
            try:
                if asked > ASKS_PER_CALL:
                    raise TooMuch(TOO_OFTEN.format(name=self._called(case, reply["name"]), most=ASKS_PER_CALL))
                answer = self._reply(call, reply["name"], reply["arguments"], reply["keywords"])
            except TooMuch as error:
                call.beyond = str(error)
                answer = {"do": "raise", "message": call.beyond}
            try:
                self.link.send(answer)
            except ValueError as error:  # it does not fit in a frame
                call.beyond = str(error)
                self.link.send({"do": "raise", "message": call.beyond})
        raise TimeoutError("one call took too long")

    def _called(self, case: Case, name: str) -> str:
        """What the student calls a function that the judge has answered for: a parameter, or an exercise that is lent."""
        labels = zip(case.names(tuple(self.exercise.signature.parameters)), case.arguments, strict=False)
        return next((label for label, one in labels if isinstance(one, Function) and one.name == name), name[:40])

    def _observation(self, call: Call, reply: dict[str, Value]) -> Heard:
        case, lines, spent = call.question.case, call.question.lines, call.spent
        try:
            told = Account.from_value({name: value for name, value in reply.items() if name != "say"})
        except ValueError as error:
            raise Unreadable(str(error)) from None
        if lines and "lines" not in told.counts:
            raise Unreadable("its lines were not counted")
        if call.beyond and told.raised and told.raised.message == call.beyond:
            told = replace(told, raised=replace(told.raised, kind=STOPPED))
        counts = {**spent, **({"lines": told.counts["lines"]} if lines else {})}
        try:
            return Heard(seen(self.exercise.view, case.read(replace(told, counts=counts))))
        except Exception as error:
            raise Unreadable(f"the result could not be looked at: {type(error).__name__}") from None

    def _reply(self, call: Call, name: str, arguments: Value, keywords: Value) -> Value:
        functions = call.functions
        try:
            if not isinstance(arguments, tuple) or not isinstance(keywords, dict):
                raise TypeError("arguments")
            if sum(_elements(a) for a in (*arguments, *keywords.values())) > ASKED_ELEMENTS:
                raise TooMuch(TOO_LARGE.format(name=self._called(call.question.case, name), most=ASKED_ELEMENTS))
            with np.errstate(all="ignore"):
                if name in functions:
                    arguments, keywords = map_leaves(bare, arguments), map_leaves(bare, keywords)
                    value = plain(functions[name].run(*arguments, **keywords))
                    call.spent[name] += functions[name].cost(*arguments, **keywords)
                    return {"do": "return", "value": value}
                if name in (*self.lend, *self.own):
                    handed = {called: function.run for called, function in functions.items()}
                    arguments, keywords = (map_leaves(partial(_resolved, handed), a) for a in (arguments, keywords))
                    value, spared = lend(exercise_named(self.exercise.notebook, name), arguments, keywords)
                    call.spared += spared
                    return {"do": "return", "value": value}
            raise ValueError(f"there is no {name!r:.40}")
        except TooMuch:
            raise
        except Exception as error:
            message = f"{error!s:.300}"
            return {"do": "raise", "message": message if message.startswith(f"{name} ") else f"{name:.40}: {message}"}


def _resolved(handed: dict[str, Implementation], leaf: Value) -> Value:
    """What a lent function was handed: where that is one of the case's own functions, the function itself."""
    return handed[leaf.name] if isinstance(leaf, Callback) else leaf


def _elements(value: Any) -> int:
    """How much there may be to do for a question: the numbers in its arrays, the letters in its texts, and integers,
    which may be sizes."""
    if type(value) is int:
        return max(1, abs(value))
    if isinstance(value, str):
        return max(1, len(value))
    value = bare(value)
    if isinstance(value, np.ndarray):
        room = math.prod(size or 1 for size in value.shape)  # an empty axis may vanish in a product
        return max(room, int(np.abs(value.astype(np.float64)).sum())) if value.dtype.kind in "iu" else room
    if isinstance(value, dict):
        return sum(map(_elements, value.values()))
    return sum(map(_elements, value)) if isinstance(value, (list, tuple)) else 1


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch work in the judge's own thread: on matrices so small, threads that wait for each other cost ten times as much."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Examined:
    """A conversation that is over.

    Attributes:
        trials: what it was made of, one for each probe that was tried.
    """

    verdict: Verdict
    trials: tuple[Trial, ...]


def judge(paper: Paper, link: Link, passed: frozenset[str] = frozenset(), allow: Allow = by_the_clock) -> Verdict:
    """The verdict of `examine`."""
    return examine(paper, link, passed, allow).verdict


@_one_thread()
def examine(paper: Paper, link: Link, passed: frozenset[str] = frozenset(), allow: Allow = by_the_clock) -> Examined:
    """Try whatever answers at the other end of `link`.

    Args:
        paper: what is being judged, and the cases that it is tried on.
        link: frames to and from the student's process.
        passed: exercises that this student has right; of those that this one uses, only the others are lent.
        allow: how the student's seconds pass.
    """
    lent = tuple(name for name in paper.exercise.uses if name not in passed)
    own = tuple(name for name in paper.exercise.uses if name in passed)
    interview = Interview(paper, link, lent, own, LISTENING_SECONDS, allow)
    found: list[tuple[Probe, Merit, str]] = []
    stop: tuple[Outcome, str] | None = None
    for sheet, following in zip_longest(paper.sheets, paper.sheets[1:]):
        merit: Merit = "wrong"
        reason = ""
        if stop is None:
            try:
                merit, reason = _try(interview, sheet, following)
            except TimeoutError:
                stop = "timed out", "One call took too long; what had been earned before is kept."
            except (EOFError, OSError):
                stop = "crashed", ENDED
            except NoFunction as error:
                stop = "did not run", str(error)
            except (Malformed, Unreadable) as error:
                stop = "tampered", f"What came back was not an answer ({error})."
            else:
                if _unwritten(interview):
                    stop = "not attempted", ""
                    merit, reason = "wrong", ""
        found.append((sheet.probe, merit, reason))
    verdict = _conclude(paper.exercise, _findings(found, paper), interview, stop)
    _farewell(link, verdict)
    return Examined(verdict, tuple(interview.trials))


def _findings(found: list[tuple[Probe, Merit, str]], paper: Paper) -> tuple[Finding, ...]:
    """What each probe earns. A slip of form costs a quarter wherever it shows; where only strict probes show it, it costs those.

    What an answer passes that does nothing counts beside a right result alone.
    """
    wrong = any(merit == "wrong" for _, merit, _ in found)
    if wrong and not any(merit != "wrong" and probe not in paper.idle for probe, merit, _ in found):
        found = [(probe, "wrong", BESIDE_A_RIGHT_ONE if merit != "wrong" else reason) for probe, merit, reason in found]
    shown = any(merit == "form" and not probe.strict for probe, merit, _ in found)

    def earned(probe: Probe, merit: Merit) -> float:
        if merit == "form":
            return FORM_KEEPS * probe.points if shown else 0.0
        return probe.points if merit == "right" else 0.0

    return tuple(Finding(probe.shows, probe.points, earned(probe, merit), reason) for probe, merit, reason in found)


def _try(interview: Interview, sheet: Sheet, following: Sheet | None) -> tuple[Merit, str]:
    """What an answer to this probe is worth, and why not more."""
    trial = Trial(interview.paper, sheet.probe.measures == "lines", sheet.probe.part)
    interview.trials.append(trial)
    reason, form = "", True
    once = len(sheet.cases)
    questions = _questions(sheet)
    after = [*questions[1:], *_questions(following)[:1], None]
    for place, (question, then) in enumerate(zip(questions, after, strict=False)):
        case = question.case
        call, answer = interview.ask(question)
        tried = call.tried_patience(answer.got)
        parted = has_part(answer.got, trial.part)  # else the whole is compared, and the missing key is told
        want = interview.paper.expected(case, trial.part if parted else None)
        got = part_of(answer.got, trial.part) if parted else answer.got
        looked = answer.looked.setdefault(trial.part, Looked(want, got))
        trial.cases.append(case)
        trial.looked.append(looked)
        if _unwritten(interview):
            return "wrong", "not written yet"
        if then is not None and not tried:
            interview.look_ahead(then)
        found = looked.found
        form = form and looked.form
        if found and not reason:
            if parted and found.kind in OF_THE_RESULT:
                found = replace(found, path=(str(trial.part), *found.path))
            reason = REMEMBERS if place == once else _reason(interview.exercise, case, found)
            reason = (LIKE_BEFORE if place > once else "") + reason[:LONGEST_REASON]
        if found and tried:
            break
    if trial.loops:
        return "wrong", reason or LOOP_LEFT
    return ("right" if not reason else "form" if form else "wrong"), reason


def _reason(exercise: Exercise, case: Case, found: Difference) -> str:
    """A difference without the data of the hidden case; a view speaks for itself."""
    if exercise.view is not None and isinstance(found.given, str):
        return found.given
    axes = result_axes(exercise) if case.harness is None else None
    return explain(found, axes, case.names(tuple(exercise.signature.parameters)), values=False)


def _questions(sheet: Sheet | None) -> list[Question]:
    if sheet is None:
        return []
    return [Question(case, sheet.probe.measures == "lines") for case in (*sheet.cases, *sheet.again)]


def _unwritten(interview: Interview) -> bool:
    first = interview.trials[0].looked[:1] if interview.trials else []
    return any(one.got.raised is not None and one.got.raised.unwritten for one in first)


def _conclude(
    exercise: Exercise, findings: tuple[Finding, ...], interview: Interview, stop: tuple[Outcome, str] | None
) -> Verdict:
    earned = sum(finding.earned for finding in findings)
    if stop:
        return Verdict(exercise.name, stop[0], findings, note=stop[1])
    if all(finding.earned == finding.points for finding in findings):
        return Verdict(exercise.name, "passed", findings)
    named, certainty = identify(exercise, interview.trials)
    answers = [pair for trial in interview.trials for pair in zip(trial.wanted, trial.got, strict=True)]
    wrong = [one.got for trial in interview.trials for one in trial.looked if one.found]
    lessons = tuple(recognised(lesson(mistake), wrong, certainty) for mistake in named)
    names = tuple(mistake.__name__ for mistake in named) if certainty != "nearly" else ()
    outcome: Outcome = "partly" if earned else _unanswered([got for _, got in answers]) or "wrong"
    note = "" if named and is_sure(certainty) else _alike(exercise, interview.trials)
    alike = "" if names else fingerprint(answers, any(trial.loops for trial in interview.trials))
    return Verdict(exercise.name, outcome, findings, names, lessons, note, alike=alike)


def _unanswered(got: list[Observation]) -> Outcome | None:
    """What became of an answer of which no call came to its end; None where one did."""
    if not all(one.raised for one in got):
        return None
    return "timed out" if any(one.raised and one.raised.kind == STOPPED for one in got) else "raised"


def _alike(exercise: Exercise, trials: list[Trial]) -> str:
    """In what the wrong results are like the right ones, or their first part that is wrong; "" where nothing is seen."""
    part = next((trial.part for trial in trials if trial.failed), None)
    those = [trial for trial in trials if trial.part == part]
    looked = [one.recast for trial in those for one in trial.looked]
    cases = [case for trial in those for case in trial.cases]
    found = relation([one.want for one in looked], [one.got for one in looked], cases, parameter_axes(exercise))
    return "" if found is None else in_common((*((part,) if part else ()), *found[0]), found[1])


def identify(exercise: Exercise, trials: list[Trial]) -> tuple[list[Implementation], Certainty]:
    """The known mistakes that these answers point to, and how surely."""
    return recognise(list(filter(known_by_its_answers, exercise.mistakes)), trials)


def _farewell(link: Link, verdict: Verdict) -> None:
    """Tell the student's process, which may print it; the score never comes from there."""
    with suppress(OSError):
        link.send({"do": "done", "text": repr(verdict), "html": html(verdict)})
