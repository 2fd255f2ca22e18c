"""One thread for numpy's products, and as many as before afterwards."""

from __future__ import annotations

import pytest

from course import blas


def test_products_take_one_thread_and_then_as_many_as_before() -> None:
    found = blas._openblas()
    if found is None:
        pytest.skip("numpy came without OpenBLAS here")
    put, get = found
    before = int(get())
    put(2)
    try:
        with blas.one_blas_thread() as alone:
            assert alone
            assert get() == 1
        assert get() == 2
    finally:
        put(before)


def test_where_there_is_no_openblas_nothing_is_touched_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_openblas", lambda: None)
    with blas.one_blas_thread() as alone:
        assert not alone
