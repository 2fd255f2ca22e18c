"""What axe finds on a page that a browser shows."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

BAD = ("serious", "critical")
WANTED = {"resultTypes": ["violations"]}
"""To write down all that is in order takes axe longer than to look."""
ARRIVED = """() => document.getAnimations().forEach(one => {
    if (one.effect.getComputedTiming().endTime !== Infinity) one.finish()
})"""


def faults(page: Page, within: str | None = None) -> list[str]:
    """The serious and critical faults once everything has faded in: which rule, how often, and the first element.

    Args:
        within: a CSS selector of the part that is ours; None is the whole page.
    """
    page.evaluate(ARRIVED)
    found = Axe().run(page, context=within, options=WANTED).response["violations"]
    return [
        f"{one['id']} ({one['impact']}), {len(one['nodes'])} times: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in BAD
    ]
