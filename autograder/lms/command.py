"""`python -m autograder export`, `collect` and `roster`, as the person who asked for it sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from autograder.folder import Course
from autograder.grading.store import write_atomically
from autograder.lms import brightspace, canvas, enrolment, moodle, pages, plain
from autograder.lms.collected import origins
from autograder.lms.collecting import collect
from autograder.lms.marks import Mark, read_marks, read_roster
from autograder.lms.sheet import Filled, Reader, fill
from autograder.plugins.collecting import LINK, TEXT
from autograder.plugins.handing_in import TIMESTAMP
from autograder.plugins.printable import printable
from autograder.plugins.roster import Person, Roster
from autograder.problems import FAILED, UNCONFIRMED, Problem

READERS: dict[str, Reader] = {"canvas": canvas.read, "moodle": moodle.read, "brightspace": brightspace.read}
SYSTEMS = (*READERS, "csv")
TEXTS = {TEXT: "Typed into the LMS's page", LINK: "A link was handed in"}
Say = Callable[[str], None]


def run_export(
    course: Course,
    assignment: str,
    system: str,
    template: Path | None,
    column: str | None,
    feedback: bool,
    say: Say,
) -> int:
    """Write a file of marks, say what became of whom, and return the exit code: 1 where a mark is not in it.

    Raises:
        Problem: nothing can be written as things are.
    """
    roster = read_roster(course)
    marks = read_marks(course, assignment, roster)
    if system == "csv":
        if template or column or feedback:
            raise Problem("A plain CSV file is made of nothing else: leave template, --column and --feedback away.")
        path = course.class_folder / "report" / f"{assignment}.csv"
        late = {student for student, origin in origins(course, assignment).items() if origin.late}
        write_atomically(path, plain.text(marks.values(), late))
        say(f"{path}: {_people(marks)}")
        return 0
    if template is None:
        raise Problem(f"Name the file that {system} exported: it is filled in, in a copy.")
    if feedback and system == "brightspace":
        raise Problem("Brightspace takes no pages by names that are known here: leave --feedback away.")
    sheet = READERS[system](template, assignment, column)
    filled = fill(sheet, marks, roster)
    path = _free(template, "filled", template.suffix)
    _written(path, lambda: path.write_text(str(sheet.table), encoding="utf-8", newline=""))
    _tell(filled, sheet.system, roster, say)
    say(f"{sheet.system}'s file, filled in: {path}")
    code = 0 if filled.complete else FAILED
    return max(code, _feedback(course, assignment, system, template, filled, marks, roster, say)) if feedback else code


def _feedback(
    course: Course,
    assignment: str,
    system: str,
    template: Path,
    filled: Filled,
    marks: Mapping[str, Mark],
    roster: Roster,
    say: Say,
) -> int:
    made = {student: course.pages(student, assignment) for student in marks}
    own = {student: found for student, found in made.items() if found}
    known = origins(course, assignment)
    if system == "moodle":
        named, why = pages.for_moodle(own, filled.whose), "no row of the worksheet is theirs"
    else:
        named = pages.for_canvas(own, known)
        why = "`python -m autograder collect` did not take their submission from a zip of Canvas"
    there = pages.students_in(own, named.values())
    if named:
        missing = sorted(own.keys() - set(there))
        typed = {one for one in missing if system == "canvas" and one in known and known[one].system == "canvas"}
        _list(say, f"No page to upload, because {why}", [roster.shown(one) for one in missing if one not in typed])
        why = "Canvas takes pages for files alone, and none was handed in"
        _list(say, f"No page to upload, because {why}", map(roster.shown, sorted(typed)))
        path = _free(template, "feedback", ".zip")
        _written(path, lambda: pages.write(named, path))
        say(f"Feedback pages of {_people(there)}: {path}")
    else:
        say(f"No feedback pages to upload, because {why if own else 'none was made'}.")
    return FAILED if len(there) < len(own) else 0


def run_collect(
    course: Course,
    assignment: str,
    path: Path,
    worksheet: Path | None,
    newer: bool,
    students: Collection[str],
    say: Say,
) -> int:
    """Put the submissions of a zip in place, say what became of each file, and return the exit code: 1 where one is nobody's, or is
    another than what is there.

    Raises:
        Problem: the zip was not unpacked.
    """
    done = collect(course, assignment, path, worksheet, newer, students)
    shown = read_roster(course).shown

    def of(file: str) -> str:
        return f"{shown(done.owners[file])}: {file}" if file in done.owners else file

    _list(say, "Not placed", [f"{of(file)}: {why}" for file, why in done.unplaced])
    for kind, what in TEXTS.items():
        for with_notebook, so in ((True, "left aside, a file came with it"), (False, "no notebook came with it")):
            who = [shown(one) for one, has in done.texts.items() if has == (kind, with_notebook)]
            if who:
                say(f"{what}, {so}: {', '.join(map(printable, who))}")
    heading = "Of several notebooks in one folder or zip the only one that can be meant"
    _list(say, heading, [f"{of(upload)}; taken: {file}" for upload, file in done.picked])
    _list(say, "Left out for a newer one of the same student", [f"{of(old)}; taken: {new}" for old, new in done.older])
    _list(say, "Waits for a person", [f"{shown(student)}: {why}" for student, why in done.waiting.items()])
    heading = "Newer than what is there, and not taken: --newer takes them all, --student ID this one"
    _list(say, heading, [f"{shown(one)}: {file}" for one, file in done.newer.items()])
    heading = "The newest upload is not what is graded: it is no notebook that can be, and the one that is there stays"
    _list(say, heading, [f"{shown(one)}: {file}" for one, file in done.aside.items()])
    where = course.folder("submitted", "STUDENT", assignment)
    heading = f"Left as it was: what is in {where} came by other means, and says when; --student ID takes this one"
    _list(say, heading, [shown(one) for one in done.kept if one not in done.newer])
    _list(say, "Older than what was collected before, which was left as it was", map(shown, done.behind))
    _list(
        say,
        "Taken in place of another, which is kept in",
        [f"{shown(one)}: {_kept(folder)}" for one, folder in done.replaced.items()],
    )
    _list(say, "Late, as the LMS says; no name tells by how much, so nothing is taken off here", map(shown, done.late))
    if done.same:
        say(f"There already, the same: {_people(done.same)}")
    say(f"Collected for {assignment}: {_people([*done.placed, *done.replaced])}")
    return 0 if done.complete else FAILED


def _kept(folder: Path) -> str:
    return f"{folder}, its {TIMESTAMP} too" if (folder / TIMESTAMP).exists() else f"{folder}"


def run_roster(course: Course, path: Path, agrees: Callable[[], bool], say: Say) -> int:
    """Enter who is in a file, after a look at what that changes; return the exit code: 1 where a line cannot be used.

    Args:
        agrees: is asked, when all has been said, whether to write; it is not where there is nothing to write.

    Raises:
        Problem: the file cannot be read, or the gradebook not be used.
    """
    roster = read_roster(course)
    found = enrolment.read(path, roster)
    _list(
        say, "Not read, columns called otherwise than id, first_name, last_name, email, lms_user_id", found.passed_over
    )
    _list(say, "Not used", [f"line {line}: {why}" for line, why in found.unused])
    _list(say, "Found by name alone", map(roster.shown, found.by_name))
    _list(say, f"New, with ids from the column {found.ids!r}", map(_described, found.new))
    _list(say, "Changed", [f"{roster.shown(old.id)}: {_changes(old, new)}" for old, new in found.changed])
    _list(say, "In the gradebook and not in the file, left as they are", map(roster.shown, found.others))
    say(f"New: {len(found.new)}. Changed: {len(found.changed)}. The same already: {found.same}.")
    if found.new or found.changed:
        if not agrees():
            say("Nothing was written. Say yes, or use --yes.")
            return UNCONFIRMED
        enrolment.write(course, found)
        say("Written to the gradebook.")
    return FAILED if found.unused else 0


def _described(person: Person) -> str:
    known = ((name, getattr(person, name)) for name in ("name", "email", "lms_user_id"))
    return ", ".join([person.id, *(f"{name} {value}" for name, value in known if value)])


def _changes(old: Person, new: Person) -> str:
    pairs = [(name, getattr(old, name), getattr(new, name)) for name in enrolment.FIELDS.values()]
    return ", ".join(f"{name} {was or 'empty'} becomes {now}" for name, was, now in pairs if was != now)


def _tell(filled: Filled, system: str, roster: Roster, say: Say) -> None:
    shown = roster.shown
    if filled.strangers and not filled.whose:
        say("Nobody was found. What the LMS knows students by comes from `python -m autograder roster FILE`.")
    _list(say, f"Not on the roster, left as they were in {system}'s file", filled.strangers)
    _list(say, "Not decided whose row it is, left as it was", [f"{row}: {why}" for row, why in filled.open])
    _list(say, f"Graded here, and without a row in {system}'s file", map(shown, filled.absent))
    _list(say, "No mark yet, left as it was", [f"{shown(student)}: {why}" for student, why in filled.waiting])
    _list(say, "Left as it was", [f"{shown(student)}: {why}" for student, why in filled.kept])
    _list(say, "Found by name alone", map(shown, filled.by_name))
    _list(say, "Comment left as somebody wrote it", map(shown, filled.remarks))
    _list(
        say,
        f"Another grade than in {system}",
        [f"{shown(student)}: {old} becomes {new}" for student, old, new in filled.changed],
    )
    say(f"Entered: {len(filled.entered)}. Changed: {len(filled.changed)}. The same already: {filled.same}.")


def _list(say: Say, heading: str, items: Iterable[str]) -> None:
    found = list(items)
    if found:
        say("\n".join([f"{heading}:", *(f"  {printable(item)}" for item in found)]))


def _people(found: Iterable[object]) -> str:
    count = len(list(found))
    return "1 student" if count == 1 else f"{count} students"


def _free(template: Path, what: str, suffix: str) -> Path:
    """A name beside a file that nothing has yet."""
    number = 1
    while (path := template.with_name(f"{template.stem}-{what}{f'-{number}' if number > 1 else ''}{suffix}")).exists():
        number += 1
    return path


def _written(path: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror or error}.") from None
