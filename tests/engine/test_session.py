"""Running cells in a fork of the zygote: what comes back, whatever a submission does."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import course
from autograder.engine import CellRun, Place, Session, Walls, Zygote, ZygoteFailed
from autograder.engine.doctor import TRIALS
from autograder.engine.inside import wire
from autograder.engine.inside.walls import Limits
from autograder.engine.session import BUSY, _read, _stays

needs_walls = pytest.mark.usefixtures("walls")

AGES = 300.0  # seconds; only what hangs takes so long, however busy the machine is
BEGUN = "os.write(int(os.environ['LENT']), b'x')"


def interrupted(session: Session, source: str) -> CellRun:
    """Run a cell that says `BEGUN` when it is where it should be interrupted, and does not end by itself."""
    near, far = socket.socketpair()
    with near, far:
        session.start(f"import os, signal, time\n{source}", far, "LENT")
        near.settimeout(AGES)
        assert near.recv(1) == b"x"
        return session.finish(0.1)


@pytest.fixture
def session(zygote: Zygote) -> Iterator[Session]:
    with Session(zygote.place, {"data.csv": b"1,2\n", "folder/more.txt": b"more"}, {"GIVEN": "yes"}) as open_session:
        yield open_session


def printed(run: CellRun) -> str:
    return "".join(content["text"] for kind, content in run.messages if kind == "stream")


@pytest.mark.parametrize("what", TRIALS)
def test_a_submission_lives_between_walls(session: Session, what: str) -> None:
    ((_, content),) = session.run(TRIALS[what], AGES).messages
    assert content["data"]["text/plain"] == "True"


def test_cells_share_their_names_and_count_up(session: Session) -> None:
    session.run("x = 20")
    run = session.run("x + 1")
    assert run.reply == {"status": "ok", "execution_count": 2}
    assert run.messages[0][1]["data"] == {"text/plain": "21"}


@needs_walls
def test_a_notebooks_own_transformer_sees_each_cell_as_often_as_in_a_kernel(session: Session) -> None:
    session.run("seen = []\ndef note(lines):\n    seen.append(lines[0])\n    return lines\n")
    session.run("get_ipython().input_transformers_cleanup.append(note)")
    session.run("x = 1\ny = 2")
    assert printed(session.run("# last\nprint(seen)")) == "['x = 1\\n', 'x = 1\\n', '# last\\n', '# last\\n']\n"


def test_nothing_that_was_said_before_a_submission_came_is_in_its_outputs() -> None:
    library = Path(course.__file__).parent
    with Zygote(["course"], [library], walls="both") as zygote, Session(zygote.place) as session:
        assert session.run("x = 20").messages == []


def test_files_travel_in_and_changes_travel_out(session: Session) -> None:
    run = session.run(
        "print(open('data.csv').read(), open('folder/more.txt').read(), __import__('os').environ['GIVEN'])"
    )
    assert printed(run) == "1,2\n more yes\n"
    session.run("open('data.csv', 'a').write('3,4\\n'); import os; os.remove('folder/more.txt'); os.mkdir('new')")
    session.run("open('new/plot.txt', 'w').write('made'); os.symlink('/usr', 'link'); os.symlink('data.csv', 'copy')")
    assert session.files() == {"data.csv": b"1,2\n3,4\n", "new/plot.txt": b"made", "folder/more.txt": None}


def test_no_session_sees_another(zygote: Zygote) -> None:
    with Session(zygote.place) as one, Session(zygote.place) as two:
        one.run("open('/tmp/secret', 'w').write('1'); open('secret', 'w').write('1'); y = 1")
        run = two.run("import os; print(os.path.exists('/tmp/secret'), os.listdir('.'), 'y' in globals())")
        assert printed(run) == "False [] False\n"


def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_one_runs(session: Session) -> None:
    assert interrupted(session, f"{BEGUN}\nwhile True: pass").end == "interrupted"
    assert session.run("1", AGES).end == "finished"


def test_a_submission_that_stands_in_line_has_more_time_but_not_for_ever(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_waited", lambda: 1e6)
    assert session.run("import time\ntime.sleep(2.5)", 2).end == "finished"
    left = session.allow(0.05)
    time.sleep(BUSY * 0.05)
    assert left() <= 0


def test_what_was_waited_for_once_lengthens_no_later_limit(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless loop has its own limit, once: what it has stood in line for is not added to the limits after it too."""
    stood = [1.0]
    monkeypatch.setattr(session, "_waited", lambda: stood[0])
    first = session.allow(0.5)
    time.sleep(0.6)
    assert first() > 0.5
    second = session.allow(0.5)
    time.sleep(0.6)
    assert second() <= 0
    stood[0] += 0.4
    assert 0 < second() <= 0.4


CROWD = """import os, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
for _ in range(4):
    if not os.fork():
        while time.process_time() < 0.2:
            pass
        os.write(int(os.environ['LENT']), b'x')
        time.sleep(1000)
"""


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not tell who stands in line")
def test_how_long_a_submission_has_stood_in_line_is_known(session: Session) -> None:
    """The last of four that share a processor has waited for three times as long as it worked."""
    assert session._waited() < 0.3
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(AGES)
        session.start(CROWD, far, "LENT")
        for _ in range(4):
            assert near.recv(1) == b"x"
        assert session._waited() > 0.3
        assert session.finish(AGES).end == "finished"


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = socket.socketpair()
    with near, far:
        monkeypatch.setattr(session, "_lease", near)
        monkeypatch.setattr(f"{Session.__module__}.SECONDS_TO_TELL", 0.01)
        assert session._waited() == 0.0  # nobody answered in time
        monkeypatch.setattr(f"{Session.__module__}.SECONDS_TO_TELL", AGES)
        for waited in (1.0, 2.0):
            wire.send(far, {"waited": waited, "greedy": waited == 2.0, "ended": True, "shot": False})
        assert session._waited() == 2.0
        wire.send(far, {"waited": 3.0, "greedy": True, "ended": True, "shot": False})
        assert session._how_it_died() == "greedy"
        monkeypatch.undo()


def test_a_cell_that_ends_just_at_its_limit_is_not_lost(zygote: Zygote) -> None:
    for extra in range(12):
        with Session(zygote.place) as session:
            session.start("import time\ntime.sleep(0.2)\nprint('x' * 3_000_000)")
            assert session.finish(0.2 + extra / 1000).end in ("finished", "interrupted")
            assert session.run("1", AGES).end == "finished"


def test_a_cell_that_waits_is_cancelled_and_does_not_go_on_later(session: Session) -> None:
    waits = "import asyncio\nleft = []\ntry:\n    await asyncio.sleep(1000)\nfinally:\n    left.append(1)"
    run = session.run(waits, 0.5)
    assert (run.end, run.reply["ename"]) == ("interrupted", "CancelledError")
    assert "KeyboardInterrupt" not in str(run.reply["traceback"])
    assert printed(session.run("print(left, len(asyncio.all_tasks()))", AGES)) == "[1] 1\n"


@pytest.mark.parametrize("what", ["while True:\n        pass", "raise SystemExit", "raise KeyboardInterrupt"])
def test_a_task_that_does_not_give_way_or_wants_to_leave_takes_no_later_cell_with_it(
    session: Session, what: str
) -> None:
    session.run(f"import asyncio\nasync def task():\n    {what}\nbegun = asyncio.create_task(task())", 1)
    for _ in range(2):
        assert printed(session.run("print('here')", AGES)) == "here\n"


def test_what_was_printed_before_the_interrupt_is_kept(session: Session) -> None:
    run = interrupted(session, f"print('before')\n{BEGUN}\nwhile True: pass")
    assert printed(run) == "before\n"
    assert run.reply["ename"] == "KeyboardInterrupt"


@pytest.mark.parametrize(
    "stubborn",
    [
        f"while True:\n    try:\n        {BEGUN}\n        time.sleep(1)\n    except BaseException:\n        pass",
        f"signal.signal(signal.SIGINT, signal.SIG_IGN)\n{BEGUN}\ntime.sleep(1000)",
        f"signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\n{BEGUN}\ntime.sleep(1000)",
    ],
)
def test_a_cell_that_does_not_give_way_is_killed(session: Session, stubborn: str) -> None:
    assert interrupted(session, stubborn).end == "killed"
    assert session.run("1", AGES) == CellRun("died")


@pytest.mark.parametrize(
    "death",
    ["import os\nos._exit(0)", "import os\nos.abort()", "import ctypes\nctypes.string_at(0)", "import os\nos.close(3)"],
)
def test_a_process_that_dies_is_noticed_at_once(session: Session, death: str) -> None:
    begun = time.monotonic()
    assert session.run(death, 2 * AGES).end in ("died", "garbled")
    assert time.monotonic() - begun < AGES
    assert not session.alive


def test_nothing_outlives_a_session(zygote: Zygote) -> None:
    """A daemon of a submission's own would hold the other end of this socket open."""
    near, far = socket.socketpair()
    with Session(zygote.place) as session, far:
        session.start(
            "import os, time, signal\n"
            "kept = os.dup(int(os.environ['LENT']))\n"
            "if not os.fork():\n"
            "    os.setsid()\n"
            "    if not os.fork():\n"
            "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "        os.write(kept, b'alive')\n"
            "        time.sleep(1000)\n"
            "    os._exit(0)",
            far,
            "LENT",
        )
        far.close()
        assert near.recv(5) == b"alive"
        session.finish(AGES)
    near.settimeout(AGES)
    assert near.recv(1) == b""
    near.close()


def test_a_socket_is_lent_for_one_cell(session: Session) -> None:
    near, far = socket.socketpair()
    with near:
        with far:
            session.start("import os, socket\nos.write(int(os.environ['LENT']), b'hello')", far, "LENT")
        assert session.finish(AGES).end == "finished"
        assert near.recv(10) == b"hello"
        assert near.recv(10) == b""
    assert printed(session.run("print('LENT' in os.environ)")) == "False\n"


def test_a_submission_knows_its_own_machine_by_name(session: Session) -> None:
    run = session.run("import socket\nprint([socket.gethostbyname(n) for n in ('localhost', socket.gethostname())])")
    assert printed(run) == "['127.0.0.1', '127.0.0.1']\n"


def test_two_processes_reduce_over_loopback(zygote: Zygote) -> None:
    """torch.distributed with gloo, as in the capstone."""
    script = (
        "import os, sys, torch, torch.distributed as dist\n"
        "dist.init_process_group('gloo', init_method='tcp://127.0.0.1:29511', rank=int(sys.argv[1]), world_size=2)\n"
        "x = torch.tensor([float(sys.argv[1]) + 1])\n"
        "dist.all_reduce(x)\n"
        "print(x.item())\n"
        "dist.destroy_process_group()\n"
    )
    with Session(zygote.place, {"rank.py": script.encode()}) as session:
        run = session.run(
            "import subprocess, sys\n"
            "ranks = [subprocess.Popen([sys.executable, 'rank.py', str(i)], stdout=-1, stderr=-1, text=True) for i in (0, 1)]\n"
            "said = [rank.communicate() for rank in ranks]\n"
            "print([out.strip() for out, _ in said], [err[-500:] for _, err in said if 'Error' in err])",
            AGES,
        )
    assert printed(run) == "['3.0', '3.0'] []\n"


MUCH = {
    "messages": "for i in range(3_000):\n    print(i, flush=True)",
    "bytes": "print('y' * (9 << 20))",
    "parts": "display({'application/json': [0] * 300_000}, raw=True)",
}


@pytest.mark.parametrize("last", ["0.5", "1 / 0"])
@pytest.mark.parametrize("much", MUCH)
def test_what_a_test_cell_is_scored_by_is_kept_whatever_it_showed_before(
    session: Session, much: str, last: str
) -> None:
    run = session.run(f"{MUCH[much]}\n{last}", AGES)
    assert run.end == "finished"
    assert "was cut" in printed(run)
    kind, content = run.messages[-1]
    assert (content["data"]["text/plain"] if kind == "execute_result" else content["ename"]) in (
        "0.5",
        "ZeroDivisionError",
    )
    assert session.run("1").end == "finished"


def test_what_widgets_say_is_cut_before_the_grader_would_take_it_for_no_answer(session: Session) -> None:
    said = "from comm import create_comm\nfor i in range(30):\n    create_comm(target_name='x', data={'many': [0] * 20_000})\n0.5"
    run = session.run(said, AGES)
    assert run.end == "finished"
    assert run.messages[-1][1]["data"]["text/plain"] == "0.5"


@pytest.mark.parametrize("character", ["x", "é", "\\x1b", "\\ud800"])
def test_output_without_end_is_cut_and_the_cell_goes_on(session: Session, character: str) -> None:
    run = session.run(f"for i in range(400_000):\n    print('{character}' * 100)\n'done'", AGES)
    assert len(printed(run)) < 11 << 20
    assert "was cut" in printed(run)
    assert run.reply["status"] == "ok"
    assert session.run("1").end == "finished"


@pytest.mark.parametrize(
    "forged",
    [
        b"",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x04nul!",
        b"\x00\x00\x00\x02{}",
        b"\x00\x01\x00\x00" + b"[" * 65536,
    ],
)
def test_whatever_is_put_in_place_of_outputs_ends_the_session_and_nothing_else(zygote: Zygote, forged: bytes) -> None:
    with Session(zygote.place) as session:
        run = session.run(
            "import os\nfor fd in range(3, 256):\n    try:\n"
            f"        os.write(fd, {forged!r})\n        os.close(fd)\n    except OSError:\n        pass",
            AGES,
        )
        assert run.end in ("garbled", "died")
    with Session(zygote.place) as another:
        assert another.run("1").end == "finished"


def test_a_lease_that_is_let_go_ends_the_process(zygote: Zygote) -> None:
    near, far = socket.socketpair()
    session = Session(zygote.place)
    near.settimeout(AGES)
    session.start(f"import os, time\nkept = os.dup(int(os.environ['LENT']))\n{BEGUN}\ntime.sleep(1000)", far, "LENT")
    far.close()
    assert near.recv(1) == b"x"
    session.close()
    assert near.recv(1) == b""
    near.close()


def test_many_at_once(zygote: Zygote) -> None:
    ends: list[str] = []

    def one() -> None:
        with Session(zygote.place) as session:
            ends.append(session.run("sum(range(100_000))", AGES).end)

    threads = [threading.Thread(target=one) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == ["finished"] * 24


@needs_walls
def test_processes_that_take_too_much_memory_together_are_ended() -> None:
    many = (
        "import os, time\n"
        "for i in range(6):\n"
        "    if not os.fork():\n"
        "        kept = bytearray(os.urandom(1)) * (100 << 20)\n"
        "        time.sleep(1000)\n"
        "time.sleep(1000)"
    )
    with Zygote(walls="both", limits=Limits(together=300 << 20)) as small, Session(small.place) as session:
        assert session.run("x = bytearray(b'1') * (100 << 20)", AGES).end == "finished"
        shared = "import os, time\nfor i in range(6):\n    if not os.fork():\n        time.sleep(2)\n        os._exit(0)\ntime.sleep(2)"
        assert session.run(shared, AGES).end == "finished"  # what they share is counted once
        assert session.run(many, AGES).end == "greedy"
    with Zygote(walls="both", limits=Limits(together=300 << 20)) as small, Session(small.place) as session:
        child = "import time; x = bytearray(b'1') * (100 << 20); time.sleep(1000)"
        run = f"import subprocess, sys, time\nfor i in range(6):\n    subprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(1000)"
        assert session.run(run, AGES).end == "greedy"


def test_errors_and_outputs_are_bounded_also_where_the_bounds_inside_were_lifted(zygote: Zygote) -> None:
    with Session(zygote.place) as session:
        run = session.run("raise ValueError('x' * 5_000_000)", AGES)
        assert len(str(run)) < 1 << 20
        session.run("import sys; sys.modules['inside.shell'].MAX_TEXT = 1 << 40")
        for _ in range(4):
            run = session.run("print('x' * (10 << 20))", AGES)
        assert printed(run).endswith("longer than a notebook can hold]\n")
        assert session.run("1").end == "finished"


def test_a_message_of_millions_of_parts_is_not_built() -> None:
    near, far = socket.socketpair()
    data = b"[" + b"[]," * 300_000 + b"[]]"
    with near, far:
        sender = threading.Thread(target=far.sendall, args=(len(data).to_bytes(4, "big") + data,))
        sender.start()
        with pytest.raises(wire.Flooded, match="parts"):
            wire.receive(near, time.monotonic() + AGES)
        sender.join()
        text = json.dumps(["," * 400_000]).encode()
        sender = threading.Thread(target=far.sendall, args=(len(text).to_bytes(4, "big") + text,))
        sender.start()
        assert wire.receive(near, time.monotonic() + AGES) == ["," * 400_000]
        sender.join()


@needs_walls
def test_walls_that_cannot_be_built_are_the_graders_fault() -> None:
    with Zygote(walls="both", limits=Limits(disk=-1)) as broken, pytest.raises(ZygoteFailed, match="no process for"):
        Session(broken.place)


@needs_walls
def test_a_zygote_that_ends_while_a_submission_runs_is_the_graders_fault() -> None:
    with Zygote(walls="both") as dying, Session(dying.place) as session:
        session.start("import time\ntime.sleep(1000)")
        os.kill(min(children(dying.pid)), signal.SIGKILL)  # bubblewrap's own child
        with pytest.raises(ZygoteFailed, match="the zygote ended while a submission ran"):
            session.finish(AGES)


def test_descriptors_that_a_submission_sends_are_not_taken(zygote: Zygote) -> None:
    before = len(os.listdir("/proc/self/fd"))
    sending = (
        "import json, os, socket\n"
        "reply = json.dumps({'messages': [], 'reply': {'status': 'ok', 'execution_count': 1}}).encode()\n"
        "for fd in range(3, 20):\n"
        "    try:\n"
        "        own = socket.socket(fileno=os.dup(fd))\n"
        "        socket.send_fds(own, [len(reply).to_bytes(4, 'big') + reply], [0, 1, 2])\n"
        "    except OSError:\n"
        "        pass"
    )
    with Session(zygote.place) as session:
        session.run(sending, AGES)
        session.run("1", AGES)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "metadata", ["{'\\ud800': '\\ud800'}", "__import__('functools').reduce(lambda a, _: {'a': a}, range(45), 1)"]
)
def test_metadata_can_be_written_to_a_file(session: Session, metadata: str) -> None:
    run = session.run(
        f"from IPython.display import display\ndisplay({{'text/plain': 'a'}}, metadata={metadata}, raw=True)"
    )
    assert run.end == "finished"
    json.dumps(run.messages, ensure_ascii=False).encode()


@needs_walls
def test_a_zygote_that_is_gone_says_so() -> None:
    with Zygote(walls="both") as gone:
        place = gone.place
    with pytest.raises(ZygoteFailed, match="no process for a submission"):
        Session(place)
    with pytest.raises(ZygoteFailed):
        Session(Place("/nowhere", "both"))


HOST = """
import sys, time
from autograder.engine import Session, Zygote
zygote = Zygote(walls=sys.argv[1])
session = Session(zygote.place)
session.run("1")
print(zygote.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> Walls:
    """Walls of a kind, where they can be built."""
    if request.param != "none":
        request.getfixturevalue("walls")
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["both", "outer", "none"], indirect=True)
def test_a_grader_that_is_killed_leaves_no_zygote(kind: Walls) -> None:
    host = subprocess.Popen([sys.executable, "-c", HOST, kind], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    family = {pid, *children(pid)}
    host.kill()
    host.wait()
    host.stdout.close()
    deadline = time.monotonic() + AGES
    while any(map(runs, family)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [member for member in family if runs(member)]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def children(pid: int) -> set[int]:
    """Every process below this one."""
    found = set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    return found.union(*map(children, found))


def test_nonsense_at_the_zygotes_door_disturbs_nobody(zygote: Zygote) -> None:
    for nonsense in (b"", b"x", b"\x00\x00\x00\x02{}", b"\x7f\xff\xff\xff"):
        with socket.socket(socket.AF_UNIX) as visitor:
            visitor.connect(zygote.place.address)
            visitor.sendall(nonsense)
    with Session(zygote.place) as session:
        assert session.run("1").end == "finished"


@pytest.mark.parametrize("kind", ["outer", "none"], indirect=True)
def test_without_an_inner_wall_and_without_any_the_same_cells_run(kind: Walls) -> None:
    with Zygote(["numpy"], walls=kind) as zygote, Session(zygote.place, {"a.txt": b"a"}) as session:
        assert printed(session.run("import numpy as np\nprint(open('a.txt').read(), np.arange(3))")) == "a [0 1 2]\n"
        session.run("open('b.txt', 'w').write('b')")
        assert session.files()["b.txt"] == b"b"


def test_two_forks_draw_different_numbers(zygote: Zygote) -> None:
    def draw() -> str:
        with Session(zygote.place) as session:
            return printed(
                session.run(
                    "import numpy, random, torch\nprint(numpy.random.rand(), random.random(), torch.rand(1).item())"
                )
            )

    assert not set(draw().split()) & set(draw().split())


@pytest.mark.parametrize(
    ("name", "stays"),
    [("a", True), ("a/b.txt", True), ("", False), (".", False), ("..", False), ("a/../../b", False), ("/etc/x", False)],
)
def test_a_file_that_is_brought_back_stays_where_the_notebook_is(name: str, stays: bool) -> None:
    assert _stays(name) is stays


REPLY = {"status": "ok", "execution_count": 1}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {"messages": []},
        {"messages": {}, "reply": REPLY},
        {"messages": [1], "reply": REPLY},
        {"messages": [["stream", {"name": "stdin", "text": "a"}]], "reply": REPLY},
        {"messages": [["stream", {"name": "stdout", "text": 5}]], "reply": REPLY},
        {"messages": [["error", {"ename": "a", "evalue": "b", "traceback": "c"}]], "reply": REPLY},
        {"messages": [], "reply": {"status": "fine"}},
        {"messages": [], "reply": {"status": "error"}},
    ],
)
def test_an_answer_of_another_form_is_refused(answer: object) -> None:
    with pytest.raises(ValueError, match=r"^no |^a message without"):
        _read(answer)


@pytest.mark.parametrize("data", [[], {"text/plain": 5}, {"a/json": [[[[]]]] * 3, "image/png": None}])
def test_a_display_that_no_notebook_can_hold_is_not_shown(data: object) -> None:
    assert _read({"messages": [["display_data", {"data": data}]], "reply": REPLY})[0] == []


def test_what_no_file_can_hold_is_replaced() -> None:
    messages, _ = _read({"messages": [["stream", {"name": "stdout", "text": "\ud800"}]], "reply": REPLY})
    assert messages == [("stream", {"name": "stdout", "text": "?"})]


def test_a_count_that_is_none_is_dropped() -> None:
    for count in (True, -1, 1.5, "1", 1 << 40):
        assert (
            _read({"messages": [], "reply": {"status": "ok", "execution_count": count}})[1]["execution_count"] is None
        )


def test_a_message_longer_than_any_may_be_is_not_read() -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall((wire.MAX_MESSAGE + 1).to_bytes(4, "big"))
        with pytest.raises(wire.Flooded):
            wire.receive(near, time.monotonic() + AGES)


def test_the_zygote_of_this_test_is_warm(zygote: Zygote) -> None:
    with Session(zygote.place) as session:
        seen = session.run("import sys; print('torch' in sys.modules, 'torch' in sys.meta_path[0].modules)")
        assert printed(seen) == "False True\n"


def test_this_checkout_is_not_where_it_is(session: Session) -> None:
    run = session.run("import importlib.util as u\nprint(u.find_spec('autograder'), u.find_spec('course') is not None)")
    assert printed(run) == "None True\n"
    assert Path(__file__).exists()
    assert os.environ.get("HOME") != "/home/student"
