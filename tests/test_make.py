"""Make takes its variables from its command line alone, whatever a shell has exported for other programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

NAMES = (
    *(
        "PROFILE",
        "PYTHON",
        "BIN",
        "JOBS",
        "MODELS",
        "SET",
        "A",
        "B",
        "FILE",
        "MODEL",
    ),
    *(
        "ID",
        "KEY_ENV",
        "MINUTES",
        "PORT",
        "SERVE",
        "SUITE",
        "SEED",
        "READY",
        "READY_DEV",
    ),
    *(
        "RUN",
        "HERE",
        "OPTIONS",
        "GOALS",
        "PAPERS",
        "NUMBER",
        "WIDGETS",
        "SHELL",
        "PIP",
        "REFUSE",
    ),
)
MARKER = "marker-of-the-shell"
TOOLS = (
    "codestress",
    "python",
    "pytest",
    "ruff",
    "lint-imports",
    "mypy",
    "jupyter",
    "voila",
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs that print their name, and what they were given."""
    for name in TOOLS:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        given = '"$BUDGET_USD" "$CODESTRESS_STORE"'
        path.write_text(f'#!/bin/sh\necho "{name} $*"; echo budget {given}\n')
        path.chmod(0o755)
    return path.parent


def make(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "CODESTRESS_"))
    }
    return subprocess.run(
        ["make", *words],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=60,  # of a command that is not the one meant here
    )


@pytest.mark.parametrize("how", [[], ["-e"]])
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
    tools: Path, how: list[str], goal: str, told: str
) -> None:
    exported = dict.fromkeys(NAMES, MARKER) | {
        "BUDGET_USD": "3",
        "CODESTRESS_STORE": "/s.sqlite",
    }
    ready = ["-o", ".venv-vllm/bin/python"]
    done = make(
        *how, *ready, goal, f"BIN={tools}", **exported, CDPATH="/:/tmp", ENV="/missing"
    )
    assert done.returncode == 0, done
    assert MARKER not in done.stdout + done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert told in lines, done
    assert "budget 3 /s.sqlite" in lines


@pytest.mark.parametrize("how", [[], ["-e"]])
def test_what_is_typed_is_taken(tools: Path, how: list[str]) -> None:
    exported = dict.fromkeys(NAMES, MARKER)
    words = ["try", f"BIN={tools}", "MODEL=nano", "ID=a b", "KEY_ENV=K", "MINUTES=3"]
    done = make(*how, *words, **exported)
    assert "codestress try nano --id a b --key-env K --minutes 3" in done.stdout, done
    done = make(
        *how,
        "plan",
        f"BIN={tools}",
        "MODELS=a b",
        "SET=x=1 y=2",
        "PROFILE=try",
        **exported,
    )
    assert "codestress plan --profile try --models a b --set x=1 --set y=2" in " ".join(
        done.stdout.split()
    ), done


@pytest.mark.parametrize("how", [[], ["-e"]])
def test_a_make_within_make_gets_what_was_typed(tools: Path, how: list[str]) -> None:
    done = make(*how, "test", f"BIN={tools}", **dict.fromkeys(NAMES, MARKER))
    assert done.returncode == 0, done
    assert MARKER not in done.stdout + done.stderr
    assert "pytest -n 3 --dist worksteal --maxfail=20 -m not slow" in done.stdout
    assert "mypy lib" in done.stdout
    done = make(
        *how, "test-all", f"BIN={tools}", "SEED=7", **dict.fromkeys(NAMES, MARKER)
    )
    assert "--hypothesis-seed=7" in done.stdout, done


def test_make_in_another_folder_finds_the_programs_whatever_cdpath_is(
    tools: Path,
) -> None:
    """`cd` prints the folder that it finds by CDPATH, which is none of the command's words."""
    kit = tools.parent / "kit"
    shutil.copytree(tools, kit / "bin")
    shutil.copy(ROOT / "Makefile", kit)
    done = subprocess.run(
        ["bash", "-c", f"cd {tools.parent} && make -C kit plan BIN=bin"],
        env={**os.environ, "CDPATH": str(kit)},
        capture_output=True,
        text=True,
    )
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
    environment = {
        "HOME": str(home),
        "PATH": f"{tools}:/usr/bin:/bin",
        "PIP_RETRIES": "0",
    }
    environment |= {
        "PIP_USER": "1",
        "PIP_TARGET": f"{home}/there",
        "PIP_PREFIX": f"{home}/there",
    }
    environment |= {
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PIP_REQUIRE_HASHES": "1",
        "PIP_DRY_RUN": "1",
    }
    environment |= {
        "PIP_CONSTRAINT": "/missing",
        "UV_REQUIRE_HASHES": "1",
        "PYTHON": "/missing",
    }
    done = subprocess.run(
        ["make", ".venv/ready"],
        cwd=kit,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    subprocess.run([kit / ".venv/bin/python", "-c", "import kit, other"], check=True)
    assert not (home / "there").exists()
    (kit / "requirements.lock").write_text("no-such-package==1\n")
    done = subprocess.run(
        ["make", ".venv/ready"],
        cwd=kit,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "no-such-package" in done.stderr
    environment["PIP_INDEX_URL"] = "http://127.0.0.1:7/elsewhere"
    done = subprocess.run(
        ["make", "-n", "-p", "help"],
        cwd=kit,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "PIP_INDEX_URL = http://127.0.0.1:7/elsewhere" in done.stdout
