"""The table of attacks at the end of a run."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was seen of every attack: where it works, and what became of it behind the walls."""
    from attack import ROW

    reports = [*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())]
    rows = sorted({value for report in reports for key, value in report.user_properties if key == ROW})
    if rows:
        terminalreporter.section("attacks: verdicts and score behind the walls, of what the honest work is worth")
        terminalreporter.write_line("\n".join(rows))
