"""No regular expression of the packages goes over a text again and again, whatever the text is: the time it takes grows as the text does.

What reads nothing but this repository's own files is left out.
"""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterator
from importlib import import_module
from re import _constants as kinds
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import pytest

from autograder.settings import ROOT

OWN_FILES_ALONE = (
    "autograder/authoring/",
    "autograder/bench/",
    "autograder/exercises/",
    "autograder/plugins/releasing.py",
)
LENGTH = 10_000  # characters: some microseconds each where time grows with it, and milliseconds each where it grows with its square
SECONDS = 0.1
ANCHORED = ("match", "fullmatch")
PUMPS = " \n0a-_.'\"<"
REPEATS = {kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT}


class Pattern(NamedTuple):
    """A regular expression, where it stands, and whether it is tried from the beginning of a text alone."""

    compiled: re.Pattern[Any]
    place: str
    anchored: bool


def sources() -> Iterator[tuple[str, ast.Module]]:
    for package in ("autograder", "course"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(OWN_FILES_ALONE):
                yield name, ast.parse(path.read_text())


def used(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """By the name of a constant, the methods of it that are called anywhere."""
    found: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id.isupper():
                found.setdefault(node.value.id, set()).add(node.attr)
    return found


def patterns() -> Iterator[Pattern]:
    trees = dict(sources())
    methods = used(trees)
    for name, tree in trees.items():
        text = (ROOT / name).read_text()
        if "re.compile" in text:
            module = import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            for constant, value in vars(module).items():
                if isinstance(value, re.Pattern) and f"{constant} = " in text:
                    anchored = methods.get(constant, set()) <= {*ANCHORED, "pattern", "flags"}
                    yield Pattern(value, f"{name}: {constant}", anchored)
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            if (
                isinstance(node, ast.Call)
                and isinstance(called, ast.Attribute)
                and isinstance(called.value, ast.Name)
                and called.value.id == "re"
                and called.attr != "compile"
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                flags = sum(getattr(re, one.attr) for one in ast.walk(node) if _is_flag(one))
                yield Pattern(re.compile(node.args[0].value, flags), f"{name}:{node.lineno}", called.attr in ANCHORED)


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr.isupper() and hasattr(re, node.attr)


def sample(items: Any) -> str:
    """A short text that these items of a parsed expression match, as far as it can be told without trying."""
    made = ""
    for kind, given in items:
        if kind is kinds.LITERAL:
            made += chr(given)
        elif kind is kinds.NOT_LITERAL:
            made += "b" if given == ord("a") else "a"
        elif kind is kinds.ANY:
            made += "a"
        elif kind is kinds.IN:
            made += _member(given)
        elif kind in REPEATS:
            made += sample(given[2]) * max(1, given[0])
        elif kind is kinds.SUBPATTERN:
            made += sample(given[3])
        elif kind is kinds.ATOMIC_GROUP:
            made += sample(given)
        elif kind is kinds.BRANCH:
            made += sample(given[1][0])
    return made


def _member(given: Any) -> str:
    allowed = re.compile(f"[{''.join(_written(one) for one in given)}]")
    return next((one for one in ("a", "0", " ", "-", "_", ".", "=", "\n", "#", "/", "!") if allowed.match(one)), "a")


def _written(one: Any) -> str:
    kind, given = one
    if kind is kinds.NEGATE:
        return "^"
    if kind is kinds.LITERAL:
        return re.escape(chr(given))
    if kind is kinds.RANGE:
        return f"{re.escape(chr(given[0]))}-{re.escape(chr(given[1]))}"
    return {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}.get(str(given).removeprefix("CATEGORY_"), r"\S")


def beginnings(items: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repetition, what may come before it, and what it repeats."""
    for kind, given in items:
        if kind in REPEATS:
            yield before, sample(given[2])
            yield from beginnings(given[2], before)
        elif kind is kinds.SUBPATTERN:
            yield from beginnings(given[3], before)
        elif kind is kinds.ATOMIC_GROUP:
            yield from beginnings(given, before)
        elif kind is kinds.BRANCH:
            for branch in given[1]:
                yield from beginnings(branch, before)
        before += sample([(kind, given)])


def attacks(pattern: re.Pattern[Any]) -> set[str]:
    """Long texts on which a pattern that tries again and again is slow."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    made = set()
    for head, body in {*beginnings(parser.parse(text, pattern.flags & ~re.DEBUG)), ("", "")}:
        for pump in {body, head, head + body, *PUMPS, *(head + one for one in PUMPS)} - {""}:
            times = max(1, LENGTH // len(pump))
            made |= {start + pump * times + end for start in (head, f"\n{head}") for end in ("", "\0")}
    return made


class Slow(BaseException):
    """A pattern has taken too long."""


def _give_up(*_: object) -> None:
    raise Slow


def slow(pattern: Pattern, attack: str) -> bool:
    """Whether a pattern takes long on a text, each of two times."""
    text: Any = attack.encode("utf-8") if isinstance(pattern.compiled.pattern, bytes) else attack
    before = signal.signal(signal.SIGPROF, _give_up)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                _try(pattern, text)
            except Slow:
                continue
            return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return True


def _try(pattern: Pattern, text: Any) -> None:
    if pattern.anchored:
        pattern.compiled.match(text)
        pattern.compiled.fullmatch(text)
    else:
        pattern.compiled.sub(text[:0], text)
    signal.setitimer(signal.ITIMER_PROF, 0)


EVERY = list(patterns())


def test_they_are_found_where_they_stand() -> None:
    assert len(EVERY) > 80
    assert any(pattern.place == "autograder/plugins/rendering.py: IN_HTML" for pattern in EVERY)


@pytest.mark.parametrize("pattern", EVERY, ids=lambda pattern: pattern.place)
def test_time_grows_as_the_text_does(pattern: Pattern) -> None:
    found = [
        f"{attack[:40]!r} ... {attack[-3:]!r}" for attack in sorted(attacks(pattern.compiled)) if slow(pattern, attack)
    ]
    assert found == []


@pytest.mark.parametrize(
    "bad",
    [
        r"(guess\w*) *= *([^#\n]{1,60}?) *(?:#+ *(.*))?$",
        r"<(?P<code>code|pre)\b.*?</(?P=code)>",
        r"x(\S.*?)\s*$",
        r"(a|aa)+$",
        r"(\w+\s?)+:",
    ],
)
def test_it_can_fail(bad: str) -> None:
    pattern = Pattern(re.compile(bad, re.DOTALL), "here", anchored=False)
    assert any(slow(pattern, attack) for attack in attacks(pattern.compiled))
