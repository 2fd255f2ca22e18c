"""Grade a whole class: in parallel, with one writer, resumable. `run.grade` is the way in."""
