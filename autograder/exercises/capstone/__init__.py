"""One block, computed by several processes."""

EXERCISES = ("parallel_block",)
TASKS = {"museum": 3.0}
