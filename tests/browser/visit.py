"""A page in a browser, the notebooks that are opened in it, and what it must not say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Page, Request, WebSocket

from autograder.settings import ROOT
from course.kit.copies import bring
from tests.browser.front_end import LAB, PATIENCE, Opened
from tests.browser.server import TOKEN, Server

# What the front ends themselves say, of which no notebook is the cause.
NOT_OURS = (
    "Could not restore the debugger state",  # JupyterLab, of a kernel that restarts
    "Cannot read properties of undefined (reading 'schema')",  # Notebook 7, of settings for JupyterLab alone
    "Command 'filebrowser:open-path' not registered.",  # Notebook 7, which has no file browser beside a notebook
)


@dataclass
class Heard:
    """What a page said that a student should never cause: errors in its console or of its own, requests to elsewhere."""

    origin: str
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        for event, hear in self._heard.items():
            page.on(event, hear)  # type: ignore[call-overload]

    def leave(self, page: Page) -> None:
        for event, hear in self._heard.items():
            page.remove_listener(event, hear)

    @property
    def _heard(self) -> dict[str, Callable[[Any], None]]:
        return {"console": self._said, "pageerror": self._fell, "websocket": self._connected, "request": self._sent}

    def _fell(self, error: object) -> None:
        self._error(str(error))

    def _connected(self, socket: WebSocket) -> None:
        self._asked(socket.url.replace("ws://", "http://"))

    def _sent(self, request: Request) -> None:
        self._asked(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._error(f"{message.text} ({message.location['url']})")

    def _error(self, text: str) -> None:
        if not any(known in text for known in NOT_OURS):
            self.errors.append(text)

    def _asked(self, url: str) -> None:
        if not self._here(url):
            self.outside.append(url)

    def _here(self, url: str) -> bool:
        return url.startswith((f"{self.origin}/", "data:", "blob:", "about:"))


# As a click in the file browser does, in the JupyterLab that is there already.
OPEN = "async path => { await window.jupyterapp.commands.execute('filebrowser:open-path', { path }) }"
CLOSE = "() => [...(window.jupyterapp?.shell.widgets('main') ?? [])].forEach(one => one.dispose())"
SIZE = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Visit:
    """A page that a student has before them."""

    page: Page
    server: Server

    def open(self, notebook: str, front_end: str, written: Mapping[str, str] | None = None) -> Opened:
        """Open a copy of a released notebook that nobody has touched, but for cells that are `written` already."""
        folder = self.server.work / str(len(list(self.server.work.iterdir())) + 1)
        list(bring(ROOT / "release", folder))
        path = folder / notebook / f"{notebook}.ipynb"
        if written:
            tree = json.loads(path.read_text())
            for cell in tree["cells"]:
                cell["source"] = written.get(cell["id"], cell["source"])
            path.write_text(json.dumps(tree))
        place = path.relative_to(self.server.work).as_posix()
        if front_end == LAB and self.page.url.startswith(f"{self.server.origin}/lab"):
            self.page.evaluate(OPEN, place)
        else:
            self.page.goto(self.server.url(f"{front_end}/{place}"))
        return Opened(self.page, path)


@contextmanager
def visiting(page: Page, server: Server) -> Iterator[Visit]:
    """A visit to a server on a page. What was opened in it is closed in the end, and the kernels that it started end with it.

    Raises:
        AssertionError: it said what is to be `Heard` of no page.
    """
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size(SIZE)  # type: ignore[arg-type]
    heard = Heard(server.origin)
    heard.listen(page)
    yield Visit(page, server)
    heard.leave(page)
    page.evaluate(CLOSE)
    authorised = {"Authorization": f"token {TOKEN}"}
    for session in page.request.get(f"{server.origin}/api/sessions", headers=authorised).json():
        page.request.delete(f"{server.origin}/api/sessions/{session['id']}", headers=authorised)
    assert (heard.errors, heard.outside) == ([], [])
