"""What an exercise lacks of which a release can be made already: each in a sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from autograder.authoring.sheet import off_the_sheet
from autograder.exercises.model import Case, Exercise, equivalence, lesson
from course.trial.functions import Function
from course.trial.values import Value, bare

FEWEST_MISTAKES = 3
"""One for each of three students of the sample class (`autograder.authoring.sample`)."""

SEEDS = (1, 20, 300)

FEWEST_WORDS, MOST_WORDS = 40, 120
SENTENCES = range(2, 6)
BELITTLING = {"simply", "obviously", "just", "clearly", "trivially", "easy", "easily"}
CODE = re.compile(r"`[^`]*`")
LIKE_CODE = re.compile(r"@|_|==|\*|\[|\b\w+\(|[A-Za-z]\.[A-Za-z]")

MOST_IN_A_LESSON = 50
"""Words that are read in a quarter of a minute. The comparison of the answer with the right one stands beside them, and says the rest."""
SCOLDING = re.compile(r"\b(?:nobody|no[- ]one)\b(?: has| had| ever)? (?:asked|said|told|wanted)\b", re.IGNORECASE)


def lacking(exercise: Exercise) -> list[str]:
    """What an exercise lacks, in sentences; nothing where it is complete.

    That its module can be read and its cells belong to it, `autograder.authoring.declared` says; that its mistakes lose marks,
    `autograder.authoring.mutants`.
    """
    return [
        *_mistakes(exercise),
        *unshown(exercise),
        *(f"{exercise.name}, why in the docstring of its file: {fault}." for fault in faults(exercise.why)),
        *_lessons(exercise),
        *off_the_sheet(exercise),
    ]


def _mistakes(exercise: Exercise) -> Iterator[str]:
    count = sum(equivalence(mistake) is None for mistake in exercise.mistakes)
    if count < FEWEST_MISTAKES:
        has = f"{count} mistake{'' if count == 1 else 's'}"
        yield (
            f"{exercise.name} has {has}; it needs {FEWEST_MISTAKES}, one for each of three students of the sample class. "
            "What is @equivalent does not count."
        )


def _lessons(exercise: Exercise) -> Iterator[str]:
    for mistake in exercise.mistakes:
        words = len(lesson(mistake).split())
        if words > MOST_IN_A_LESSON:
            yield f"{exercise.name}: the docstring of {mistake.__name__} has {words} words; {MOST_IN_A_LESSON} can be taken in."
        if scolds := SCOLDING.search(lesson(mistake)):
            yield f"{exercise.name}: the docstring of {mistake.__name__} blames its reader: {scolds.group()!r}."


# ------------------------------------------------------------------------------------------------------- public cases


def unshown(exercise: Exercise) -> list[str]:
    """What a hidden case brings and no public one does: a number type, an axis more, an empty array."""
    rngs = [np.random.default_rng(seed) for seed in SEEDS]
    hidden = _shown(exercise, (one for rng in rngs for each in exercise.probes for one in each.draw(rng)))
    return [
        f"{exercise.name}: hidden cases have {what}, and no public case has: add a public case"
        for what in sorted(hidden - _shown(exercise, exercise.public))
    ]


def _shown(exercise: Exercise, cases: Iterable[Case]) -> set[str]:
    """What is to be seen of the arguments in these cases, each as it ends a sentence on a case: "has X in float32"."""
    parameters = tuple(exercise.signature.parameters)
    named = [pair for one in cases for pair in zip(one.names(parameters), one.arguments, strict=False)]
    found: set[str] = set()
    for name, array in (leaf for pair in named for leaf in arrays(*pair)):
        found |= {f"{name} in {array.dtype}", f"{name} with {array.ndim} axes"}
        found |= {f"{name} with an axis of length 0"} if 0 in array.shape else set()
    return found


def arrays(name: str, value: Value | Function) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays in an argument, by its name; in a dictionary, each by the name of its key."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from arrays(key, part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays(name, part)
    elif isinstance(array := bare(value), np.ndarray):
        yield name, array


# --------------------------------------------------------------------------------------------------------- the reason


def faults(why: str) -> list[str]:
    """What is amiss with the reason that an exercise gives for its answer; nothing where it is as it should be."""
    words = why.split()
    found = (
        []
        if FEWEST_WORDS <= len(words) <= MOST_WORDS
        else [f"{len(words)} words; {FEWEST_WORDS} to {MOST_WORDS} are asked for"]
    )
    prose = CODE.sub("code", why)
    sentences = len(re.findall(r"[.?!](?=\s|$)", prose))
    if sentences not in SENTENCES:
        found.append(f"{sentences} sentence{'' if sentences == 1 else 's'}; two to five are asked for")
    found += [f"says {word!r}" for word in sorted(set(re.findall(r"[a-z]+", prose.lower())) & BELITTLING)]
    return found + [f"code without backticks: {one}" for one in LIKE_CODE.findall(prose)]
