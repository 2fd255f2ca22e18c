"""What cells say of themselves, checked once for all notebooks that say the same."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import CheckCellMetadata

_passed: deque[str] = deque(maxlen=64)


class Metadata(CheckCellMetadata):
    """nbgrader's `CheckCellMetadata`, which reads its schema anew for every cell of every submission."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        stated = [(cell.cell_type, cell.metadata.get("nbgrader")) for cell in nb.cells]
        written = json.dumps(stated)
        if written not in _passed:
            nb, resources = super().preprocess(nb, resources)
            if all(
                kind == (said or {}).get("cell_type", kind) for kind, said in stated
            ):  # else nbgrader warns each time
                _passed.append(written)
        return nb, resources
