"""A hub on one machine, for the course with nbgrader's exchange. `docs/hub.md` says how to begin, and what a class needs beyond it.

Its users are the machine's own, who log in with their passwords. Each server runs with its user's rights, in the environment in which
`jupyterhub` was started. Students can read that, and this folder: there must be no checkout in either.
"""

import os
import pwd
import sys
from pathlib import Path

c = get_config()  # traitlets defines it

INSTRUCTORS = {"teacher"}
STUDENTS = {"ada", "ben"}

here = Path(__file__).resolve().parent


def settings(spawner):
    """Students get nbgrader's list of assignments and Validate, and nothing of the instructor's."""
    return "" if spawner.user.name in INSTRUCTORS else str(here / "students")


def library(spawner):
    """Where the instructor's side is imported from: the checkout in an instructor's own home."""
    own = Path(pwd.getpwnam(spawner.user.name).pw_dir, "attention")
    return str(own) if spawner.user.name in INSTRUCTORS else os.environ.get("PYTHONPATH", "")


c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # what leads here from outside has to speak https
c.Authenticator.allowed_users = INSTRUCTORS | STUDENTS

c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    # where nbgrader finds its own commands, and the engine bubblewrap
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    "LANG": "C.UTF-8",
    "JUPYTER_CONFIG_PATH": settings,
    "PYTHONPATH": library,
}
