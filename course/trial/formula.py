"""Numbers as one says them: 1/3, √k, 2 n / √k."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

EXPONENTS = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
SEVERAL = 3  # different numbers, for a product of two sizes to be no chance


def formula(values: Sequence[float], sizes: Sequence[dict[str, int]], counts: Iterable[int]) -> str:
    """These numbers as one constant, or as a product of powers of at most two sizes; "" where they are neither."""
    if _equal(values, [values[0]] * len(values)):
        return constant(values[0])
    names = [name for name in sizes[0] if all(name in some for some in sizes)]
    terms: list[tuple[tuple[str, float], ...]] = [((name, e),) for name in names for e in EXPONENTS]
    if len({f"{value:.4g}" for value in values}) >= SEVERAL:
        terms += [
            (*one, *two) for one, two in product(terms, repeat=2) if names.index(one[0][0]) < names.index(two[0][0])
        ]
    for term, count in ((term, count) for term in terms for count in counts):
        if _equal(values, [count * math.prod(some[name] ** e for name, e in term) for some in sizes]):
            return _product(count, term)
    return ""


def constant(value: float) -> str:
    """A number as it is said: 1/3, 0.2865, nan, True."""
    if isinstance(value, bool) or not math.isfinite(value):
        return str(value)
    near = Fraction(value).limit_denominator(12)
    return str(near) if math.isclose(near, value, rel_tol=1e-5) else f"{value:.4g}"


def _equal(some: Sequence[float], others: Sequence[float]) -> bool:
    return all(math.isclose(one, other, rel_tol=1e-4) for one, other in zip(some, others, strict=True))


def _product(count: int, term: Sequence[tuple[str, float]]) -> str:
    """2, ("n", 1), ("k", -0.5) as it is read: "2 n / √k"."""
    above, below = ([_power(name, abs(e)) for name, e in term if (e > 0) == upper] for upper in (True, False))
    above = [str(count), *above] if count != 1 or not above else above
    return " ".join(above) + "".join(f" / {factor}" for factor in below)


def _power(name: str, exponent: float) -> str:
    return {0.5: f"√{name}", 1.0: name, 2.0: f"{name}²"}[exponent]
