"""What the outputs of a cell show, as two ways of running it are compared."""

from __future__ import annotations

import re
from typing import Any

from nbformat import NotebookNode

from autograder.plugins.printable import without_colours

Output = tuple[str, Any]


def looks(outputs: list[NotebookNode]) -> list[Output]:
    """Outputs as they are compared: streams that follow each other joined, pictures by their kind alone."""
    seen: list[Output] = []
    for output in outputs:
        if output.output_type == "stream":
            text = plain(output.text)
            if seen and seen[-1][0] == output.name:
                seen[-1] = (output.name, seen[-1][1] + text)
            else:
                seen.append((output.name, text))
        elif output.output_type == "error":
            seen.append(("error", (output.ename, plain(output.evalue), [plain(line) for line in output.traceback])))
        else:
            texts = {kind: None if kind.startswith("image/") else data for kind, data in sorted(output.data.items())}
            seen.append((output.output_type, (texts, dict(output.metadata))))
    return seen


def plain(text: str) -> str:
    """A text without colours, and without the folders that modules lie in."""
    return re.sub(r'[^\s"]*/(?=[\w-]+\.py[:")])', "", without_colours(text))
