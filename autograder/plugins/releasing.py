"""The last steps of a release: what readers fill in is blanked, and the same source gives the same bytes."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from nbformat import NotebookNode, from_dict
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from nbgrader.utils import is_solution

from autograder.plugins.experiments import MARK, mark
from autograder.plugins.judges import judge_of

CELL_METADATA = ("deletable", "editable", "nbgrader", MARK)
FOLDED = {"source_hidden": True}  # JupyterLab shows three dots in place of the code
TAGS = ("raises-exception",)  # in Jupyter, "Run All" goes on after such a cell: it waits for an exercise
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
PYTHON = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
CELL_ID = re.compile(r"[a-z0-9-]{1,64}")
GUESS = re.compile(r"^(guess(?:_\w+)?) = .*?(\s+#.*)?$", re.MULTILINE)


class _OfTheCourse(NbGraderPreprocessor):
    """What is done to the notebooks that the course's judge knows, and to no other."""

    def _ours(self, resources: dict[str, Any]) -> bool:
        return resources["nbgrader"]["notebook"] in judge_of(self.config).notebooks


class ClearAnswers(ClearSolutions):
    """nbgrader's `ClearSolutions`, which takes the text of an answer away, and with it the pictures that are attached to its cell and that
    no text that stays shows."""

    def preprocess_cell(self, cell, resources, cell_index):  # type: ignore[no-untyped-def]
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        attached = cell.get("attachments", {})
        if is_solution(cell) and attached:
            cell.attachments = {name: picture for name, picture in attached.items() if _is_shown(name, cell.source)}
            if not cell.attachments:
                del cell["attachments"]
        return cell, resources


def _is_shown(name: str, text: str) -> bool:
    """Whether a text shows an attachment of this name."""
    return any(re.search(rf"attachment:{re.escape(one)}(?![\w.%-])", text) for one in (name, quote(name)))


class BlankGuesses(_OfTheCourse):
    """In cells tagged "prediction", turn `guess = "b"  # ...` into `guess = None  # ...`."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        return super().preprocess(nb, resources) if self._ours(resources) else (nb, resources)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if "prediction" in cell.metadata.get("tags", ()):
            cell.source, count = GUESS.subn(lambda found: f"{found[1]} = None{found[2] or ''}", cell.source)
            if not count:
                raise ValueError(f"the prediction cell {cell.id} has no line `guess = ...`")
        return cell, resources


class ReadOnlyTexts(_OfTheCourse):
    """Make text cells read-only where nobody is to answer, so that a double click on a hint does not open its source.

    JupyterLab does so where it is told not to show an editor for such cells, as students' settings do.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        return super().preprocess(nb, resources) if self._ours(resources) else (nb, resources)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata:
            cell.metadata["editable"] = False
        return cell, resources


class MarkExperiments(_OfTheCourse):
    """Mark the cells that need not be worked out again while the notebook is graded; the answers have to be in it still."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        if self._ours(resources):
            mark(nb.cells)
        return nb, resources


class Stable(_OfTheCourse):
    """Keep of the metadata what is listed, and refuse what would make two runs differ."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        if not self._ours(resources):
            return nb, resources
        nb.nbformat, nb.nbformat_minor = 4, 5
        nb.metadata = from_dict(PYTHON)
        nb, resources = super().preprocess(nb, resources)
        ids = [cell.get("id") for cell in nb.cells]
        wrong = [
            name for name in ids if not (isinstance(name, str) and CELL_ID.fullmatch(name) and ids.count(name) == 1)
        ]
        if wrong:
            raise ValueError(f"these cell ids are not unique words of a-z, 0-9 and -: {wrong}")
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        tags = [tag for tag in cell.metadata.get("tags", ()) if tag in TAGS]
        folded = cell.metadata.get("jupyter") == FOLDED
        cell.metadata = NotebookNode({key: cell.metadata[key] for key in CELL_METADATA if key in cell.metadata})
        if tags:
            cell.metadata["tags"] = tags
        if folded:
            cell.metadata["jupyter"] = NotebookNode(FOLDED)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        return cell, resources
