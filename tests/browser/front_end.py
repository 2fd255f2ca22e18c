"""A released notebook that is open in JupyterLab or in Notebook 7, and what a student does to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
LAB, NOTEBOOK = "lab/tree", "notebooks"  # where each shows a notebook
PATIENCE = 60_000  # milliseconds until something counts as hanging
expect.set_options(timeout=PATIENCE)
TROUBLE = ("application/vnd.jupyter.error", "application/vnd.jupyter.stderr")

COUNTS = """
([panel, code]) => {
    const cells = document.querySelectorAll(`${panel} .jp-Cell`);
    const said = code.map(place => cells[place].querySelector('.jp-InputPrompt').textContent.match(/\\[(\\d+)\\]/));
    return said.map(found => found ? Number(found[1]) : null);
}
"""
CONSECUTIVE = f"""
([panel, code, first]) => {{
    const cells = document.querySelectorAll(`${{panel}} .jp-Cell`);
    const isFolded = place => cells[place].querySelector('.jp-InputPlaceholder');  // and shows no number
    const hasRun = (count, index) => count === first + index || isFolded(code[index]);
    const status = document.querySelector(`${{panel}} .jp-Notebook-ExecutionIndicator`).dataset.status;
    return status === 'idle' && ({COUNTS})([panel, code]).every(hasRun);
}}
"""
FILLED = """
panel => {
    const left = window.innerWidth - document.querySelector(panel).getBoundingClientRect().right;
    return 0 <= left && left < 50;  // the bar on the right
}
"""

ACTIVE = "jp-mod-active"
GONE_FROM = "([cell, name]) => !cell.classList.contains(name)"


class Opened:
    """An open notebook. Its cells go by the ids that they have in the file.

    Attributes:
        formulas: how many formulas stand in it on lines of their own.
    """

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.path = path
        cells: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
        self._places = {cell["id"]: place for place, cell in enumerate(cells)}
        self.formulas = sum("".join(cell["source"]).count("$$") for cell in cells) // 2
        self._code = [place for place, cell in enumerate(cells) if cell["cell_type"] == "code"]
        self.panel = page.locator(PANEL)
        self.wait_until_shown()

    # what is there

    def cell(self, name: str) -> Locator:
        return self.panel.locator(".jp-Cell").nth(self._places[name])

    def output(self, name: str) -> Locator:
        return self.cell(name).locator(".jp-OutputArea-output")

    def said(self, name: str) -> str:
        """All text under a cell."""
        return "\n".join(self.output(name).all_text_contents())

    def trouble(self) -> list[str]:
        """What stands in tracebacks and on stderr, anywhere in the notebook."""
        wanted = ", ".join(f'.jp-OutputArea-output[data-mime-type="{kind}"]' for kind in TROUBLE)
        return self.panel.locator(wanted).all_text_contents()

    def counts(self) -> list[int | None]:
        """The number before each code cell; None where it has not run, still runs, or is folded."""
        return self.page.evaluate(COUNTS, [PANEL, self._code])

    @property
    def is_marked_as_changed(self) -> bool:
        return self.page.locator(".jp-mod-dirty").count() > 0

    # what a student does

    def menu(self, menu: str, item: str) -> None:
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()

    def accept_dialog(self) -> str:
        """Agree to the dialog that comes up; what it said."""
        dialog = self.page.locator(".jp-Dialog")
        text = dialog.inner_text()
        dialog.locator(".jp-mod-accept").click()
        expect(dialog).to_have_count(0)
        return text

    def use_theme(self, theme: str) -> None:
        self.page.get_by_role("menuitem", name="Settings", exact=True).click()
        labels = self.page.locator(".lm-Menu-itemLabel")
        labels.get_by_text("Theme", exact=True).hover()
        labels.get_by_text(f"JupyterLab {theme}", exact=True).click()
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme}")
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def use_window(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function(FILLED, arg=PANEL)

    def lay_out_everything(self) -> None:
        """Have the browser lay out also what is not on the screen, so that it can be measured."""
        self.page.add_style_tag(content=".jp-Cell { content-visibility: visible !important }")

    def wait_until_shown(self) -> None:
        """Until all cells are on the page, and the kernel waits."""
        expect(self.panel.locator(".jp-Cell")).to_have_count(len(self._places))
        expect(self.panel.locator(".jp-Toolbar-kernelName")).to_have_text("Python 3 (ipykernel)")
        self.panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()

    def run_all(self) -> None:
        first = self._next()
        self.menu("Run", "Run All Cells")
        self._wait_until_run(self._code, first)

    def restart_and_run_all(self) -> None:
        self.menu("Run", "Restart Kernel and Run All Cells…")
        self.accept_dialog()
        self._wait_until_run(self._code, 1)

    def walk_to(self, name: str) -> None:
        """Go down to a cell by arrow keys."""
        self.page.keyboard.press("Escape")
        for _ in self._places:
            if ACTIVE in (self.cell(name).get_attribute("class") or "").split():
                return
            before = self.panel.locator(f".jp-Cell.{ACTIVE}").element_handle()
            self.page.keyboard.press("ArrowDown")
            self.page.wait_for_function(GONE_FROM, arg=[before, ACTIVE])
        raise AssertionError(f"{name} is not below")

    def run(self, *names: str) -> None:
        """Run cells by the keyboard, one after another."""
        for name in names:
            first = self._next()
            self._into(name)
            self.page.keyboard.press("Control+Enter")
            self._wait_until_run([self._places[name]], first)

    def replace_last_line(self, name: str, line: str) -> None:
        """Type a line in the place of the last one of a cell, which is where a student finds `raise NotImplementedError()`."""
        self._into(name)
        self.page.keyboard.press("Control+End")
        self.page.keyboard.press("Shift+Home")
        self.page.keyboard.type(line)

    def save(self) -> None:
        self.page.keyboard.press("Control+s")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)

    def validate(self) -> str:
        """Press Validate; what it says."""
        self.panel.get_by_role("button", name="Validate").click()
        return self.accept_dialog()

    def _into(self, name: str) -> None:
        self.cell(name).scroll_into_view_if_needed()
        self.cell(name).locator(".cm-content").click()

    def _next(self) -> int:
        return max((count for count in self.counts() if count), default=0) + 1

    def _wait_until_run(self, places: list[int], first: int) -> None:
        self.page.wait_for_function(CONSECUTIVE, arg=[PANEL, places, first], polling=200)
