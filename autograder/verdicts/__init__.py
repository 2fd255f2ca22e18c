"""What a judge says of a grade cell, whoever the judge is, and how it travels in a notebook. Nothing here knows a course."""
