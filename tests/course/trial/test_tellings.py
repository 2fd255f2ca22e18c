"""What an account comes to, where it may be forged."""

from __future__ import annotations

import numpy as np

from course.trial.tellings import _in_any_order


def test_a_weight_larger_than_the_array_is_none_of_it_and_is_not_compared_number_by_number() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert _in_any_order(array.T, array)
    assert _in_any_order(array[:1], array)
    assert not _in_any_order(np.zeros((700, 700)), array)
