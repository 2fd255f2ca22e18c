"""What a student's HTML may do on a feedback page: it is laid out, and nothing in it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from bleach.html5lib_shim import Filter
from bleach.sanitizer import Cleaner

LEFT_OUT = {"script", "style"}
"""Left out with all that is in them; what else is not known is shown as it was typed."""
_TAGS = """
a abbr acronym address article aside audio b bdi bdo big blockquote br caption center cite code col colgroup dd del details
dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q rp rt
ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video
wbr
"""
TAGS = LEFT_OUT | set(_TAGS.split())
_ATTRIBUTES = """
align alt bgcolor border cellpadding cellspacing class color colspan controls dir face height href id lang loop muted name
open reversed rowspan scope size span src start style title type valign value width
"""
ATTRIBUTES = set(_ATTRIBUTES.split())
_PROPERTIES = """
border border-bottom border-collapse border-left border-radius border-right border-spacing border-style border-top
border-width display font-size list-style-type margin margin-bottom margin-left margin-right margin-top max-height max-width
min-height min-width opacity overflow-x overflow-y padding padding-bottom padding-left padding-right padding-top
white-space
"""
PROPERTIES = set(ALLOWED_CSS_PROPERTIES) | set(_PROPERTIES.split())
PROTOCOLS = {"http", "https", "mailto", "data"}
DATA = ("data:image/", "data:audio/", "data:video/")


class _Dropping(Filter):
    """Drop the elements that are left out, and what is in them."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        within = 0
        for token in super().__iter__():
            left_out = token.get("name") in LEFT_OUT
            within += left_out and token["type"] == "StartTag"
            if not within:
                yield token
            within -= left_out and token["type"] == "EndTag"


def _may_stay(tag: str, name: str, value: str) -> bool:
    """Whether an attribute may stay: data is for pictures and sounds, which nobody is led to."""
    if name not in ATTRIBUTES:
        return False
    written = "".join(character for character in value if character > " ").lower()
    return (
        name not in ("href", "src") or not written.startswith("data:") or (name == "src" and written.startswith(DATA))
    )


def cleaned(html: str) -> str:
    """Some HTML without what runs, asks for input, lies over other things or is fetched as a frame. All else looks as it did."""
    cleaner = Cleaner(
        tags=TAGS,
        attributes=_may_stay,
        protocols=PROTOCOLS,
        css_sanitizer=CSSSanitizer(allowed_css_properties=PROPERTIES),
        filters=[_Dropping],
    )
    text: str = cleaner.clean(html)
    return text
