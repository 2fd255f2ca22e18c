"""What tests cost is counted wherever it is spent, and a file that became twice as dear is an error with a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests import proved
from tests.costs import MATTERS, dearer, kept, spent, table

A, B = "tests/a/test_a.py", "tests/b/test_b.py"
BUSY = "import time\nwhile time.process_time() < 0.5: pass\n"


def test_a_file_that_became_twice_as_dear_is_named_with_what_to_do() -> None:
    before = {A: 400.0, B: 400.0}
    assert dearer({A: 799.0, B: 400.0}, before) == []
    (sentence,) = dearer({A: 801.0, B: 1.0}, before)
    assert sentence.startswith(f"{A} costs 801 loops, and 400 are kept of it: ")
    assert "make costs" in sentence


def test_what_costs_little_may_cost_more_and_a_new_file_may_cost_as_much_as_matters() -> None:
    assert dearer({A: 40.0, B: MATTERS}, {A: 10.0}) == []
    assert len(dearer({B: MATTERS + 1.0}, {})) == 1


def test_where_all_files_cost_more_it_is_the_machine() -> None:
    before = {f"tests/test_{number}.py": 400.0 for number in range(12)}
    assert dearer({file: 3 * cost for file, cost in before.items()}, before) == []
    (sentence,) = dearer({file: 3 * cost for file, cost in before.items()} | {"tests/test_3.py": 2500.0}, before)
    assert sentence.startswith("tests/test_3.py costs 2500 loops, and 1200 are kept of it")


def test_the_table_adds_up_by_folder_and_begins_with_the_dearest() -> None:
    said = table({A: 20.0, B: 50.0}, {A: 3, B: 4}, 10.0)
    assert [line.split() for line in said[1:4]] == [
        ["tests/b/", "4", "5.0", "50"],
        ["tests/a/", "3", "2.0", "20"],
        ["all", "of", "them", "7", "7.0", "70"],
    ]
    assert said[4].startswith(B)


def test_what_children_spend_counts_while_they_run_and_when_they_have_ended() -> None:
    before = spent()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    with subprocess.Popen(
        [sys.executable, "-c", f"{BUSY}print(1, flush=True)\ninput()"], stdin=-1, stdout=-1
    ) as running:
        assert running.stdout
        running.stdout.readline()
        assert spent() - before > 0.9
        running.communicate(b"\n")


def test_what_is_kept_is_of_files_that_there_are() -> None:
    assert {file for file in kept() if not Path(file).exists()} == set()
    assert {*kept()} <= {*proved.files_of_tests()}


COUNTED = """
def test_it() -> None:
    total = 0
    for number in range(3_000_000):
        total += number
"""


def test_a_run_tells_what_it_cost_and_keeps_it_where_it_is_asked_to(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "test_counted.py").write_text(COUNTED)
    plugin = Path(__file__).with_name("costs.py").read_text().replace("MATTERS = 300", "MATTERS = 0.5")
    (tmp_path / "tests" / "costs.py").write_text(plugin)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.costs"]\n')
    (tmp_path / "tests" / "costs.json").write_text("{}")

    def run(*options: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", "tests", *options]
        environment = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout

    for processes in ((), ("-n", "1")):
        (tmp_path / "tests" / "costs.json").write_text("{}")
        code, said = run("--costs", "tell", *processes)
        assert code == 1
        assert "tests/test_counted.py costs" in said
        assert run("--costs", "keep", *processes)[0] == 0
        assert list(json.loads((tmp_path / "tests" / "costs.json").read_text())) == ["tests/test_counted.py"]
        code, said = run("--costs", "tell", *processes)
        assert (code, "make costs" in said) == (0, False)
