"""The outer wall: bubblewrap around the zygote.

Inside are the system's programs, the interpreter, its packages and the libraries that were asked for, all read-only,
and nothing else of this machine: no checkout, no gradebook, no submissions, no network, no other process.
"""

from __future__ import annotations

import os
import shutil
import site
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from autograder.engine.given import LET_IN, NOTHING, Given
from autograder.engine.inside import seccomp, walls

Walls = Literal["both", "outer", "none"]
"""Both walls; the outer one alone, anew around each submission; or plain processes."""

WALLS_VARIABLE = "AUTOGRADER_WALLS"
TETHERS = sys.platform.startswith("linux")
INSIDE = Path(__file__).with_name("inside")
MADE_UP = INSIDE / "etc"  # what a process asks about its machine and its user, and is told nothing of the real ones
SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/var/lib/texmf",
)
SETTINGS = (
    "alternatives",
    "debian_version",
    "fonts",
    "java*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "lsb-release",
    "mime.types",
    "os-release",
    "protocols",
    "R",
    "services",
    "shells",
    "ssl/certs",
    "ssl/*.cnf",
    "ssl/*.pem",
    "texmf",
    "timezone",
    f"python{sys.version_info.major}.{sys.version_info.minor}",
)
PYTHON, PACKAGES, ENGINE, LIBRARY = "/opt/python", "/opt/packages", "/opt/engine", "/opt/library"
OWN_PROC = ("sh", "-c", 'mount -t proc -o nosuid,nodev,noexec proc /proc 2>/dev/null; exec "$@"', "sh")
PAGE = 16 << 10  # what a small file takes in memory besides its bytes
FOLDERS = (
    "/opt",
    ENGINE,
    LIBRARY,
    PACKAGES,
    walls.GIVEN,
    walls.LAYERS,
    LET_IN,
    "/etc",
    "/etc/ssl",
    "/home",
    "/run",
    "/sys",
    "/sys/devices",
    "/sys/devices/system",
    "/var",
    "/var/lib",
)
CACHE = "/tmp/cache"
FONTS = f"{CACHE}/matplotlib"
EVERYBODY = {
    "PATH": f"{PYTHON}/bin:/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "student",
    "LOGNAME": "student",
    "HOME": walls.HOME,
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",
    "XDG_CACHE_HOME": CACHE,  # what libraries keep is none of the notebook's files
    "MPLCONFIGDIR": FONTS,
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "TERM": "xterm-color",  # this and what follows is what ipykernel sets
    "CLICOLOR": "1",
    "CLICOLOR_FORCE": "1",
    "FORCE_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}


_PROXY = "http://{}:{}".format(*walls.WAY_OUT)
THROUGH_THE_PROXY = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
}


def environment(kind: Walls, proxied: bool = False) -> dict[str, str]:
    """What a submission's process finds in its environment: nothing of the grader's own.

    Args:
        kind: what stands around it.
        proxied: whether there is a proxy.
    """
    found = {**EVERYBODY, "PYTHONPATH": os.pathsep.join(_import_path(kind)[1:])}
    if proxied:
        found |= THROUGH_THE_PROXY
    if kind == "none":
        found |= {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    else:
        found |= _library_path()
    return found


def command(
    kind: Walls,
    arguments: list[str],
    libraries: Sequence[Path] = (),
    writable: Sequence[str] = (),
    given: Given = NOTHING,
    disk: int = walls.Limits().disk,
    proxied: bool = False,
) -> tuple[list[str], Mapping[str, str]]:
    """How to start Python with these arguments behind the outer wall, and the environment to start it in.

    Args:
        kind: "none" for no wall at all.
        arguments: Python's own.
        libraries: packages that can be imported within, besides what is installed.
        writable: folders that are let in as they are. The process then keeps the user's own files rights, and so the limit on
            processes does not hold where that user is root.
        given: the instructor's files; the large ones are let in.
        disk: bytes in each of the folders in memory that can be written in.
        proxied: whether the variables name the proxy.
    """
    variables = {**environment(kind, proxied), "PYTHONPATH": os.pathsep.join(_import_path(kind))}
    if kind == "none":
        return [sys.executable, *arguments], variables
    wall = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    wall += ["--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "grading", "--clearenv"]
    for folder in FOLDERS:  # bubblewrap would make them for root alone
        wall += ["--perms", "0755", "--dir", folder]
    for source, target in _mounts(libraries):
        wall += ["--ro-bind-try", source, target]
    for folder in _unused_packages():
        wall += ["--tmpfs", folder]
    for name, value in variables.items():
        wall += ["--setenv", name, value]
    wall += ["--proc", "/proc", "--dev", "/dev", "--symlink", "/tmp", "/var/tmp"]
    for folder in walls.WRITABLE:
        wall += ["--perms", "1777", "--size", str(disk), "--tmpfs", folder]
    if lists := _font_lists():
        for folder in (CACHE, FONTS):
            wall += ["--perms", "1777", "--dir", folder]
        for path in lists:
            wall += ["--ro-bind", str(path), f"{FONTS}/{path.name}"]
    if given.names:
        room = sum(path.stat().st_size + PAGE for path in given.sent.values()) + (1 << 20)
        wall += ["--perms", "1777", "--size", str(room), "--tmpfs", walls.GIVEN]
    for _, path, within in given.places():
        wall += ["--ro-bind", str(path), within]
    for folder in writable:
        wall += ["--bind", folder, folder]
    wall += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", writable[-1] if writable else "/"]
    if os.getuid() != 0 or writable:
        student = ["--unshare-user", "--uid", str(walls.STUDENT), "--gid", str(walls.STUDENT)]
        return [*wall, *student, "--", interpreter(), *arguments], {}
    unprivileged = [
        "setpriv",
        f"--reuid={walls.STUDENT}",
        f"--regid={walls.STUDENT}",
        "--clear-groups",
        "--inh-caps=-all",
    ]
    # For root, bubblewrap covers parts of /proc; from a covered one no namespace within gets one of its own. Nobody may write there anyway.
    return [*wall, "--", *OWN_PROC, *unprivileged, "--bounding-set=-all", interpreter(), *arguments], {}


def tethered(argv: list[str], folder: Path, kind: Walls) -> list[str]:
    """How to start the same so that it ends, and a folder is removed, when the pipe that it has for standard input is closed.

    Other systems than Linux have no such thing; there it is started as it is.
    """
    if not TETHERS:
        return argv
    start = "import sys; sys.path.insert(0, sys.argv.pop(1)); from inside.tether import main; main()"
    walled = "plain" if kind == "none" else "walled"
    return [sys.executable, "-I", "-S", "-c", start, str(INSIDE.parent), str(folder), walled, *argv]


def _mounts(libraries: Sequence[Path]) -> list[tuple[str, str]]:
    """What the outer wall lets in, all of it read-only: source and target."""
    found = [(path, path) for path in SYSTEM]
    found += [(str(path), str(path)) for name in SETTINGS for path in Path("/etc").glob(name)]
    found += [(str(path), f"/etc/{path.name}") for path in MADE_UP.iterdir()]
    if not _system_python():
        found.append((str(Path(sys.base_prefix).resolve()), PYTHON))
    found += [(source, f"{PACKAGES}/{number}") for number, source in enumerate(_packages())]
    found.append((str(INSIDE), f"{ENGINE}/inside"))
    return [*found, *((str(library), f"{LIBRARY}/{library.name}") for library in libraries)]


def _font_lists() -> list[Path]:
    """What Matplotlib found out about this machine's fonts, once: behind the wall each kernel would look at them all again."""
    own = os.environ.get("MPLCONFIGDIR") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "matplotlib"
    )
    return [path for path in Path(own).glob("fontlist-*.json") if path.is_file() and path.stat().st_mode & stat.S_IROTH]


def _import_path(kind: Walls) -> list[str]:
    """Where modules are found: first the engine's, then the libraries, then the packages."""
    if kind == "none":
        return [str(INSIDE.parent), *(path for path in sys.path if path and Path(path).is_dir())]
    return [ENGINE, LIBRARY, *(f"{PACKAGES}/{number}" for number in range(len(_packages())))]


def _packages() -> list[str]:
    paths = sysconfig.get_paths()
    return list(dict.fromkeys(str(Path(paths[kind]).resolve()) for kind in ("purelib", "platlib")))


def _unused_packages() -> list[str]:
    """Where the base interpreter keeps packages that this environment does not see, as it is called behind the outer wall."""
    base = Path(sys.base_prefix)
    unused = [Path(path) for path in site.getsitepackages([sys.base_prefix]) if path not in sys.path]
    return [str(path if _system_python() else PYTHON / path.relative_to(base)) for path in unused if path.is_dir()]


def _system_python() -> bool:
    return Path(sys.base_prefix).resolve() == Path("/usr")


def interpreter() -> str:
    """Python, as it is called behind the outer wall."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return f"/usr/bin/{name}" if _system_python() else f"{PYTHON}/bin/{name}"


def _library_path() -> dict[str, str]:
    shared = sysconfig.get_config_var("Py_ENABLE_SHARED") and not _system_python()
    return {"LD_LIBRARY_PATH": f"{PYTHON}/lib"} if shared else {}


class NoSuchWalls(ValueError):
    """The environment asks for walls of a kind that there is not; the message says what to do."""


@lru_cache(maxsize=1)
def best_walls() -> Walls:
    """The strongest walls that this machine can build, unless `AUTOGRADER_WALLS` says which.

    Raises:
        NoSuchWalls: the variable has another value.
    """
    asked = os.environ.get(WALLS_VARIABLE)
    for kind in KINDS:
        if asked == kind or (not asked and not why_not(kind)):
            return kind
    raise NoSuchWalls(f"{WALLS_VARIABLE} is {asked!r}; it can be {', '.join(KINDS)}. Change it, or unset it.")


KINDS: tuple[Walls, ...] = ("both", "outer", "none")


def why_not(kind: Walls) -> str:
    """What keeps this machine from building these walls; "" where nothing does."""
    if kind == "none":
        return ""
    if not sys.platform.startswith("linux"):
        return "the walls are built from Linux namespaces, and this is not Linux"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (on Debian, Ubuntu and Fedora: the package bubblewrap)"
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        return "setpriv is not installed (the package util-linux)"
    try:
        seccomp.program()
    except NotImplementedError as error:
        return str(error)
    tried = "import inside.walls as w; w.separate()" if kind == "both" else "pass"
    argv, variables = command(kind, ["-S", "-c", tried])
    try:
        ended = subprocess.run(argv, env=dict(variables) or None, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "bubblewrap did not come to an end"
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no reason given"]
        return f"the kernel refuses: {said[0]}"
    return ""
