"""A notebook's shell without a kernel around it: ipykernel's own, with its messages kept instead of sent.

What a kernel would put on its IOPub socket is collected here as `[type, content]`, in the order in which a kernel sends it,
so that whoever reads them can treat them as they treat a kernel's.

A kernel's messages name the cell that they belong to: for what a task or a callback says that is the cell which began it, for what a
thread says the latest. Whoever runs a notebook takes what belongs to the cell that is running, and so it is here.
"""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import getpass
import io
import json
import os
import random
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import MethodType, ModuleType, SimpleNamespace
from typing import Any

from ipykernel.compiler import XCachingCompiler
from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell
from IPython.core.inputtransformer2 import TransformerManager
from jupyter_client.session import Session, extract_header
from traitlets import Instance
from traitlets.config import Config

from . import comms, wire
from .tracebacks import quickly_shown

INLINE = "module://matplotlib_inline.backend_inline"
BETWEEN = 0.01  # seconds, about as long as a kernel waits for the next cell
MAX_MESSAGES = 2_000
MAX_TEXT = 8 << 20
MAX_PARTS = wire.MAX_PARTS // 2  # the grader would take more for no answer
CUT = "\n[the rest of this cell's output was cut: it is longer than a notebook can hold]\n"

COMMAND = re.compile(r"^\s*[%!,;/]|=\s*[%!]|\?")
"""What each line has that IPython's own commands begin on, and some others have: a start, what is assigned, or a question."""

Message = list[Any]
"""A message's type, such as "stream" or "display_data", and its content."""


class Collector(Session):
    """What a kernel's session would send, kept in a list that is no longer than a notebook can hold.

    Attributes:
        cell: the id of the message that asks for the cell which is running; what belongs to another one is not kept.
    """

    cell = ""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(key=b"", **keywords)
        self.messages: list[Message] = []
        self._widgets = comms.Said()
        self._size = self._count = self._parts = 0
        self._decisive: Message | None = None

    def hears(self, parent: Any) -> bool:
        """Whether what belongs to this parent, a message or its header, belongs to the cell that is running."""
        return bool(extract_header(parent).get("msg_id", "") == self.cell)

    def msg(self, msg_type: str, content: Any = None, parent: Any = None, **_: Any) -> dict[str, Any]:
        return {"msg_type": msg_type, "content": content or {}, "parent_header": extract_header(parent)}

    def send(self, stream: Any, msg_or_type: Any, content: Any = None, parent: Any = None, *_: Any, **__: Any) -> None:
        if not isinstance(msg_or_type, str):
            msg_or_type, content, parent = (msg_or_type[part] for part in ("msg_type", "content", "parent_header"))
        if self.hears(parent):  # bytes, numbers of libraries and the like become what they are on the wire
            self.add(msg_or_type, self.unpack(self.pack(content)))

    def tell(self, kind: str, content: dict[str, Any]) -> None:
        """Add what a widget says, as far as there is room."""
        content = self.unpack(self.pack(content))
        if self._widgets.keep(kind, content):
            self.messages.append([kind, content])

    def add(self, kind: str, content: dict[str, Any]) -> None:
        self._widgets.separate()
        if self._is_full:
            self._keep_decisive(kind, content)
            return
        said = json.dumps(content)
        self._size += len(said)
        self._count += 1
        self._parts += 0 if kind == "stream" else wire.parts(said.encode())
        if not self._is_full:
            self.messages.append([kind, content])
            return
        if kind == "stream":
            content["text"] = content["text"][: MAX_TEXT // 8]  # a character may take six bytes and more
            self.messages.append([kind, content])
        self.messages.append(["stream", {"name": "stdout", "text": CUT}])
        self._keep_decisive(kind, content)

    @property
    def _is_full(self) -> bool:
        return self._size > MAX_TEXT or self._count > MAX_MESSAGES or self._parts > MAX_PARTS

    def _keep_decisive(self, kind: str, content: dict[str, Any]) -> None:
        if wire.decides(kind, content):
            self._decisive = [kind, content]

    def take(self) -> list[Message]:
        taken = [*self.messages, self._decisive] if self._decisive else self.messages
        self.messages, self._decisive = [], None
        self._size = self._count = self._parts = 0
        self._widgets = comms.Said()
        return taken


class OutStream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of a notebook, together with what other programs write to the descriptor below it.

    Errors name it: it is called as in a kernel, and says the same.
    """

    encoding = "UTF-8"

    def __init__(self, name: str, descriptor: int, collector: Collector) -> None:
        self.name = name
        self._descriptor = descriptor
        self._collector = collector
        self._parts: list[str] = []
        self._size = 0
        self._parent_header: contextvars.ContextVar[Any] = contextvars.ContextVar("parent_header")
        self.set_parent({})

    def catch_descriptor(self) -> None:
        """From now on, what is written to the descriptor goes to a file that `flush` reads."""
        path = f"/tmp/.{self.name}.{os.getpid()}"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        os.unlink(path)
        os.dup2(file, self._descriptor)
        os.close(file)
        self._caught = True

    _caught = False

    @property
    def parent_header(self) -> Any:
        """That of a task or a callback is its own; a thread that was given none has the latest."""
        return self._parent_header.get(self._latest)

    @parent_header.setter
    def parent_header(self, header: Any) -> None:
        self._latest = header
        self._parent_header.set(header)

    def set_parent(self, parent: Any) -> None:
        self.parent_header = extract_header(parent)

    def set_thread_parent(self, parent: Any) -> Any:
        return self._parent_header.set(extract_header(parent))

    def reset_thread_parent(self, token: Any) -> None:
        self._parent_header.reset(token)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        if self._size <= MAX_TEXT and self._collector.hears(self.parent_header):
            self._parts.append(text)
            self._size += len(text)
        return len(text)

    def flush(self) -> None:
        text = "".join(self._parts) + self._below()
        self._parts, self._size = [], 0
        if text:
            self._collector.add("stream", {"name": self.name, "text": text})

    def _below(self) -> str:
        """What came through the descriptor since last time."""
        if not self._caught:
            return ""
        try:
            size = os.lseek(self._descriptor, 0, os.SEEK_END)
            if not size:
                return ""
            data = os.pread(self._descriptor, min(size, MAX_TEXT), 0)
            os.ftruncate(self._descriptor, 0)
        except OSError:  # a submission may have closed it, or put something else in its place
            return ""
        return data.decode(errors="replace")


class Publisher(ZMQDisplayPublisher):
    """ipykernel's publisher; its own sockets are never touched."""

    def clear_output(self, wait: bool = False) -> None:
        self._flush_streams()
        assert self.session is not None
        self.session.send(None, "clear_output", {"wait": wait}, self.parent_header)


class Transformers(TransformerManager):
    """IPython's, which read a cell four times, token by token, to find its own commands; a cell that cannot have any is not read."""

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        if self.token_transformers == TransformerManager().token_transformers and not any(map(COMMAND.search, lines)):
            return lines
        transformed: list[str] = super().do_token_transforms(lines)
        return transformed


class Shell(ZMQInteractiveShell):
    """ipykernel's shell. Libraries that look for a notebook's shell by its name find it."""

    input_transformer_manager = Instance(Transformers, ())
    displayhook_class = ZMQShellDisplayHook
    display_pub_class = Publisher
    collector = Instance(Collector)

    _ready: tuple[str, str] | None = None

    def prepare(self, source: str) -> str:
        """`transform_cell`, and what it says is kept for `run_cell`, which asks again; but where a notebook's own code has a say in it."""
        transformed: str = self.transform_cell(source)
        usual = vars(self.input_transformer_manager) == vars(TransformerManager()) and not self.input_transformers_post
        if usual and len(transformed.splitlines()) > 1:
            self._ready = source, transformed
        return transformed

    def transform_cell(self, raw_cell: str) -> str:
        ready, self._ready = self._ready, None
        transformed: str = ready[1] if ready and ready[0] == raw_cell else super().transform_cell(raw_cell)
        return transformed

    def showtraceback(self, *arguments: Any, **keywords: Any) -> None:
        with quickly_shown(getattr(self.compile, "_filename_map", ())):
            super().showtraceback(*arguments, **keywords)

    _shown: tuple[BaseException, list[str]] | None = None

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        self._shown = evalue, stb
        super()._showtraceback(etype, evalue, stb)

    def _format_exception_for_storage(self, exception: BaseException, *others: Any, **more: Any) -> dict[str, Any]:
        """What IPython remembers of an error, for `%notebook`: the traceback as it was just shown, which it would make once more."""
        shown, self._shown = self._shown, None
        if shown is None or shown[0] is not exception:
            kept: dict[str, Any] = super()._format_exception_for_storage(exception, *others, **more)
            return kept
        return {"ename": type(exception).__name__, "evalue": str(exception), "traceback": shown[1]}

    def ask_exit(self) -> None:
        """`exit()` in a notebook ends nothing."""

    def enable_gui(self, gui: Any = None) -> None:
        """No window can be opened here."""


Shell.__name__ = Shell.__qualname__ = "ZMQInteractiveShell"


class Notebook:
    """The state of one notebook: its shell and its event loop.

    Made once, before any submission is there, and warmed by `rehearse`; each submission goes on in a copy of the process.
    """

    def __init__(self) -> None:
        os.environ.setdefault("MPLBACKEND", INLINE)
        self.collector = Collector()
        self.out, self.err = OutStream("stdout", 1, self.collector), OutStream("stderr", 2, self.collector)
        self._streams = sys.stdout, sys.stderr
        config = Config({"HistoryManager": {"enabled": False}, "IPKernelApp": {}})
        self.shell: Any = Shell.instance(
            config=config,
            collector=self.collector,
            compiler_class=XCachingCompiler,
        )
        IPKernelApp.init_pdb(None)  # it asks the application for nothing
        self.shell.kernel = comms.kernel(self.shell)
        comms.connect(self._tell)
        for part in (self.shell.displayhook, self.shell.display_pub):
            part.session = self.collector
            part.pub_socket = None
        self.shell.displayhook.topic = b"execute_result"
        self._count = 0

    def _tell(self, kind: str, content: dict[str, Any]) -> None:
        if self.collector.hears(self.shell.get_parent()):
            self.collector.tell(kind, content)

    def rehearse(self, cells: list[str]) -> None:
        """Run cells whose only purpose is to fill caches, and forget them."""
        module = {name: value for name, value in vars(self.shell.user_module).items() if name.startswith("__")}
        self._attach()
        try:
            for source in cells:
                self.shell.run_cell(source, store_history=True)
        finally:
            sys.stdout, sys.stderr = self._streams
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            vars(sys).pop(name, None)
        self.shell.reset(new_session=True)
        vars(self.shell.user_module).update(
            module
        )  # `reset` takes away `__spec__`, which starting processes anew needs
        self.shell.execution_count = 1
        self._flush()
        self.collector.take()

    def begin(self, modules: Mapping[str, ModuleType]) -> None:
        """Become a submission's notebook, in a process of its own; generators in these modules start anew."""
        for output in (self.out, self.err):
            output.catch_descriptor()
        self._attach()
        nobody = SimpleNamespace(_allow_stdin=False)
        builtins.input = MethodType(Kernel.raw_input, nobody)
        getpass.getpass = MethodType(Kernel.getpass, nobody)
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._context = contextvars.copy_context()
        random.seed()
        if "numpy.random" in modules:
            modules["numpy.random"].seed()
        if "torch" in modules:
            modules["torch"].default_generator.seed()

    def _attach(self) -> None:
        sys.stdout, sys.stderr = self.out, self.err

    def hear(self, contents: list[dict[str, Any]]) -> None:
        """Take what a front end answers to widgets; what these say to that is nobody's, as from a kernel between two cells."""
        if contents:
            comms.hear(contents)
            self.collector.take()

    def run(self, source: str, parent: str = "") -> tuple[list[Message], dict[str, Any]]:
        """Run a cell as ipykernel's `do_execute` does.

        Args:
            source: the cell.
            parent: the id of the message that asks for it, by which widgets know whose outputs they take.

        Returns:
            The messages, and the reply: `{"status": "ok" | "error", "execution_count": ..., "ename", "evalue", "traceback"}`.
        """
        self._count += 1
        try:
            self._pass_time()
            self.collector.cell = parent or f"{self._count}"
            self._context.run(self.shell.set_parent, {"header": {"msg_id": self.collector.cell}})
            task = self._loop.create_task(self._shown(source), context=self._context)
            result, messages = self._finished(task)
            error = result.error_before_exec or result.error_in_exec
            failed = not result.success or getattr(self.shell, "_last_traceback_during_displayhook", False)
        except (KeyboardInterrupt, SystemExit, asyncio.CancelledError) as interrupted:
            self._context.run(self.shell.showtraceback)
            self._flush()
            error, failed, messages = interrupted, True, self.collector.take()
        reply: dict[str, Any] = {"status": "ok", "execution_count": self.shell.execution_count - 1}
        if failed:
            reply |= {
                "status": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": self.shell._last_traceback or [],
            }
        self.shell.payload_manager.clear_payload()
        return messages, reply

    def _pass_time(self) -> None:
        """Let go on what earlier cells began, as a kernel does between two cells; what is said meanwhile belongs to none that runs."""
        stop = self._loop.call_later(BETWEEN if asyncio.all_tasks(self._loop) else 0, self._loop.stop)
        try:
            self._loop.run_forever()
        finally:
            stop.cancel()
        self._flush()
        self.collector.take()

    def _finished(self, task: asyncio.Task[Any]) -> Any:
        """What a cell comes to. One that waits while something is interrupted is cancelled, as a kernel does it."""
        with suppress(KeyboardInterrupt, SystemExit):
            return self._loop.run_until_complete(task)
        if task.done():  # something else was interrupted, or the cell in its last line
            return task.result()
        task.cancel()
        return self._loop.run_until_complete(task)

    def _flush(self) -> None:
        for output in (self.out, self.err):
            output.flush()

    async def _shown(self, source: str) -> tuple[Any, list[Message]]:
        """What a cell comes to, and shows before anything else goes on."""
        result = await self._execute(source)
        self._flush()
        return result, self.collector.take()

    async def _execute(self, source: str) -> Any:
        shell = self.shell
        transformed, problem = source, None
        try:
            transformed = shell.prepare(source)
        except Exception:
            problem = sys.exc_info()
        if not shell.should_run_async(source, transformed_cell=transformed, preprocessing_exc_tuple=problem):
            return shell.run_cell(source, store_history=True)
        result = None
        try:
            cell = shell.run_cell_async(
                source, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=problem
            )
            result = await asyncio.ensure_future(cell)  # what it sets in its context is its own, as in a kernel
        finally:
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", result)
        return result
