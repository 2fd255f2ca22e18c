"""The class whose notebooks take no time, here too."""

from __future__ import annotations

from tests.grading.conftest import quick_class, quick_course

__all__ = ["quick_class", "quick_course"]
