"""Results as they are compared: an answer that may rightly take many forms is looked at first."""

from __future__ import annotations

from dataclasses import replace

from course.trial.observing import Observation


def seen(view: str | None, observed: Observation) -> Observation:
    """`observed` with its result as the named view shows it; unchanged where there is no view or no result.

    Raises:
        ValueError: there is no view of that name.
    """
    if view is None or observed.raised is not None:
        return observed
    if view != "claims":
        raise ValueError(f"no view is called {view}")
    from course.trial.claims import outcomes  # it is not with a student before the notebook that has these claims

    return replace(observed, result=outcomes(observed.result))
