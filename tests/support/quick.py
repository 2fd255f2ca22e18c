"""An executor that starts no kernel: answers say what should happen when they are run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_output
from traitlets import Unicode


class Quick(ExecutePreprocessor):
    """The answer "1.5" earns so much. Words before it: "full" earns what the cell is worth, "wait" takes a while, "die" kills the process, "once" only the first time.

    Every call is written to the file `log_file`.
    """

    enabled = True
    log_file = Unicode().tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        *words, score = nb.cells[0].source.split()
        log = Path(self.log_file)
        first = resources["nbgrader"]["student"] not in calls(log)
        with log.open("a") as file:
            file.write(resources["nbgrader"]["student"] + "\n")
        if "wait" in words:
            time.sleep(0.3)
        if "long" in words and first:
            time.sleep(600)
        if "die" in words and (first or "once" not in words):
            os.kill(os.getpid(), signal.SIGKILL)
        if "raise" in words:
            raise RuntimeError("no kernel")
        if "full" not in words:
            nb.cells[1].outputs = [new_output("execute_result", {"text/plain": score}, execution_count=1)]
        return nb, resources


def calls(log: Path) -> list[str]:
    """The students whose work was run, each as often as it was."""
    return log.read_text().split("\n")[:-1] if log.exists() else []
