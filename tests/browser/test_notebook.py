"""The released notebooks in Notebook 7, as a student meets them."""

from __future__ import annotations

import pytest

from tests.browser.attempts import ATTEMPTS
from tests.browser.conftest import Open
from tests.browser.front_end import NOTEBOOK
from tests.browser.paths import main_path

pytestmark = pytest.mark.thorough  # what tests/browser/test_lab.py does, in another front end
FIRST = min(ATTEMPTS)
"""In JupyterLab there are more; what a kernel says does not depend on what shows it."""


def test_a_notebook_is_calm_unwritten_names_a_mistake_and_counts_a_right_answer(student: Open) -> None:
    main_path(student(FIRST, NOTEBOOK), ATTEMPTS[FIRST])
