"""Tables in Markdown, as pages of the docs hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with these headings."""
    lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([f"| {' | '.join(head)} |", f"|{'-|' * len(head)}", *lines]) + "\n"


def tables_under(head: Sequence[str]) -> re.Pattern[str]:
    """What finds, in a page, each whole table with these headings."""
    return re.compile(rf"^\| {re.escape(' | '.join(head))} \|\n(?:\|.*\n)*", re.MULTILINE)
