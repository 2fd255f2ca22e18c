"""A student's code as it may be shown to others: without what is said in it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

MOST_READ = 20_000
MOST_LINES, MOST_WIDTH = 40, 160
BEFORE_A_STATEMENT = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
SHORT = 4
"""Names of fewer letters are looked for as words alone: they stand in many others."""


def quoted(source: str) -> str:
    """Code without comments, docstrings and empty lines. What is long is cut."""
    source = source[:MOST_READ]
    try:
        code = _without_remarks(source)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        code = re.sub(r"#.*|'''[\s\S]*?'''|\"\"\"[\s\S]*?\"\"\"", "", source)
    lines = [line.rstrip() for line in code.splitlines() if line.strip()]
    cut = [line if len(line) <= MOST_WIDTH else f"{line[:MOST_WIDTH]} ..." for line in lines[:MOST_LINES]]
    return "\n".join([*cut, *(["..."] if len(lines) > MOST_LINES else [])])


def names(code: str, people: Iterable[str]) -> bool:
    """Whether somebody's id, or a part of their name, stands in some code."""
    parts = {part.lower() for one in people for part in (one, *re.split(r"\W+", one)) if len(part) > 1}
    words, text = set(re.findall(r"[^\W_]+", code.lower())), code.lower()
    return any(part in text if len(part) >= SHORT else part in words for part in parts)


def _without_remarks(source: str) -> str:
    lines = source.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for place, token in reversed(list(enumerate(tokens))):
        before = tokens[place - 1].type if place else tokenize.ENCODING
        after = tokens[place + 1].type if place + 1 < len(tokens) else tokenize.ENDMARKER
        said = (
            token.type == tokenize.STRING
            and before in BEFORE_A_STATEMENT
            and after in (tokenize.NEWLINE, tokenize.COMMENT)
        )
        if token.type == tokenize.COMMENT or said:
            _cut(lines, token.start, token.end, "" if token.type == tokenize.COMMENT else "...")
    return re.sub(r"(?m)^[ \t]*+\.\.\.[ \t]*+\n(?=\s*+\S)", "", "".join(lines))


def _cut(lines: list[str], start: tuple[int, int], end: tuple[int, int], instead: str) -> None:
    """Take a part out of some lines; rows are counted from 1."""
    (top, left), (bottom, right) = start, end
    lines[top - 1 : bottom] = [lines[top - 1][:left] + instead + lines[bottom - 1][right:]]
