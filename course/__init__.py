"""What the notebooks import: `check`, `judge`, `mine`, `progress`, and `course.figures`."""

from course.checking import check, progress
from course.client import judge
from course.mine import mine
from course.unwritten import be_calm

__all__ = ["__version__", "check", "judge", "mine", "progress"]

__version__ = "1.0.0"

be_calm()
