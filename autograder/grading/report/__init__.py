"""The class report: what went wrong in an assignment, and how; and what a term comes to."""
