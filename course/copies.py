"""Copies of released notebooks that JupyterLab opens without changing them: `python -m course.copies FOLDER`.

As soon as its kernel runs, Lab writes into a notebook what the kernel says of its language, the version of Python too. A
notebook that says something else counts as changed from then on, and whoever closes it is asked whether to save it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

RELEASED = {"name": "python"}
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": sys.version.split()[0],
}


def settle(folder: Path) -> None:
    """Have the notebooks in a folder say of their language what the kernel of this Python will; only those that say nothing yet."""
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if notebook["metadata"].get("language_info") == RELEASED:
            notebook["metadata"]["language_info"] = LANGUAGE
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    settle(Path(sys.argv[1]))
