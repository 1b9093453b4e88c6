"""Builds that go wrong say so, keep what is worth keeping, and are not up to date afterwards.

Four tests start kernels; the others exchange what executes a notebook (without_kernels.py).
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from codestress.inference.store import Store
from codestress.parameters import parameters_cell
from codestress.pipeline.artefacts import load_study
from conftest import ROOT, SCRIPT, codestress, ran
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    completion,
)
from served import settings_of
from told import names

WITHOUT_KERNELS = (sys.executable, str(Path(__file__).with_name("without_kernels.py")))
SCHEMA = load_study("origin.find_the_origin", "test")


class Project:
    """A small project with artefacts of its own in the paper `t`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("params/profiles", "params/t", "notebooks/t"):
            (root / folder).mkdir(parents=True)
        for file in ("models.yaml", "datasets.yaml"):
            shutil.copy(ROOT / "params" / file, root / "params" / file)
        self.profile()

    def profile(self, timeout_s: float = 120) -> None:
        (self.root / "params/profiles/demo.yaml").write_text(
            f"description: test\ntimeout_s: {timeout_s}\nparameters: {{'t/*': {{models: [sim-near], step: 300}}}}\n"
        )

    def artefact(self, name: str, *cells: str, **parameters: object) -> None:
        """An artefact whose notebook has these cells, or the project's own notebook of shares."""
        notebook = nbformat.read(ROOT / "notebooks/origin/shares.ipynb", as_version=4)
        if cells:
            tagged = nbformat.v4.new_code_cell(
                parameters_cell(SCHEMA, {"artefact": "", "models": []}, {}),
                metadata={"tags": ["parameters"]},
            )
            notebook.cells = [tagged, *map(nbformat.v4.new_code_cell, cells)]
            notebook.metadata.pop("codestress")  # its knobs
        nbformat.write(notebook, self.root / f"notebooks/t/{name}.ipynb")
        file = {"title": name, "notebook": f"t/{name}.ipynb", "parameters": parameters}
        file["study"] = "origin.find_the_origin"
        (self.root / f"params/t/{name}.yaml").write_text(json.dumps(file))

    def environment(self, **more: str) -> dict[str, str]:
        own = dict(os.environ)
        for name in ("CODESTRESS_DATA", "CODESTRESS_STORE", "OPENAI_API_KEY"):
            own.pop(name, None)
        own["CODESTRESS_ROOT"] = str(self.root)
        return own | {"CODESTRESS_OUTPUTS": str(self.root / "outputs")} | more

    def run(
        self, *arguments: str, kernels: bool = False, **more: str
    ) -> subprocess.CompletedProcess[str]:
        script = (SCRIPT,) if kernels else WITHOUT_KERNELS
        return ran(*script, *arguments, env=self.environment(**more))

    def fails(self, *arguments: str, named: tuple[object, ...], **more: Any) -> None:
        """A command fails by an error that names these."""
        done = self.run(*arguments, **more)
        assert done.returncode == 1
        names(done.stderr, *named)
        assert "Traceback" not in done.stderr

    def states(self, *arguments: str) -> dict[str, str]:
        """The state of each artefact after a build."""
        done = self.run("build", *arguments, "--json")
        return {one["name"]: one["state"] for one in json.loads(done.stdout)}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The same, not waited for."""
        return subprocess.Popen(
            [*WITHOUT_KERNELS, *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Shells have background jobs ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def answers(self) -> int:
        """How many the store holds."""
        with Store(self.root / "outputs/responses.sqlite") as store:
            return store.count()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


FRESH = """import os, random, numpy
told = f"{{hasattr(numpy, 'mark')}} {{'MARK' in os.environ}} {{random.random()}} {{numpy.random.rand()}}"
open({name!r}, 'w').write(told)
numpy.mark = 1
os.environ['MARK'] = '1'
"""
EARLY = {
    "bad": (FRESH.format(name="first.txt") + "1 / 0", "ZeroDivisionError"),
    "exits": ("import sys\nsys.exit(0)", "SystemExit"),
    "gone": (
        FRESH.format(name="second.txt") + "os._exit(7)",
        "t/gone.ipynb, code cell 2: its kernel died with exit status 7",
    ),
    "killed": (
        "import os, subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
        "open('third.txt', 'w').write(str(child.pid))\n"
        "os.remove(os.environ['CODESTRESS_STAGING'] + '/kernel.txt')\n"
        "os.kill(os.getpid(), 9)",
        "t/killed.ipynb, code cell 2: its kernel died with signal 9",
    ),
    "unknown": ("%nosuchmagic", "UsageError: Line magic"),
    "group": (
        "async def failing():\n    raise ExceptionGroup('both', [ValueError(), KeyError()])\nawait failing()",
        "ExceptionGroup: both",
    ),
    "crashed": ("import ctypes\nctypes.string_at(0)", "Segmentation fault"),
    "leaves": ("exit()", "SystemExit"),
    "unshown": (
        "class Bad:\n    def _repr_html_(self): raise ValueError('unshown')\nBad()",
        "ValueError: unshown",
    ),
    "silent": (
        "%matplotlib inline\nimport logging\nlogging.basicConfig()\n"
        "class Dot:\n    def _repr_png_(self): return b'dot'\n"
        "print('before')\ndisplay(Dot())\nprint('after')\n41",
        "figure.pdf",
    ),
}
"""Notebooks that end early: a cell, and what is told."""
SECOND = {"silent": "logging.warning('later')\n_ + 1"}
"""Cells after those, else one that prints `never`."""


# Long, and in `make test`: of those with kernels the only one there that fails.
def test_a_notebook_that_ends_early_is_a_failure_is_kept_and_touches_no_other(
    project: Project,
) -> None:
    for name, (cell, _) in EARLY.items():
        project.artefact(name, cell, SECOND.get(name, "print('never')"))
    project.artefact("good")
    done = project.run("build", "--json", "--jobs", "1", kernels=True)
    assert done.returncode == 1
    outcomes = {one["name"].removeprefix("t/"): one for one in json.loads(done.stdout)}
    states = {name: one["state"] for name, one in outcomes.items()}
    assert states == dict.fromkeys(EARLY, "failed") | {"good": "built"}
    demo, kept = project.root / "outputs/demo", project.root / "outputs/failed/demo/t"
    index = (demo / "index.html").read_text()
    for name, (_, message) in EARLY.items():
        for text in (outcomes[name]["error"], done.stderr, index):
            names(text, message)
        assert not (demo / "t" / name).exists()
    assert '"output_type": "error"' in (kept / "bad/notebook.ipynb").read_text()
    # Text and what is displayed keep their order.
    told = nbformat.read(kept / "silent/notebook.ipynb", 4).cells[-3:-1]
    first_cell, second_cell = (
        [one.get("text") or min(one.data.items()) for one in cell.outputs]
        for cell in told
    )
    assert first_cell[0::2] == ["before\n", "after\n"]
    assert first_cell[1::2] == [("image/png", "ZG90"), ("text/plain", "41")]
    assert second_cell == ["WARNING:root:later\n", ("text/plain", "42")]
    assert (demo / "t/good/manifest.json").is_file()
    # Each notebook gets a fresh process: what one changes, draws or ends, no other sees.
    first, second = (
        (project.root / f"{name}.txt").read_text().split()
        for name in ("first", "second")
    )
    assert first[:2] == second[:2] == ["False", "False"]
    assert first[2] != second[2]
    assert first[3] != second[3]
    # Nor does what its cells started outlive it.
    assert not alive(int((project.root / "third.txt").read_text()))


@pytest.mark.slow
def test_what_failed_is_tried_again_until_it_is_mended(project: Project) -> None:
    project.artefact("bad", "1 / 0")
    project.artefact("good")
    kept = project.root / "outputs/failed/demo/t/bad"
    for state in ("built", "up to date"):
        assert project.states() == {"t/bad": "failed", "t/good": state}
        assert kept.exists()
    project.artefact("bad")
    assert project.states() == {"t/bad": "built", "t/good": "up to date"}
    assert not kept.exists()


@pytest.mark.slow
def test_a_notebook_that_hangs_is_stopped_with_its_kernel(project: Project) -> None:
    project.artefact(
        "slow",
        "import os, signal, time\nsignal.alarm(0)  # of code that has time limits of its own\n"
        "open('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)",
    )
    pid = project.root / "pid"
    # On a busy machine the kernel may not have begun before the first one.
    for limit in (8, 40, 200):
        project.profile(timeout_s=limit)
        done = project.run("build", kernels=True)
        assert done.returncode == 1
        names(done.stderr, f"{limit} s", "timeout_s", "params/profiles/demo.yaml")
        if pid.exists():
            break
    kernel = int(pid.read_text())
    deadline = time.monotonic() + 60
    while alive(kernel) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(kernel)


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except OSError:
        return False


def test_exactly_what_changed_is_built_again(project: Project) -> None:
    for name in ("one", "two", "three"):
        project.artefact(name)
    project.run("build")
    notebook = project.root / "notebooks/t/one.ipynb"
    notebook.write_text(notebook.read_text().replace("right answers", "RIGHT answers"))
    (project.root / "outputs/demo/t/two/table.csv").unlink()
    built = dict.fromkeys(("t/one", "t/two", "t/three"), "built")
    assert project.states() == built | {"t/three": "up to date"}
    models = project.root / "params/models.yaml"
    models.write_text(models.read_text().replace("the end best", "its end best"))
    assert project.states() == built


def served(project: Project, base_url: str, **settings: object) -> None:
    settings = settings_of(base_url, **settings)
    row = {"served": {"engine": "openai", "settings": settings}}
    path = project.root / "params/models.yaml"
    known = (ROOT / "params/models.yaml").read_text()
    path.write_text(f"{known}\n{json.dumps(row)[1:-1]}\n")


# Long, and in `make test`: the others there ask an engine, this one the whole command.
def test_no_key_no_server_and_one_that_answers_garbage_are_clear_errors(
    project: Project,
) -> None:
    project.artefact("one")
    closed = "OPENAI_API_KEY"
    project.fails("build", "--models", "gpt-4o-mini-2024-07-18", named=(closed,))
    assert not (project.root / "outputs/demo/t").exists()
    with OpenAIServer() as server:
        for url, named in (
            (f"{server.base_url}/nowhere", ("served",)),
            ("http://127.0.0.1:9/v1", ("http://127.0.0.1:9/v1", "base_url")),
        ):
            served(project, url)
            project.fails("build", "--models", "served", named=named)


def answers_after(seconds: float) -> Callable[[Received], Reply]:
    return lambda _: completion("FINAL ANSWER: workbench", delay=seconds)


# Long, and in `make test` once: nothing else there ends a build from outside.
@pytest.mark.parametrize(
    "at", [*(pytest.param(n, marks=pytest.mark.slow) for n in (3, 20)), "notebook"]
)
def test_a_build_that_is_killed_goes_on_where_it_was(
    project: Project, at: int | str
) -> None:
    """Killed after so many requests, or while the notebook is executed."""
    project.artefact("one")
    hold = project.root / "hold"
    hold.touch()
    build = ("build", "--models", "served", "--set", "step=30")
    with OpenAIServer(answers_after(0.05)) as server:
        served(project, server.base_url, concurrency=2)
        process = project.start(*build)
        staging = project.root / "outputs/mine/.staging"
        least = math.inf if at == "notebook" else int(at)
        while len(server.requests) < least and not any(staging.glob("*")):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        asked = len(server.requests)
        hold.unlink()
        done = project.run(*build)
        assert done.returncode == 0, done.stderr
        assert "1 built" in done.stdout
        # Twice at most those that were in flight.
        in_flight = 0 if at == "notebook" else 2
        answers = project.answers()
        assert asked <= answers <= len(server.requests) <= answers + in_flight
        assert answers > 25
    assert list(staging.glob("*")) == []


@pytest.mark.slow
def test_an_interrupted_build_says_how_to_go_on(project: Project) -> None:
    project.artefact("one")
    build = ("build", "--models", "served", "--set", "step=10")
    with OpenAIServer(answers_after(0.3)) as server:
        served(project, server.base_url, concurrency=2)
        process = project.start(*build)
        while len(server.requests) < 4:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    names(errors, "again")
    assert "Traceback" not in errors
    assert project.answers() > 0


@pytest.mark.slow
def test_a_missing_data_set_fails_what_needs_it_and_nothing_else(
    tmp_path: Path,
) -> None:
    folders = ("CODESTRESS_OUTPUTS", "CODESTRESS_DATA")
    environment = os.environ | dict.fromkeys(folders, str(tmp_path))
    build = ["build", "origin/sec63", "semtrace/fig06", "--profile", "smoke", "--json"]
    command = [*WITHOUT_KERNELS, *build, "--set", "problems=cruxeval"]
    done = ran(*command, env=environment)
    assert done.returncode == 1
    outcomes = {outcome["name"]: outcome for outcome in json.loads(done.stdout)}
    # Its parameters are as they were.
    assert outcomes["origin/sec63"]["state"] == "built"
    missing = outcomes["semtrace/fig06@smoke,problems=cruxeval"]
    names(missing["error"], "codestress data fetch cruxeval")
    plan = [SCRIPT, "plan", "semtrace/fig06", "origin/sec63", "--profile", "paper"]
    planned = ran(*plan, env=environment)
    assert planned.returncode == 1
    names(planned.stderr, "semtrace/fig06", "cruxeval", "origin/sec63", "origin-paper")


def test_a_server_that_continues_no_begun_answer_fails_what_needs_it_alone(
    tmp_path: Path,
) -> None:
    environment = os.environ | {
        "CODESTRESS_OUTPUTS": str(tmp_path),
        "CODESTRESS_STORE": str(tmp_path / "s.sqlite"),
    }
    with OpenAIServer(prefill="ignored") as server:
        build = ["build", "semtrace/fig01", "origin/fig01", "--profile", "smoke"]
        build += ["--models", server.base_url, "--set", "prefill=assistant", "--json"]
        done = ran(*WITHOUT_KERNELS, *build, env=environment)
    states = {one["name"].partition("@")[0]: one for one in json.loads(done.stdout)}
    assert states["origin/fig01"]["state"] == "built", done.stderr
    names(states["semtrace/fig01"]["error"], "cannot continue a begun answer")


@pytest.mark.slow
def test_prompts_beyond_a_model_s_window_are_said_before_the_first_call(
    tmp_path: Path,
) -> None:
    """GPT-3.5 Turbo has 16,385 tokens; the key is never asked for."""
    model = "gpt-3.5-turbo-0125"
    options = ["semtrace/fig09", "--profile", "smoke", "--models", model]
    options += ["--set", "distractors=[300]"]
    done = codestress("build", *options, outputs=tmp_path, OPENAI_API_KEY="")
    assert done.returncode == 1
    names(done.stderr, model, "16,385", "distractors = 300", "MODELS=")
    plan = codestress("plan", *options, outputs=tmp_path, OPENAI_API_KEY="")
    names(plan.stderr, "18", model)


def test_a_faulty_file_of_published_numbers_is_named_before_anything_is_asked(
    project: Project,
) -> None:
    project.artefact("a")
    (project.root / "params/published").mkdir()
    (project.root / "params/published/t.json").write_text("[1, {}]")
    project.fails("build", named=("t.json",))
    assert not (project.root / "outputs/responses.sqlite").exists()
