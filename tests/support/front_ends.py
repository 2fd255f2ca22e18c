"""Notebooks as the programs write them in which students work, and the names under which their kernels run cells."""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable
from typing import Any

from autograder.settings import ROOT

Notebook = dict[str, Any]
Cell = dict[str, Any]

LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3.11.9",
}


# ----------------------------------------------------------------------------------------------------- what they write


def _file(notebook: Notebook, indent: int = 1) -> bytes:
    return (json.dumps(notebook, indent=indent, ensure_ascii=False) + "\n").encode()


def jupyterlab(notebook: Notebook) -> bytes:
    return _file({**notebook, "metadata": {**notebook["metadata"], "language_info": LANGUAGE}})


def notebook_7(notebook: Notebook) -> bytes:
    made = copy.deepcopy(notebook)
    for cell in made["cells"]:
        cell["metadata"] = {"editable": True, "slideshow": {"slide_type": ""}, "tags": [], **cell["metadata"]}
    return jupyterlab(made)


def vs_code(notebook: Notebook) -> bytes:
    """Names sorted, cells with the language of their editor, and a kernelspec named after an environment."""
    made = copy.deepcopy(notebook)
    made["metadata"]["kernelspec"] = {"display_name": ".venv (3.11.9)", "language": "python", "name": "python3"}
    made["metadata"] |= {"language_info": LANGUAGE, "orig_nbformat": 4, "vscode": {"interpreter": {"hash": "31f2"}}}
    for cell in made["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python" if cell["cell_type"] == "code" else "markdown"}
    return (json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def vs_code_on_windows(notebook: Notebook) -> bytes:
    return vs_code(notebook).replace(b"\n", b"\r\n")


def colab(notebook: Notebook) -> bytes:
    """Cells have ids of Colab's own, in their metadata alone, and format 4.0 is what the file says it is."""
    made = copy.deepcopy(notebook)
    for number, cell in enumerate(made["cells"]):
        cell.pop("id", None)
        cell["metadata"] |= {"id": f"Zx9_{number:08}"}
        if cell["cell_type"] == "code":
            ran = {"elapsed": 12, "status": "ok", "timestamp": 1_700_000_000_000, "user": {"displayName": "Ada"}}
            cell["metadata"] |= {"colab": {"base_uri": "https://localhost:8080/"}, "executionInfo": ran}
            cell["metadata"] |= {"outputId": "28b07730-954d-4958-f35a-8c84d69cd588"}
    kernel = {"name": "python3", "display_name": "Python 3"}
    metadata = {"accelerator": "GPU", "colab": {"gpuType": "T4", "provenance": []}, "kernelspec": kernel}
    head = {"nbformat": 4, "nbformat_minor": 0, "metadata": {**metadata, "language_info": {"name": "python"}}}
    return json.dumps({**head, "cells": made["cells"]}, indent=2).encode()


def older(minor: int) -> Callable[[Notebook], bytes]:
    """A tool that writes an older format, in which cells have no ids."""

    def save(notebook: Notebook) -> bytes:
        made = copy.deepcopy(notebook)
        for cell in made["cells"]:
            cell.pop("id", None)
            if cell["cell_type"] == "code":
                cell["metadata"] |= {"collapsed": False, "scrolled": True}
        return _file({**made, "metadata": {"anaconda-cloud": {}, **made["metadata"]}, "nbformat_minor": minor})

    return save


def one_string(notebook: Notebook) -> bytes:
    return _file({**notebook, "cells": [{**cell, "source": "".join(cell["source"])} for cell in notebook["cells"]]})


def carriage_returns(notebook: Notebook) -> bytes:
    """Lines in cells end as Windows ends them, and so does the file."""
    ended = [{**cell, "source": [line.replace("\n", "\r\n") for line in cell["source"]]} for cell in notebook["cells"]]
    return _file({**notebook, "cells": ended}).replace(b"\n", b"\r\n")


def outputs_cleared(notebook: Notebook) -> bytes:
    bare = {"outputs": [], "execution_count": None}
    return _file(
        {**notebook, "cells": [cell | bare if cell["cell_type"] == "code" else cell for cell in notebook["cells"]]}
    )


def mark_before(notebook: Notebook) -> bytes:
    return b"\xef\xbb\xbf" + _file(notebook)


def mark_behind(notebook: Notebook) -> bytes:
    return _file(notebook) + b"\xef\xbb\xbf"


def metadata_lost(notebook: Notebook) -> bytes:
    """Every cell was copied into a new notebook."""
    cells = [{**cell, "id": f"new-{place}", "metadata": {}} for place, cell in enumerate(notebook["cells"])]
    return _file({**notebook, "cells": cells})


# ---------------------------------------------------------------------------------------------------- split and merged

IMPORT = "import math\n"


def is_answer(cell: Cell) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def split_in_jupyterlab(notebook: Notebook) -> bytes:
    """A student put an import over each answer, and split the cells there. Both parts have the metadata; the second keeps the id."""
    cells = []
    for cell in notebook["cells"]:
        if is_answer(cell):
            cells.append({**copy.deepcopy(cell), "id": f"{cell['id']}-upper", "source": [IMPORT.rstrip()]})
        cells.append(cell)
    return jupyterlab({**notebook, "cells": cells})


def split_in_vs_code(notebook: Notebook) -> bytes:
    """The same, where the second part has a new id and no metadata."""
    cells = []
    for cell in notebook["cells"]:
        if is_answer(cell):
            cells.append({**cell, "source": [IMPORT.rstrip()]})
            cell = {**cell, "id": f"{cell['id']}-lower", "metadata": {}}
        cells.append(cell)
    return vs_code({**notebook, "cells": cells})


def merged_in_vs_code(notebook: Notebook) -> bytes:
    """Each answer and the test under it were joined, and have the answer's id and metadata."""
    cells: list[Cell] = []
    for cell in notebook["cells"]:
        if cells and is_answer(cells[-1]) and cell["cell_type"] == "code":
            cells[-1] = {**cells[-1], "source": [*cells[-1]["source"], "\n", *cell["source"]]}
        else:
            cells.append(cell)
    return vs_code({**notebook, "cells": cells})


def merged_in_jupyterlab(notebook: Notebook) -> bytes:
    """A cell of the student's own was merged into each answer from above: the answer has its metadata, and a new id."""
    cells = [
        {**cell, "id": f"{cell['id']}-merged", "source": [IMPORT, "\n", "\n", *cell["source"]]}
        if is_answer(cell)
        else cell
        for cell in notebook["cells"]
    ]
    return jupyterlab({**notebook, "cells": cells})


def elsewhere(place: Callable[[list[Cell], int], int]) -> Callable[[Notebook], bytes]:
    """The answers are in cells of the student's own, and the cells for them are as they were released.

    Args:
        place: given the cells and where an answer cell is, before which cell its answer is written.
    """

    def save(notebook: Notebook) -> bytes:
        released = json.loads((ROOT / "release" / "00_shapes" / "00_shapes.ipynb").read_bytes())["cells"]
        stubs = {cell["id"]: cell["source"] for cell in released if is_answer(cell)}
        cells = list(notebook["cells"])
        for cell in [cell for cell in cells if is_answer(cell) and cell["source"] != stubs[cell["id"]]]:
            at = cells.index(cell)
            cells[at] = {**cell, "source": stubs[cell["id"]]}
            cells.insert(place(cells, at), {**cell, "id": f"{cell['id']}-own", "metadata": {}})
        return jupyterlab({**notebook, "cells": cells})

    return save


FRONT_ENDS: dict[str, Callable[[Notebook], bytes]] = {
    "jupyterlab": jupyterlab,
    "notebook-7": notebook_7,
    "vs-code": vs_code,
    "vs-code-windows": vs_code_on_windows,
    "colab": colab,
    "format-4.2": older(2),
    "format-4.4": older(4),
    "one-string": one_string,
    "carriage-returns": carriage_returns,
    "outputs-cleared": outputs_cleared,
    "mark-before": mark_before,
    "mark-behind": mark_behind,
}
"""By name, the file that a program makes of a notebook, which is given as `json.loads` reads it, with its lines in lists."""

REARRANGED: dict[str, Callable[[Notebook], bytes]] = {
    "split-in-jupyterlab": split_in_jupyterlab,
    "split-in-vs-code": split_in_vs_code,
    "merged-in-jupyterlab": merged_in_jupyterlab,
    "merged-in-vs-code": merged_in_vs_code,
    "under-their-tests": elsewhere(lambda cells, at: at + 2),
    "at-the-end": elsewhere(lambda cells, at: len(cells)),
    "above": elsewhere(lambda cells, at: at),
}
"""The same, of what students do to cells there."""


# --------------------------------------------------------------------------------------------------- how cells are run


def ipykernel_on_windows(source: str, number: int) -> str:
    return rf"C:\Users\ada\AppData\Local\Temp\ipykernel_{number}\{zlib.crc32(source.encode())}.py"


def colab_now(source: str, number: int) -> str:
    return f"/tmp/ipython-input-{number}-{zlib.crc32(source.encode())}.py"


def colab_before(source: str, number: int) -> str:
    return f"<ipython-input-{number}-{zlib.crc32(source.encode()):012x}>"


CELL_NAMES: dict[str, Callable[[str, int], str] | None] = {
    "ipykernel": None,
    "ipykernel-windows": ipykernel_on_windows,
    "colab": colab_now,
    "colab-before": colab_before,
}
"""The file name under which a kernel compiles a cell, by its source and number; None is this machine's own."""


# ------------------------------------------------------------------------------------------------ what a student wrote

GUESS = "guess-products"
OWN = "# my own\ntry_out = 3\n"


def worked_on(released: bytes, answers: dict[str, str]) -> Notebook:
    """A released notebook in which a student has answered, guessed, added a cell behind the guess, and run some.

    Args:
        released: the file, of 00_shapes.
        answers: exercise -> the source of its answer cell.
    """
    notebook: Notebook = json.loads(released)
    cells = []
    for cell in notebook["cells"]:
        name = str(cell["metadata"].get("nbgrader", {}).get("grade_id", "")).removesuffix("_solution")
        if is_answer(cell) and name in answers:
            cell["source"] = answers[name].splitlines(keepends=True)
        if cell["id"] == GUESS:
            cell["source"] = ["guess = 3"]
        if cell["cell_type"] == "code":
            cell |= {"execution_count": 1, "outputs": [{"name": "stdout", "output_type": "stream", "text": ["4\n"]}]}
        cells.append(cell)
        if cell["id"] == GUESS:
            cells.append({**cell, "id": "own-cell", "source": OWN.splitlines(keepends=True)})
    return {**notebook, "cells": cells}
