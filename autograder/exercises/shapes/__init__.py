"""Reading a matrix product."""

EXERCISES = ("pairwise_dots", "mix_rows", "to_columns")
