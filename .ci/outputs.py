"""Notebooks in source/ are stored as they ran, with outputs; those in release/ as nobody has run them, without.

python .ci/outputs.py NOTEBOOK ...    # of this checkout; exit 1 if one is stored otherwise
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def trouble(path: Path) -> str:
    """What is wrong with a stored notebook, and what to do; "" where nothing is."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
    if path.parts[0] == "release":
        ran = [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None]
        return (
            f"{path}: {len(ran)} cells hold outputs or counts. Run `make release`; nobody edits release/."
            if ran
            else ""
        )
    left = [cell for cell in code if cell["execution_count"] is None]
    made = f"python -m autograder outputs {path.stem}"
    return f"{path}: {len(left)} cells were not run. Store its outputs: `{made}`." if left else ""


if __name__ == "__main__":
    found = [told for name in sys.argv[1:] if (told := trouble(Path(name)))]
    sys.exit("\n".join(found) or 0)
