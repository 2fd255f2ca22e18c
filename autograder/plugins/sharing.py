"""What all pages of a class share: the release's own cells, converted once for as many pages as a process makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PICTURES = ("![", "<img", "attachment:")
"""What makes a text depend on its notebook's folder."""

Convert = Callable[[str], str]


class Shared:
    """Conversions of the release's own cells, by what stands in them. Nothing that a student wrote is converted here, or kept."""

    def __init__(self, typeset: Convert, coloured: Convert, at_hand: Callable[[str], None]) -> None:
        self._at_hand = at_hand
        self._convert = {"markdown": typeset, "code": coloured}
        self._known: dict[tuple[str, str], str] = {}
        self._read: set[tuple[Path, int, int]] = set()

    def learn(self, release: Path) -> None:
        """Convert what stands in a released notebook, once; where it is not there, pages are merely slower."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            written = release.stat()
            state = (release, written.st_mtime_ns, written.st_size)
            if state in self._read:
                return
            self._read.add(state)
            for cell in json.loads(release.read_text(encoding="utf-8"))["cells"]:
                self._keep(cell["cell_type"], "".join(cell["source"]))
            self._at_hand(release.stem)

    def _keep(self, kind: str, source: str) -> None:
        if kind in self._convert and not any(word in source for word in PICTURES):
            with suppress(Exception):  # its page says why, in its place
                self._known[kind, source] = self._convert[kind](source)

    def text(self, source: str) -> str | None:
        """A text cell as HTML; None where no such cell was released."""
        return self._known.get(("markdown", source))

    def code(self, source: str) -> str | None:
        """A code cell as HTML; None where no such cell was released."""
        return self._known.get(("code", source))
