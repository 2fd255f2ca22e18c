"""Begin, or go on: `python start.py`. It installs what the course needs, once, and opens JupyterLab on your own notebooks.

Everything goes into one folder, attention-in-matrices in your home folder, 0.5 GB. Besides, Jupyter keeps some small settings of
its own in your home folder.

    python start.py --work FOLDER     another folder
    python start.py --no-browser      print the address of JupyterLab, and open no page
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

KIT = Path(__file__).resolve().parent
HOME = Path.home() / "attention-in-matrices"
WIDTH = 30  # of the progress bar
LAST = 12  # lines of pip that are shown where it fails


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one runs this too
        sys.exit(
            f"This is Python {sys.version.split()[0]}. The course needs Python 3.11 or later: install one, and start with that."
        )
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--work", type=Path, default=HOME)
    given, rest = parser.parse_known_args()
    if {"-h", "--help"} & set(rest):
        sys.exit(__doc__)
    work = given.work.expanduser().resolve()
    python = environment(work / ".venv")
    install(python, work / ".venv" / "kit.txt")
    command = [str(python), "-m", "course", "--notebooks", str(KIT / "notebooks"), "--work", str(work), *rest]
    sys.exit(run(command))


def run(command: list[str]) -> int:
    """Run a command to its end; Ctrl+C is for it, and it is left the time to stop."""
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def environment(folder: Path) -> Path:
    """The Python of the course's own environment, which is made if it is not there or does not run any more."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if python.exists() and subprocess.call([str(python), "-m", "pip", "--version"], stdout=subprocess.DEVNULL) == 0:
        return python
    print(f"Making an environment in {folder} ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    if subprocess.call([sys.executable, "-m", "venv", str(folder)]) != 0:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(
            "It could not be made. On Debian and Ubuntu, `sudo apt install python3-venv` brings what is missing. Then start again."
        )
    return python


def install(python: Path, record: Path) -> None:
    """Install the kit's packages, unless this kit's are there already."""
    says = json.loads((KIT / "kit.json").read_text(encoding="utf-8"))
    wheel, total = KIT / says["wheel"], says["packages"]
    wanted = hashlib.sha256(wheel.read_bytes() + (KIT / "constraints.txt").read_bytes()).hexdigest()
    if record.exists() and record.read_text(encoding="utf-8") == wanted:
        return
    if record.exists():
        print("Bringing what is installed up to the newer kit ...", flush=True)
    else:
        print(
            f"Installing {total} packages, some 120 MB to download, 0.5 GB on disk. This is done once, and takes a few minutes.",
            flush=True,
        )
    command = [
        str(python),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
        "--no-input",
    ]
    command += [
        "--requirement",
        str(KIT / "requirements.txt"),
        "--constraint",
        str(KIT / "constraints.txt"),
        str(wheel),
    ]
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
    ) as pip:
        found = 0
        for line in pip.stdout or ():
            lines.append(line.rstrip())
            if line.startswith(("Collecting ", "Processing ")):
                found += 1
                bar(found / (total + 10), " ".join(re.findall(r"^Collecting ([\w.-]+)", line)) or "the course")
            elif line.startswith("Installing collected packages"):
                bar(total / (total + 10), "All is there, and is unpacked now ...", always=True)
    if pip.returncode != 0:
        print()
        sys.exit(
            "\n".join(lines[-LAST:])
            + "\n\nThe packages could not be installed; pip's last lines say why. Most often the network is missing or asks for a proxy."
            "\nStart again when that is mended: what was downloaded is not downloaded twice."
        )
    bar(1.0, "Installed.", always=True)
    print(flush=True)
    record.write_text(wanted, encoding="utf-8")


def bar(share: float, doing: str, always: bool = False) -> None:
    """Draw how far it is. Where this is no terminal there is no bar, and only what is `always` said."""
    full = round(min(share, 1.0) * WIDTH)
    if sys.stdout.isatty():
        print(f"\r[{'#' * full}{'.' * (WIDTH - full)}] {doing[:40]:<40}", end="", flush=True)
    elif always:
        print(doing, flush=True)


if __name__ == "__main__":
    main()
