"""Hiding the future, and testing that it is masked."""

EXERCISES = ("causal_keep", "mask_scores", "zero_renorm", "masked_softmax", "influence")
