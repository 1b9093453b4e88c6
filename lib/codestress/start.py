"""Start of the console script without a person's settings of Python, Matplotlib and pandas, which
would change results.

This module imports nothing that a folder in PYTHONPATH could replace.
"""

import os
import sys

ASIDE = "CODESTRESS_ASIDE"
"""Name of the environment variable with the settings that were left aside, NAME=VALUE in lines."""
HARMLESS = (
    "DONTWRITEBYTECODE",
    "FAULTHANDLER",
    "HASHSEED",
    "NOUSERSITE",
    "PYCACHEPREFIX",
    "SAFEPATH",
    "UNBUFFERED",
)
"""Python's environment variables that may stay set, without the `PYTHON` of their names."""


def start_alone() -> None:
    """Where this process is the console script and the environment has settings, starts the process
    again without them. Of PYTHONPATH, the folder of this package stays."""
    if os.path.basename(sys.argv[0]) != "codestress":  # noqa: PTH119  (pathlib can be replaced)
        return
    library = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    aside = {name: text for name, text in os.environ.items() if _is_setting(name)}
    path = aside.get("PYTHONPATH", "")
    if path == library:
        del aside["PYTHONPATH"]
    if aside:
        kept = {name: text for name, text in os.environ.items() if name not in aside}
        if library in map(os.path.realpath, path.split(os.pathsep)):
            kept["PYTHONPATH"] = library
        kept[ASIDE] = "\n".join(f"{name}={text}" for name, text in aside.items())
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)


def _is_setting(name: str) -> bool:
    end = name.removeprefix("PYTHON")
    if end != name:  # as PYTHON and PYTHON_VERSION, which are no settings of Python's
        return end.isalpha() and end not in HARMLESS
    settings = ("MATPLOTLIB", "MPL", "PANDAS_", "SCIPY_", "TQDM_")
    return name.startswith(settings) and name != "TQDM_DISABLE"
