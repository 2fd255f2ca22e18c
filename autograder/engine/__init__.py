"""Run notebooks many times faster than with a kernel each, behind two walls.

The engine knows neither exercises nor nbgrader. `Zygote` starts, behind the outer wall, a process that has imported everything; `Session`
borrows a fork of it, behind an inner wall of its own, and runs cells there.
"""

from autograder.engine.given import NOTHING, Given, TooMuchToSend
from autograder.engine.inside.walls import Limits
from autograder.engine.outer import NoSuchWalls, Walls, best_walls
from autograder.engine.pool import be_lent, borrowed, discard, opened, start_early
from autograder.engine.session import CellRun, Session
from autograder.engine.zygote import KilledByMachine, Place, Zygote, ZygoteFailed

__all__ = [
    "NOTHING",
    "CellRun",
    "Given",
    "KilledByMachine",
    "Limits",
    "NoSuchWalls",
    "Place",
    "Session",
    "TooMuchToSend",
    "Walls",
    "Zygote",
    "ZygoteFailed",
    "be_lent",
    "best_walls",
    "borrowed",
    "discard",
    "opened",
    "start_early",
]
