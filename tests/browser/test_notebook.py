"""The released notebooks in Notebook 7, as a student meets them."""

from __future__ import annotations

import pytest

from tests.browser.attempts import ATTEMPTS
from tests.browser.conftest import Open
from tests.browser.front_end import NOTEBOOK
from tests.browser.paths import main_path

pytestmark = pytest.mark.thorough  # what tests/browser/test_lab.py does, in another front end
FIRST_AND_LAST = (min(ATTEMPTS), max(ATTEMPTS))
"""Without PyTorch and with it; in JupyterLab there are more."""


@pytest.mark.parametrize("notebook", FIRST_AND_LAST)
def test_a_notebook_is_calm_unwritten_names_a_mistake_and_counts_a_right_answer(student: Open, notebook: str) -> None:
    main_path(student(notebook, NOTEBOOK), ATTEMPTS[notebook])
