"""What a student's HTML may do on a feedback page: it is laid out, nothing in it runs, and nothing is fetched for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import tinycss2
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
FUNCTIONS = {"calc", "clamp", "hsl", "hsla", "max", "min", "rgb", "rgba"}
"""What a value in a style may compute; what else has brackets may name an address."""
OWN = "graded--"
"""How the names begin that a page gives to its own parts."""


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


class _Styles(CSSSanitizer):
    """Styles of which nothing is fetched."""

    def sanitize_css(self, style: str) -> str:
        kept = tinycss2.parse_declaration_list(super().sanitize_css(style), skip_comments=True, skip_whitespace=True)
        return "; ".join(
            one.serialize() for one in kept if one.type == "declaration" and not any(map(_fetches, one.value))
        )


def _fetches(token: Any) -> bool:
    """Whether a part of a style's value may name an address."""
    if token.type == "function":
        return token.lower_name not in FUNCTIONS or any(map(_fetches, token.arguments))
    return token.type == "url" or any(map(_fetches, getattr(token, "content", None) or ()))


def _may_stay(remote: bool, tag: str, name: str, value: str) -> bool:
    """Whether an attribute may stay: data is for pictures and sounds, which nobody is led to; a name leads to what a student made."""
    if name not in ATTRIBUTES:
        return False
    written = "".join(character for character in value if character > " ").lower()
    if name == "src":
        return written.startswith(DATA) or (remote and not written.startswith("data:"))
    if name in ("id", "name"):
        return not written.startswith(OWN)
    return name != "href" or not written.startswith("data:")


def cleaned(html: str, remote: bool = False) -> str:
    """Some HTML without what runs, asks for input, lies over other things or is fetched as a frame. All else looks as it did.

    Args:
        remote: whether pictures and sounds may be fetched from wherever they are.
    """
    cleaner = Cleaner(
        tags=TAGS,
        attributes=partial(_may_stay, remote),
        protocols=PROTOCOLS,
        css_sanitizer=_Styles(allowed_css_properties=PROPERTIES),
        filters=[_Dropping],
    )
    text: str = cleaner.clean(html)
    return text
