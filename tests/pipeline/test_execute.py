"""Notebooks are executed each in a fresh process: they end, fail and hang alone. These tests start kernels."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from small_project import Project

from conftest import SCRIPT, ran
from told import names

# Writes what the process has of an earlier notebook's changes, and changes it.
FRESH = """import os, random, numpy
text = f"{{hasattr(numpy, 'mark')}} {{'MARK' in os.environ}} {{random.random()}} {{numpy.random.rand()}}"
open({name!r}, 'w').write(text)
numpy.mark = 1
os.environ['MARK'] = '1'
"""
KILLED = """import os, subprocess
child = subprocess.Popen(['sleep', '600'])
open('child.txt', 'w').write(str(child.pid))
os.remove(os.environ['CODESTRESS_STAGING'] + '/kernel.txt')
os.kill(os.getpid(), 9)
"""
UNSHOWN = """class Bad:
    def _repr_html_(self): raise ValueError('unshown')
Bad()
"""
UNPUBLISHED = """%matplotlib inline
import logging
logging.basicConfig()
class Dot:
    def _repr_png_(self): return b'dot'
print('before')
display(Dot())
print('after')
41
"""
ENDINGS = {
    "raises": (FRESH.format(name="first.txt") + "1 / 0", "ZeroDivisionError"),
    "exits": ("import sys\nsys.exit(0)", "SystemExit"),
    "leaves": ("exit()", "SystemExit"),
    "dies": (
        FRESH.format(name="second.txt") + "os._exit(7)",
        "t/dies.ipynb, code cell 2: its kernel died with exit status 7",
    ),
    "killed": (KILLED, "t/killed.ipynb, code cell 2: its kernel died with signal 9"),
    "crashes": ("import ctypes\nctypes.string_at(0)", "Segmentation fault"),
    "magic": ("%nosuchmagic", "UsageError: Line magic"),
    "unshown": (UNSHOWN, "ValueError: unshown"),
    "unpublished": (UNPUBLISHED, "figure.pdf"),
}
"""By notebook: its cell, and what its error names."""


# Long, and in `make test`: of those with kernels the only one there that fails.
def test_a_notebook_that_ends_early_fails_and_touches_no_other(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for name, (cell, _) in ENDINGS.items():
        project.artefact(name, cell, "import logging; logging.warning('later')\n_ + 1")
    project.artefact("good")
    process = project.run("build", "--json", "--jobs", "1", kernels=True)
    assert process.returncode == 1
    outcomes = {}
    for outcome in json.loads(process.stdout):
        outcomes[outcome["name"].removeprefix("t/")] = outcome
    demo, copies = project.outputs / "demo", project.outputs / "failed/demo/t"
    index = (demo / "index.html").read_text()
    for name, (_, message) in ENDINGS.items():
        assert outcomes[name]["state"] == "failed"
        for text in (outcomes[name]["error"], process.stderr, index):
            names(text, message)
        assert not (demo / "t" / name).exists()
    assert outcomes["good"]["state"] == "built"
    assert (demo / "t/good/manifest.json").is_file()
    assert '"output_type": "error"' in (copies / "raises/notebook.ipynb").read_text()
    check_outputs(copies / "unpublished/notebook.ipynb")
    first = (project.root / "first.txt").read_text().split()
    second = (project.root / "second.txt").read_text().split()
    assert first[:2] == second[:2] == ["False", "False"]
    assert not set(first[2:]) & set(second[2:])  # each has its own random numbers
    assert not alive(int((project.root / "child.txt").read_text()))


def check_outputs(path: Path) -> None:
    """Text and displayed values keep their order."""
    first, second = nbformat.read(path, 4).cells[-3:-1]
    contents: list[Any] = []
    for output in [*first.outputs, *second.outputs]:
        contents.append(output.get("text") or min(output.data.items()))
    assert contents[0::2] == ["before\n", "after\n", "WARNING:root:later\n"]
    values = [("image/png", "ZG90"), ("text/plain", "41"), ("text/plain", "42")]
    assert contents[1::2] == values


def alive(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_a_notebook_that_hangs_is_stopped_with_its_kernel(tmp_path: Path) -> None:
    project = Project(tmp_path)
    # The notebook's code has time limits of its own.
    cell = "import os, signal, time\nsignal.alarm(0)\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    project.artefact("slow", cell)
    # On a busy machine the kernel may not have begun before the first limit.
    for limit in (8, 40, 200):
        project.write_profile(timeout_s=limit)
        parts = (f"{limit} s", "timeout_s", "params/profiles/demo.yaml")
        project.fails("build", parts=parts, kernels=True)
        if (project.root / "pid").exists():
            break
    kernel = int((project.root / "pid").read_text())
    deadline = time.monotonic() + 60
    while alive(kernel) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(kernel)


@pytest.mark.slow
def test_a_notebook_saved_by_hooks_and_editors_is_built(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("a")
    path = project.root / "notebooks/t/a.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"] = {"vscode": {"interpreter": {"hash": "0"}}}
    del notebook["nbformat_minor"]
    for cell in notebook["cells"]:
        cell.pop("id", None)
        if cell["cell_type"] == "code":
            cell["metadata"]["vscode"] = {"languageId": "python"}
            text = {"output_type": "stream", "name": "stdout", "text": ["old output"]}
            cell.update(execution_count=7, outputs=[text])
    notebook["cells"][0]["id"] = f"an id with blanks, é, and {'more ' * 20}"
    path.write_text(json.dumps(notebook), encoding="utf-8-sig")
    project.works("build", kernels=True)
    executed = (project.outputs / "demo/t/a/notebook.ipynb").read_text()
    assert "old output" not in executed


@pytest.mark.slow
def test_paths_in_the_environment_mean_the_same_in_a_notebook(tmp_path: Path) -> None:
    """The build starts in another folder than the kit's."""
    project = Project(tmp_path)
    here, paths = tmp_path / "here", tmp_path / "paths.json"
    here.mkdir()
    cell = f"""import json
from codestress.paths import OUTPUTS, STORE
from codestress.problems.datasets import folders
json.dump([str(folders()[0]), str(OUTPUTS), str(STORE)], open({str(paths)!r}, "w"))"""
    project.artefact("one", cell)
    environment = project.environment(
        CODESTRESS_DATA="../d ä",
        CODESTRESS_OUTPUTS="o, p",
        CODESTRESS_STORE="~/a b.sqlite",
        HOME=str(tmp_path / "home"),
    )
    process = ran(SCRIPT, "build", "t/one", cwd=here, env=environment)
    names(process.stderr, "figure.pdf")  # which the cell did not publish
    expected = [tmp_path / "d ä", here / "o, p", tmp_path / "home/a b.sqlite"]
    assert json.loads(paths.read_text()) == [*map(str, expected)]
