"""Modules that are imported beforehand, and that nobody sees before they import them.

What a zygote imports is taken out of sight: out of `sys.modules`, off the packages that hold it, and what its execution has changed
elsewhere is as it was. A submission's own import gives a module back without executing it again, together with what
executing it would have brought and changed, and nothing else: that has been written down when it was executed.
"""

from __future__ import annotations

import _frozen_importlib
import builtins
import copy
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader, SourcelessFileLoader
from importlib.util import resolve_name
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

BOOTSTRAP: Any = _frozen_importlib  # `importlib.import_module` asks here; `import` asks `builtins.__import__`
LOADERS: tuple[Any, ...] = (SourceFileLoader, SourcelessFileLoader, ExtensionFileLoader)
OWN = __name__.partition(".")[0]
NOTHING = object()
PROCESS = "multiprocessing.process"

Import = Callable[..., ModuleType]
Execute = Callable[[Any, ModuleType], None]


class Hidden(MetaPathFinder):
    """All modules that are imported within `recording`, out of sight once that is over.

    What is there when this is made stays visible, but for the package this is in: no submission needs to see it.

    Attributes:
        modules: by name, out of sight or not.
    """

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self._visible = {name for name in sys.modules if name.partition(".")[0] not in (OWN, "__main__")}
        self._attributes = {name: dict(_attributes(sys.modules[name])) for name in self._visible}
        self._path = frozenset(sys.path)
        self._kept: set[str] = set()
        self._bound: set[str] = set()
        self._specs: dict[str, ModuleSpec | None] = {}
        self._folders: dict[str, str] = {}
        self._brought: dict[str, tuple[str, ...]] = {}
        self._displaced: dict[str, Any] = {}
        self._asked: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._changes: list[tuple[str, Callable[[], None]]] = []
        self._running: list[str] = []
        self._before = self._seen = _surroundings()
        sys.meta_path.insert(0, self)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Write down which module's execution asks for which others, and changes what; in the end, hide them all."""
        real_import, real_plain = builtins.__import__, BOOTSTRAP._gcd_import
        real_executions = [loader.exec_module for loader in LOADERS]
        builtins.__import__, BOOTSTRAP._gcd_import = self._asking(real_import), self._asking_plainly(real_plain)
        for loader, real in zip(LOADERS, real_executions, strict=True):
            loader.exec_module = self._executing(real)
        self._seen = _surroundings()
        try:
            yield
        finally:
            builtins.__import__, BOOTSTRAP._gcd_import = real_import, real_plain
            for loader, real in zip(LOADERS, real_executions, strict=True):
                loader.exec_module = real
            self._hide()

    def _asking(self, real: Import) -> Import:
        def asking(
            name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
        ) -> ModuleType:
            found = real(name, globals, locals, fromlist, level)
            if self._running:
                whole = resolve_name("." * level + name, _package(globals)) if level else name
                self._note(whole)
                for part in fromlist or ():
                    for own in getattr(found, "__all__", ()) if part == "*" else (part,):
                        self._note_module(f"{whole}.{own}", vars(found).get(own))
            return found

        return asking

    def _asking_plainly(self, real: Import) -> Import:
        def asking(name: str, package: str | None = None, level: int = 0) -> ModuleType:
            found = real(name, package, level)
            self._note(resolve_name("." * level + name, package))
            return found

        return asking

    def _executing(self, real: Execute) -> Execute:
        def executing(loader: Any, module: ModuleType) -> None:
            name = module.__name__
            package, _, own = name.rpartition(".")
            holder = _attributes(sys.modules.get(package))
            if own in holder:
                self._displaced.setdefault(name, holder[own])
            self._note(name)
            self._note_changes()
            self._running.append(name)
            known = set(sys.modules)
            try:
                real(loader, module)
            finally:
                for other in sys.modules.keys() - known:
                    self._note(other)
                if isinstance(loader, ExtensionFileLoader):  # compiled code can ask where nobody listens
                    for value in list(vars(module).values()):
                        origin = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                        self._note_module(origin, sys.modules.get(origin) if isinstance(origin, str) else None)
                self._note_changes()
                self._running.pop()

        return executing

    def _note(self, name: str) -> None:
        """What is being executed has asked for this module, and so for the packages it lies in."""
        while name and self._running:
            self._asked[self._running[-1]][name] = None
            name = name.rpartition(".")[0]

    def _note_module(self, name: Any, value: object) -> None:
        if isinstance(value, ModuleType) and sys.modules.get(name) is value:
            self._note(name)

    def _note_changes(self) -> None:
        """What is being executed has changed the surroundings, since they were looked at last."""
        (filters, environment), (new_filters, new_environment) = self._seen, _surroundings()
        self._seen = new_filters, new_environment
        if not self._running:
            return
        if filters != new_filters:
            first = list(takewhile(lambda one: one not in filters, new_filters))
            last = [one for one in new_filters if one not in filters and one not in first]
            removed = [one for one in filters if one not in new_filters]
            self._changes.append((self._running[-1], lambda: _change_filters(first, last, removed)))
        if environment != new_environment:
            names = {name for name, _ in environment.items() ^ new_environment.items()}
            values = {name: new_environment.get(name) for name in names}
            self._changes.append((self._running[-1], lambda: _change_environment(values)))

    def _hide(self) -> None:
        for name, module in list(sys.modules.items()):
            if name in self._visible or name == "__main__":
                continue
            del sys.modules[name]
            if name.partition(".")[0] != OWN:
                self._specs.setdefault(name, getattr(module, "__spec__", None))
                self.modules[name] = module
                self._kept.add(name)
                if (folder := _folder(name, self._specs[name])) is not None:
                    self._folders[name] = folder
        self._brought.clear()
        for name in self._kept:
            holder, own = self._holder(name)
            if holder.get(own) is self.modules[name]:
                self._bound.add(name)
                _put_back(holder, own, self._displaced.get(name, NOTHING))
        for name, attributes in self._attributes.items():
            self._put_attributes_back(_attributes(sys.modules[name]), attributes)
        filters, environment = self._before
        warnings.filters[:] = filters  # type: ignore[index]
        _change_environment({name: environment.get(name) for name in {*environment, *os.environ}})

    def _put_attributes_back(self, now: dict[str, Any], before: Mapping[str, Any]) -> None:
        """What hidden modules have put into a visible one: it comes back with the module that has defined it."""
        for name, value in list(now.items()):
            if value is not before.get(name, NOTHING) and not isinstance(value, ModuleType):
                owner = getattr(value, "__module__", None)
                if isinstance(owner, str) and owner in self._kept:
                    _put_back(now, name, before.get(name, NOTHING))
                    self._changes.append((owner, lambda name=name, value=value: now.update({name: value})))  # type: ignore[misc]

    def _holder(self, name: str) -> tuple[dict[str, Any], str]:
        """The attributes of the package that a module lies in, and the module's name there."""
        package, _, own = name.rpartition(".")
        holder = sys.modules.get(package, self.modules.get(package))
        return _attributes(holder), own

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How a hidden module is imported; None where a fresh process would now import another one in its place."""
        spec = self._specs.get(fullname)
        if spec is None or fullname not in self._kept or target is not None:
            return None
        brought = self.brought(fullname)
        if any(sys.modules.get(name, self.modules[name]) is not self.modules[name] for name in brought):
            return None
        if any(name in self._folders and self._shadowed(name) for name in brought if name in self._kept):
            return None
        given = copy.copy(spec)
        given.loader = _GivingBack(spec, self)
        return given

    def brought(self, name: str) -> tuple[str, ...]:
        """All that comes with a module, itself among them; a zygote asks beforehand, for those who will."""
        if name not in self._brought:
            found: dict[str, None] = {}
            waiting = [name]
            while waiting:
                one = waiting.pop()
                if one in self.modules and one not in found:
                    found[one] = None
                    waiting += self._asked.get(one, ())
            self._brought[name] = tuple(found)
        return self._brought[name]

    def _shadowed(self, name: str) -> bool:
        """Whether a folder that has come onto the path since, such as the notebook's, has a module of this name to offer first."""
        before = takewhile(lambda entry: entry != self._folders[name], sys.path)
        new = [entry for entry in before if entry not in self._path]
        found = PathFinder.find_spec(name, new) if new else None
        return found is not None and found.loader is not None

    def give_back(self, name: str) -> None:
        """Put a module, and all that comes with it, where it would be had it been executed now."""
        self._note(name)
        brought = {one: self.modules[one] for one in self.brought(name) if one in self._kept}
        self._kept.difference_update(brought)
        sys.modules.update(brought)
        for one in self._bound.intersection(brought):
            holder, own = self._holder(one)
            holder[own] = brought[one]
        for owner, change in self._changes:
            if owner in brought:
                change()
        if PROCESS in brought:
            _remember_folder(brought[PROCESS])


class _GivingBack(Loader):
    """A hidden module's loader, which gives it back in place of executing it.

    Args:
        spec: the module's own.
        hidden: where it is.
    """

    def __init__(self, spec: ModuleSpec, hidden: Hidden) -> None:
        self._spec = spec
        self._hidden = hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spec.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._hidden.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        self._hidden.give_back(self._spec.name)


def _attributes(module: object) -> dict[str, Any]:
    """Those of a module; what else stands among modules has none that matter."""
    return vars(module) if isinstance(module, ModuleType) else {}


def _folder(name: str, spec: ModuleSpec | None) -> str | None:
    """The entry of the path where a module lies that lies in no package; None of what lies elsewhere."""
    if "." in name or spec is None or not spec.has_location or spec.origin is None:
        return None
    return str(Path(spec.origin).parents[0 if spec.submodule_search_locations is None else 1])


def _package(globals: Mapping[str, Any]) -> str:
    name = globals["__name__"]
    return str(globals.get("__package__") or (name if "__path__" in globals else name.rpartition(".")[0]))


def _surroundings() -> tuple[list[Any], dict[str, str]]:
    """What modules change beside themselves while they are executed."""
    return list(warnings.filters), dict(os.environ)


def _change_filters(first: list[Any], last: list[Any], removed: list[Any]) -> None:
    with warnings.catch_warnings():  # once it is over, Python looks at all filters anew
        pass
    kept = [one for one in warnings.filters if one not in (*first, *last, *removed)]
    warnings.filters[:] = [*first, *kept, *last]  # type: ignore[index]


def _change_environment(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _remember_folder(process: ModuleType) -> None:
    """What `multiprocessing.process` does when it is executed: in this folder, processes that are started anew find modules."""
    vars(process)["ORIGINAL_DIR"] = None
    with suppress(OSError):  # the folder may be gone
        vars(process)["ORIGINAL_DIR"] = str(Path.cwd())


def _put_back(attributes: dict[str, Any], name: str, value: object) -> None:
    if value is NOTHING:
        del attributes[name]
    else:
        attributes[name] = value
