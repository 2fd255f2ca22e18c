"""The instructor's side: exercises, the judge, what nbgrader loads, class tools, the command line."""

import os
import sys

# What the judge computes is small: for it, threads cost more than they gain. It is read when torch is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# jsonschema, which nbformat needs, would let this package compile a grammar of web addresses: a second of CPU in every
# process, for a check that no notebook asks for. Python takes None for "not installed", and jsonschema does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
