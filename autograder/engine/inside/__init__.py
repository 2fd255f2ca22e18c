"""What runs within the walls: the zygote, and the processes it forks, one for each submission.

This package is all of `autograder` that the sandbox can see. It imports nothing of the rest, and holds nothing worth knowing.
"""
