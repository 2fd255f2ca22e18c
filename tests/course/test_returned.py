"""`feedback`: the table of a page that came back, in the notebook; nothing in the page is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest

from course import feedback
from course.returned import NAME

ROW = {
    "name": "mix_rows",
    "score": 1.5,
    "points": 2.0,
    "mark": "✗",
    "outcome": "partly right",
    "missed": [{"shows": "keeps float32", "points": 0.5, "earned": 0.0, "reason": "It should be `float32`."}],
    "remarks": ["A known mistake gives exactly these answers: <b>you</b> divided."],
    "case": "With X =\n    [[1. 2.]]",
    "advice": "",
    "comment": "Well <argued>.",
}
TOLD = {
    "form": 1,
    "notebook": "00_shapes",
    "score": 5.5,
    "points": 7.0,
    "late": 1.0,
    "repaired": ["the cell mix_rows was missing; it was put back"],
    "rows": [ROW],
    "comments": {},
}


def write(path: Path, told: Any = TOLD, before: str = "") -> Path:
    content = escape(told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    page = f'<!DOCTYPE html><html><head>{before}<meta name="{NAME}" content="{content}"></head><body>x</body></html>'
    path.write_text(page, encoding="utf-8")
    return path


def test_the_table_says_what_the_page_says(tmp_path: Path) -> None:
    shown = feedback(write(tmp_path / "00_shapes.html"))
    assert repr(shown).split("\n") == [
        "00_shapes: 5.5 of 7 points, late: −1 (00_shapes.html)",
        "Repaired before grading: the cell mix_rows was missing; it was put back",
        "✗ mix_rows: partly right, 1.5 of 2 points",
        "    A known mistake gives exactly these answers: <b>you</b> divided.",
        "    0 of 0.5: keeps float32 (It should be `float32`.)",
        "    With X =",
        "        [[1. 2.]]",
        "    Comment: Well <argued>.",
    ]


def test_what_stands_in_it_is_text(tmp_path: Path) -> None:
    shown = feedback(write(tmp_path / "00_shapes.html"))
    assert shown is not None
    html = shown._repr_html_()
    assert "&lt;b&gt;you&lt;/b&gt; divided" in html
    assert "<code>float32</code>" in html
    assert "Well &lt;argued&gt;." in html


@pytest.mark.parametrize(
    "place", ["00_shapes.html", "feedback/00_shapes.html", "feedback/2026-11-23 20:55:54.1 UTC/00_shapes.html"]
)
def test_it_finds_the_page_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    write(tmp_path / place)
    monkeypatch.chdir(tmp_path)
    assert feedback() is not None


def test_the_newest_page_is_shown(tmp_path: Path) -> None:
    for number, score in enumerate((1.0, 2.0, 3.0)):
        page = write(tmp_path / "feedback" / str(3 - number) / "00_shapes.html", TOLD | {"score": score})
        os.utime(page, (number, number))
    (tmp_path / "other.html").write_text("<html></html>")
    assert repr(feedback(tmp_path)).startswith("00_shapes: 3 of 7 points")


def test_where_there_is_none_it_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in (tmp_path, tmp_path / "nowhere.html"):
        assert feedback(place) is None
        assert "nbgrader fetch_feedback" in capsys.readouterr().out


@pytest.mark.parametrize(
    "told",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"form": 1}',
        json.dumps(TOLD | {"rows": [{}]}),
        json.dumps(TOLD | {"score": "much"}),
        "[" * 9000,
    ],
)
def test_a_page_that_says_nothing_for_programs_is_a_sentence(
    tmp_path: Path, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert feedback(write(tmp_path / "00_shapes.html", told)) is None
    assert "open it in a browser" in capsys.readouterr().out


def test_a_newer_page_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert feedback(write(tmp_path / "00_shapes.html", TOLD | {"form": 2})) is None
    assert "a newer kit" in capsys.readouterr().out


def test_only_the_head_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "00_shapes.html"
    page.write_text(f'<html><head></head><body><meta name="{NAME}" content="{escape(json.dumps(TOLD))}"></body></html>')
    assert feedback(page) is None
    assert "open it in a browser" in capsys.readouterr().out


def test_in_another_locale_too(tmp_path: Path) -> None:
    page = write(tmp_path / "00_shapes.html")
    command = [sys.executable, "-X", "utf8=0", "-c", f"import course; print(ascii(course.feedback({str(page)!r})))"]
    done = subprocess.run(
        command, env={**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, capture_output=True, text=True
    )
    assert "\\u2717 mix_rows" in done.stdout, done.stderr


def test_a_grader_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert feedback(write(tmp_path / "00_shapes.html")) is None
