"""What it costs, and how to time it."""

EXERCISES = ("block_flops", "bench", "attend_cached")
