"""What students get back: their work and the reasons for their marks, without the source of the hidden tests."""

from __future__ import annotations

from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade, is_locked

from autograder.plugins.judges import judge_of


class HideHiddenTests(ClearHiddenTests):
    """nbgrader's `ClearHiddenTests`, on feedback pages: what a student wrote may hold its markers, and keeps them."""

    def preprocess_cell(self, cell, resources, cell_index):  # type: ignore[no-untyped-def]
        ours = resources["nbgrader"]["notebook"] in judge_of(self.config).notebooks
        if ours and is_grade(cell) and is_locked(cell):
            self._remove_hidden_test_region(cell)
        return cell, resources
