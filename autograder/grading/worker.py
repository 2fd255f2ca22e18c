"""What a process that marks keeps from one submission to the next.

Whoever has it mark can call no more than a function of a module, with arguments that travel each time; so what is not to travel
with each submission lies here, and in `autograder.engine.pool` the zygote. No mark depends on it: it is made of the assignment
alone. It goes when the process ends, or opens another assignment.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field, replace
from functools import cache

from autograder.engine import Place, be_lent, temporary
from autograder.grading.marking import Marker
from autograder.grading.result import MarkedSubmission
from autograder.grading.snapshot import File, Snapshot
from autograder.grading.store import code_digest
from autograder.grading.submission import Submission
from autograder.problems import Problem


@dataclass
class _Kept:
    """What this process has at hand.

    Attributes:
        opened: of the assignment that this process was started for.
        sent: of those that came with a submission, by digest.
    """

    opened: Marker | None = None
    sent: dict[str, Marker] = field(default_factory=dict)


_kept = _Kept()


def open_assignment(snapshot: Snapshot, zygote: Place | None) -> None:
    """Have this process mark submissions of an assignment, which then does not travel with each, with a zygote that is lent."""
    _kept.opened = Marker(snapshot)
    be_lent(zygote)


def mark_opened(submission: Submission, paper: int) -> MarkedSubmission:
    """Mark a submission of the assignment that was opened."""
    assert _kept.opened is not None
    return _kept.opened.mark(submission, paper)


def mark_elsewhere(submission: Submission, paper: int, snapshot: Snapshot, code: str) -> MarkedSubmission:
    """Mark a submission on another machine.

    Raises:
        Problem: that machine has other code than the one that asks, and its results would pass for this one's.
    """
    if _code_here(snapshot.judge, snapshot.assignment) != code:
        raise Problem(
            f"{socket.gethostname()} has another version of this package, or of the course: bring all workers to the same one."
        )
    if snapshot.digest not in _kept.sent:
        _kept.sent[snapshot.digest] = Marker(_unpacked(snapshot))
    return _kept.sent[snapshot.digest].mark(submission, paper)


_code_here = cache(code_digest)


def _unpacked(snapshot: Snapshot) -> Snapshot:
    """The assignment with the instructor's files where this process finds them."""
    folder = temporary.make()
    given = {}
    for name, data in (snapshot.carried or {}).items():
        File(data, snapshot.given[name].executable).write(folder / name)
        given[name] = snapshot.given[name]._replace(path=folder / name)
    return replace(snapshot, given=given, carried=None)
