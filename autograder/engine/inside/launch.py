"""`python -m inside.launch COMMAND...`: put limits and the filter of system calls over this process, then become the command."""

from __future__ import annotations

import os
import sys

from . import seccomp, walls

walls.confine(walls.Limits(), seccomp.program())
os.execvp(sys.argv[1], sys.argv[1:])
