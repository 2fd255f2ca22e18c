"""What the widgets of a notebook say, heard as nbclient hears it, which stands for a front end: their state, and outputs they take."""

from __future__ import annotations

from base64 import b64decode
from contextlib import suppress
from typing import Any

from nbclient import NotebookClient
from nbclient.output_widget import OutputWidget
from nbformat import NotebookNode

Answers = dict[str, list[NotebookNode]]
"""By the id of a widget that takes outputs, those it has."""


def answer(client: NotebookClient) -> Answers:
    """What a client answers to widgets from now on, until it is `taken`.

    nbclient tells a widget of every output at once, all that it has, each time.
    """
    answers: Answers = {}

    class Output(OutputWidget):
        def sync_state(self) -> None:
            answers[self.comm_id] = self.outputs

    client.widget_registry = {"@jupyter-widgets/output": {"OutputModel": Output}}
    return answers


def taken(answers: Answers) -> list[dict[str, Any]]:
    """The answers, as a kernel hears them before the next cell."""
    told = [
        {"comm_id": owner, "data": {"method": "update", "state": {"outputs": outputs}, "buffer_paths": []}}
        for owner, outputs in answers.items()
    ]
    answers.clear()
    return told


def listen(client: NotebookClient, message: dict[str, Any], cell: NotebookNode, index: int) -> None:
    """Hear what a widget says. What nobody can make sense of changes nothing: a submission may say anything."""
    with suppress(Exception):
        buffers = [b64decode(buffer) for buffer in message["content"].pop("buffers")]
        client.process_message({**message, "buffers": buffers}, cell, index)
