"""What bars of progress write to a log file."""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import ran
from told import names

NO_ANSWERS = """
import sys, time
from pathlib import Path
from codestress.inference.ask import ask
from codestress.inference.progress import Progress
from codestress.types import Message, Prompt, Sampling, Trial, Trials
def render(trial):
    time.sleep(0.6)
    return Prompt((Message("user", "Who?"),), Sampling())
trials = Trials([Trial("a", {})], render, {})
ask(trials, ["sim-flat"], store=Path(sys.argv[1]), progress=Progress(0, "", silent=True))
"""
TWO_BARS = """
import sys, time
from tqdm import tqdm
from codestress.inference.progress import Progress
with Progress(10, "asked") as upper, Progress(10, "asked again") as lower:
    time.sleep(0.6)  # bars appear after half a second
    for _ in range(5):
        upper.update()
        lower.update()
    tqdm.write("a message", file=sys.stderr)
with Progress(0, "nothing to ask") as short:
    time.sleep(0.6)
"""


def test_a_silent_bar_stays_silent_without_answers(tmp_path: Path) -> None:
    result = ran(sys.executable, "-c", NO_ANSWERS, tmp_path / "store.sqlite")
    assert (result.returncode, result.stderr) == (0, "")


def test_two_bars_write_whole_lines_to_a_file() -> None:
    result = ran(sys.executable, "-c", TWO_BARS)
    assert "a message\n" in result.stderr
    assert "\x1b" not in result.stderr
    assert "\r" not in result.stderr
    assert result.stderr.endswith("\n")
    lines = result.stderr.splitlines()
    names(lines[-1], "nothing to ask")
    # The first answers, and how far it came, each on a line of its own.
    lines_of_bars = [("asked:", "1/10"), ("asked:", "5/10"), ("asked again:", "5/10")]
    for bar, count in lines_of_bars:
        assert any(line.startswith(bar) and count in line for line in lines), bar
