"""Feedback pages, through the class command and through nbgrader: when they are made again, and what one that fails costs."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.grading.command import run
from autograder.grading.feedback import Pages
from autograder.grading.run import grade
from autograder.plugins import confining, pages, parts, rendering
from autograder.plugins.rendering import Renderer
from autograder.settings import CONFIG
from tests.support import commands
from tests.support.quick_class import NAME, QuickClass

PLUGGED = '\nc.GenerateFeedback.exporter_class = "autograder.plugins.pages.PageExporter"\n'


def by_class_command(course: Course) -> str:
    """Make what pages have to be made; give back what is said of those that failed."""
    return repr(grade(course, NAME, jobs=1).failed)


def by_nbgrader(course: Course) -> str:
    done = course._api.generate_feedback(NAME, force=False)
    return "{}" if done["success"] else str(done["log"])


DOORS = pytest.mark.parametrize("door", [by_class_command, by_nbgrader])
Door = Callable[[Course], str]


@pytest.fixture
def graded(quick_class: QuickClass) -> Course:
    """Ada and Ben have marks, and no pages."""
    course = quick_class(ada="2", ben="1")
    with (course.root / CONFIG).open("a") as config:
        config.write(PLUGGED)
    course = Course(course.root)
    grade(course, NAME, jobs=1, feedback=False)
    return course


def graded_notebook(course: Course, student: str) -> Path:
    return course.folder("autograded", student, NAME) / f"{NAME}.ipynb"


def page(course: Course, student: str) -> Path:
    return course.folder("feedback", student, NAME) / f"{NAME}.html"


def marks_on(path: Path) -> str:
    found = re.search(r"Score: ([\d.]+ / [\d.]+)", path.read_text())
    assert found is not None
    return found[1]


def change(course: Course, student: str, *cells: dict[str, Any]) -> None:
    """Put cells into what was graded, as they are: nbformat takes its time to look at many."""
    path = graded_notebook(course, student)
    notebook = json.loads(path.read_text())
    notebook["cells"] += cells
    path.chmod(0o644)
    path.write_text(json.dumps(notebook))


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "text", "metadata": {}, "source": source}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": "code",
        "metadata": {},
        "source": source,
        "outputs": list(outputs),
        "execution_count": 1,
    }


def printed(what: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": what}


def displayed(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}


def mark_by_hand(course: Course, student: str, score: float | None, comment: str | None = None) -> None:
    """What formgrader does when a person types a score or a comment."""
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        if score is not None:
            gradebook.find_grade("test", NAME, NAME, student).manual_score = score
        if comment is not None:
            gradebook.find_comment("answer", NAME, NAME, student).manual_comment = comment
        gradebook.db.commit()


# ------------------------------------------------------------------------------------------------------- made again


@DOORS
def test_a_page_is_made_again_when_a_person_has_marked_and_no_other_is(graded: Course, door: Door) -> None:
    door(graded)
    before = page(graded, "ben").stat().st_mtime_ns
    assert marks_on(page(graded, "ada")) == "2.0 / 2.0"
    mark_by_hand(graded, "ada", 1.5)
    assert door(graded) == "{}"
    assert marks_on(page(graded, "ada")) == "1.5 / 2.0"
    mark_by_hand(graded, "ada", None, "Well argued.")
    assert door(graded) == "{}"
    assert "Well argued." in page(graded, "ada").read_text()
    assert page(graded, "ben").stat().st_mtime_ns == before


@DOORS
def test_extra_credit_and_a_late_penalty_make_a_page_anew(graded: Course, door: Door) -> None:
    door(graded)
    with Gradebook(graded.database, graded.directory.course_id) as gradebook:
        gradebook.find_grade("test", NAME, NAME, "ada").extra_credit = 0.25
        gradebook.find_submission_notebook(NAME, NAME, "ben").late_submission_penalty = 1.0
        gradebook.db.commit()
    door(graded)
    assert marks_on(page(graded, "ada")) == "2.25 / 2.0"
    assert marks_on(page(graded, "ben")) == "0.0 / 2.0"


def test_work_that_was_graded_again_gets_a_new_page(graded: Course) -> None:
    by_nbgrader(graded)
    change(graded, "ada", text("something else"))
    by_nbgrader(graded)
    assert "something else" in page(graded, "ada").read_text()


def test_either_door_knows_the_pages_of_the_other(graded: Course) -> None:
    by_class_command(graded)
    before = page(graded, "ada").stat().st_mtime_ns
    by_nbgrader(graded)
    by_class_command(graded)
    assert page(graded, "ada").stat().st_mtime_ns == before


def test_one_notebook_of_a_submission_can_be_asked_for(graded: Course) -> None:
    by_nbgrader(graded)
    other = page(graded, "ada").with_name("kept.txt")
    other.write_text("kept")
    mark_by_hand(graded, "ada", 0.5)
    graded.directory.notebook_id = NAME
    by_nbgrader(graded)
    assert marks_on(page(graded, "ada")) == "0.5 / 2.0"
    assert other.read_text() == "kept"
    assert [path.name for path in page(graded, "ada").parents[1].iterdir()] == [NAME]


# ------------------------------------------------------------------------------------------------------- one that fails


@DOORS
def test_a_page_that_cannot_be_made_is_named_stays_as_it_was_and_costs_no_other(graded: Course, door: Door) -> None:
    door(graded)
    graded_notebook(graded, "ada").chmod(0o644)
    graded_notebook(graded, "ada").write_text("{")
    mark_by_hand(graded, "ben", 0.5)
    assert "ada" in door(graded)
    assert marks_on(page(graded, "ada")) == "2.0 / 2.0"
    assert marks_on(page(graded, "ben")) == "0.5 / 2.0"
    assert [path.name for path in page(graded, "ada").parents[1].iterdir()] == [NAME]


def test_the_class_command_says_so_in_a_sentence_and_ends_with_1(
    graded: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    graded_notebook(graded, "ada").chmod(0o644)
    graded_notebook(graded, "ada").write_text("{")
    assert run(graded.root, NAME, jobs=1) == 1
    told = capsys.readouterr().out
    assert "has no feedback page of these marks: nbformat.reader.NotJSONError" in " ".join(told.split())
    assert "Traceback" not in told
    assert run(graded.root, NAME, jobs=1) == 1


def test_nbgraders_command_ends_with_1_and_names_the_student(graded: Course) -> None:
    graded_notebook(graded, "ada").chmod(0o644)
    graded_notebook(graded, "ada").write_text("{")
    done = commands.nbgrader(graded, "generate_feedback", NAME)
    assert done.returncode == 1
    assert f"There was an error processing assignment '{NAME}' for student 'ada'" in done.stdout
    assert not page(graded, "ada").exists()
    assert marks_on(page(graded, "ben")) == "1.0 / 2.0"


def test_a_page_that_dies_as_a_whole_shows_the_marks(graded: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(notebook: NotebookNode) -> None:
        if any(cell.source == "die" for cell in notebook.cells):
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(pages, "cut", die)
    change(graded, "ada", text("die"))
    mark_by_hand(graded, "ada", 1.5, "See me.")
    reason, notes = Pages(graded).make(NAME, "ada")
    assert reason == ""
    assert "quick of ada: the page shows marks only: 'the process that made it ended (-9)'" in notes
    assert marks_on(page(graded, "ada")) == "1.5 / 2.0"
    assert "Your notebook could not be shown on this page" in page(graded, "ada").read_text()
    assert "See me." in page(graded, "ada").read_text()


@pytest.mark.parametrize("deaths", [1, parts.MOST_DEATHS])
def test_a_part_that_its_process_dies_of_is_shown_as_it_was_typed(
    graded: Course, monkeypatch: pytest.MonkeyPatch, deaths: int
) -> None:
    convert = pages.ansi2html

    def die(shown: str) -> str:
        if "deadly" in shown:
            os.kill(os.getpid(), signal.SIGXCPU)
        return str(convert(shown))

    monkeypatch.setattr(pages, "ansi2html", die)
    cell = code("1", printed("deadly <b>\x1b[31m"))
    change(graded, "ada", *[cell] * deaths, text("*last*"))
    assert Pages(graded).make(NAME, "ada") == ("", [])
    made = page(graded, "ada").read_text()
    assert made.count("could not be shown: it takes too much time. As it was typed:") == deaths
    assert made.count("deadly &lt;b&gt;</pre>") == deaths
    assert "<em>last</em>" in made
    assert marks_on(page(graded, "ada")) == "2.0 / 2.0"


# ------------------------------------------------------------------------------------------------------- hostile text


HOSTILE: dict[str, tuple[list[dict[str, Any]], str]] = {
    "picture": ([text("*before* ![x](attachment:none.png)")], "The picture attachment:none.png is not in"),
    "colours": ([code("1", printed("\x1b[31mx" * 800_000))], "4,788,000 more characters are not shown here."),
    "brackets": ([text("[" * 5_000_000)], "4,950,000 more characters are not shown here."),
    "semicolons": ([code("x;" * 1_500_000)], "# … 2,950,000 more characters are not shown here."),
    "half characters": ([text("half \ud800 of one")], "half ? of one"),
    "cells": ([code("1")] * 10_000, "8,003 more cells are not shown here."),
    "outputs": ([code("1", *[printed("a")] * 20_000)], "19,500 more outputs are not shown here."),
    "tags": (
        [code("1", displayed({"text/html": "<br>" * 1_000_000}))],
        "An output of 4,000,000 characters is too large to be shown here.",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_gets_a_page_that_says_what_it_does_not_show(graded: Course, what: str) -> None:
    cells, said = HOSTILE[what]
    change(graded, "ada", *cells, text("*last*"))
    assert Pages(graded).make(NAME, "ada") == ("", [])
    made = page(graded, "ada").read_text()
    assert marks_on(page(graded, "ada")) == "2.0 / 2.0"
    assert said in re.sub(r"<[^>]*>", "", made)
    assert len(made) < 8_000_000
    assert what == "cells" or "<em>last</em>" in made


def test_what_templates_cannot_read_is_left_out(graded: Course) -> None:
    metadata = {"filenames": [1], "image/png": {"width": {"a": 1}}, "text/html": 5}
    change(graded, "ada", code("1", displayed({"image/png": "AAAA", "text/html": {"a": 1}}, metadata)), text("*last*"))
    assert Pages(graded).make(NAME, "ada") == ("", [])
    assert "<em>last</em>" in page(graded, "ada").read_text()


def test_an_ordinary_page_is_nbgraders_own_but_for_what_it_was_made_of(graded: Course) -> None:
    html = displayed({"text/html": "<b>1</b>", "text/plain": "1"})
    change(graded, "ada", code("1", html), text("# a\n\n$b$ `c`"))
    by_nbgrader(graded)
    ours = page(graded, "ada").read_text()
    with (graded.root / CONFIG).open("a") as config:
        config.write('\nc.GenerateFeedback.exporter_class = "nbconvert.exporters.HTMLExporter"\n')
    Course(graded.root).generate_feedback(NAME, "ada")
    assert re.fullmatch(r"\n?<!-- made of [0-9a-f]{64} -->\n", ours.removeprefix(page(graded, "ada").read_text()))


# ------------------------------------------------------------------------------------------------------- pictures


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A notebook's folder with a picture, and things that are none of a student's pictures."""
    made = tmp_path / "own"
    (made / "below").mkdir(parents=True)
    (made / "below" / "own.png").write_bytes(b"own")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (made / "link.png").symlink_to(tmp_path / "secret.png")
    (made / "links").symlink_to(tmp_path)
    (made / "notebook.ipynb").write_text("secret")
    os.mkfifo(made / "pipe.png")
    with (made / "huge.png").open("wb") as file:
        file.truncate(rendering.LARGEST_PICTURE + 1)
    return made


def test_a_picture_of_the_own_folder_can_be_embedded(folder: Path) -> None:
    assert Renderer(embed_images=True, path=str(folder))._src_to_base64("below/own.png") == "data:image/png;base64,b3du"


@pytest.mark.parametrize(
    "source",
    [
        "../secret.png",
        "link.png",
        "links/secret.png",
        "notebook.ipynb",
        "pipe.png",
        "huge.png",
        "below",
        ".",
        "/etc/passwd",
        "file:///etc/passwd",
        "https://localhost/a.png",
        "",
        "a\x00.png",
        "x" * 5000 + ".png",
    ],
)
def test_nothing_else_is(folder: Path, source: str) -> None:
    renderer: Any = Renderer(embed_images=True, path=str(folder), escape=False)
    assert "data:" not in renderer.image("x", source)
    assert "data:" not in renderer.block_html(f'<img src="{source}">')


# ------------------------------------------------------------------------------------------------------- limits


def test_what_work_returns_and_raises_comes_back() -> None:
    assert confining.confined(lambda: "x" * 1_000_000) == "x" * 1_000_000
    with pytest.raises(KeyError, match="gone"):
        confining.confined(lambda: {}["gone"])


def test_processor_time_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def burn() -> None:
        while True:
            pass

    monkeypatch.setattr(confining, "PROCESSOR_SECONDS", 1)
    with pytest.raises(confining.Exceeded, match="too much time"):
        confining.confined(burn)


def test_memory_ends() -> None:
    with pytest.raises(confining.Exceeded, match="memory"):
        confining.confined(lambda: len(bytearray(2 * confining.MEMORY)))


def test_a_part_ends_before_its_page_does() -> None:
    def burn() -> str:
        try:
            with confining.processor_time(0.1):
                while True:
                    pass
        except confining.OutOfTime:
            return "stopped"

    assert confining.confined(burn) == "stopped"


@pytest.mark.parametrize("says", [False, True])
def test_scripts_run_on_another_courses_pages_unless_its_settings_say_no(graded: Course, says: bool) -> None:
    with (graded.root / CONFIG).open("a") as config:
        config.write(f"c.PageExporter.sanitize_html = {says}\n")
    plot = displayed({"text/html": "<div>plot</div><script>draw()</script>"})
    change(graded, "ada", text("<script>draw()</script>"), code("plot", plot))
    assert by_nbgrader(Course(graded.root)) == "{}"
    made = page(graded, "ada").read_text()
    assert made.count("<script>draw()</script>") == (0 if says else 2)
    assert made.count("<div>plot</div>") == 1
