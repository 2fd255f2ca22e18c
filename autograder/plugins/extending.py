"""How nbgrader's converters come to do more than nbgrader has settings for.

nbgrader's commands and its buttons in the browser make their converters themselves, and no setting names the class. What they do
let a course name is the exporter, which a converter makes for itself before it begins with anything. So our exporters give the one
converter that makes them a class of its own, in which ours comes before nbgrader's. Nobody undoes that, and nobody has to: it is that
object alone, which goes with its command. No class and no module of nbgrader is changed, and a converter whose course names another
exporter is nbgrader's own.
"""

from __future__ import annotations

from nbgrader.converters import BaseConverter


def extend(converter: BaseConverter, ours: type[BaseConverter]) -> None:
    """Have one converter do as `ours` says, a subclass of nbgrader's class for such converters, if it does not already."""
    made_as = type(converter)
    if not issubclass(made_as, ours):
        converter.__class__ = type(made_as.__name__, (ours, made_as), {})
