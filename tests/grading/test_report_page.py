"""The class report: what it counts, what it puts together, and what it does not say in a lecture."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from autograder.grading.noting import Said
from autograder.grading.report.counting import Spread
from autograder.grading.report.gathering import Gathered, Guesses
from autograder.grading.report.grouping import groups
from autograder.grading.report.lines import FOR_A_PERSON, NOT_ATTEMPTED, Line
from autograder.grading.report.page import digest, html
from autograder.grading.report.quoting import names, quoted
from autograder.grading.report.telling import MOST_TOLD, alike, exercises, guessed, passed_and_lost, unusual
from tests.support.counting import calls
from tests.support.report_class import NOTEBOOK, PAPER, a_class
from tests.support.submissions import words

MISTAKE = re.compile(r'</td><th scope="row">(.*?)</th><td>')


@pytest.fixture(scope="module")
def large() -> Gathered:
    return a_class(300)


@pytest.fixture(scope="module")
def page(large: Gathered) -> str:
    return html(large)


# --------------------------------------------------------------------------------------------------------- statistics


def test_points_are_counted_each_by_itself_where_there_are_few_kinds() -> None:
    spread = Spread(3, (0, 0, 1.5, 3, 3, 3))
    assert (spread.count, spread.mean, spread.median, spread.solved) == (6, 1.75, 2.25, 3)
    assert [(bar.label, bar.count, bar.width) for bar in spread.bars] == [
        ("0", 2, 2 / 3),
        ("1.5", 1, 1 / 3),
        ("3", 3, 1.0),
    ]
    assert [bar.share for bar in spread.bars] == [1 / 3, 1 / 6, 1 / 2]


@pytest.mark.parametrize("of", [17, 3, 0.5, 2000, 0])
def test_points_of_many_kinds_are_counted_in_spans_and_nobody_is_left_out(of: float) -> None:
    scores = (*tuple(of * place / 40 for place in range(41)), of, of + 1)
    bars = Spread(of, scores).bars
    assert sum(bar.count for bar in bars) == len(scores)
    assert len(bars) <= 12
    assert (bars[-1].label, bars[-1].count) == (f"{of:g}", 3) if of else True


def test_of_nobody_nothing_is_counted() -> None:
    spread = Spread(3, ())
    assert (spread.mean, spread.median, spread.solved) == (0.0, 0.0, 0)
    assert [bar.count for bar in spread.bars] == [0, 0]


def test_the_exercise_that_went_worst_comes_first(large: Gathered) -> None:
    lost = replace(
        large, lines=[replace(one, score=0.0) if one.exercise == "influence" else one for one in large.lines]
    )
    told = exercises(lost)
    assert told[0].name == "influence"
    assert [about.earned for about in told] == sorted(about.earned for about in told)


def test_a_mistake_has_its_share_of_those_who_handed_in_its_lesson_and_its_students(large: Gathered) -> None:
    about = next(one for one in exercises(large) if one.name == "mask_scores")
    handed_in = [line for line in large.lines if line.exercise == "mask_scores" and line.handed_in]
    first = about.mistakes[0]
    made = [line.student for line in handed_in if first.what in line.mistakes]
    assert list(first.students) == made
    assert first.share == len(made) / len(handed_in)
    assert first.lesson == large.lessons["mask_scores", first.what]
    assert about.recognised == sum(bool(line.mistakes) for line in handed_in)
    assert [len(one.students) for one in about.mistakes] == sorted(
        (len(one.students) for one in about.mistakes), reverse=True
    )


def test_the_first_table_says_of_each_exercise_what_went_wrong_most_often_and_in_which_words(
    large: Gathered, page: str
) -> None:
    rows = [
        words(f"<body{row}").replace("_ ", "_")
        for row in page.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
    ]
    told = exercises(large)
    assert len(rows) == len(told)
    for row, about in zip(rows, told, strict=True):
        assert all(len(one.students) <= len(about.most.students) for one in [*about.mistakes, *about.outcomes])
        assert about.most.what not in (NOT_ATTEMPTED, FOR_A_PERSON)
        assert (
            f" {len(about.blank.students)} {about.recognised} {len(about.unrecognised.students)} {about.most.what}"
            in row
        )
        assert f"{about.most.what}, {len(about.most.students)} (" in row
        assert " ".join(about.most.lesson.replace("`", "").split()) in row


def test_rare_mistakes_are_folded_and_none_is_missing(large: Gathered, page: str) -> None:
    for about in exercises(large):
        part = page.split(f'<section id="e-{about.name}"')[1].split("</section>")[0]
        shown = re.sub(r"(?s)<details><summary>.*?more mistakes?,.*?</table>", "", part)
        every, unfolded = ([one.replace("<wbr>", "") for one in MISTAKE.findall(text)] for text in (part, shown))
        assert every == [one.what for one in about.mistakes]
        assert unfolded == every[:MOST_TOLD]


def test_an_answer_without_a_name_that_many_gave_is_the_most_frequent() -> None:
    lines = [
        wrong("ada", "x"), wrong("ben", "x"), wrong("cleo", "y"),
        replace(wrong("dan", ""), mistakes=("sums_of_columns",)),
    ]  # fmt: skip
    (about,) = exercises(Gathered("quick", datetime(2026, 3, 1, tzinfo=UTC), lines, {"mix_rows": 2.0}))
    assert about.most.what == "the same answer, not recognised"
    assert sorted(about.most.students) == ["ada", "ben"]


def test_where_all_is_right_nothing_is_most_frequent() -> None:
    lines = [Line("ada", "mix_rows", 2.0, "passed", (), 2.0)]
    gathered = Gathered("quick", datetime(2026, 3, 1, tzinfo=UTC), lines, {"mix_rows": 2.0})
    (about,) = exercises(gathered)
    assert about.most.students == ()
    assert '<td class="most"></td>' in html(gathered)


# ---------------------------------------------------------------------------------------------------------- alike ones


def wrong(student: str, alike: str, code: str = "", exercise: str = "mix_rows") -> Line:
    return Line(student, exercise, 0.0, "wrong", (), 2.0, alike=alike, code=code, missed=("all sizes",))


def test_answers_that_gave_the_same_are_one_group_and_the_largest_comes_first() -> None:
    named = Line("eve", "mix_rows", 0.0, "wrong", ("turned",), 2.0)
    right = Line("fay", "mix_rows", 2.0, "passed", (), 2.0)
    found = groups(
        [
            wrong("ada", "x"),
            wrong("ben", "y", "long code"),
            named,
            right,
            wrong("dan", "y", "code"),
            wrong("ivy", "y", "c", "qkv"),
        ]
    )
    assert [(group.exercise, group.students) for group in found] == [
        ("mix_rows", ["ben", "dan"]),
        ("mix_rows", ["ada"]),
        ("qkv", ["ivy"]),
    ]
    assert found[0].example.code == "code"


def test_what_nobody_knows_to_be_alike_is_not_put_together() -> None:
    assert [group.students for group in groups([wrong("ada", ""), wrong("ben", "")])] == [["ada"], ["ben"]]


CODE = '''# ada did this
def f(x):
    """Ada's
    answer."""

    y = "# no comment"  # ada again
    "said by Ada"
    return [
        x,  # and again
        y,
    ]
'''


def test_code_is_shown_without_what_is_said_in_it() -> None:
    assert quoted(CODE) == 'def f(x):\n    y = "# no comment"\n    return [\n        x,\n        y,\n    ]'
    exec(quoted(CODE), {})


@pytest.mark.parametrize(
    "code", ["def f(:\n    x = '''ada\n    # ada", "    x # ada\n y", "x = (" * 300 + "# ada", "\0 # ada"]
)
def test_code_that_is_none_is_shown_without_it_too(code: str) -> None:
    assert "ada" not in quoted(code).replace("'''ada", "")


def test_long_code_is_cut() -> None:
    shown = quoted("x = 1\n" * 1000 + "y" * 1000)
    assert len(shown.splitlines()) == 41
    assert shown.endswith("\n...")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("ada = 1", True),
        ("of_ada = 1", True),
        ("adaptive = 1", False),
        ("s0012 = 1", True),
        ("lovelaces = 2", True),
        ("x = 1", False),
    ],
)
def test_a_name_in_code_is_found(code: str, found: bool) -> None:
    assert names(code, ("s0012", "Ada Lovelace")) is found


def test_an_example_for_a_lecture_is_by_somebody_who_is_not_named_in_it(large: Gathered) -> None:
    one = replace(large, names={}, lines=[wrong("ada", "x", "ada = 1"), wrong("ben", "x", "value = 1")])
    assert alike(one, anonymous=False)["mix_rows"][0].example == "ada = 1"
    assert alike(one, anonymous=True)["mix_rows"][0].example == "value = 1"
    alone = replace(one, lines=one.lines[:1])
    assert alike(alone, anonymous=True)["mix_rows"][0].example == ""


def test_guesses_that_are_rare_are_one_row_and_in_a_lecture_so_is_what_one_student_alone_wrote() -> None:
    numbers = {f"{number}": 30 - number for number in range(20)}
    shown = guessed(Guesses("guess", "", "98", {**numbers, "my name is Ada": 1}), anonymous=False)
    assert len(shown) == 13
    assert shown["something else"] == sum(range(11, 19)) + 1
    few = Guesses("guess", "", "98", {"5": 2, "98": 1, "my name is Ada": 1})
    assert guessed(few, anonymous=True) == {"5": 2, "98": 1, "something else": 1}
    assert guessed(few, anonymous=False) == few.counted


# ---------------------------------------------------------------------------------------------------------- exceptions


def test_who_passed_check_and_lost_marks_is_told_with_what_for(large: Gathered) -> None:
    lines = [wrong("ada", "x"), wrong("ben", "x"), wrong("dan", "y"), Line("eve", "mix_rows", 2.0, "passed", (), 2.0)]
    checked = {who: frozenset({"mix_rows"}) for who in ("ada", "dan", "eve")}
    (one,) = passed_and_lost(replace(large, lines=lines, checked=checked))
    assert (one.what, one.lesson, one.students, one.of) == ("mix_rows", "all sizes", ("ada", "dan"), 3)


def test_every_exception_is_there_with_who_it_is(large: Gathered) -> None:
    told = {one.what: dict(one.said) for one in unusual(large)}
    assert list(told) == [
        "Could not be graded",
        "Crashed",
        "Timed out",
        "Did not run",
        "Wait for a person",
        "Repaired, renamed, moved away or stopped",
        "Late",
        "Not on the roster (the gradebook has no name for them)",
        "Handed in nothing",
    ]
    assert told["Handed in nothing"][""] == tuple(f"s{number:04}" for number in range(7, 300, 50))
    assert told["Late"]["1 h late, -1"] == ("s0003",)
    assert set(told["Did not run"]) == {f"{name}, SyntaxError, line 1" for name in large.columns}


def test_who_could_not_be_graded_is_told_also_where_nobody_knows_them(large: Gathered) -> None:
    page = html(replace(large, said=Said({"a name; of nobody": "no student can be called so"})))
    assert "a name; of nobody: no student can be called so" in words(page)


def test_two_people_of_one_name_are_told_apart_in_every_list(large: Gathered) -> None:
    names = {**large.names, "s0007": "Anna Müller", "s0008": "anna müller", "s0057": "Cleo Stone"}
    page = words(html(replace(large, names=names)))
    assert "Anna Müller (s0007), Cleo Stone," in page
    assert "anna müller (s0008)" in page
    assert "Cleo Stone (s0057)" not in page


def test_without_any_name_nobody_is_missing_on_the_roster(large: Gathered) -> None:
    told = unusual(replace(large, names=dict.fromkeys(large.names, "")))
    assert not [one for one in told if one.what.startswith("Not on")]


# ------------------------------------------------------------------------------------------------------------ the page


def test_a_class_three_times_as_large_takes_no_more_than_three_times_the_work_and_a_small_page(
    large: Gathered, page: str
) -> None:
    small = a_class(100)
    assert calls(lambda: html(large)) <= 3 * calls(lambda: html(small))
    assert len(page.encode()) < 400_000


def test_the_page_asks_for_nothing(page: str) -> None:
    assert re.findall(r"(?:src|@import|url\()", page) == []
    assert all(one.startswith(("#", "../feedback/")) for one in re.findall(r'href="(.*?)"', page))
    assert page.count("<script>") == 1


def test_it_begins_with_when_of_what_and_how_many(page: str) -> None:
    said = words(page)
    assert "Made on 2026-03-01 at 18:30 UTC, with version 1.2.3 of the course (marking code abcdef01)." in said
    assert f"300 students marked on paper {PAPER} ({digest(PAPER)})." in said
    assert "294 submissions, 6 of the class without one; mean " in said


def test_every_part_comes_in_the_order_of_the_evening(page: str) -> None:
    order = [
        page.index(f'<section id="{part}"') for part in ("exercises", "alike", "lost", "unusual", "guesses", "students")
    ]
    assert order == sorted(order)


def test_every_link_within_the_page_leads_somewhere(page: str) -> None:
    there = set(re.findall(r'id="(.*?)"', page))
    assert set(re.findall(r'href="#(.*?)"', page)) <= there
    assert len(there) == len(re.findall(r'id="(.*?)"', page))


def test_students_are_called_by_their_names_and_found_by_their_ids(page: str) -> None:
    row = re.search(r'<tr id="s3">(.*?)</tr>', page)
    assert row
    assert row[1].startswith(
        f'<th scope="row"><a href="../feedback/s0002/{NOTEBOOK}/{NOTEBOOK}.html">First2 Last-2</a><small>s0002</small></th>'
    )


def test_numbers_stand_beside_every_bar(page: str) -> None:
    bars = re.findall(
        r'<td class="number">(\d+)</td><td class="number">[^<]+ %</td><td class="drawn"><svg[^>]*aria-hidden="true">(.*?)</svg>',
        page,
    )
    assert len(bars) == page.count("<svg")
    assert all(bool(int(count)) == bool(drawn) for count, drawn in bars)


def test_a_lecture_sees_no_student(large: Gathered) -> None:
    page = html(large, anonymous=True)
    shown = page[page.index("<body") :]
    assert "First" not in shown
    assert re.findall(r"\bs\d{4}\b|Last-", shown) == []
    assert str(PAPER) not in shown
    assert digest(PAPER) in shown
    assert "essay.docx" not in shown
    assert "feedback" not in shown
    assert "<script" not in shown
    assert "return 2 * B" in shown
    assert "Handed in nothing: 6" in words(shown)


def test_nothing_that_a_student_wrote_becomes_markup(large: Gathered) -> None:
    evil = "<script>x</script>"
    line = Line(evil, "mask_scores", 0.0, "wrong", (), 3.0, missed=(evil,), note=evil, alike="x", code=evil)
    said = Said({evil: evil}, {evil: [evil]}, {})
    page = html(
        replace(
            large, lines=[line], names={evil: evil}, said=said, pages={}, checked={evil: frozenset({"mask_scores"})}
        )
    )
    assert evil not in page
    assert page.count("&lt;script&gt;") >= 5


def test_where_nobody_handed_in_there_is_a_page_all_the_same(large: Gathered) -> None:
    nobody = replace(large, lines=[line for line in large.lines if not line.handed_in], guesses=(), said=Said())
    assert "0 submissions, 6 of the class without one" in words(html(nobody))
