"""A CSV file of somebody else's: it reads as Python's own reader reads it, and keeps its bytes where nothing is changed."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms.table import BOM, Table
from autograder.problems import Problem

FIELDS = st.text(st.sampled_from('ab,;"\n \t=é'), max_size=6)
ROWS = st.lists(st.lists(FIELDS, min_size=2, max_size=4), min_size=1, max_size=4)


@given(
    ROWS,
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_a_file_reads_as_it_was_written_and_keeps_its_bytes(
    rows: list[list[str]], separator: str, end: str, quoting: int, bom: bool
) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    text = BOM * bom + written.getvalue()
    table = Table(text, separator)
    assert [table.row(row) for row in table.rows] == rows
    assert str(table) == text


@given(FIELDS, st.sampled_from(",;\t"), st.booleans())
def test_a_changed_field_reads_as_what_was_put_there(value: str, separator: str, quoted: bool) -> None:
    table = Table(f"a{separator}{'' if not quoted else chr(34) * 2}\r\nb{separator}c", separator)
    table.put(0, 1, value)
    assert next(csv.reader(io.StringIO(str(table), newline=""), delimiter=separator)) == ["a", value]
    assert str(table).endswith(f"\r\nb{separator}c")


def test_quotation_marks_stay_where_they_were() -> None:
    table = Table('"a","1"\nb,1\n', ",")
    table.put(0, 1, "2")
    table.put(1, 1, "2")
    assert str(table) == '"a","2"\nb,2\n'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"ID,Grade\n1,\xff\n", "UTF-8"),
        (b"Name,Mark\n", '"Grade" and "ID"'),
        (b'ID,Grade\n"1,2\n', '"Grade" and "ID"'),
        (b"", '"Grade" and "ID"'),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_such_file_is_said_in_a_sentence(tmp_path: Path, data: bytes | None, said: str) -> None:
    path = tmp_path / "grades.csv"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(Problem, match=said):
        Table.read(path, {"ID", "Grade"})
