"""The record of measurements, and the command that makes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from course import racers, races, recording
from course.races import Curve
from course.recording import Run, main, read, write
from course.roofline import Roofs
from tests.support import recorded


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    runs = [recorded.run("A CPU", gpu=False), recorded.run("B GPU")]
    write(reversed(runs), tmp_path / "record.json")
    assert read(tmp_path / "record.json") == runs


def test_two_writings_are_the_same_bytes_and_lists_of_numbers_stay_on_a_line(tmp_path: Path) -> None:
    write([recorded.run()], tmp_path / "one.json")
    write(read(tmp_path / "one.json"), tmp_path / "two.json")
    text = (tmp_path / "one.json").read_text()
    assert text == (tmp_path / "two.json").read_text()
    assert any(line.strip().startswith('"lengths": [ 8, 16, 32,') for line in text.split("\n"))


def test_six_digits_are_kept(tmp_path: Path) -> None:
    exact = Curve((8,), (0.12345678,), "", {8: 123456789})
    write([replace(recorded.run(), decoding={"with cache": exact})], tmp_path / "record.json")
    (run,) = read(tmp_path / "record.json")
    assert run.decoding["with cache"] == Curve((8,), (0.123457,), "", {8: 123456789})


def test_where_there_is_no_record_there_is_no_run(tmp_path: Path) -> None:
    assert read(tmp_path / "none.json") == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"runs": [{}]}', '{"runs": [1]}', '{"runs": 7}'])
def test_what_is_no_record_is_refused_with_its_name(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match=r"other\.json is not a record of this course"):
        read(tmp_path / "other.json")


def test_the_record_that_comes_with_the_course_can_be_read() -> None:
    runs = read()
    assert runs
    assert len({run.machine for run in runs}) == len(runs)
    for run in runs:
        assert set(run.block["float32"]) == set(races.DIRECTIONS)
        assert set(run.block) == ({"float32", "bfloat16"} if run.gpu else {"float32"})
        for race in run.block["float32"].values():
            assert tuple(race.curves) == racers.NAMES
            assert all(len(c.lengths) == len(c.seconds) for c in race.curves.values())


def test_a_run_says_what_it_was_measured_on() -> None:
    assert str(recorded.run()) == "Example GPU, CUDA 13.0, torch 2.13.0, 2026-01-02"
    assert str(recorded.run("A CPU", gpu=False, threads=4)) == "A CPU, 4 threads, torch 2.13.0, 2026-01-02"


# ----------------------------------------------------------------------------------------------------- the command line


def measuring(run: Run) -> Callable[..., Run]:
    return lambda say, longest: run


def test_a_run_takes_the_place_of_the_one_of_the_same_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    for run in (recorded.run("A"), recorded.run("B"), recorded.run("A", date="2026-03-04")):
        monkeypatch.setattr(recording, "measure", measuring(run))
        assert main([str(path)]) == 0
    assert [(run.hardware, run.date) for run in read(path)] == [("A", "2026-03-04"), ("B", "2026-01-02")]
    assert f"Recorded in {path}: A, CUDA 13.0" in capsys.readouterr().out


def test_without_a_file_it_goes_into_the_record_of_the_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "place", lambda: tmp_path / "records.json")
    monkeypatch.setattr(recording, "measure", measuring(recorded.run("A")))
    assert main([]) == 0
    assert [run.hardware for run in read(tmp_path / "records.json")] == ["A"]


def refuse(*arguments: object) -> Run:
    raise AssertionError("measured although it cannot be kept")


def test_a_place_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recording, "measure", refuse)
    assert main([str(tmp_path / "no" / "folder.json")]) == 1
    assert "cannot keep a record in" in capsys.readouterr().err


def test_a_file_that_is_something_else_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "thesis.json"
    path.write_text("{}")
    monkeypatch.setattr(recording, "measure", refuse)
    assert main([str(path)]) == 1
    assert "is not a record of this course" in capsys.readouterr().err
    assert path.read_text() == "{}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--longest", "0"], "'0' is not a number of seconds above 0"),
        (["--longest", "soon"], "'soon' is not a number of seconds above 0"),
        (["--longest", "inf"], "'inf' is not a number of seconds above 0"),
        (["--recrod"], "unrecognized arguments"),
    ],
)
def test_bad_arguments_are_told(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------ measuring


def once(call: Callable[[], object]) -> float:
    call()
    return 1.0


@pytest.mark.parametrize("gpu", [False, True])
def test_a_measurement_holds_the_whole_table(gpu: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a machine whose GPU, if any, is only said to be there: everything is computed on the CPU."""
    monkeypatch.setattr(races, "LENGTHS", (8, 16))
    monkeypatch.setattr(races, "measured_roofs", lambda device, dtype: Roofs(1e9, 1e9))
    monkeypatch.setattr(racers, "compiled", lambda: racers.Compiled(None, "no compiler"))
    monkeypatch.setattr(racers, "here", lambda: torch.device("cpu"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Example GPU")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: type("Properties", (), {"total_memory": 7}))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    said: list[str] = []
    run = recording.measure(said.append, longest=1e-9, timed=once)
    types = ["float32", "bfloat16"] if gpu else ["float32"]
    assert list(run.block) == list(run.recurrent) == types
    assert (run.hardware == "Example GPU") == gpu
    assert (run.memory == 7) == gpu
    assert ("cuda" in run.versions) == gpu
    assert "float32, forward, batched: to n = 8" in " ".join(said)
    assert said[-1] == "decoding: done"
    write([run], tmp_path / "record.json")
    assert [(again.machine, list(again.block)) for again in read(tmp_path / "record.json")] == [(run.machine, types)]
    assert json.loads((tmp_path / "record.json").read_text())["runs"][0]["gpu"] is gpu
