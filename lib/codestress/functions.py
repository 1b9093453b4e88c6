"""Functions that the kit's user writes and names as FILE.py:NAME in params/. The files
are imported without a sandbox, because the user's own code is trusted."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from .errors import ParameterError
from .paths import ROOT, shown

FunctionName = Annotated[str, Field(pattern=r"^.+\.py:[^\W\d]\w*$")]
"""Name of a user's function as FILE.py:NAME, with the file relative to the project's root."""


def file_of(name: str) -> Path:
    """Return the path of the file in the function's `name` (FILE.py:NAME), relative to
    the project's root. The file need not exist."""
    return ROOT / name.rpartition(":")[0]


def load_function(name: str, source: str) -> Callable[..., Any]:
    """Return the function that `name` (FILE.py:NAME) names, after running its file.

    The message of an error begins with `source`, the place that names the function.
    Raises `ParameterError` if the file or the function is missing, or if the file
    raises.
    """
    path = file_of(name)
    if not path.is_file():
        raise ParameterError(f"{source}: {name!r}: {shown(path)} is missing")
    try:
        names = runpy.run_path(str(path), run_name=f"codestress_own_{path.stem}")
        function: Callable[..., Any] = names[name.rpartition(":")[2]]
    except (Exception, SystemExit) as error:  # whatever the file raises
        raise ParameterError(
            f"{source}: {name!r}: {type(error).__name__}: {error}"
        ) from None
    return function
