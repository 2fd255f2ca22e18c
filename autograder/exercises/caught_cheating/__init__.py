"""A leak shows in the loss."""

EXERCISES = ("loss_by_position", "verdict")
