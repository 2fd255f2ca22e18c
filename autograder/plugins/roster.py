"""Who is in the class, and who is meant by what a learning management system (LMS) calls somebody."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nbgrader.api import Gradebook

SUFFIX = re.compile(r"(?:jn?r|sn?r|esq)\.?|junior|senior|esquire|i{2,3}|iv|vi?", re.IGNORECASE)
"""What follows a last name, with or without a comma, and is no first name."""


@dataclass(frozen=True)
class Person:
    """A student as the gradebook has them; "" is what it does not have."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.first_name, self.last_name)))


class Roster:
    """The class, to be asked who is meant. An answer holds several students where that is open, and none where nobody fits."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = {person.id: person for person in people}

    @classmethod
    def of(cls, gradebook: Gradebook) -> Roster:
        fields = ("id", "first_name", "last_name", "email", "lms_user_id")
        return cls(Person(*(getattr(row, field) or "" for field in fields)) for row in gradebook.students)

    def shown(self, student: str) -> str:
        """A student's id, with the name where there is one: by a name alone two people may be meant."""
        name = self.people[student].name if student in self.people else ""
        return f"{student} ({name})" if name and name != student else student

    def known_by(self, value: str, fields: Sequence[str]) -> set[str]:
        """Who has this value, in the first of the fields in which anybody has it."""
        wanted = value.strip().casefold()
        for field in fields if wanted else ():
            if found := {one.id for one in self.people.values() if getattr(one, field).casefold() == wanted}:
                return found
        return set()

    def named(self, name: str) -> set[str]:
        """Whose full name this is, as "First Last" or "Last, First"."""
        wanted = _plain(name)
        return {one.id for one in self.people.values() if wanted and _plain(one.name) == wanted}

    def spelled(self, letters: str) -> set[str]:
        """Whose name, last name first, has these letters and digits and no others between: how Canvas names files."""
        wanted = _letters(letters)
        return {one.id for one in self.people.values() if wanted and _letters(one.last_name + one.first_name) == wanted}


def divided(name: str) -> tuple[str, str]:
    """The first and the last name in "First Last" or "Last, First". A suffix such as "Jr." belongs to the last name, wherever it stands."""
    first, *others = [part.split() for part in name.split(",") if part.strip()] or [[]]
    suffix = [word for part in others if len(part) == 1 for word in part if SUFFIX.fullmatch(word)]
    given = [word for part in others for word in part if word not in suffix]
    if others and not given and len(first) == 1:  # "Tran, V"
        return " ".join(suffix), first[0]
    for words, fewest in ((given, 1), (first, 1 if given else 2)):
        if len(words) > fewest and SUFFIX.fullmatch(words[-1]):
            suffix.insert(0, words.pop())
    if not given:
        given, first = first[:-1], first[-1:]
    return " ".join(given), " ".join([*first, *suffix])


def _plain(name: str) -> str:
    """A name without what Moodle takes out of the names of folders."""
    in_order = " ".join(divided(name))
    kept = re.sub(r"""[&<>"'`|:\\/]""", "", unicodedata.normalize("NFC", in_order)).replace("_", " ")
    return " ".join(kept.split()).casefold()


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFC", name)).casefold()
