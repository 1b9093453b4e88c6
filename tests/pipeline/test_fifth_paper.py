"""CONTRIBUTING's recipe for a fifth paper, followed in a temporary copy: four folders, no line of the core."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from conftest import ROOT

STUDIES = '''"""Whether a reader repeats a word."""

from codestress.parameters import Parameters, Study
from codestress.types import Message, Prompt, Reason, Response, Sampling, Score, Trial, Trials


class Echo(Parameters):
    words: list[str] = ["ash", "oak"]


def echoes(given: Echo) -> Trials:
    def judge(trial: Trial, response: Response) -> Score:
        right = response.text == trial.problem
        return Score(Reason.RIGHT if right else Reason.WRONG, float(right), response.text)

    def render(trial: Trial) -> Prompt:
        return Prompt((Message("user", f"Repeat this word: {trial.problem}"),), Sampling())

    return Trials([Trial(word, {}, given.seed) for word in given.words], render, {"strict": judge})


STUDIES = {"echo": Study(Echo, echoes)}
'''
READING = '''"""A reader repeats the word."""

import re


def repeat(reading, prefill):
    asked = re.search(r"^Repeat this word: (\\w+)$", reading.question)
    return asked[1] if asked else None


TASKS = (repeat,)
'''
CELLS = (
    "import matplotlib.pyplot as plt\nfrom codestress.inference.run import run\n"
    "from codestress.papers.echo import studies\nfrom codestress.report.publish import publish\n"
    "from codestress.scoring.frames import answers_frame",
    "results = run(studies.echoes(studies.Echo.of(globals())), models)\ntable = answers_frame(results)",
    "publish(artefact, figure=plt.figure(), alt='Words that were repeated, none lost.', table=table[['problem']],\n"
    "        data=table[['problem']], results=results, rule=rule, prompts=[])",
)


def test_a_fifth_paper_is_four_folders(tmp_path: Path) -> None:
    for part in ("lib", "params", "notebooks"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    room = tmp_path / "lib/codestress/papers/echo"
    room.mkdir()
    (room / "__init__.py").write_text('"""Echo: an example."""\n')
    (room / "studies.py").write_text(STUDIES)
    (room / "reading.py").write_text(READING)
    (tmp_path / "params/echo").mkdir()
    described = {"title": "Echo", "notebook": "echo/fig01.ipynb", "study": "echo.echo"}
    (tmp_path / "params/echo/fig01.yaml").write_text(json.dumps(described))
    smoke = tmp_path / "params/profiles/smoke.yaml"
    smoke.write_text(smoke.read_text() + "  echo/*: {models: [sim-wide]}\n")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell("", metadata={"tags": ["parameters"]})]
    notebook.cells += map(nbformat.v4.new_code_cell, CELLS)
    (tmp_path / "notebooks/echo").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks/echo/fig01.ipynb")
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "lib"),
        "CODESTRESS_ROOT": str(tmp_path),
        "CODESTRESS_OUTPUTS": str(tmp_path / "outputs"),
    }
    script = [sys.executable, "-c", "from codestress.cli import main; main()"]
    for command in (["sync"], ["build", "echo/fig01", "--profile", "smoke"]):
        done = subprocess.run(
            [*script, *command], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "outputs/smoke/echo/fig01/manifest.json").read_text())
    assert manifest["counts"]["sim-wide"]["right"] + manifest["counts"]["sim-wide"]["wrong"] == manifest["asked"] == 2
    assert any("papers/echo/studies.py" in name for name in manifest["inputs"])
