"""Python source that is the same on every machine with the kit: files of packages whose
versions requirements.lock pins.

The kit's set-up installs these packages, with checked hashes, for every platform and
every Python. The standard library would not do, because its files differ between
versions of Python.
"""

import warnings
from functools import cache
from importlib.metadata import distribution, version

from codestress.paths import ROOT

PACKAGES = (
    "jinja2",
    "click",
    "packaging",
    "attrs",
    "requests",
    "traitlets",
    "pyparsing",
    "urllib3",
    "lark",
    "babel",
    "prompt-toolkit",
)
"""Pure Python packages that have the same version for every Python."""


@cache
def installed_modules(package: str) -> dict[str, str]:
    """Return a dict from dotted name to source text for the modules of an installed
    package, in the order of their paths, without tests.

    `package` is one of `PACKAGES`. Warns if the installed version is not the pinned
    one, because other source makes other prompts.
    """
    pinned, current = pins()[package], version(package)
    if current != pinned:
        warnings.warn(
            f"{package} {current} is installed, not {pinned}, so that prompts differ; `rm -r .venv && make` "
            f"installs {pinned}",
            stacklevel=2,
        )
    modules = {}
    for file in sorted(distribution(package).files or [], key=str):
        outside = any(part == ".." or part.startswith("test") for part in file.parts)
        if file.suffix == ".py" and not outside:
            name = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
            modules[name] = file.read_text("utf-8")
    return modules


@cache
def pins() -> dict[str, str]:
    """Return a dict from package to pinned version from requirements.lock, without
    packages whose pin depends on the platform."""
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and ";" not in line)
