"""The instructor's side: exercises, the judge, what nbgrader loads, class tools, the command line."""

import os

# What the judge computes is small: for it, threads cost more than they gain. It is read when torch is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
