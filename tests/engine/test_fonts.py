"""What Matplotlib knows of a machine's fonts is known behind the wall, too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from matplotlib import font_manager

from autograder.engine.outer import command

DRAWS = """
import logging
logging.basicConfig(level="INFO")
import matplotlib.pyplot as plt
plt.title("a")
plt.savefig("/tmp/figure.png")
"""
LOOKED_FOR = "generated new fontManager"


@pytest.mark.parametrize("whose", ["a kernel's", "a zygote's"])
@pytest.mark.parametrize("mode", [0o644, 0o600], ids=["for everybody", "for one"])
def test_fonts_are_looked_for_once(
    whose: str, mode: int, walls: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = tmp_path / f"fontlist-v{font_manager.FontManager.__version__}.json"
    font_manager.json_dump(font_manager.fontManager, known)
    known.chmod(mode)
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    wall, variables = command("both", ["-c", DRAWS], writable=[str(tmp_path)] if whose == "a kernel's" else [])
    done = subprocess.run(wall, env=dict(variables), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (LOOKED_FOR in done.stderr) == (mode == 0o600)
