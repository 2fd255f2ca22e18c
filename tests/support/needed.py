"""What some tests need of a machine, and how one gets it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NoReturn

import pytest


@dataclass(frozen=True)
class Needed:
    """Something without which tests are left out, or fail where it is required.

    Attributes:
        missing: the reason, in words.
        remedy: what to do about it.
        required: set in the environment where a test that is left out is a failure.
    """

    missing: str
    remedy: str
    required: str

    def leave_out(self, why: str = "") -> NoReturn:
        """Do without the test that asks."""
        reason = f"{self.missing}: {why}" if why else self.missing
        if os.environ.get(self.required):
            pytest.fail(f"{reason}, and {self.required} is set: {self.remedy}", pytrace=False)
        pytest.skip(reason)


POSTGRES = Needed("there is no PostgreSQL server here", "`apt-get install postgresql`", "REQUIRE_POSTGRES")
HUB = Needed("no hub can be started here", "as root, `make hub`", "REQUIRE_HUB")
