"""What a process asks about its user and its machine has an answer behind the walls, and none that is about the real ones' people."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.engine import Session, Walls, Zygote, temporary
from autograder.engine.inside.walls import HOME
from autograder.engine.kernels import walled_kernels
from autograder.engine.outer import EVERYBODY, MADE_UP

ME = EVERYBODY["USER"]
SETTINGS = ["localtime", "os-release", "protocols", "services", "shells", "timezone"]
ANSWERS = {
    "pwd.getpwuid(os.getuid())[:1]": repr((ME,)),
    "pwd.getpwnam(getpass.getuser()).pw_uid == os.getuid() == os.geteuid()": "True",
    "os.path.expanduser('~' + getpass.getuser()), str(Path.home())": repr((HOME, HOME)),
    "grp.getgrgid(os.getgid()).gr_name": repr(ME),
    "[grp.getgrgid(group).gr_name for group in os.getgroups()]": "[]",
    "Path('own.txt').write_text('1'), Path('own.txt').owner(), Path('own.txt').group()": repr((1, ME, ME)),
    "subprocess.run(['id', '-un'], capture_output=True, text=True).stdout": repr(f"{ME}\n"),
    "{variable: os.environ.pop(variable, None) for variable in ('LOGNAME', 'USER', 'LNAME', 'USERNAME')} and getpass.getuser()": repr(
        ME
    ),
    "Path(tempfile.mkdtemp(dir='/var/tmp')).is_dir(), Path('/run').is_dir()": "(True, True)",
    f"[name for name in {SETTINGS} if Path('/etc', name).exists()]": repr(
        [n for n in SETTINGS if Path("/etc", n).exists()]
    ),
    "[user.pw_name for user in pwd.getpwall()]": repr(["root", ME, "nobody"]),
    "[group.gr_name for group in grp.getgrall()]": repr(["root", ME, "nogroup"]),
    "Path('/etc/hostname').read_text().strip() == socket.gethostname() == 'grading'": "True",
    "Path('/etc/machine-id').read_text()": repr((MADE_UP / "machine-id").read_text()),
    "[Path('/etc', name).exists() for name in ('shadow', 'gshadow', 'ssh', 'ssl/private')]": "[False, False, False, False]",
}
IMPORTS = "import getpass, grp, os, pwd, socket, subprocess, tempfile\nfrom pathlib import Path"


def in_sessions(kind: Walls, sources: list[str]) -> list[str]:
    with Zygote(walls=kind) as zygote, Session(zygote.place) as session:
        shown = [session.run(source).messages for source in sources]
    return [messages[-1][1]["data"]["text/plain"] if messages else "" for messages in shown]


def in_a_kernel(sources: list[str]) -> list[str]:
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    with temporary.folder() as place:
        folder = place / "work"
        folder.mkdir()
        with walled_kernels(place, folder) as manager:
            beside = {"metadata": {"path": str(folder)}}
            NotebookClient(notebook, kernel_manager_class=manager, resources=beside, kernel_name="python3").execute()
    return [cell.outputs[-1].data["text/plain"] if cell.outputs else "" for cell in notebook.cells]


@pytest.mark.usefixtures("walls")
@pytest.mark.parametrize("way", ["both", "outer", "kernel"])
def test_what_is_asked_is_answered_and_nobody_of_this_machine_is_named(way: Walls) -> None:
    sources = [IMPORTS, *ANSWERS]
    _, *found = in_a_kernel(sources) if way == "kernel" else in_sessions(way, sources)
    assert dict(zip(ANSWERS, found, strict=True)) == ANSWERS
