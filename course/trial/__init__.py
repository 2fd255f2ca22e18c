"""How an answer is tried and looked at. `check` stands on it, and so does the judge."""
