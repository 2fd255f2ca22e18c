"""Many heads, side by side."""

EXERCISES = ("mha_loop", "split_heads", "merge_heads", "pack", "mha", "head_outputs")
