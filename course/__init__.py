"""What the notebooks import: `check`, `feedback`, `hand_in`, `judge`, `mine`, `progress`, `pytorch`, and `course.figures`; beside it `afterwards`,
which the grader asks."""

from course import afterwards
from course.checking import check
from course.client import judge
from course.kit.handing_in import hand_in
from course.kit.torch_here import pytorch
from course.mine import mine
from course.returned import feedback
from course.standing import progress
from course.unwritten import be_calm

__all__ = ["__version__", "afterwards", "check", "feedback", "hand_in", "judge", "mine", "progress", "pytorch"]

__version__ = "1.0.0"

be_calm()
