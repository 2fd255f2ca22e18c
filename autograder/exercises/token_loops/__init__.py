"""Attention, one token at a time."""

EXERCISES = ("softmax_1d", "attend_one", "attend_loop", "loop_flops")
