"""Python in colours that can be read by day and by night."""

from __future__ import annotations

from pygments.formatters import HtmlFormatter

DAY, NIGHT = "xcode", "github-dark"


def colours() -> str:
    """The styles of what pygments marks, in an element of the class `highlight`."""
    light, dark = (HtmlFormatter(style=name).get_style_defs(".highlight") for name in (DAY, NIGHT))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
