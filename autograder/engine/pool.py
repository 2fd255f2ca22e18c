"""What this process grades with: a zygote, lent by the process that started this one or a warm one of its own, and the next
submission's process, which stands ready while the last one's is at work."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from autograder.engine.given import NOTHING, Given
from autograder.engine.inside.walls import Limits
from autograder.engine.outer import best_walls
from autograder.engine.session import Session, Standby
from autograder.engine.zygote import Place, Zygote, ZygoteFailed


@dataclass
class _Kept:
    """What this process has at hand."""

    lent: Place | None = None
    own: Zygote | None = None
    standby: Standby | None = None
    used: bool = False
    modules: set[str] = field(default_factory=set)
    libraries: list[Path] = field(default_factory=list)
    given: Given = NOTHING
    limits: Limits = field(default_factory=Limits)


_kept = _Kept()


def be_lent(place: Place | None) -> None:
    """From now on, borrow the zygote that another process keeps; None ends that."""
    _kept.lent = place


def start_early(modules: Set[str], libraries: Sequence[Path], limits: Limits, given: Given = NOTHING) -> None:
    """Start what `borrowed` is going to lend, while this process is busy with something else.

    Args:
        modules: what it imports beforehand.
        libraries, limits, given: as for `borrowed`.
    """
    if _kept.lent is None and best_walls() != "outer":
        with suppress(ZygoteFailed):  # whoever needs it will say so
            _own(modules, libraries, limits, False, given)


@contextmanager
def borrowed(
    modules: Callable[[bool], Set[str]],
    libraries: Sequence[Path],
    limits: Limits,
    anew: bool = False,
    given: Given = NOTHING,
) -> Iterator[Place]:
    """A zygote for one submission.

    Where there is no inner wall, each submission gets one of its own. Else a warm one is used for all.

    Args:
        modules: says what it should have imported, when it is told whether this may be the only submission; it is not asked where one
            is lent.
        libraries: the packages that can be imported within.
        limits: what each submission may use; one that is lent has them.
        anew: the last one failed; start another, which, where it is kept, imports nothing beforehand.
        given: the instructor's files that a submission finds in its folder; one that is lent has them.

    Raises:
        ZygoteFailed: it could not be started.
    """
    if _kept.lent and not anew:
        yield _kept.lent
    elif best_walls() == "outer":
        with Zygote(sorted(modules(True)), libraries, limits=limits, given=given) as cold:
            yield cold.place
    else:
        _kept.lent = None
        own = _own(modules(not _kept.used), libraries, limits, anew, given)
        _kept.used = True
        yield own.place


def _own(modules: Set[str], libraries: Sequence[Path], limits: Limits, anew: bool, given: Given) -> Zygote:
    there = [*libraries], given.key, limits
    same = there == (_kept.libraries, _kept.given.key, _kept.limits)
    fits = _kept.own is not None and _kept.own.alive and modules <= _kept.modules and same
    if _kept.own is None or anew or not fits:
        discard()
        _kept.modules = set() if anew else _kept.modules | modules
        _kept.libraries, _kept.given, _kept.limits = [*libraries], given, limits
        _kept.own = Zygote(sorted(_kept.modules), libraries, limits=limits, given=given)
    return _kept.own


def opened(
    place: Place, files: Mapping[str, bytes], variables: Mapping[str, str], folder: str, removed: Sequence[str]
) -> Session:
    """A session, in the process that stands ready where there is one; and from now on the next one stands ready.

    Where the instructor's files lie beside a notebook, or there is no inner wall, none can: its folder is laid out before it is closed in.

    Args:
        place, files, variables, folder, removed: as for `Session`.

    Raises:
        ZygoteFailed: the zygote is gone, or could not fork.
    """
    standby, _kept.standby = _kept.standby, None
    session = None
    if standby is not None and standby.place == place:
        with suppress(ZygoteFailed):  # it has ended meanwhile
            session = Session(place, files, variables, folder, removed, standby)
    elif standby is not None:
        standby.close()
    session = session or Session(place, files, variables, folder, removed)
    if place.walls == "both" and not place.given:
        with suppress(ZygoteFailed):  # whoever needs it will say so
            _kept.standby = Standby(place)
    return session


@atexit.register
def discard() -> None:
    """End what this process has at hand for itself."""
    if _kept.standby is not None:
        _kept.standby.close()
        _kept.standby = None
    if _kept.own is not None:
        _kept.own.close()
        _kept.own, _kept.modules, _kept.used = None, set(), False
