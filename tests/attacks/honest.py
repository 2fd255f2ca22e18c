"""What honest students do, and lose no mark for."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.support.submissions import RIGHT


@dataclass(frozen=True)
class Honest:
    """Right answers, and something that is none of the grader's business."""

    name: str
    first: str = ""
    last: str = ""
    answers: dict[str, str] = field(default_factory=dict)


def within(exercise: str, before: str) -> dict[str, str]:
    """The right answer, which does something more when it is called."""
    head, body = RIGHT[exercise].split("\n", 1)
    return {exercise: "\n".join([head, *(f"    {line}" for line in before.splitlines()), body])}


STUDENTS = [
    Honest("plain"),
    Honest(
        "warns",
        "import sys, warnings\nwarnings.warn('mind')\nprint('oh', file=sys.stderr)",
        answers=within("mix_rows", "import sys, warnings\nwarnings.warn('mind')\nprint('oh', file=sys.stderr)"),
    ),
    Honest(
        "prints",
        "for number in range(3000):\n    print(number, 'x' * 80)",
        answers=within("pairwise_dots", "for number in range(100):\n    print(A)"),
    ),
    Honest(
        "plots",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        answers=within("mix_rows", "import matplotlib.pyplot as plt\nplt.figure()\nplt.plot([1, 2])"),
    ),
    Honest(
        "threads",
        "from concurrent.futures import ThreadPoolExecutor\nimport threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "with ThreadPoolExecutor(8) as pool:\n    print(sum(pool.map(abs, range(100))))",
    ),
    Honest("subprocesses", "import subprocess\nprint(subprocess.run(['echo', 'hello'], capture_output=True))\n!ls"),
    Honest("shell-magics", "%%bash\necho hello > greeting.txt\ncat greeting.txt"),
    Honest(
        "writes-files",
        "from pathlib import Path\nimport numpy as np, tempfile\nnp.save('mine.npy', np.eye(3))\n"
        "Path('notes').mkdir(exist_ok=True)\nPath('notes/a.txt').write_text('a')\n"
        "with tempfile.TemporaryFile() as file:\n    file.write(b'x')\nassert np.load('mine.npy').sum() == 3",
    ),
    Honest(
        "multiprocessing",
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    assert pool.map(abs, [-1, 2]) == [1, 2]",
    ),
    Honest(
        "loopback",
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname())\nclient.sendall(b'x')\n"
        "assert server.accept()[0].recv(1) == b'x'",
    ),
    Honest("reruns", RIGHT["mix_rows"], RIGHT["mix_rows"] + "\nfor _ in range(3):\n    check(mix_rows)"),
    Honest(
        "awaits", "import asyncio\nawait asyncio.sleep(0.01)\nasync def one():\n    return 1\nassert await one() == 1"
    ),
    Honest("raises", "1 / 0", "undefined"),
    Honest(
        "resets-nothing-else",
        "import gc, random, sys\nimport numpy as np\nrandom.seed(1)\nnp.random.seed(1)\ngc.disable()\nsys.setrecursionlimit(5000)",
    ),
    Honest(
        "changes-its-surroundings",
        "import locale, os, resource\nos.chdir('/')\nos.umask(0o777)\nlocale.setlocale(locale.LC_ALL, 'C')\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nos.environ.update(LANG='tlh', HOME='/nowhere')",
    ),
    Honest("takes-memory", "import numpy as np\nlarge = np.ones(60_000_000)\nprint(large.sum())\ndel large"),
    Honest(
        "asks-for-nothing",
        "try:\n    input('your name? ')\nexcept Exception as error:\n    print(type(error).__name__)",
    ),
    Honest("leaves-politely", last="import sys\nsys.exit(0)"),
]
