"""Whose answers are alike beyond what a class shares anyway. Nobody is accused: it says where a person may want to look."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from autograder.grading.likeness.canonical import PIECE, handed_out, pieces

MANY = 0.1
"""A piece that more than this share of a class wrote, and more than `FEW` people did, is what one writes there."""

FEW = 3
LEAST = 2 * PIECE
"""Bits that two answers of one assignment have to share before they are told of: a piece that two of 300 wrote has seven."""

Answers = Mapping[str, Mapping[str, str]]
"""By student, and then by the cell's name, what somebody wrote."""


@dataclass(frozen=True)
class Alike:
    """Two students whose answers have rare pieces in common.

    Attributes:
        bits: how surprising that is: for each rare piece that both wrote, log2 of how many students there are for each that wrote it.
            Pieces overlap, so it orders pairs, and is no probability.
        cells: where these pieces stand, those with most first.
        share: of the rare pieces that the one with fewer has, how many the other has too, 0 to 1.
    """

    students: tuple[str, str]
    bits: float
    cells: tuple[str, ...]
    share: float


def alike(answers: Answers, given: Mapping[str, str]) -> list[Alike]:
    """Every pair of students whose answers have much in common that is rare, the most surprising first.

    Args:
        answers: of everybody who handed in.
        given: by cell, what was handed out, which nobody wrote.
    """
    nobodys = {cell: handed_out(source) for cell, source in given.items()}
    wrote: defaultdict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for student, cells in answers.items():
        for cell, source in cells.items():
            for piece in pieces(source) - nobodys.get(cell, frozenset()):
                wrote[cell, piece].append(student)
    most = max(FEW, MANY * len(answers))
    rare = {place: students for place, students in wrote.items() if len(students) <= most}
    own = Counter(student for students in rare.values() for student in students)
    shared: defaultdict[tuple[str, str], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (cell, _), students in rare.items():
        for pair in combinations(sorted(students), 2):
            shared[pair][cell].append(math.log2(len(answers) / len(students)))
    found = []
    for pair, common in shared.items():
        bits = {cell: sum(each) for cell, each in common.items()}
        count = sum(map(len, common.values()))
        if sum(bits.values()) >= LEAST:
            order = tuple(sorted(bits, key=lambda cell: -bits[cell]))
            found.append(Alike(pair, sum(bits.values()), order, count / min(own[student] for student in pair)))
    return sorted(found, key=lambda one: (-one.bits, one.students))


def sides(pair: Alike, answers: Answers) -> Iterable[tuple[str, str, str]]:
    """Cell by cell, what the one and the other wrote."""
    one, other = (answers[student] for student in pair.students)
    return [(cell, one.get(cell, ""), other.get(cell, "")) for cell in pair.cells]
