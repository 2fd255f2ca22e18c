"""Notebook 02."""

from autograder.exercises.model import Exercise

NOTEBOOK = "02_matrices"
EXERCISES: tuple[Exercise, ...] = ()
