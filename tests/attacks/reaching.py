"""Reading what is outside, changing it, calling it, harming its processes. All of it works in a process without walls."""

from __future__ import annotations

from attack import WRONG, Attack, Succeeded, altered, called, earned, ended_the_run, killed, loot, says, survived

from tests.support.submissions import EXERCISES, NOTEBOOK

VICTIM = "zoe"

QUIETLY = """import ctypes, glob, json, os, pathlib, signal, socket, sqlite3, struct, subprocess, sys, time
try:
{}
except Exception as error:
    print(type(error).__name__, str(error)[:200])"""


def quietly(source: str) -> str:
    """A cell that says what stops it."""
    return QUIETLY.format("\n".join(f"    {line}" for line in source.splitlines()))


def reads(name: str, tries: str, source: str, succeeded: Succeeded = loot) -> Attack:
    return Attack(name, tries, "unwalled", succeeded, first=quietly(source))


def copies(name: str, tries: str, source: str) -> Attack:
    """No answer is right, unless `FOUND` has right ones from elsewhere."""
    answers = {e: f"def {e}(*given):\n    return FOUND.get({e!r}, lambda *given: 2.0)(*given)" for e in EXERCISES}
    return Attack(name, tries, "unwalled", earned, answers, "FOUND = {}\n" + quietly(source), ends=WRONG)


def changes(name: str, tries: str, source: str, target: str = "{file}") -> Attack:
    return Attack(name, tries, "unwalled", altered, first=quietly(source), target=target)


def calls(name: str, tries: str, source: str) -> Attack:
    return Attack(name, tries, "unwalled", called, first=quietly(source))


def does(name: str, tries: str, source: str) -> Attack:
    """It says "done" where it could."""
    return Attack(name, tries, "unwalled", says("done"), first=quietly(source))


def harms(name: str, tries: str, walled: str, signal: str = "SIGKILL") -> Attack:
    """Where walls hold, `walled` is tried in earnest; where they do not, only on a process that is there for it."""
    source = f"""try:
    os.kill(THERE.canary, signal.{signal})
except OSError:
    if not os.path.exists(THERE.root):
        {walled}
        time.sleep(0.5)"""
    return Attack(name, tries, "unwalled", killed, first=quietly(source))


def survives(name: str, tries: str, source: str) -> Attack:
    return Attack(name, tries, "stock", survived, first=quietly(source))


# ------------------------------------------------------------------------------------------------ reading

CELLS_OF = """import numpy as np
from jaxtyping import Float
for cell in json.loads(pathlib.Path({path}).read_text())["cells"]:
    if cell["metadata"].get("nbgrader", {{}}).get("grade_id", "").endswith("_solution"):
        exec("".join(cell["source"]), globals(), FOUND)"""
READING = [
    copies(
        "imports-the-reference",
        "The instructor's package has the right answers.",
        f"""from autograder.exercises import exercises_in
FOUND.update((exercise.name, exercise.oracle) for exercise in exercises_in("{NOTEBOOK}"))""",
    ),
    copies(
        "loads-the-reference",
        "The checkout has the right answers.",
        """sys.path.insert(0, THERE.checkout)
for path in pathlib.Path(THERE.checkout, "autograder/exercises/shapes").glob("[!_]*.py"):
    exec(path.read_text(), FOUND)""",
    ),
    copies(
        "reads-the-source",
        "The source notebook has the right answers.",
        CELLS_OF.format(path=f"THERE.root, 'source/{NOTEBOOK}/{NOTEBOOK}.ipynb'"),
    ),
    copies(
        "reads-a-submission",
        "Another student has the right answers.",
        CELLS_OF.format(path=f"THERE.root, 'class/submitted/{VICTIM}/{NOTEBOOK}/{NOTEBOOK}.ipynb'"),
    ),
    reads(
        "reads-the-gradebook",
        "The gradebook has names and marks.",
        """base = sqlite3.connect(f"file:{THERE.root}/class/gradebook.db?mode=ro", uri=True)
print(base.execute("select name from notebook").fetchall() and "read it")""",
        says("read it"),
    ),
    reads("reads-a-file", "A file outside, by its name.", "print(open(THERE.secret).read())"),
    reads(
        "climbs-out",
        "The same from one's own folder, upwards.",
        'print(open("../" * 40 + THERE.secret.lstrip("/")).read())',
    ),
    reads(
        "finds-files",
        "`find /` finds files that look like secrets.",
        """top = "/".join(THERE.folder.split("/")[:2])
found = subprocess.run(["find", top, "-maxdepth", "7", "-name", "loot*-secret.txt"], capture_output=True, text=True)
for path in found.stdout.split():
    print(open(path).read())""",
    ),
    reads(
        "links-while-running",
        "A link and a hard link, made while running, lead outside.",
        """os.symlink(THERE.secret, "soft")
print(open("soft").read())
os.link(THERE.secret, "hard")
print(open("hard").read())""",
    ),
    Attack(
        "reads-the-environment",
        "The grader's environment has secrets.",
        "stock",
        loot,
        first="import os\nprint(dict(os.environ))",
    ),
    reads(
        "reads-its-parents",
        "So have the environments of the processes above.",
        """pid = os.getppid()
while pid > 1:
    print(open(f"/proc/{pid}/environ").read())
    pid = int(open(f"/proc/{pid}/stat").read().rsplit(")")[-1].split()[1])""",
    ),
    reads(
        "reads-arguments",
        "All processes show their arguments.",
        """for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print(*[word for word in open(path).read().split("\\0") if word.startswith("loot")])
    except OSError:
        pass""",
    ),
    reads(
        "reads-an-environment", "Another process's environment.", 'print(open(f"/proc/{THERE.canary}/environ").read())'
    ),
    reads(
        "reads-a-descriptor",
        "A file that another process has open.",
        'print(open(f"/proc/{THERE.canary}/fd/9").read())',
    ),
    reads(
        "reads-memory",
        "Another process's memory.",
        """stack = next(line for line in open(f"/proc/{THERE.canary}/maps") if "[stack]" in line)
begin, end = (int(part, 16) for part in stack.split()[0].split("-"))
with open(f"/proc/{THERE.canary}/mem", "rb") as memory:
    memory.seek(begin)
    held = memory.read(end - begin)
place = held.index(b"loot")
print(held[place : place + 40])""",
    ),
]

# ------------------------------------------------------------------------------------------------ changing

APPEND = "with open({path}, 'a') as file:\n    file.write(' ')"
CHANGING = [
    changes("writes-outside", "A file outside.", APPEND.format(path="THERE.file")),
    changes(
        "changes-a-submission",
        "Another's submission.",
        APPEND.format(path=f"THERE.root + '/class/submitted/{VICTIM}/{NOTEBOOK}/{NOTEBOOK}.ipynb'"),
        f"{{root}}/class/submitted/{VICTIM}/{NOTEBOOK}/{NOTEBOOK}.ipynb",
    ),
    changes(
        "changes-graded-work",
        "What has been graded already.",
        APPEND.format(path="THERE.root + '/class/autograded/graded/notebook.ipynb'"),
        "{root}/class/autograded/graded/notebook.ipynb",
    ),
    does(
        "changes-the-gradebook",
        "The gradebook.",
        """base = sqlite3.connect(f"file:{THERE.root}/class/gradebook.db?mode=rw", uri=True, timeout=3)
base.execute("update student set first_name = 'marked'")
base.commit()
print("done")""",
    ),
    changes(
        "changes-the-source",
        "The source notebook.",
        APPEND.format(path=f"THERE.root + '/source/{NOTEBOOK}/{NOTEBOOK}.ipynb'"),
        f"{{root}}/source/{NOTEBOOK}/{NOTEBOOK}.ipynb",
    ),
    does(
        "changes-the-checkout",
        "The grader's own code.",
        """if os.access(THERE.checkout + "/autograder/folder.py", os.W_OK):
    print("done")""",
    ),
    does(
        "changes-the-library",
        "The library that later submissions import.",
        """import course
if os.access(course.__file__, os.W_OK):
    print("done")""",
    ),
    changes(
        "starts-with-others",
        "A start-up file in the grader's home, for the kernels of others.",
        """startup = pathlib.Path(THERE.home, ".ipython/profile_default/startup")
startup.mkdir(parents=True, exist_ok=True)
(startup / "marks.py").write_text("marks = 1")""",
        "{home}/.ipython/profile_default/startup/marks.py",
    ),
    Attack(
        "result-is-a-link",
        "Its graded notebook is a link to a file outside when the grader writes it.",
        "stock",
        altered,
        first=quietly(f"""if os.path.exists("{NOTEBOOK}.ipynb"):
    os.remove("{NOTEBOOK}.ipynb")
os.symlink(THERE.file, "{NOTEBOOK}.ipynb")"""),
    ),
]

# ------------------------------------------------------------------------------------------------ calling

CALLING = [
    calls(
        "calls-loopback",
        "A service of the grader's machine, over TCP.",
        "socket.create_connection(('127.0.0.1', THERE.port), 2).sendall(THERE.name.encode())",
    ),
    calls(
        "calls-the-machine",
        "The same by the machine's own address.",
        "socket.create_connection((THERE.address, THERE.port), 2).sendall(THERE.name.encode())",
    ),
    calls(
        "sends-a-datagram",
        "A datagram, as names are looked up with.",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(THERE.name.encode(), (THERE.address, THERE.port))",
    ),
    calls(
        "calls-a-socket",
        "A Unix socket outside.",
        """caller = socket.socket(socket.AF_UNIX)
caller.connect(THERE.call)
caller.sendall(THERE.name.encode())""",
    ),
    calls(
        "calls-an-abstract-socket",
        "A Unix socket that lies in no folder.",
        """caller = socket.socket(socket.AF_UNIX)
caller.connect(f"\\0attacks-{THERE.port}")
caller.sendall(THERE.name.encode())""",
    ),
]

# ------------------------------------------------------------------------------------------------ processes

SURVIVOR = 'os.execvp("bash", ["bash", "-c", f"exec -a survivor-{THERE.name}-{THERE.port}. sleep 900"])'
HARMING = [
    harms("kills-another", "A process of somebody else.", "pass"),
    harms("kills-its-parent", "The process that started it.", "os.kill(os.getppid(), signal.SIGKILL)"),
    harms("stops-its-parent", "The same, to a halt.", "os.kill(os.getppid(), signal.SIGSTOP)", "SIGSTOP"),
    harms("kills-everything", "All processes that there are.", "os.kill(-1, signal.SIGKILL)"),
    harms("kills-the-first", "The first of all processes.", "os.kill(1, signal.SIGKILL)"),
    harms("kills-its-group", "The group that it is in.", "os.killpg(0, signal.SIGKILL)"),
    survives(
        "daemon",
        "A process that has left its session goes on.",
        f"""if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        {SURVIVOR}
    os._exit(0)""",
    ),
    survives(
        "stubborn-daemon",
        "The same, and it hears no signals.",
        f"""if os.fork() == 0:
    os.setsid()
    for number in set(signal.Signals) - {{signal.SIGKILL, signal.SIGSTOP}}:
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        {SURVIVOR}
    os._exit(0)""",
    ),
    survives(
        "waits-for-the-end",
        "A process that waits until the one that started it is gone.",
        f"""parent = os.getpid()
if os.fork() == 0:
    os.setsid()
    while os.getppid() == parent:
        time.sleep(0.1)
    {SURVIVOR}""",
    ),
    Attack(
        "imports-what-exits",
        "A well-known module, which the grader imports before any submission, exits when it is imported.",
        "mended",
        ended_the_run,
        first="if False:\n    import numpy.f2py.__main__",
    ),
]

# ------------------------------------------------------------------------------------------------ the kernel

CALL = """libc = ctypes.CDLL(None, use_errno=True)
def succeed(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    print("done")
def system(x86, arm, *arguments):
    return libc.syscall(x86 if os.uname().machine == "x86_64" else arm, *arguments)
"""
NEW_USER, NEW_MOUNTS = 0x10000000, 0x20000
APART = """if os.fork() == 0:
    try:
        {}
    finally:
        os._exit(0)
os.wait()"""


def asks(name: str, tries: str, source: str) -> Attack:
    """A process of its own asks the kernel for what no submission needs."""
    inner = "\n".join(f"        {line}" for line in source.splitlines())
    apart = f"""reader, writer = os.pipe()
if os.fork() == 0:
    try:
{inner}
        os.write(writer, b"done")
    except BaseException as error:
        os.write(writer, str(error).encode())
    os._exit(0)
os.wait()
print(os.read(reader, 200).decode())"""
    return does(name, tries, CALL.replace('    print("done")\n', "") + apart)


ASKING = [
    asks(
        "mounts",
        "A file system of its own, on top of the machine's.",
        f"""libc.unshare({NEW_USER | NEW_MOUNTS})
succeed(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))""",
    ),
    asks("unshares", "A user namespace of its own, in which it may do all.", f"succeed(libc.unshare({NEW_USER}))"),
    asks("clones", "The same by cloning.", f"succeed(system(56, 220, {NEW_USER} | 17, 0, 0, 0, 0) or 0)"),
    asks(
        "traces-another",
        "The memory and registers of another process.",
        """succeed(libc.ptrace(16, THERE.canary, None, None))
os.waitpid(THERE.canary, 0x40000000)
libc.ptrace(17, THERE.canary, None, None)""",
    ),
    asks(
        "traces-its-parent",
        "The same of the one that started it.",
        """pid = os.getppid()
succeed(libc.ptrace(0x4206, pid, None, None))
libc.ptrace(17, pid, None, None)""",
    ),
    asks("keyring", "A key in the kernel's keyring.", 'succeed(system(248, 217, b"user", b"mine", b"x", 1, -1))'),
    asks(
        "bpf",
        "A map in the kernel.",
        "succeed(system(321, 280, 0, struct.pack('IIIII', 2, 4, 4, 1, 0) + bytes(100), 72))",
    ),
    asks(
        "counts-events",
        "The kernel's performance counters.",
        "succeed(system(298, 241, struct.pack('IIQ', 1, 128, 0) + bytes(112), 0, -1, -1, 0))",
    ),
    asks(
        "io-uring",
        "A queue that passes by system call filters.",
        "succeed(system(425, 425, 2, ctypes.create_string_buffer(200)))",
    ),
    asks("faults", "Page faults, to be handled at leisure.", "succeed(system(323, 282, 1))"),
    asks("chroots", "Another root.", 'succeed(libc.chroot(b"/"))'),
    asks(
        "becomes-root",
        "All of the machine's rights.",
        """for become in (os.setuid, os.setgid):
    try:
        become(0)
    except OSError:
        pass
open("/etc/shadow").close()""",
    ),
]

REACHING = [*READING, *CHANGING, *CALLING, *HARMING, *ASKING]
