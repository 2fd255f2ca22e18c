"""What nbgrader loads through its documented settings; `config.plug_in` says where each one goes."""

import warnings

from sqlalchemy.exc import SAWarning

warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")  # of its own queries, three a submission
