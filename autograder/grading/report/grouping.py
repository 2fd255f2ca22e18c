"""Which wrong answers that nobody has a name for are alike."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.grading.report.lines import Line


@dataclass(frozen=True)
class Group:
    """Answers to one exercise that gave the same in every hidden case.

    Attributes:
        lines: of those who gave them, the shortest answer first.
    """

    exercise: str
    lines: tuple[Line, ...]

    @property
    def students(self) -> list[str]:
        return sorted(line.student for line in self.lines)

    @property
    def example(self) -> Line:
        return self.lines[0]


def groups(found: list[Line]) -> list[Group]:
    """Those who are wrong in a way that no known mistake is, by exercise, the largest groups first.

    An answer that was marked before answers were told apart is a group of its own.
    """
    together: dict[tuple[str, str], list[Line]] = {}
    for line in found:
        if line.unrecognised:
            together.setdefault((line.exercise, line.alike or f"of {line.student}"), []).append(line)
    order = {exercise: place for place, exercise in enumerate(dict.fromkeys(line.exercise for line in found))}
    made = [
        Group(exercise, tuple(sorted(own, key=lambda line: (len(line.code), line.student))))
        for (exercise, _), own in together.items()
    ]
    return sorted(made, key=lambda group: (order[group.exercise], -len(group.lines), group.students))
