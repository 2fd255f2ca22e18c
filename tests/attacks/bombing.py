"""Using up the machine. Each bomb is bounded, so that a machine without walls survives it, and each says how far it came."""

from __future__ import annotations

from pathlib import Path

from attack import PASSED, Attack, Verdicts, larger_than, lost_what_was_earned, says
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from reaching import quietly

from tests.support.submissions import RIGHT

MANY = 300
BIG = 12 << 20


def bomb(name: str, tries: str, source: str) -> Attack:
    return Attack(name, tries, "unwalled", says("all of it"), first=quietly(source))


FORKS = f"""children = []
try:
    for _ in range({MANY}):
        pid = os.fork()
        if pid == 0:
            time.sleep(5)
            os._exit(0)
        children.append(pid)
    print("all of it")
finally:
    print(len(children), "processes")
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)"""
THREADS = """import threading
gate, started = threading.Event(), []
try:
    for _ in range(3000):
        thread = threading.Thread(target=gate.wait, daemon=True)
        thread.start()
        started.append(thread)
    print("all of it")
finally:
    print(len(started), "threads")
    gate.set()"""
ADDRESSES = """import mmap
room = mmap.mmap(-1, 20 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
print("all of it")"""
FILLS = """path = os.path.join({folder}, "fill-" + THERE.name)
written = 0
try:
    with open(path, "wb") as file:
        while written < 300 << 20:
            written += file.write(bytes(4 << 20))
    print("all of it")
finally:
    print(written >> 20, "MiB")
    os.remove(path)"""
MANY_FILES = """os.mkdir("many")
made = 0
try:
    for made in range(60_000):
        os.close(os.open(f"many/{made}", os.O_CREAT | os.O_WRONLY))
    print("all of it")
finally:
    print(made, "files")
    import shutil
    shutil.rmtree("many")"""
MEMORY_FILES = """held = []
try:
    for _ in range(24):
        held.append(os.memfd_create("held"))
        os.write(held[-1], bytes(32 << 20))
    print("all of it")
finally:
    print(len(held), "of 24")
    for one in held:
        os.close(one)"""
SEGMENTS = """libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
held = []
try:
    for _ in range(24):
        one = libc.shmget(0, 64 << 20, 0o1600)
        if one < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        held.append(one)
        place = libc.shmat(one, None, 0)
        if place == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "shmat")
        ctypes.memset(place, 1, 64 << 20)
        libc.shmdt(place)
    print("all of it")
finally:
    print(len(held), "of 24")
    for one in held:
        libc.shmctl(one, 0, None)"""
DESCRIPTORS = """import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held = []
try:
    for _ in range(3000):
        held.append(os.open("/dev/null", os.O_RDONLY))
    print("all of it")
finally:
    print(len(held), "descriptors")
    for one in held:
        os.close(one)"""

EXHAUSTING = [
    bomb("forks", "Hundreds of processes.", FORKS),
    bomb("threads", "Thousands of threads.", THREADS),
    bomb("address-space", "More memory than there is.", ADDRESSES),
    bomb("fills-its-folder", "One huge file.", FILLS.format(folder="'.'")),
    bomb("fills-tmp", "One huge file among the temporary ones.", FILLS.format(folder="'/tmp'")),
    bomb("fills-shared-memory", "One huge file in memory.", FILLS.format(folder="'/dev/shm'")),
    bomb("many-files", "Tens of thousands of files.", MANY_FILES),
    bomb("memory-files", "Files without names, in memory.", MEMORY_FILES),
    bomb("segments", "System V shared memory, which nobody owns.", SEGMENTS),
    bomb("descriptors", "Thousands of open files.", DESCRIPTORS),
]


def shows(name: str, tries: str, source: str, ends: Verdicts = PASSED) -> Attack:
    """It fills the grader's disk by nbgrader's own rules."""
    return Attack(name, tries, "stock", larger_than(BIG), first=source, ends=ends)


def many_cells(notebook: NotebookNode, path: Path, secret: Path) -> None:
    notebook.cells += [new_code_cell("print('x' * 6_000_000)") for _ in range(8)]


SHOWING = [
    shows(
        "leaves-files",
        "Large files for the grader to keep.",
        """for number in range(6):
    with open(f"kept{number}", "wb") as file:
        file.write(bytes(8 << 20))""",
    ),
    shows("prints", "Megabytes of print.", "for _ in range(300):\n    print('x' * 100_000)"),
    shows(
        "prints-from-below",
        "Megabytes from another program.",
        "import subprocess\nsubprocess.run(['sh', '-c', 'yes $(printf %0100000d 1) | head -n 300'])",
    ),
    shows(
        "displays", "One huge display.", "from IPython.display import HTML, display\ndisplay(HTML('x' * 30_000_000))"
    ),
    shows(
        "displays-often",
        "Hundreds of displays.",  # thousands would be more than ZeroMQ keeps for a reader who is slow, and be lost
        "from IPython.display import display\nfor _ in range(600):\n    display({'text/plain': 'x' * 30_000}, raw=True)",
    ),
    shows("raises", "One huge error.", "raise ValueError('x' * 10_000_000)"),
    shows(
        "represents", "A huge representation.", "class Large:\n    def __repr__(self): return 'x' * 30_000_000\nLarge()"
    ),
    shows(
        "lifts-the-bounds",
        "It takes away the bounds that it finds in its own process.",
        """import sys
bounds = getattr(type(sys.stdout).write, "__globals__", {})
if "MAX_TEXT" in bounds:
    bounds["MAX_TEXT"] = bounds["MAX_MESSAGES"] = 1 << 40
for _ in range(300):
    print("x" * 100_000)""",
        ends=("crashed", "crashed", "crashed"),
    ),
    Attack(
        "prints-in-many-cells", "Megabytes of print in each of many cells.", "stock", larger_than(BIG), make=many_cells
    ),
]


def ends(
    name: str, tries: str, cell: str, ends: Verdicts = ("passed", "crashed", "crashed"), endless: bool = False
) -> Attack:
    """Its first answer is right; in the cell of the second something happens that nbgrader does not come back from."""
    answers = {"mix_rows": quietly_imported(cell) + "\n" + RIGHT["mix_rows"]}
    return Attack(name, tries, "stock", lost_what_was_earned, answers, ends=ends, endless=endless)


def quietly_imported(source: str) -> str:
    return "import ctypes, os, signal, sys, time\n" + source


SWALLOWS = """while True:
    try:
        time.sleep(0.1)
    except BaseException:
        pass"""
INNER = "\n".join(f"    {line}" for line in SWALLOWS.splitlines())
LATE: Verdicts = ("passed", "timed out", "crashed")
ENDING = [
    ends("exits", "The process ends itself.", "os._exit(0)"),
    ends("aborts", "The process aborts.", "os.abort()"),
    ends("kills-itself", "The process kills itself.", "os.kill(os.getpid(), signal.SIGKILL)", PASSED),
    ends("stops-itself", "The process stops itself.", "os.kill(os.getpid(), signal.SIGSTOP)", PASSED, endless=True),
    ends("reads-nowhere", "A segmentation fault.", "ctypes.string_at(0)"),
    ends("closes-descriptors", "All open files are closed.", "os.closerange(0, 1000)", endless=True),
    Attack(
        "exits-when-called",
        "The graded function ends the process.",
        "stock",
        lost_what_was_earned,
        {"mix_rows": "import os\ndef mix_rows(W, V):\n    os._exit(0)"},
        ends=("passed", "crashed", "crashed"),
    ),
    ends("swallows-interrupts", "A loop that catches everything.", SWALLOWS, endless=True),
    Attack(
        "swallows-when-called",
        "The graded function never comes back, and catches everything.",
        "stock",
        lost_what_was_earned,
        {"mix_rows": f"import time\ndef mix_rows(W, V):\n{INNER}"},
        ends=LATE,
        endless=True,
    ),
    ends(
        "ignores-interrupts",
        "Interrupts are ignored, and a loop waits.",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))\n"
        "while True:\n    time.sleep(0.1)",
        endless=True,
    ),
    ends("counts-in-c", "A loop in C hears no interrupts.", "sum(iter(int, 1))", endless=True),
]

BOMBING = [*EXHAUSTING, *SHOWING, *ENDING]
