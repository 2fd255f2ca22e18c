"""Notebook 01."""

from autograder.exercises.model import Exercise

NOTEBOOK = "01_token_loops"
EXERCISES: tuple[Exercise, ...] = ()
