"""Guards that keep the kit's surroundings from changing results: a person's settings of
other tools, folders that cannot hold sockets, other repositories."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from codestress.errors import CodestressError
from codestress.paths import ROOT, visible, whole
from codestress.start import ASIDE
from codestress.validation import read_yaml

TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
SETTINGS = tuple(TABLE["settings"])
"""Prefixes of the names of environment variables with settings of tools that execute
notebooks."""

LONGEST = 70
"""Length in bytes from which a folder's path is too long for sockets in a folder below
it. On a Mac, a socket's path has at most 103 bytes."""


def apart(folder: str) -> dict[str, str]:
    """Return the environment of a process that executes notebooks without a person's
    settings of IPython and Jupyter. Files of these two tools go to `folder`."""
    return environment_without(SETTINGS) | dict.fromkeys(TABLE["folders"], folder)


def environment_without(beginnings: tuple[str, ...]) -> dict[str, str]:
    """Return this process's environment without the variables whose names begin with
    one of `beginnings`."""
    return {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(beginnings)
    }


def left_aside() -> list[str]:
    """Return a person's settings that builds ignore: NAME=VALUE for each environment
    variable, and the path of each settings file of Matplotlib and IPython."""
    settings = os.environ.get(ASIDE, "").splitlines()
    for name, text in os.environ.items():
        if name.startswith(SETTINGS):
            settings.append(f"{name}={text}")
    ipython = whole(os.environ.get("IPYTHONDIR") or "~/.ipython")
    config = whole(os.environ.get("XDG_CONFIG_HOME") or "~/.config")
    files = [
        whole("matplotlibrc"),
        config / "matplotlib/matplotlibrc",
        whole("~/.matplotlib/matplotlibrc"),
        *visible(ipython, "profile_default/**/*.*py"),
    ]
    return settings + [str(file) for file in files if file.is_file()]


def faulty_jupyter_settings() -> str:
    """Return the reason why JupyterLab does not start, after the settings that may be
    the cause: Jupyter's environment variables, and Jupyter's files outside of this
    Python's own folder. Empty if JupyterLab starts."""
    from jupyter_core.paths import jupyter_config_path

    start = "from jupyterlab.labapp import LabApp; LabApp.initialize_server(['--no-browser'])"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-c", start]
        done = finished(command, Path(folder), {**os.environ})
    if not done.returncode:
        return ""
    fault = (done.stderr.strip() or "it ends the process").splitlines()[-1]
    settings = [name for name in os.environ if name.startswith(SETTINGS)]
    for place in jupyter_config_path():
        if sys.prefix not in place:
            settings += map(str, visible(Path(place), "jupyter*config.*"))
    return f"{', '.join(settings) or 'JupyterLab'}: {fault}"


def socket_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder for Unix sockets, whose paths must be short: in the folder
    for temporary files, or in /tmp.

    Raises `CodestressError` if neither place can be used.
    """
    for place in (tempfile.gettempdir(), "/tmp"):
        if len(os.fsencode(place)) < LONGEST and os.access(place, os.W_OK):
            return tempfile.TemporaryDirectory("", "codestress-", place, True)
    raise CodestressError(
        "no folder can hold sockets; set TMPDIR to one with a short path"
    )


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Return the finished process of git with `arguments`, run in the checkout.

    The exit status is not 0 if git is not installed. git ignores a repository around
    the checkout, and a repository that the environment names.
    """
    environment = environment_without(tuple(TABLE["git"]))
    environment["GIT_CEILING_DIRECTORIES"] = str(ROOT.parent)
    return finished(["git", *arguments], ROOT, environment)


def finished(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Return the finished process of `command`, run in `folder` with `environment`. The
    exit status is not 0 if the program is not installed."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def commit() -> tuple[str, str]:
    """Return a pair: the checkout's commit (empty if not known), and git's message on
    why the commit is not known."""
    done = git("rev-parse", "--verify", "HEAD")
    return done.stdout.strip(), " ".join(done.stderr.split())
