"""The whole of attention at once."""

EXERCISES = ("qkv", "scaled_scores", "softmax", "attention", "saturation", "repair_claims")
