"""Start of the console script without the person's own settings of Python, Matplotlib
and other libraries, which would change results.

This module imports nothing that a folder in PYTHONPATH could replace.
"""

import os
import sys

ASIDE = "CODESTRESS_ASIDE"
"""Name of the environment variable that holds the settings that were removed, one
NAME=VALUE a line."""
HARMLESS = (
    "DONTWRITEBYTECODE",
    "FAULTHANDLER",
    "HASHSEED",
    "NOUSERSITE",
    "PYCACHEPREFIX",
    "SAFEPATH",
    "UNBUFFERED",
)
"""Python's environment variables that may stay set, without the `PYTHON` at the
beginning of their names."""


def start_alone() -> None:
    """Start this process again without the environment's settings, if it is the console
    script and there are such settings. The entry of PYTHONPATH for this package's
    folder stays."""
    if os.path.basename(sys.argv[0]) != "codestress":  # noqa: PTH119  (pathlib can be replaced)
        return
    library = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    aside = {name: text for name, text in os.environ.items() if _is_setting(name)}
    path = aside.get("PYTHONPATH", "")
    if path == library:
        del aside["PYTHONPATH"]
    if aside:
        rest = {name: text for name, text in os.environ.items() if name not in aside}
        if library in map(os.path.realpath, path.split(os.pathsep)):
            rest["PYTHONPATH"] = library
        rest[ASIDE] = "\n".join(f"{name}={text}" for name, text in aside.items())
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], rest)


def _is_setting(name: str) -> bool:
    end = name.removeprefix("PYTHON")
    # Names such as PYTHON and PYTHON_VERSION are not settings of Python.
    if end != name:
        return end.isalpha() and end not in HARMLESS
    settings = ("MATPLOTLIB", "MPL", "PANDAS_", "SCIPY_", "TQDM_")
    return name.startswith(settings) and name != "TQDM_DISABLE"
