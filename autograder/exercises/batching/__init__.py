"""One more axis, and the way back."""

EXERCISES = ("mha_batched", "combine_keep", "softmax_backward", "attention_backward", "fused", "load_numpy")
