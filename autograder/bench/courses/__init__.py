"""Courses that nobody here wrote, graded by stock nbgrader, by nbgrader with the plug-ins, and by the class command.

`known` says which, `taking` takes their sources out of clones, `submitting` hands in, `doors` grades and `comparing` compares.
"""
