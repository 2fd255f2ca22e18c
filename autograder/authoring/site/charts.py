"""Flowcharts as tables: what draws a Mermaid chart is a script, and the site has none of elsewhere."""

from __future__ import annotations

import re

CHART = re.compile(r"^```mermaid\n(?P<kind>\w+)[^\n]*\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)
BOX = r'(?P<{0}>\w+)(?:\["(?P<{0}_says>[^"]+)"\])?'
ARROW = re.compile(rf'\s*{BOX.format("begin")} (?P<line><?-->|-\.->|<?-- "(?P<says>[^"]+)" -->) {BOX.format("end")}\s*')


def as_tables(text: str) -> str:
    """A page on which each flowchart has become a table of its arrows; of any other chart there is the text."""
    return CHART.sub(_table, text)


def _table(chart: re.Match[str]) -> str:
    arrows = [ARROW.fullmatch(line) for line in chart["lines"].splitlines()]
    read = [arrow for arrow in arrows if arrow]
    if chart["kind"] != "flowchart" or len(read) < len(arrows):
        return chart[0].replace("mermaid", "text", 1)
    says: dict[str, str] = {}
    for arrow in read:
        for end in ("begin", "end"):
            if arrow[f"{end}_says"]:
                says[arrow[end]] = arrow[f"{end}_says"].replace("<br>", " ")
    rows = [
        (says.get(arrow["begin"], arrow["begin"]), _line(arrow), says.get(arrow["end"], arrow["end"])) for arrow in read
    ]
    return "\n".join(["| from | | to |", "|-|-|-|", *(f"| {begin} | {line} | {end} |" for begin, line, end in rows)])


def _line(arrow: re.Match[str]) -> str:
    sign = {"<": "↔", "-.": "⇢"}
    found = next((drawn for begin, drawn in sign.items() if arrow["line"].startswith(begin)), "→")
    return " ".join(filter(None, (found, arrow["says"])))
