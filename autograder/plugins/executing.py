"""Run a submission in the engine, and let the course's judge, if it has one, score its own grade cells."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode, from_dict
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from nbgrader.utils import compute_checksum, is_grade
from traitlets import Integer, TraitError, default
from traitlets.config import Config

from autograder.engine import (
    NOTHING,
    CellRun,
    Given,
    KilledByMachine,
    NoSuchWalls,
    Session,
    ZygoteFailed,
    best_walls,
    borrowed,
    opened,
    temporary,
)
from autograder.engine.inside.files import changes, stamps
from autograder.engine.kernels import lay_out, walled_kernels
from autograder.engine.session import COMMS
from autograder.plugins import files_beside, widgets
from autograder.plugins.bounds import Refused
from autograder.plugins.experiments import is_untouched, unknown, words_in
from autograder.plugins.judges import Judge, judge_of
from autograder.plugins.kernels_needed import why_a_kernel
from autograder.plugins.papers import PAPER, Papers
from autograder.plugins.preloading import modules_of
from autograder.plugins.printable import lines, without_colours
from autograder.plugins.reading import LEFT_OUT, say_why
from autograder.plugins.repairing import (
    RELEASED,
    Released,
    class_with,
    defines,
    is_same,
    lost_from,
    tell,
    version_of,
)
from autograder.plugins.sandbox import Sandbox
from autograder.plugins.unreached import first_unreached
from autograder.verdicts.cells import ANSWER
from autograder.verdicts.verdict import ENDED, SENTENCES, Conversation, Outcome, Verdict

ALARMING = ("timed out", "crashed", "tampered", "grader fault")

TOLD = ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING")  # of the grader's own environment
LANGUAGE = {
    "name": "python",
    "version": ".".join(map(str, sys.version_info[:3])),
    "mimetype": "text/x-python",
    "codemirror_mode": {"name": "ipython", "version": sys.version_info.major},
    "pygments_lexer": f"ipython{sys.version_info.major}",
    "nbconvert_exporter": "python",
    "file_extension": ".py",
}
CUT = "[the rest was cut]"
SECONDS_IN_PUBLIC = 5.0  # for all wrong answers of a notebook together
MOST_LINES, MOST_CHARACTERS = 60, 4_000  # of what is shown of one
ATTEMPTS = 3
KILLED = "the process that ran it was killed by this machine (was there memory left?)"
KILLED_STATE = "killed by the machine"
NOT_FINAL = "not final"
"""Among what is told of a notebook: why it waits for a person, where the next command runs it anew."""
MOST_NAMED = 4
SECONDS_TO_LEAVE = 2.0  # for a cell whose judge has already gone


def exercise_of(cell: NotebookNode, judge: Judge, notebook: str) -> str | None:
    """The name of the exercise that a grade cell belongs to, or None where the judge has no say in it."""
    if cell.cell_type != "code" or not is_grade(cell):
        return None
    name: str | None = cell.metadata.nbgrader.get("grade_id")
    return name if name in judge.exercises(notebook) else None


def unusable(config: Config) -> str:
    """What is wrong with a course's settings for running submissions, or with the walls that the environment asks for, in a sentence;
    "" where nothing is."""
    try:
        best_walls(), judge_of(config), Sandbox(config=config), JudgedExecute(config=config)
    except NoSuchWalls as error:
        return str(error)
    except (ImportError, TraitError) as error:
        return f"nbgrader_config.py has a setting that cannot be used; mend it: {error}"
    return ""


class Stop(NamedTuple):
    """A cell that stopped.

    Attributes:
        why: the error that ended it, in a sentence.
        lacked: the files that it says there are not, of those that were left out.
    """

    cell: NotebookNode
    why: str
    lacked: frozenset[str]


class JudgedExecute(Execute):
    """nbgrader's `Execute`, settings and all, without a kernel: cells run in the engine, and the judge stays on this side.

    A grade cell that the course's judge scores runs what the judge asks for, whatever `check` and `judge` have become in the student's notebook. What is
    printed into it is thrown away; its output is written from the verdict, after the last cell has run, since a cell
    may update what an earlier one displayed. A process that dies or hangs takes no earlier marks with it. Experiments that the
    student has not changed are left out; where an answer turns out to need one, all cells are run once more, and none is left out.

    Any other notebook is run by nbgrader's rules. One that needs a real kernel gets one.
    """

    notebook_timeout = Integer(
        900, help="seconds that one notebook may take altogether; a real kernel's is not counted"
    ).tag(config=True)

    @default("iopub_timeout")
    def _patience_with_outputs(self) -> int:
        """Seconds; where a real kernel is slow to show what it did, because the machine is busy, it is not passed over."""
        return 60

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if resources and resources.get("nbgrader", {}).get("refused"):
            return nb, resources
        try:
            nb, resources = self._run(nb, resources, km)
            self._tell_of_the_network(nb, resources)
            return nb, resources
        except Refused as error:  # what it found beside it, with what the notebooks before it wrote
            info = resources["nbgrader"]
            info["refused"] = True
            self.log.warning("%s of %s waits for a person: %s", info["notebook"], info["student"], error)
            say_why(nb, error)
            return nb, resources

    def _tell_of_the_network(self, nb: NotebookNode, resources: dict[str, Any]) -> None:
        if not resources or self._sandbox.network or best_walls() == "none":
            return
        index = first_unreached(nb)
        if index is not None:
            self._warn(f"{self._place(index)} {UNREACHED}")

    @cached_property
    def _judge(self) -> Judge:
        return judge_of(self.config)

    @cached_property
    def _sandbox(self) -> Sandbox:
        return Sandbox(config=self.config)

    def explained(self, exercise: str) -> str:
        """How the verdict on one exercise of the notebook that was run last came about; "" where nothing was tried."""
        heard = self._heard.get(exercise)
        return heard.explain() if heard else ""

    def _exercise_of(self, cell: NotebookNode, resources: dict[str, Any]) -> str | None:
        return exercise_of(cell, self._judge, resources["nbgrader"]["notebook"])

    def _run(self, nb: NotebookNode, resources: dict[str, Any], km: Any) -> tuple[NotebookNode, dict[str, Any]]:
        judged = bool(resources) and any(self._exercise_of(cell, resources) for cell in nb.cells)
        if km is not None or not resources:
            return super().preprocess(nb, resources, km)
        if not judged and self.why_a_kernel(nb):
            return self._in_a_kernel(nb, resources)
        NotebookClient.__init__(self, nb, km)  # as nbconvert does at this point
        self._check_assign_resources(resources)
        self._paper = self._paper_of(resources["nbgrader"]) if judged else 0
        if judged:
            untouched = {index: cell.source for index, cell in enumerate(nb.cells) if is_untouched(cell)}
            self._run_cells(nb, left_out=untouched)
            if self._unknown & words_in(untouched.values()):
                untouched = {}
                self._run_cells(nb)
            self._try_publicly(nb, left_out=untouched)
        else:
            folder = Path(resources.get("metadata", {}).get("path") or ".")
            given = self._given(resources["nbgrader"])
            files, removed = files_beside.gather(folder, given.files)
            files_beside.settle(folder, self._run_cells(nb, given, files, removed))
            self.set_widgets_metadata()
        nb.metadata.language_info = NotebookNode(LANGUAGE)
        for index, verdict in self._verdicts.items():
            nb.cells[index].outputs = [from_dict(self._output(verdict, nb.cells[index].execution_count))]
        if judged:
            notes = list(self._given_cells_that_failed(nb))
            for note in notes:
                self._warn(note)
            tell(nb, notes)
        return nb, resources

    @property
    def _released(self) -> Released:
        """What this notebook was released with."""
        found: Released = self.resources["nbgrader"].get(RELEASED, Released())
        return found

    def _given_first(self, nb: NotebookNode, session: Session, left: Callable[[], float]) -> None:
        """Bind what the released notebook's given cells bind, where the student has not left them as they were."""
        if self._released.lacking_in(nb.cells):
            for _, source in self._released.given:
                session.run(source, max(left(), 1.0))

    def _given_cells_that_failed(self, nb: NotebookNode) -> Iterator[str]:
        """What is said of given cells that a student has changed so that they stop, or bind too little."""
        for name, source in self._released.given:
            cell = version_of(name, source, nb.cells)
            if cell is None or is_same(cell.source, source):
                continue
            if stopped := self._stopped(cell):
                yield f"the cell {name} stopped ({stopped}); it was run as it was released"
            elif lost := lost_from(cell, source, nb.cells):
                yield f"the cell {name} has no {', '.join(lost)} any more; it was run as it was released"

    def _run_cells(
        self,
        nb: NotebookNode,
        given: Given | None = None,
        files: dict[str, bytes] | None = None,
        removed: Sequence[str] = (),
        left_out: Collection[int] = (),
    ) -> dict[str, bytes | None]:
        """Run the cells of a notebook in a process of its own. If this machine kills that, they are run again.

        Args:
            given: the instructor's files beside it; None where it is judged, and finds none.
            files: the student's files beside it.
            removed: which of the instructor's files it does not find.
            left_out: the cells that are not run.

        Returns:
            The files beside it that it changed; None for each that it removed.

        Raises:
            Refused: this machine has killed it each time.
        """
        for _ in range(ATTEMPTS - 1):
            with suppress(KilledByMachine):
                return self._run_cells_once(nb, given, files, removed, left_out)
            self._warn(f"{KILLED}; it is run again")
        try:
            return self._run_cells_once(nb, given, files, removed, left_out)
        except KilledByMachine:
            killed = Refused(f"{KILLED}, {ATTEMPTS} times", KILLED_STATE)
            self.resources["nbgrader"][NOT_FINAL] = killed
            raise killed from None

    def _run_cells_once(
        self,
        nb: NotebookNode,
        given: Given | None,
        files: dict[str, bytes] | None,
        removed: Sequence[str],
        left_out: Collection[int],
    ) -> dict[str, bytes | None]:
        self.reset_execution_trackers()
        self._answered = widgets.answer(self)
        self._verdicts: dict[int, Verdict] = {}
        self._stops: list[Stop] = []
        self._unknown: set[str] = set()
        self._heard: dict[str, Conversation] = {}
        self._passed: frozenset[str] = frozenset()
        with self._opened(nb, given, files or {}, removed) as self._session:
            self._left = self._session.allow(self.notebook_timeout)
            if given is None:
                self._given_first(nb, self._session, self._left)
            for index, cell in enumerate(nb.cells):
                if index not in left_out:
                    self._execute(cell, index)
            return {} if given is None else self._session.files()

    def _output(self, verdict: Verdict, count: int | None) -> dict[str, Any]:
        """A verdict as a cell's result; nbformat's `new_output` would validate it, which is done once the whole notebook is there."""
        data = self._judge.shown(verdict)
        return {"output_type": "execute_result", "metadata": {}, "data": data, "execution_count": count}

    def why_a_kernel(self, nb: NotebookNode) -> str:
        """Why a notebook that is not judged needs a kernel of its own; "" where it needs none."""
        named = self.kernel_name or nb.metadata.get("kernelspec", {}).get("name", "")
        return why_a_kernel(named, (cell.source for cell in nb.cells if cell.cell_type == "code"))

    def _in_a_kernel(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Run a notebook as nbgrader does, but behind a wall, and on a copy of its folder."""
        folder = Path(resources.get("metadata", {}).get("path") or ".")
        info = resources["nbgrader"]
        with temporary.folder() as own:
            copied = own / "class" / info["student"] / info["assignment"]
            copied.mkdir(parents=True)
            given = self._given(info)
            files, missing = files_beside.gather(folder, given.files)
            lay_out(copied, given)
            files_beside.write(copied, {**files, **dict.fromkeys(missing)})
            before = stamps(copied)
            elsewhere = {**resources, "metadata": {**resources.get("metadata", {}), "path": str(copied)}}
            walled = walled_kernels(own, copied, self._sandbox.libraries, given, self._sandbox.limits)
            with walled as self.kernel_manager_class:
                nb, _ = super().preprocess(nb, elsewhere)
            written, removed = changes(copied, before)
            files_beside.settle(folder, {**written, **dict.fromkeys(removed)})
        return nb, resources

    @contextmanager
    def _opened(
        self, nb: NotebookNode, given: Given | None, files: dict[str, bytes], removed: Sequence[str]
    ) -> Iterator[Session]:
        """A session for this notebook; where the warm zygote turns out to be gone, with another one."""
        variables = {name: os.environ[name] for name in TOLD if name in os.environ}
        if given is None:
            variables[self._judge.variable] = ""
        info = self.resources["nbgrader"]
        folder = f"{info['student']}/{info['assignment']}"

        def modules(alone: bool) -> set[str]:
            return modules_of((cell.source for cell in nb.cells if cell.cell_type == "code"), self._sandbox, alone)

        def session(stack: ExitStack, anew: bool) -> Session:
            own = (self._sandbox.libraries, self._sandbox.limits)
            place = stack.enter_context(borrowed(modules, *own, anew, given or NOTHING))
            return stack.enter_context(opened(place, files, variables, folder, removed))

        with ExitStack() as stack:
            try:
                begun = session(stack, anew=False)
            except ZygoteFailed as error:
                self.log.warning("%s; another zygote is started", error)
                begun = session(stack, anew=True)
            yield begun

    def _paper_of(self, info: dict[str, Any]) -> int:
        """The paper that whoever began this run has chosen, or the class's."""
        if PAPER in info:
            return int(info[PAPER])
        papers = Papers(CourseDirectory(config=self.config), info["assignment"])
        paper = papers.of(info["student"])
        papers.save()
        return paper

    def _given(self, info: dict[str, Any]) -> Given:
        """The instructor's files, as whoever began this run has listed them, or where nbgrader has them."""
        files = info.get(files_beside.GIVEN)
        if files is None:
            files = files_beside.beside(CourseDirectory(config=self.config), info["assignment"], self.config)
        return Given(files)

    def _execute(self, cell: NotebookNode, index: int) -> None:
        exercise = self._exercise_of(cell, self.resources)
        if exercise is not None:
            self._have_judged(exercise, cell, index)
        elif cell.cell_type == "code" and cell.source.strip() and not self._skipped(cell) and self._in_time(index):
            lived = self._session.alive
            self._session.start(cell.source, parent=_parent(index)["msg_id"], comms=widgets.taken(self._answered))
            self._settle(cell, index, self._session.finish(self._seconds(cell)), lived)

    def _in_time(self, index: int) -> bool:
        """Whether the notebook has time left; what is judged is tried all the same."""
        if self._left() > 0:
            return True
        self._warn(
            f"{self._place(index)} was not run: the notebook's {self.notebook_timeout} seconds are over (c.JudgedExecute.notebook_timeout)"
        )
        return False

    def _skipped(self, cell: NotebookNode) -> bool:
        return self.skip_cells_with_tag in cell.metadata.get("tags", [])

    def _seconds(self, cell: NotebookNode) -> float:
        left = max(self._left(), 1.0)
        timeout = self._get_timeout(cell)
        return left if timeout is None else min(timeout, left)

    def _place(self, index: int) -> str:
        """Which cell it is, counted as JupyterLab counts them."""
        return f"cell {index + 1} of {len(self.nb.cells)}"

    def _settle(self, cell: NotebookNode, index: int, run: CellRun, lived: bool) -> None:
        """Write what a cell did into it, as nbclient writes what a kernel says.

        Args:
            lived: whether there was a process to run it, to begin with.
        """
        cell.outputs = []
        self.clear_before_next_output = False
        for kind, content in run.messages:
            if kind == "update_display_data" and not self._session.spend(self._size_of_update(content)):
                continue
            header = {"msg_type": kind}
            message = {"header": header, "msg_type": kind, "content": content, "parent_header": _parent(index)}
            if kind in COMMS:
                widgets.listen(self, message, cell, index)
            else:
                self.process_message(message, cell, index)
        cell.execution_count = run.reply.get("execution_count")
        if run.end in ("died", "greedy", "killed", "garbled"):
            told = ENDS[run.end].format(memory=self._sandbox.memory) if lived else NOT_RUN
            if lived:
                self._warn(f"{self._place(index)}: {told}")
            reply = {"ename": "DeadKernelError", "evalue": told, "traceback": [told]}
            if run.end == "killed" and self.error_on_timeout:
                reply = dict(self.error_on_timeout)
        elif run.end == "interrupted":
            self._warn(f"{self._place(index)}: {ENDS[run.end]}")
            if not self.interrupt_on_timeout:
                raise CellTimeoutError.error_from_timeout_and_cell("Cell execution timed out", self.timeout, cell)
            reply = dict(self.error_on_timeout) if self.error_on_timeout else run.reply
        else:
            reply = run.reply
        if reply.get("status", "error") == "error":
            error = str(reply["ename"]), str(reply["evalue"])
            self._unknown |= unknown(*error)
            self._stops.append(Stop(cell, where_it_stopped(reply), frozenset(lacked(*error, self._left_out))))
            self.on_cell_executed(cell=cell, cell_index=index, execute_reply={"content": {**reply, "status": "error"}})
            if self.force_raise_errors:
                raise CellExecutionError.from_cell_and_msg(cell, reply)

    def _size_of_update(self, content: dict[str, Any]) -> int:
        """How many bytes an update writes into the notebook: it goes wherever its display was shown."""
        shown = self._display_id_map.get(content["transient"].get("display_id"), {})
        return len(json.dumps(content)) * sum(map(len, shown.values()))

    def _have_judged(self, exercise: str, cell: NotebookNode, index: int) -> None:
        notebook = self.resources["nbgrader"]["notebook"]
        near, far = socket.socketpair()
        seconds = self._seconds(cell)
        left = self._session.allow(seconds)
        heard, fault, lived = None, "", self._session.alive
        with near:
            with far:
                self._session.start(self._judge.asking(exercise), far, self._judge.variable)
            conversation = (self._paper, near, seconds, self._passed, self._session.allow)
            try:
                heard = self._judge.hear(notebook, exercise, *conversation)
            except Exception as error:
                self.log.exception("the judge failed on %s", exercise)
                fault = f"{type(error).__name__} in the judge; a person will look at it."
        verdict = heard.verdict if heard else None
        if heard is not None:
            self._heard[exercise] = heard
            self._unknown |= {name for error in heard.errors for name in unknown(*error)}
        gone = verdict is not None and verdict.outcome in ("timed out", "tampered")
        run = self._session.finish(SECONDS_TO_LEAVE if gone else max(left(), SECONDS_TO_LEAVE))
        cell.execution_count = run.reply.get("execution_count")
        if fault or verdict is None:
            said: tuple[Outcome, str] = ("grader fault", fault) if fault else self._unheard(exercise, run, lived)
            verdict = Verdict(exercise, said[0], self._judge.exercises(notebook)[exercise], note=said[1])
        elif verdict.outcome == "passed":
            self._passed |= {exercise}
        elif verdict.outcome == "crashed" and run.end == "greedy":
            verdict = replace(verdict, note=GREEDY)
        if verdict.outcome in ALARMING and (lived or fault):
            rest = "" if self._session.alive else REST
            self._warn(f"{exercise}: {SENTENCES[verdict.outcome]}{rest}")
        self._verdicts[index] = self._telling_of_files(
            self._telling_of_cells(verdict, heard, self.nb.cells[index + 1 :]), heard
        )

    @property
    def _left_out(self) -> Sequence[str]:
        """What lay beside the notebook."""
        found: Sequence[str] = self.resources["nbgrader"].get(LEFT_OUT, ())
        return found

    def _stopped(self, answer: NotebookNode | None) -> str:
        """The error that ended a cell; "" where none did."""
        return next((stop.why for stop in self._stops if stop.cell is answer), "")

    def _causes(self, heard: Conversation | None) -> dict[str, Stop]:
        """By the names that an answer found missing, the last cell that would have bound it, and stopped."""
        names = sorted({name for error in heard.errors for name in unknown(*error)} if heard else ())
        binding = {
            name: [one for one in self._stops if defines(one.cell, name) or EVERYTHING in one.cell.source]
            for name in names
        }
        return {name: stops[-1] for name, stops in binding.items() if stops}

    def _telling_of_cells(self, verdict: Verdict, heard: Conversation | None, below: Sequence[NotebookNode]) -> Verdict:
        """A verdict that says of an answer that is not there where it is, of a name that was missing which cell did not come to it, and
        of two answers which one was judged.

        Args:
            below: the cells below the test.
        """
        name = verdict.exercise
        if verdict.outcome == "not attempted":
            stops = [one.why for one in self._stops if defines(one.cell, name) and not one.why.startswith(UNWRITTEN)]
            if stops:
                return replace(verdict, outcome="did not run", note=stops[-1])
        nowhere = verdict.outcome == "not attempted" or verdict.note.startswith(NONE_OF_THE_NAME.format(name))
        if nowhere and (found := class_with(name, self.nb.cells)):
            return replace(verdict, outcome="did not run", note=IN_A_CLASS.format(name=name, found=found))
        if verdict.outcome == "passed":
            return verdict
        told = [
            NOT_BOUND.format(name=missing, why=stop.why.rstrip(".")) for missing, stop in self._causes(heard).items()
        ]
        if heard and any(defines(cell, name) and cell.source.strip() not in self._released.known for cell in below):
            told.append(ANOTHER_BELOW.format(name=name))
        return replace(verdict, note=" ".join(filter(None, [verdict.note, *told])))

    def _telling_of_files(self, verdict: Verdict, heard: Conversation | None) -> Verdict:
        """A verdict that says which file an answer needed that lay beside the notebook."""
        if verdict.faulty or verdict.outcome == "passed":
            return verdict
        stops = self._stops if heard is None else self._causes(heard).values()
        errors = heard.errors if heard else ()
        own = {file for stop in stops for file in stop.lacked}
        own |= {file for error in errors for file in lacked(*error, self._left_out)}
        if not own:
            return verdict
        outcome = "did not run" if verdict.outcome == "not attempted" else verdict.outcome
        told = LEFT_BEHIND.format(" and ".join(f"`{file}`" for file in sorted(own)))
        return replace(verdict, outcome=outcome, note=f"{verdict.note} {told}".lstrip())

    def _try_publicly(self, nb: NotebookNode, left_out: Collection[int]) -> None:
        """Add to verdicts on wrong answers what these give in cases that are no secret.

        The cells are run once more for it, in a process in which nobody asks anything hidden, and only as far as they are needed.
        What it says can therefore be shown, whatever it is. Where it fails, or takes long, nothing is shown.
        """
        asked = {index: code for index, verdict in self._verdicts.items() if (code := self._judge.trying(verdict))}
        seconds = min(SECONDS_IN_PUBLIC, self._left())
        if not asked or seconds <= 0:
            return
        try:
            with self._opened(nb, None, {}, ()) as session:
                left = session.allow(seconds)
                self._given_first(nb, session, left)
                for index, cell in enumerate(nb.cells[: max(asked) + 1]):
                    source = asked.get(index, "" if index in self._verdicts else cell.source)
                    if cell.cell_type != "code" or index in left_out or self._skipped(cell) or not source.strip():
                        continue
                    run = session.run(source, left())
                    if run.end != "finished":
                        raise TimeoutError(f"{self._place(index)}: {run.end}")
                    if index in asked and run.reply["status"] == "ok":
                        self._verdicts[index] = replace(self._verdicts[index], case=_printed(run))
                    elif index in asked:
                        self._inform(f"{self._place(index)}: {where_it_stopped(run.reply)}")
        except (ZygoteFailed, TimeoutError) as error:
            self._inform(str(error))

    def _inform(self, text: str) -> None:
        """Log why there is no public case to show."""
        info = self.resources["nbgrader"]
        self.log.info("%s of %s: public cases were not tried: %s", info["notebook"], info["student"], text)

    def _unheard(self, exercise: str, run: CellRun, lived: bool) -> tuple[Outcome, str]:
        answer_cell = f"{exercise}{ANSWER}"
        answer = next((cell for cell in self.nb.cells if _name(cell) == answer_cell), None)
        return unheard(exercise, run, lived, answer, self._stopped(answer) if answer else "")

    def _warn(self, text: str) -> None:
        info = self.resources["nbgrader"]
        self.log.warning("%s of %s: %s", info["notebook"], info["student"], text)


def _parent(index: int) -> dict[str, str]:
    """As the header of the message that asks for a cell to be run."""
    return {"msg_id": f"cell-{index}"}


NONE_OF_THE_NAME = "no {}: "
EVERYTHING = "import *"
UNWRITTEN = "NotImplementedError"
NOT_BOUND = "`{name}` is not defined, because the cell that would define it stopped ({why})."
ANOTHER_BELOW = (
    "What was judged is the {name} above its test. A cell below the test has another {name}, which was not judged."
)
IN_A_CLASS = "no {name}: the class {found} holds it, and a function has to stand by itself. Take it out of the class."
LEFT_BEHIND = "{} lay beside your notebook and was left out: only the notebook is graded. Paste what you need of it into the notebook."
GREEDY = "Your code took more memory than there is for a notebook; what had been earned before is kept."
REST = "; the cells after it were not run"
UNREACHED = "asked for the network, and submissions have none; list the hosts that they may reach: c.Sandbox.network"
NOT_RUN = "this cell was not run: the process that ran the notebook had ended in a cell above"
ENDS = {
    "died": f"the process that ran this notebook ended in this cell{REST}",
    "greedy": f"it took more memory than the {{memory}} MiB that there are (c.Sandbox.memory){REST}",
    "killed": f"it took too long and did not give way when it was interrupted{REST}",
    "garbled": f"it put something else in place of its outputs{REST}",
    "interrupted": "it took too long and was interrupted",
}


def _name(cell: NotebookNode) -> str:
    name: str = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return name


def lacked(kind: str, message: str, left_out: Sequence[str]) -> set[str]:
    """The files and folders, of those that were left out, that an error says there are not."""
    if kind in ("ModuleNotFoundError", "ImportError"):
        module = re.search(r"No module named '(\w{1,200})", message)
        return {name for name in left_out if module and name.removesuffix(".py") == module[1]}
    if kind not in ("FileNotFoundError", "OSError"):
        return set()
    return {name for name in left_out if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.]*\w)", message)}


def _printed(run: CellRun) -> str:
    """What a cell has printed, as it may stand on a page; its beginning, where that is long."""
    told = "".join(content["text"] for kind, content in run.messages if kind == "stream").strip()
    whole = lines(told[: MOST_CHARACTERS + 1])
    kept = "\n".join(whole[:MOST_CHARACTERS].split("\n")[:MOST_LINES])
    return kept if kept == whole else f"{kept}\n{CUT}"


def _is_written(answer: NotebookNode | None) -> bool:
    """Whether a student has put code into an answer cell: it is not as it was released, and more than comments."""
    if answer is None or answer.metadata.nbgrader.get("checksum") == compute_checksum(answer):
        return False
    return any(line.strip() and not line.strip().startswith("#") for line in answer.source.splitlines())


def _defined_instead(answer: NotebookNode) -> str:
    """What an answer cell defines that should define something else."""
    names = list(dict.fromkeys(re.findall(r"^(?:async +)?(?:def|class) +(\w{1,60})", answer.source, re.MULTILINE)))
    if not names or len(names) > MOST_NAMED:
        return "its cell defines nothing of this name."
    return f"its cell defines {' and '.join(names)}, and nothing of this name."


def where_it_stopped(reply: dict[str, Any]) -> str:
    """The error that ended a cell, in a sentence: "SyntaxError, line 1: expected ':'"."""
    told = without_colours("\n".join(map(str, reply.get("traceback", ()))))
    line = re.search(r"Cell In\[\d+\], line (\d+)", told)
    kind = re.sub(r"\W", "", str(reply.get("ename")))[:60]
    message = re.sub(r" \([^()]*, line \d+\)$", "", str(reply.get("evalue")))[:200]
    return f"{kind}{f', line {line[1]}' if line else ''}: {message}"


def unheard(exercise: str, run: CellRun, lived: bool, answer: NotebookNode | None, stopped: str) -> tuple[Outcome, str]:
    """The outcome, and what is said of it, where the student's process said nothing to the judge.

    Args:
        exercise: what was to be judged.
        run: how the test cell ended.
        lived: whether the process could have said something, to begin with.
        answer: the student's cell.
        stopped: the error that ended it; "" where none did.
    """
    if run.end == "greedy":
        return "crashed", GREEDY
    if run.end in ("died", "garbled"):
        before = "The process had ended, or did not answer, before this could be judged."
        return "crashed", ENDED if lived else before
    if run.end in ("interrupted", "killed"):
        return "timed out", "The test cell did not finish in time."
    if run.reply["status"] == "ok":
        return "tampered", "The test cell ran without asking to be judged."
    kind, message = run.reply["ename"], run.reply["evalue"]
    if kind == "NameError" and stopped.startswith(UNWRITTEN):
        return "not attempted", stopped
    if kind == "NameError" and stopped:
        return "did not run", stopped
    if kind == "NameError" and _is_written(answer):
        return "did not run", f"{NONE_OF_THE_NAME.format(exercise)}{_defined_instead(answer)}"
    if kind == "NameError":
        return "not attempted", f"{message}: its cell is empty, or missing."
    return "raised", f"The test cell stopped before the judge was asked: {kind}: {message}"
