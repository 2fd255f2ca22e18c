"""The plug-ins, and nothing that is about this course."""

from autograder.plugins.config import plug_in

plug_in(get_config(), judge="autograder.this_course.JUDGE")  # traitlets defines get_config
