"""The whole of attention at once."""

EXERCISES = ("qkv", "scaled_scores", "softmax", "attention", "normalized_entropy", "repair_claims")
