"""A cell that has no command of IPython's is not searched for one; every cell comes out as IPython's own transformers leave it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TokenTransformBase, TransformerManager

from autograder.engine.inside.shell import Transformers
from autograder.settings import ROOT

PIECES = (
    "x",
    "1",
    "%",
    "%%",
    "!",
    "!!",
    "?",
    "??",
    ",",
    ";",
    "/",
    "=",
    "(",
    ")",
    "[",
    "]",
    ":",
    "#",
    "'",
    '"""',
    ">>> ",
    "\\",
)
SPACES = ("", " ", "    ", "\n", "\r\n", "\f", "\u2028", "\t", "\\\n")


def transformed(transform: Callable[[str], str], cell: str) -> str:
    """What a cell becomes, or the error that it ends in."""
    try:
        return transform(cell)
    except SyntaxError as error:
        return repr(error)


@pytest.mark.filterwarnings("ignore:`make_tokens_by_line`")
@given(st.lists(st.sampled_from((*PIECES, *SPACES)), max_size=14).map("".join))
def test_any_cell_is_what_ipython_makes_of_it(cell: str) -> None:
    assert transformed(Transformers().transform_cell, cell) == transformed(TransformerManager().transform_cell, cell)


@pytest.mark.parametrize("path", sorted((ROOT / "source").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_are_what_ipython_makes_of_them(path: Path) -> None:
    for cell in nbformat.read(path, nbformat.NO_CONVERT).cells:
        assert Transformers().transform_cell(cell.source) == TransformerManager().transform_cell(cell.source)


def test_a_cell_without_commands_is_not_read_token_by_token(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise AssertionError("searched for commands")

    monkeypatch.setattr("IPython.core.inputtransformer2.make_tokens_by_line", refuse)
    assert Transformers().transform_cell("def f(x):\n    return x @ x\n") == "def f(x):\n    return x @ x\n"
    with pytest.raises(AssertionError, match="searched"):
        Transformers().transform_cell("%time\n")


def test_what_a_notebook_adds_to_the_transformers_is_asked_for_every_cell() -> None:
    class Answer(TokenTransformBase):
        @classmethod
        def find(cls, tokens_by_line):
            places = (token.start for line in tokens_by_line for token in line if token.string == "answer")
            return next(map(cls, places), None)

        def transform(self, lines):
            return [line.replace("answer", "42") for line in lines]

    transformers = Transformers()
    transformers.token_transformers.append(Answer)
    assert transformers.transform_cell("print(answer)\n") == "print(42)\n"
