"""What the reason that an exercise gives for its answer has to be like."""

from __future__ import annotations

import re

FEWEST, MOST = 40, 120
SENTENCES = range(2, 6)
BELITTLING = {"simply", "obviously", "just", "clearly", "trivially", "easy", "easily"}
CODE = re.compile(r"`[^`]*`")
LIKE_CODE = re.compile(r"@|_|==|\*|\[|\b\w+\(|[A-Za-z]\.[A-Za-z]")


def faults(why: str) -> list[str]:
    """What is amiss with a reason, in sentences; nothing where it is as it should be."""
    words = why.split()
    found = [] if FEWEST <= len(words) <= MOST else [f"{len(words)} words; {FEWEST} to {MOST} are asked for"]
    prose = CODE.sub("code", why)
    sentences = len(re.findall(r"[.?!](?=\s|$)", prose))
    found += [] if sentences in SENTENCES else [f"{sentences} sentences; two to five are asked for"]
    found += [f"says {word!r}" for word in sorted(set(re.findall(r"[a-z]+", prose.lower())) & BELITTLING)]
    return found + [f"code without backticks: {one}" for one in LIKE_CODE.findall(prose)]
