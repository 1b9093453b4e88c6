"""Surroundings of the kit that reach no result: a person's settings of other tools, other
repositories."""

from __future__ import annotations

import os
import subprocess

from codestress.paths import ROOT

SETTINGS = ("COLUMNS", "IPYTHON", "JPY_", "JUPYTER", "LINES")
"""Beginnings of the names of environment variables with settings of tools that execute
notebooks."""


def apart(folder: str) -> dict[str, str]:
    """Environment of a process that executes notebooks: without a person's settings of IPython
    and Jupyter, whose files go to `folder`."""
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(SETTINGS)
    }
    tools = (
        "IPYTHONDIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
    )
    return kept | dict.fromkeys(tools, folder)


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Outcome of git with the `arguments`, run in the checkout. A repository around the checkout,
    or named by the environment, does not count."""
    place = [f"--git-dir={ROOT / '.git'}", f"--work-tree={ROOT}"]
    command = ["git", *place, *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    try:
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def commit() -> tuple[str, str]:
    """Pair of the checkout's commit (empty when not known) and what git says when it is not."""
    done = git("rev-parse", "--verify", "HEAD")
    return done.stdout.strip(), " ".join(done.stderr.split())
