"""The command line: `classes` is for any course of nbgrader's, `making` for this one. `app` is what both are hung into."""
