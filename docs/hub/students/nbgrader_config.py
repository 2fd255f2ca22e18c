"""What nbgrader has to know on the students' side."""

c = get_config()  # traitlets defines it

c.CourseDirectory.course_id = "attention"
