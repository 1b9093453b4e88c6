"""Make takes its variables from its command line alone, whatever a shell has exported for other programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, ran
from told import names

NAMES = """
PROFILE PYTHON BIN JOBS MODELS SET A B FILE MODEL ID KEY_ENV MINUTES PORT SERVE SUITE
SEED READY READY_DEV RUN HERE OPTIONS GOALS PAPERS NUMBER WIDGETS SHELL PIP REFUSE
"""
MARKER = "marker-of-the-shell"
EXPORTED = dict.fromkeys(NAMES.split(), MARKER)
TOOLS = "codestress python pytest ruff lint-imports mypy jupyter voila"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs that print their name, and what they were given."""
    for name in TOOLS.split():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        given = '"$BUDGET_USD" "$CODESTRESS_STORE"'
        path.write_text(f'#!/bin/sh\necho "{name} $*"; echo budget {given}\n')
        path.chmod(0o755)
    return path.parent


@pytest.fixture(params=[[], ["-e"]], ids=["make", "make -e"])
def make(request: pytest.FixtureRequest, tools: Path) -> Callable[..., str]:
    """Types a command of make, with variables of the shell; gives what is printed, in which none of them may be."""
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CODESTRESS_"))
    }

    def typed(*words: str, **environment: str) -> str:
        command = ("make", *request.param, f"BIN={tools}", *words)
        done = ran(*command, cwd=ROOT, env=kept | EXPORTED | environment)
        assert done.returncode == 0, done
        assert MARKER not in done.stdout + done.stderr
        return "\n".join(" ".join(line.split()) for line in done.stdout.splitlines())

    return typed


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("try", "codestress try --minutes 10"),
        ("origin/fig04", "codestress build origin/fig04 --profile demo"),
        ("plan", "codestress plan --profile demo"),
        ("diff", "codestress diff"),
        ("report", "codestress report --profile demo"),
        (
            "archive",
            f"codestress archive export {ROOT}/outputs/demo.jsonl.gz --profile demo",
        ),
        ("serve", "codestress serve --port 8000 --python .venv-vllm/bin/python"),
        ("suite", "pytest -n 3 --dist worksteal --maxfail=20"),
    ],
)
def test_what_a_shell_exports_is_not_taken(
    make: Callable[..., str], goal: str, told: str
) -> None:
    shell = {"BUDGET_USD": "3", "CODESTRESS_STORE": "/s.sqlite"}
    shell |= {"CDPATH": "/:/tmp", "ENV": "/missing"}
    printed = make("-o", ".venv-vllm/bin/python", goal, **shell).splitlines()
    assert told in printed
    assert "budget 3 /s.sqlite" in printed


def test_what_is_typed_is_taken(make: Callable[..., str]) -> None:
    told = make("try", "MODEL=nano", "ID=a b", "KEY_ENV=K", "MINUTES=3")
    names(told, "codestress try nano --id a b --key-env K --minutes 3")
    told = make("plan", "MODELS=a b", "SET=x=1 y=2", "PROFILE=try")
    names(told, "codestress plan --profile try --models a b --set x=1 --set y=2")


def test_a_make_within_make_gets_what_was_typed(make: Callable[..., str]) -> None:
    told = make("test")
    names(told, "pytest -n 3 --dist worksteal --maxfail=20 -m not slow", "mypy lib")
    names(make("test-all", "SEED=7"), "--hypothesis-seed=7")


def test_make_in_another_folder_finds_the_programs_whatever_cdpath_is(
    tools: Path,
) -> None:
    """`cd` prints the folder that it finds by CDPATH, which is none of the command's words."""
    kit = tools.parent / "kit"
    shutil.copytree(tools, kit / "bin")
    shutil.copy(ROOT / "Makefile", kit)
    typed = f"cd {tools.parent} && make -C kit plan BIN=bin"
    done = ran("bash", "-c", typed, env=os.environ | {"CDPATH": str(kit)})
    assert done.returncode == 0, done
    assert "codestress plan --profile demo" in " ".join(done.stdout.split())


BACKEND = """
import os, zipfile
def build_wheel(folder, settings=None, metadata=None):
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("NAME.py", "")
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: NAME\\nVersion: 1\\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    return name
build_editable = build_wheel
"""


def package(folder: Path, name: str) -> None:
    """A package that is built without another one, so that nothing is fetched."""
    folder.mkdir(exist_ok=True)
    backend = BACKEND.replace("NAME", name).replace("tiny", name)
    (folder / "backend.py").write_text(backend)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "1"\n[build-system]\nrequires = []\n'
        'build-backend = "backend"\nbackend-path = ["."]\n'
    )


@pytest.mark.slow  # a virtual environment is made, and pip runs twice
def test_settings_of_pip_do_not_lead_the_set_up_astray(tmp_path: Path) -> None:
    """Both in the environment and in pip's own file, whose index and proxy still hold."""
    home, kit, tools = tmp_path / "home", tmp_path / "kit", tmp_path / "tools"
    package(kit, "kit")
    package(tmp_path / "other", "other")
    (kit / "lib").mkdir()
    shutil.copy(ROOT / "Makefile", kit)
    (kit / "requirements.lock").write_text(f"{tmp_path / 'other'}\n")
    (home / ".config/pip").mkdir(parents=True)
    settings = "[global]\nindex-url = http://127.0.0.1:9/simple\nuser = true\n"
    (home / ".config/pip/pip.conf").write_text(
        f"{settings}[install]\ntarget = {home}/there\n"
    )
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    elsewhere = f"{home}/there"
    environment = {
        "HOME": str(home),
        "PATH": f"{tools}:/usr/bin:/bin",
        "PYTHON": "/missing",
        "PIP_RETRIES": "0",
        "PIP_TARGET": elsewhere,
        "PIP_PREFIX": elsewhere,
        "PIP_CONSTRAINT": "/missing",
    }
    for name in ("USER", "REQUIRE_VIRTUALENV", "REQUIRE_HASHES", "DRY_RUN"):
        environment[f"PIP_{name}"] = "1"
    environment["UV_REQUIRE_HASHES"] = "1"

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        return ran("make", *words, cwd=kit, env=environment)

    done = typed(".venv/ready")
    assert done.returncode == 0, done
    subprocess.run([kit / ".venv/bin/python", "-c", "import kit, other"], check=True)
    assert not Path(elsewhere).exists()
    (kit / "requirements.lock").write_text("no-such-package==1\n")
    done = typed(".venv/ready")
    assert done.returncode != 0
    names(done.stderr, "no-such-package")
    environment["PIP_INDEX_URL"] = "http://127.0.0.1:7/elsewhere"
    names(
        typed("-n", "-p", "help").stdout, "PIP_INDEX_URL = http://127.0.0.1:7/elsewhere"
    )
