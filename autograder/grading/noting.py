"""What was said of submissions, kept from run to run: who looks tomorrow finds it too."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from autograder.grading.store import write_atomically

SAID = "said"


class Notes:
    """By student, what was said when the submission was taken in: what was moved away or renamed, which is done once.

    Args:
        folder: where an assignment's results are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "notes"
        self._kept: dict[str, tuple[str, list[str]]] = {}
        with suppress(OSError, ValueError):
            self._kept = {
                student: (digest, notes) for student, (digest, notes) in json.loads(self._path.read_text()).items()
            }

    def of(self, student: str, digest: str) -> list[str]:
        """What was said of the submission with this digest; nothing of an earlier one."""
        kept, notes = self._kept.get(student, ("", []))
        return notes if kept == digest else []

    def add(self, student: str, digest: str, notes: Iterable[str]) -> None:
        self._kept[student] = digest, list(dict.fromkeys([*self.of(student, digest), *notes]))

    def save(self) -> None:
        write_atomically(self._path, json.dumps(self._kept))


@dataclass(frozen=True)
class Said:
    """What a run told that neither the gradebook nor the folders hold.

    Attributes:
        failed: who could not be graded, and why.
        notes: by student, what was repaired, moved away or stopped.
        papers: by student, the paper that this was marked on, or 0.
    """

    failed: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, list[str]] = field(default_factory=dict)
    papers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def kept(cls, folder: Path) -> Said:
        """What the last run left in the folder of an assignment's results; nothing where that cannot be read."""
        with suppress(OSError, ValueError, TypeError):
            return cls(**json.loads((folder / SAID).read_text()))
        return cls()

    def with_news(self, of: Collection[str], news: Said) -> Said:
        """The same, and of some students what was said since."""

        def renewed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
            return {who: what for who, what in old.items() if who not in of} | dict(new)

        return Said(*(renewed(*pair) for pair in zip(vars(self).values(), vars(news).values(), strict=True)))

    def keep(self, folder: Path) -> None:
        write_atomically(folder / SAID, json.dumps(asdict(self)))
