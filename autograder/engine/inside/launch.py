"""`python -m inside.launch LIMITS CHANNEL COMMAND...`: put limits (as JSON) and the filter of system calls over this process, and become the command.

CHANNEL is the descriptor that leads to the proxy, which is given a socket to listen at; "" where there is none.
"""

from __future__ import annotations

import json
import os
import socket
import sys

from . import seccomp, walls

limits, channel, *command = sys.argv[1:]
if channel:
    with socket.socket(fileno=int(channel)) as proxy, walls.open_way_out() as listener:
        socket.send_fds(proxy, [b"x"], [listener.fileno()])
walls.confine(walls.Limits(**json.loads(limits)), seccomp.program())
os.execvp(command[0], command)
