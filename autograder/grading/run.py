"""Grade a class: read, mark in parallel, ask where scores would change, write, give feedback, report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde
from rich.console import Console

from autograder.engine import Given, TooMuchToSend, ZygoteFailed, best_walls
from autograder.folder import Course
from autograder.grading import gradebook, worker
from autograder.grading.crew import Cluster, Crew, Local, cores, in_parallel
from autograder.grading.database import only_writer, opened
from autograder.grading.feedback import feed_back, open_course
from autograder.grading.folders import prepare_folder, write_folder
from autograder.grading.gradebook import Entry
from autograder.grading.lateness import Late, Policy
from autograder.grading.logs import collected_warnings
from autograder.grading.marking import Marker
from autograder.grading.noting import Notes, Said
from autograder.grading.preview import Change, changes
from autograder.grading.progress import Bar
from autograder.grading.report.gathering import gather
from autograder.grading.report.lines import Line
from autograder.grading.report.page import html
from autograder.grading.requests import inbox, troubles
from autograder.grading.result import MarkedSubmission
from autograder.grading.snapshot import Snapshot, read_snapshot, registered
from autograder.grading.store import Store, code_digest, only_run, write_atomically
from autograder.grading.submission import Submission, read_submission
from autograder.plugins import stamping
from autograder.plugins.executing import JudgedExecute, unusable
from autograder.plugins.handing_in import NO_TIME, TIMESTAMP, moment
from autograder.plugins.papers import Papers
from autograder.plugins.preloading import shared_zygote
from autograder.plugins.printable import MOST_SAID, few
from autograder.plugins.printable import lines as printable_lines
from autograder.plugins.regrade_requests import Inbox, place
from autograder.plugins.renewing import are_current
from autograder.plugins.sandbox import Sandbox
from autograder.plugins.stamping import Marks
from autograder.plugins.starting import RETURNED, named, unfinished
from autograder.plugins.structure import NOBODY
from autograder.problems import FAILED, OF_PEOPLE, UNCONFIRMED, Problem, nearest

BATCH = 50
MARKING, WRITING, FEEDBACK = "Marking", "Writing", "Feedback on"
OF_NO_FILE = (BlockingIOError, ChildProcessError, ConnectionError, InterruptedError, ProcessLookupError, TimeoutError)
"""What processes and sockets raise, unless a file is named."""
ENGINE = f"{JudgedExecute.__module__}.{JudgedExecute.__qualname__}"


@dataclass
class Graded:
    """What a run did.

    Attributes:
        lines: what the gradebook now says of every student.
        marked: who was marked by this run, with the seconds that it took.
        failed: who could not be graded, and why.
        notes: by student, what was repaired, moved away or stopped, by this run or an earlier one.
        late: by student, when it was handed in and what being late cost.
        names: by student, the name that the gradebook has, or "".
        papers: by student, the paper that this was marked on; 0 for an assignment that is not this course's.
        changes: the scores that were in the gradebook and are, or would be, others.
        requests: how many regrade requests nobody has decided.
        unread: what is amiss with the file of regrade requests.
        written: whether anything was written; False where there are changes and nobody said yes.
        report: the class report.
    """

    lines: list[Line] = field(default_factory=list)
    marked: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    late: dict[str, Late] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    papers: dict[str, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    requests: int = 0
    unread: list[str] = field(default_factory=list)
    written: bool = True
    report: Path | None = None


def grade(
    course: Course,
    assignment: str,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    feedback: bool = True,
    paper: int | None = None,
    students: Collection[str] = (),
    confirm: Callable[[list[Change]], bool] = lambda _: True,
    unwalled: Callable[[], bool] = lambda: True,
    console: Console | None = None,
) -> Graded:
    """Grade everybody who handed in, and write the class report.

    What is unchanged since an earlier run is not run again. One submission that cannot be graded stops no other.

    Args:
        course: where the submissions are.
        assignment: the name of an assignment that was released.
        jobs: how many processes; as many as there are cores for this process, if None.
        scheduler: the address of a Dask scheduler, whose workers mark instead.
        force: mark again what has been marked.
        feedback: whether to write feedback pages.
        paper: what everybody is marked on; if None, whatever each was marked on before, and else the last one, or a new one
            where feedback on that is out.
        students: who is graded; everybody who handed in, if empty.
        confirm: is shown the scores that would change, and says whether to write; it is not asked where there are none.
        unwalled: is asked where submissions would run without walls, and says whether they may.
        console: where progress is told; nowhere, if None.

    Raises:
        Problem: nothing can be graded as things are; the message says what to do.
    """
    console = console or Console(quiet=True)
    if trouble := unusable(course.config):
        raise Problem(trouble)
    with only_run(course.class_folder / "graded"), only_writer(course):
        if registered(course, assignment):
            console.print(f"{assignment} was not in the gradebook yet: it was entered from source/.", markup=False)
        snapshot = read_snapshot(course, assignment)
        phases = (MARKING, WRITING, FEEDBACK) if feedback else (MARKING, WRITING)
        run = _Run(course, snapshot, students, force, console, phases)
        if paper is not None:
            run.papers.use(paper, students)
            run.is_asked_for = True
        try:
            run.read()
            if run.waiting and scheduler is None and not run.has_walls() and not unwalled():
                raise Problem(
                    "Nothing was run. Say yes, or use --no-walls: submissions then run without walls.", UNCONFIRMED
                )
            run.mark(jobs, scheduler)
            run.graded.changes = changes(snapshot, run.stored, run.deadlines, run.entries.values())
            run.graded.written = not run.graded.changes or confirm(run.graded.changes)
            if run.graded.written:
                run.is_asked_for = False
                run.keep_papers()
                run.write()
                if not students:
                    run.store.prune(run.keys.values())
                if feedback:
                    run.feed_back(jobs)
            run.graded.failed = {who: printable_lines(why) for who, why in run.graded.failed.items()}
            run.report()
        except ZygoteFailed as error:
            raise Problem(f"{error}. `python -m autograder doctor` says what this machine can do.", FAILED) from None
        except TooMuchToSend as error:
            raise Problem(f"{assignment} cannot be graded: {error}.") from None
        except OSError as error:
            if error.filename is None and isinstance(error, OF_NO_FILE):
                raise
            kept = "What was finished is kept: make room, or make it writable, and run the same command again."
            raise Problem(
                f"{error.filename or 'A file'} could not be used: {error.strerror or error}. {kept}", FAILED
            ) from None
    return run.graded


class _Run:
    """One run, step by step."""

    def __init__(
        self,
        course: Course,
        snapshot: Snapshot,
        only: Collection[str],
        force: bool,
        console: Console,
        phases: tuple[str, ...],
    ) -> None:
        self.course, self.snapshot, self.force, self.console = course, snapshot, force, console
        self.only, self.phases = only, phases
        self.assignment = snapshot.assignment
        self.marker = Marker(snapshot)
        self.store = Store(course.class_folder / "graded" / snapshot.assignment, snapshot)
        self.stored = gradebook.grades(course, snapshot.assignment)
        self.deadlines = gradebook.deadlines(course, snapshot.assignment)
        self.policy = Policy(course, snapshot, self.stored, self.deadlines)
        self.papers = Papers(course.directory, snapshot.assignment)
        self.is_asked_for = False
        self.inbox = Inbox()
        self.notes = Notes(course.class_folder / "graded" / snapshot.assignment)
        self.graded = Graded()
        self.said: dict[str, list[str]] = {}
        self.digests: dict[str, str] = {}
        self.keys: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        self.waiting: list[str] = []
        self.preload = [worker.__name__, feed_back.__module__, *snapshot.judge.modules(self.assignment)]

    def read(self) -> None:
        """Read what was handed in, and find out what there is to do."""
        excluded = self.course.directory.student_id_exclude.split(",")
        students = [student for student in self.course.submitters(self.assignment) if student not in excluded]
        for student in self.only:
            if student not in students:
                raise Problem(
                    f"{student} handed in nothing for {self.assignment}.{nearest(student, students, OF_PEOPLE)}"
                )
        if self.only:
            students = [student for student in students if student in self.only]
        else:
            self.graded.failed |= self.course.misnamed(self.assignment)
        if not students and not self.graded.failed:
            folder = self.course.folder("submitted", "STUDENT", self.assignment)
            raise Problem(f"Nobody handed in {self.assignment}: there is no {folder}.")
        known = gradebook.students(self.course)
        creates = Autograde(coursedir=self.course.directory, config=self.course.config).create_student
        in_gradebook = {grade.student for grade in self.stored}
        try:
            self.inbox = inbox(self.course)
            self.graded.unread = [*troubles(self.inbox, place(self.course.directory))]
        except Problem as problem:  # what they ask for is graded all the same
            self.graded.unread = [str(problem)]
        given_back = []
        for student in students:
            with collected_warnings() as log:
                if prepare_folder(self.course, self.snapshot, student):
                    given_back.append(student)
            self._note(student, log)
        if given_back:
            self.console.print(f"{named(given_back)}: {RETURNED}", markup=False, highlight=False)
        for student in students:
            try:
                submission = self._submission(student)
            except OSError as error:
                self.graded.failed[student] = f"could not be read: {error}"
                continue
            if not submission.notebooks:
                handed_in = ", ".join(submission.unknown) or "no notebook"
                wanted = " and ".join(f"{notebook.name}.ipynb" for notebook in self.snapshot.notebooks)
                self.graded.failed[student] = f"handed in {handed_in}; what is wanted is {wanted}"
                continue
            if not (creates or student in known):
                self.graded.failed[student] = "is not in the gradebook: run `nbgrader db student add`"
                continue
            self._note(student, [f"{name} is not a notebook of this assignment" for name in submission.unknown])
            self._note(student, self.notes.of(student, submission.digest))
            self._key(submission)
            kept = None if self.force else self.store.get(self.keys[student])
            if kept is None:
                self.waiting.append(student)
                continue
            entry = self._entry(submission, kept)
            if not (
                self._folder(student).is_dir()
                and student in in_gradebook
                and self.store.is_written(student, self._state(entry))
                and not unfinished(self.course.folder("submitted", student, self.assignment))
            ):
                self.entries[student] = entry
        self.keep_papers()

    def mark(self, jobs: int | None, scheduler: str | None) -> None:
        """Mark what has not been marked yet; each result is kept as soon as it is there."""
        if not self.waiting:
            return
        code = code_digest(self.snapshot.judge, self.assignment) if scheduler else ""
        contents = {name: path.read_bytes() for name, path in self.snapshot.paths.items()} if scheduler else None
        carried = replace(self.snapshot, carried=contents)

        def begin(student: str) -> tuple[Any, ...]:
            submission = self._submission(student)
            self._key(submission)
            paper = self.graded.papers[student]
            if scheduler is None:
                return worker.mark_opened, submission, paper
            return worker.mark_elsewhere, submission, paper, carried, code

        bar = self._bar(MARKING, len(self.waiting))
        with self._crew(min(jobs or cores(), len(self.waiting)), scheduler) as crew, bar.shown():
            for student, result, error in in_parallel(crew, self.waiting, begin, bar.wait_for):
                self._marked(student, result, error)
                bar.step(student in self.graded.failed)
        self.keep_papers()  # somebody may have handed in meanwhile

    @contextmanager
    def _crew(self, jobs: int, scheduler: str | None) -> Iterator[Crew]:
        """Who marks: a cluster, or processes of this machine, which share a zygote if the settings' executor uses one."""
        with ExitStack() as stack:
            if scheduler is not None:
                crew: Crew = Cluster(scheduler)
            else:
                source = self.course.folder("source", NOBODY, self.assignment)
                warm = ENGINE in self.snapshot.autograde
                zygote = (
                    stack.enter_context(
                        shared_zygote(
                            source.glob("*.ipynb"),
                            Sandbox(config=self.snapshot.settings),
                            Given(self.snapshot.paths),
                            alone=len(self.waiting) == 1,
                        )
                    )
                    if warm
                    else None
                )
                crew = Local(jobs, self.preload, worker.open_assignment, self.snapshot, zygote)
            yield stack.enter_context(closing(crew))

    def _marked(self, student: str, result: MarkedSubmission | None, error: BaseException | None) -> None:
        if isinstance(error, Problem):
            raise error
        try:
            submission = self._submission(student)
        except OSError as gone:
            self.graded.failed[student] = f"could not be read: {gone}"
            return
        if not submission.notebooks:
            self.graded.failed[student] = "could not be read: its notebook was taken away meanwhile"
            return
        if error is not None:
            reason = f"The process that marked it died, or failed: {type(error).__name__}: {error}"
            result = self.marker.for_a_person(submission, RuntimeError(reason))
        assert result is not None
        if result.final:
            self.store.put(self.keys[student], result)
        if result.error:
            self.graded.failed[student] = result.error
        self.graded.marked[student] = result.seconds
        self.entries[student] = self._entry(submission, result)

    def write(self) -> None:
        """Write every result, and remember whose was written."""
        waiting = list(self.entries)
        if not waiting:
            return
        bar = self._bar(WRITING, len(waiting))
        with bar.shown():
            for start in range(0, len(waiting), BATCH):
                batch = {}
                for student in waiting[start : start + BATCH]:
                    bar.step()
                    entry = self.entries[student]
                    try:
                        with collected_warnings() as log:
                            write_folder(self.course, self.snapshot, self._submission(student), entry.result)
                        self._note(student, log)
                        self.notes.add(student, self.digests[student], log)
                    except OSError as error:
                        self.graded.failed[student] = f"could not be written: {error}"
                    else:
                        batch[student] = entry
                with collected_warnings():  # of penalties, which the gradebook shows
                    gradebook.write(self.course, self.snapshot, batch.values())
                self.notes.save()
                self.store.wrote(
                    {who: self._state(entry) if entry.result.final else None for who, entry in batch.items()}
                )

    def feed_back(self, jobs: int | None) -> None:
        """Make the pages of everybody whose work or marks have changed since theirs were made."""
        with opened(self.course) as book:
            marks = stamping.marks(book, self.assignment, self.inbox.of(self.assignment))
        waiting = [who for who in self.keys if self._folder(who).is_dir() and not self._has_feedback(who, marks)]
        if not waiting:
            return
        crew = Local(min(jobs or cores(), len(waiting)), self.preload, open_course, self.course.root)
        bar = self._bar(FEEDBACK, len(waiting))
        with closing(crew), bar.shown():
            for student, made, error in in_parallel(
                crew, waiting, lambda who: (feed_back, self.assignment, who), bar.wait_for
            ):
                reason, notes = made or (str(error), [])
                self._note(student, notes)
                if reason:
                    self.graded.failed[student] = f"has no feedback page of these marks: {reason}"
                bar.step(bool(reason))

    def report(self) -> None:
        """Say what the gradebook now says of everybody; where anything was written, also on a page."""
        graded = self.graded
        said = Said(graded.failed, graded.notes, graded.papers)
        kept = self.course.class_folder / "graded" / self.assignment
        if self.only:
            said = Said.kept(kept).with_news(self.only, said)
        gathered = gather(self.course, self.assignment, said)
        graded.lines, graded.late, graded.names = gathered.lines, dict(gathered.late), dict(gathered.names)
        graded.requests = sum(not one.is_decided for one in self.inbox.of(self.assignment))
        if graded.written:
            said.keep(kept)
            graded.report = self.course.class_folder / "report" / f"{self.assignment}.html"
            write_atomically(graded.report, html(gathered))

    def _bar(self, phase: str, total: int) -> Bar:
        place = f"{self.phases.index(phase) + 1} of {len(self.phases)}"
        return Bar(self.console, f"{phase} {self.assignment} ({place})", total)

    def _submission(self, student: str) -> Submission:
        return read_submission(self.course, student, self.snapshot)

    def _folder(self, student: str) -> Path:
        return self.course.folder("autograded", student, self.assignment)

    def _has_feedback(self, student: str, marks: Marks) -> bool:
        pages = self.course.folder("feedback", student, self.assignment)
        return are_current(pages, self._folder(student).glob("*.ipynb"), student, marks)

    def has_walls(self) -> bool:
        """Whether the engine, if it runs these submissions, can put any wall around them; a kernel has none to lose."""
        return ENGINE not in self.snapshot.autograde or best_walls() != "none"

    def _key(self, submission: Submission) -> None:
        paper = self.papers.of(submission.student) if self.snapshot.ours else 0
        self.digests[submission.student] = submission.digest
        self.graded.papers[submission.student] = paper
        self.keys[submission.student] = self.store.key(submission.digest, paper)

    def keep_papers(self) -> None:
        """Write down who is marked on which paper; one that was asked for counts once its scores are written."""
        if self.snapshot.ours and not self.is_asked_for:
            self.papers.save()

    def _state(self, entry: Entry) -> str:
        """What the gradebook and the folders are made of, once an entry is written."""
        return f"{self.keys[entry.student]} {sorted(entry.penalties.items())}"

    def _entry(self, submission: Submission, result: MarkedSubmission) -> Entry:
        self._note(submission.student, self._without_name(submission.student, result.log))
        timestamp = self._timestamp(submission)
        entry = Entry(submission.student, timestamp, frozenset(submission.notebooks), result)
        return replace(entry, penalties=self.policy.penalties(entry))

    def _without_name(self, student: str, log: Iterable[str]) -> Iterator[str]:
        """Warnings as they read where the student's name stands before them."""
        names = [notebook.name for notebook in self.snapshot.notebooks]
        for warning in log:
            name = next((name for name in names if warning.startswith(f"{name} of {student}")), None)
            yield warning if name is None else name + warning.removeprefix(f"{name} of {student}")

    def _timestamp(self, submission: Submission) -> datetime | None:
        stamp = submission.files.get(TIMESTAMP)
        try:
            return moment(stamp.data) if stamp else None
        except ValueError:
            self._note(submission.student, [f"{TIMESTAMP}: {NO_TIME}"])
            return None

    def _note(self, student: str, notes: Iterable[str]) -> None:
        mine = self.said.setdefault(student, [])
        mine += (printable_lines(note).removeprefix(f"{student}: ") for note in notes)
        self.graded.notes[student] = few(mine, 3 * MOST_SAID)
