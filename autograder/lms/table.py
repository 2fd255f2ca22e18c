"""A CSV file that somebody else's program wrote: what is not changed keeps its bytes."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.problems import Problem

SEPARATORS = ",;\t"
BOM = "\ufeff"


class Table:
    """The fields of a CSV file, by row and column.

    Args:
        text: what the file holds.
        separator: what stands between two fields.

    Raises:
        ValueError: it holds a field with an open quotation mark.
    """

    def __init__(self, text: str, separator: str) -> None:
        self._separator = separator
        self._bom = text.startswith(BOM)
        self._raw: list[list[str]] = []
        self._ends: list[str] = []
        field = re.compile(rf'("(?:[^"]++|"")*+"|(?!")[^{separator}\r\n]*)({separator}|\r\n|\n|\r|\Z)')
        place, row = int(self._bom), list[str]()
        while place < len(text) or row:
            found = field.match(text, place)
            if found is None:
                raise ValueError("a field begins with a quotation mark that does not end it")
            row.append(found[1])
            place = found.end()
            if found[2] != separator:
                self._raw.append(row)
                self._ends.append(found[2])
                row = []

    @classmethod
    def read(cls, path: Path, header: set[str]) -> Table:
        """Read a file whose first row has these names in it, with whichever separator.

        Raises:
            Problem: there is none, or it is no such file.
        """
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise Problem(f"{path} cannot be read: {error.strerror or error}.") from None
        except UnicodeDecodeError:
            raise Problem(f"{path} is not in UTF-8. Take the file as it was downloaded, not saved again.") from None
        for separator in SEPARATORS:
            try:
                table = cls(text, separator)
            except ValueError:
                continue
            if table.rows and header <= set(table.row(0)):
                return table
        names = " and ".join(f'"{name}"' for name in sorted(header))
        raise Problem(
            f"{path} has no columns {names} in its first row. Take the file as it was downloaded, in English, not saved again."
        )

    @property
    def rows(self) -> range:
        return range(len(self._raw))

    def row(self, row: int) -> list[str]:
        return [_value(raw) for raw in self._raw[row]]

    def get(self, row: int, column: int | None) -> str:
        """What a field holds; "" where the row has none there, or there is no such column."""
        return _value(self._raw[row][column]) if column is not None and column < len(self._raw[row]) else ""

    def put(self, row: int, column: int, value: str) -> None:
        """Change a field; it stays in quotation marks if it was, and comes into them if it has to be."""
        special = set(value) & {self._separator, '"', "\r", "\n"} or value != value.strip()
        quoted = self._raw[row][column].startswith('"') or special
        self._raw[row][column] = '"' + value.replace('"', '""') + '"' if quoted else value

    def has(self, row: int, column: int) -> bool:
        return column < len(self._raw[row])

    def column(self, name: str) -> int | None:
        """Where a name stands in the first row, if it does."""
        names = self.row(0)
        return names.index(name) if name in names else None

    def __str__(self) -> str:
        text = "".join(self._separator.join(row) + end for row, end in zip(self._raw, self._ends, strict=True))
        return BOM * self._bom + text


def _value(raw: str) -> str:
    return raw[1:-1].replace('""', '"') if raw.startswith('"') else raw
