"""Several processes that compute together, as notebooks ask for them; how it is done stands in `course.trial.ranks`."""

from course.trial.ranks import all_gather, all_reduce, run, show

__all__ = ["all_gather", "all_reduce", "run", "show"]
