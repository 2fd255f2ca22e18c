"""How widgets talk to a front end. There is none: what they say is kept with a notebook's messages, as a kernel sends it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import comm
from comm.base_comm import BaseComm
from ipykernel.jsonutil import json_clean

from . import wire

MAX_BYTES = 4 << 20
MAX_PARTS = wire.MAX_PARTS // 4
MAX_COUNT = 2_000
STATE = {"method", "state", "buffer_paths"}

Tell = Callable[[str, dict[str, Any]], None]


def connect(tell: Tell) -> None:
    """Have every comm that is opened from now on tell what it says: a message's type, and its content, buffers in base64 among it."""

    class Comm(BaseComm):
        def publish_msg(
            self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
        ) -> None:
            packed = [b64encode(buffer).decode() for buffer in buffers or ()]
            tell(msg_type, json_clean({"data": data or {}, "comm_id": self.comm_id, "buffers": packed, **keys}))

    comm.create_comm = Comm


def hear(contents: list[dict[str, Any]]) -> None:
    """Give comms what a front end answers."""
    manager: Any = comm.get_comm_manager()
    for content in contents:
        manager.comm_msg(None, None, {"content": content, "metadata": {}, "buffers": []})


def kernel(shell: Any) -> Any:
    """What libraries find at a shell's `kernel`: no kernel, but what widgets ask one for."""
    return SimpleNamespace(eventloop=None, get_parent=shell.get_parent, comm_manager=comm.get_comm_manager())


class Said:
    """What widgets have said in one cell: no more than a notebook can hold, and of states that follow one another, the last."""

    def __init__(self) -> None:
        self._states: dict[str, dict[str, Any]] = {}
        self._size = self._count = self._parts = 0

    def separate(self) -> None:
        """Something else was shown: what is said from now on comes after it."""
        self._states.clear()

    def keep(self, kind: str, content: dict[str, Any]) -> bool:
        """Whether a message is one to be kept by itself."""
        owner, data = content["comm_id"], content["data"]
        state = data.get("state", {})
        takes_outputs = "msg_id" in state  # or no longer does, from here on
        said = json.dumps(content).encode()
        self._size += len(said)
        self._parts += wire.parts(said)
        if (self._size > MAX_BYTES or self._parts > MAX_PARTS) and not takes_outputs:
            return False
        if kind == "comm_msg" and not (takes_outputs or content["buffers"] or data.keys() - STATE):
            if owner in self._states:
                self._states[owner].update(state)
                return False
            self._states[owner] = state
        else:
            self._states.clear()
        self._count += 1
        return self._count <= MAX_COUNT
