"""The instructor's command line: `python -m autograder COMMAND`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

ROOT = Path(__file__).resolve().parents[1]


@app.callback()
def main() -> None:
    """Build, prove and grade the course."""


@app.command()
def outputs(notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes; all if left out")] = None) -> None:
    """Re-execute source notebooks and store their outputs."""
    from autograder.exercises import NOTEBOOKS
    from autograder.outputs import store_outputs

    for name in notebooks or NOTEBOOKS:
        store_outputs(ROOT / "source" / name / f"{name}.ipynb")
        typer.echo(f"{name}: outputs stored")


if __name__ == "__main__":
    app()
