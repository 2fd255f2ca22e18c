"""`python -m inside.launch LIMITS COMMAND...`: put limits (as JSON) and the filter of system calls over this process, and become the command."""

from __future__ import annotations

import json
import os
import sys

from . import seccomp, walls

walls.confine(walls.Limits(**json.loads(sys.argv[1])), seccomp.program())
os.execvp(sys.argv[2], sys.argv[2:])
