"""A course that has nothing to do with attention: what it needs of nbgrader's settings, and the two lines of the engine."""

from autograder.plugins.config import plug_in

c = get_config()  # traitlets defines it

c.CourseDirectory.course_id = "example"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}

plug_in(c)
