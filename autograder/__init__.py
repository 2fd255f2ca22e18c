"""The instructor's side: exercises, the judge, what nbgrader loads, class tools, the command line."""

import os
import sys

# What the judge computes is small: for it, threads cost more than they gain. It is read when torch is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# jsonschema, which nbformat needs, would have these packages check formats that no notebook asks for: time in every process.
# Python takes None for "not installed", and jsonschema does without.
for package in ("isoduration", "webcolors"):
    sys.modules.setdefault(package, None)  # type: ignore[arg-type]
