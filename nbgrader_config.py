"""nbgrader's settings for this course. Its own commands and buttons read them; nothing of nbgrader is replaced.

Collected work, grades and feedback live in `class/`, which git ignores.
"""

import os
import sys
from pathlib import Path

from autograder.plugins.config import plug_in

c = get_config()  # traitlets defines it

root = Path(__file__).resolve().parent
(root / "class").mkdir(exist_ok=True)

# nbgrader calls alembic by name, so `.venv/bin/nbgrader` has to find it in an environment that nobody activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

c.CourseDirectory.course_id = "attention"
c.CourseDirectory.root = str(root)
c.CourseDirectory.db_url = f"sqlite:///{root / 'class' / 'gradebook.db'}"
c.CourseDirectory.submitted_directory = "class/submitted"
c.CourseDirectory.autograded_directory = "class/autograded"
c.CourseDirectory.feedback_directory = "class/feedback"
c.CourseDirectory.solution_directory = "class/solution"
c.ZipCollectApp.downloaded_directory = "class/downloaded"

# No history file, and errors only on the terminal: one kernel warning a submission helps nobody.
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=ERROR"]

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}

plug_in(c, judge="autograder.this_course.JUDGE")
