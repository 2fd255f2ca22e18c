"""Notebook 03."""

from autograder.exercises.model import Exercise

NOTEBOOK = "03_causal_mask"
EXERCISES: tuple[Exercise, ...] = ()
