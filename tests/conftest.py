"""Shared fixtures: a place for outputs that is not the project's, and real data where it is at hand."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import gc
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest

import codestress.pipeline.quick_nbformat
from codestress.artefact_files import artefact_names, read_artefact
from codestress.paths import PACKAGE
from codestress.pipeline.artefacts import Artefact, resolve
from codestress.sandbox.executor import Executor
from served import Served

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(Path(sys.executable).with_name("codestress"))
Case = TypeVar("Case")
SLOW = True
"""Whether slow tests run too, and so all figures and assignments are built: not in `make test`."""
THOROUGH = True
"""Whether all cases are tested that there are: in `make test-all`, not in `make test`."""
NAMED = (
    "codecrash/tab01",
    "codecrash/tab13",
    "faultloc/tab02",
    "origin/fig02",
    "origin/fig03",
    "origin/fig04",
    "origin/fig06",
    "origin/sec63",
    "semtrace/fig01",
    "semtrace/fig06",
    "semtrace/tab01",
    "semtrace/tab04",
)
"""Artefacts of which tests know what is in them."""
JOBS = os.cpu_count() or 1
"""Notebooks at a time in a build that many tests wait for."""

# Of what began the tests: what tests begin themselves has its own.
for name in ("MAKEFLAGS", "MAKELEVEL", "PYTEST_ADDOPTS"):
    os.environ.pop(name, None)
# Tests begin hundreds of processes, each of which would compile all modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
hypothesis.settings.register_profile("drawn", deadline=None, print_blob=True)
hypothesis.settings.register_profile(
    "the same", deadline=None, derandomize=True, database=None
)


def codestress(
    *arguments: str, outputs: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The console script, with a folder of its own for what it leaves; it leaves PYTHONPATH aside, so that with one
    (a test's stand-in for a package) what it calls is called."""
    inner = [sys.executable, "-c", "from codestress.cli import main; main()"]
    script = inner if "PYTHONPATH" in environment else [SCRIPT]
    own = {**os.environ, "CODESTRESS_OUTPUTS": str(outputs), **environment}
    return ran(*script, *arguments, env=own, cwd=ROOT)


def ran(
    *command: str | Path, timeout: float = 3600, **more: Any
) -> subprocess.CompletedProcess[str]:
    """A command that has ended, and what it printed; one that hangs is killed, for a busy machine late."""
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, **more
    )


def artefact_of(
    name: str, profile: str, *settings: str, models: tuple[str, ...] = ()
) -> Artefact:
    """The artefact of this name, with a profile's parameters and what `--set` and `--models` would change."""
    [artefact] = resolve([name], profile, models, settings)
    return artefact


needs_jdk = pytest.mark.skipif(
    not (shutil.which("java") and shutil.which("javac")),
    reason="a JDK is not installed (Debian: default-jdk-headless)",
)


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor() as running:
        yield running


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path)


@functools.cache
def exposed() -> dict[str, str]:
    """What this machine does not protect from programs of strangers."""
    with Executor(workers=1) as executor:
        return executor.exposed()


def pytest_configure(config: pytest.Config) -> None:
    global SLOW, THOROUGH
    SLOW = "not slow" not in config.option.markexpr
    THOROUGH = SLOW and "not release" not in config.option.markexpr
    hypothesis.settings.load_profile("drawn" if SLOW else "the same")


def forget() -> None:
    """Empties the caches of the kit's functions, as if nothing had been read or computed in this process."""
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and "codestress" in str(
            one.__module__
        ):
            one.cache_clear()


def some(cases: Sequence[Case], every: int) -> Sequence[Case]:
    """All cases in `make test-all`; in `make test` one of so many, which find what is wrong with all of them."""
    return cases if THOROUGH else cases[::every]


def slow(cases: Iterable[str], *named: str) -> list[Any]:
    """The cases, those that are named with the mark slow."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] * (case in named)) for case in cases
    ]


def smoke_names() -> list[str]:
    """Names of the smoke build's artefacts: all in `make test-all`; in `make test` one of each notebook, and
    those of which tests know what is in them."""
    first = {
        read_artefact(name).notebook: name
        for name in [*reversed(artefact_names()), *NAMED]
    }
    return [
        name for name in artefact_names() if SLOW or name in {*first.values(), *NAMED}
    ]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips by name what runs programs of strangers where nothing isolates them."""
    if item.get_closest_marker("isolation") and exposed():
        pytest.skip(f"programs of strangers cannot be isolated here: {exposed()}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Shows a failure at once, not at the end of an hour."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(
            f"\n{report.nodeid}\n{report.longreprtext[-3000:]}",
            file=sys.__stdout__,
            flush=True,
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Prints last, for each failed test, the command that repeats it alone and what it found."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or "PYTEST_XDIST_WORKER" in os.environ:
        return
    for report in [*terminal.stats.get("failed", ()), *terminal.stats.get("error", ())]:
        crash = getattr(report.longrepr, "reprcrash", None)
        found = crash.message if crash else str(report.longrepr)
        said = (found.splitlines() or ["no message"])[0]
        terminal.write_line(
            f".venv/bin/pytest {shlex.quote(report.nodeid)}  # {said[:120]}"
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the longest tests first: the README's commands, what else is before a release, what reads the smoke build,
    what is slow."""
    items.sort(
        key=lambda item: (
            item.name != "test_every_command_runs",
            item.get_closest_marker("release") is None,
            "smoke" not in getattr(item, "fixturenames", ()),
            item.get_closest_marker("slow") is None,
        )
    )


@contextlib.contextmanager
def kept(config: pytest.Config, name: str, *sources: Path) -> Iterator[Path]:
    """A folder in pytest's cache for one test process at a time, until a file in `sources` changes.

    `pytest --cache-clear` begins anew.
    """
    digest = hashlib.sha256()
    for path in sorted(path for source in sources for path in source.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(
                f"{path.relative_to(ROOT)} ".encode()
                + hashlib.sha256(path.read_bytes()).digest()
            )
    assert config.cache is not None
    cache = config.cache.mkdir(name)
    folder = cache / digest.hexdigest()[:16]
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for other in cache.iterdir():
            if other.is_dir() and other != folder:
                shutil.rmtree(other)
        folder.mkdir(exist_ok=True)
        yield folder


@pytest.fixture(scope="session")
def smoke(request: pytest.FixtureRequest) -> Path:
    """The outputs of `codestress build --profile smoke` (`smoke_names`), one for all test processes; not to be changed.

    They are kept for the next run, which builds what is out of date; when code changes, all is asked and built anew.
    """
    with kept(request.config, "smoke", PACKAGE) as outputs:
        names = smoke_names()
        words = ("build", *names, "--profile", "smoke", "--jobs", str(JOBS), "--json")
        done = codestress(*words, outputs=outputs)
        outcomes = json.loads(done.stdout or "[]")
        failed = [f"{one['name']}: {one['error']}" for one in outcomes if one["error"]]
        assert not failed, "; ".join(failed)
        assert len(outcomes) == len(names), done.stderr
    return outputs


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the project, or CODESTRESS_DATA; tests that need it say so when it is missing."""
    folder = Path(os.environ.get("CODESTRESS_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "findtheorigin" / "vertices.txt").is_file():
        pytest.skip(
            "real data is not here; set CODESTRESS_DATA to a folder that has findtheorigin/vertices.txt"
        )
    return folder


@pytest.fixture
def public(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of real data, where the kit finds it too."""
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    return shared_data
