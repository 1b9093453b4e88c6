"""Hashes of everything that a built artefact depends on, so that only outdated
artefacts are built again.

The inputs are the notebook, its parameters, the modules of this package that it imports
(and their data files), the registry rows of its models, the published numbers of its
paper, the data catalogue, and the environment.
"""

import contextlib
import hashlib
import importlib.metadata
import itertools
import json
import platform
import re
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from codestress.inference.registry import ENGINES
from codestress.paths import PACKAGE, PARAMS, PUBLISHED, ROOT, shown, visible
from codestress.problems.problem_files import own_sets
from codestress.rooms import module_of
from codestress.sandbox.runtimes import missing

from .artefacts import Artefact
from .notebooks import plain_notebook

SUFFIXES = frozenset({".txt", ".mplstyle", ".yaml", ".json", ".js", ".java"})
"""Suffixes of data files that modules read from their own folder and from its
subfolders that are not packages."""

IMPORT = re.compile(
    r"^[ \t]*(?:from (?P<module>(?:\.|codestress)[\w.]*) import"
    r" (?P<names>\([^)]*\)|.*)|import (?P<plain>codestress[\w.]*))",
    re.M,
)
NAME = re.compile(r"\w+")
REQUIRED = re.compile(r"^[\w.-]*\w(?!.*extra ==)", re.M)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@cache
def _file_digest(path: Path) -> str:
    return digest(path.read_bytes()) if path.is_file() else ""


def inputs_of(artefact: Artefact) -> dict[str, str]:
    """Return a dict from the name of each input of `artefact`, such as `notebook PATH`
    or `model NAME`, to its hash (16 hexadecimal digits).

    The value of a language runtime is `here` if it is installed, else a text that says
    what is missing.
    """
    parameters = artefact.parameters.model_dump()
    texts = {
        "parameters": artefact.parameters.model_dump_json(),
        "what is seen": artefact.file.seen,
        "environment": json.dumps(environment()),
    }
    texts |= {f"model {m.name}": m.model_dump_json() for m in artefact.models}
    inputs = {name: digest(text.encode()) for name, text in texts.items()}
    named = parameters.get("problems", ())
    named = [named] if isinstance(named, str) else named
    own = [ROOT / own.file for name, own in own_sets().items() if name in named]
    for kind, files in (
        ("notebook", [artefact.notebook]),
        ("module", closure(artefact)),
        ("data", [PARAMS / "datasets.yaml", *own, *artefact.parameters.files()]),
        ("published", [PUBLISHED / f"{artefact.paper}.json"]),
    ):
        for path in files:
            if known := _file_digest(path):
                inputs[f"{kind} {shown(path)}"] = known
    if "javascript" in parameters.get("languages", ()):
        inputs["runtime javascript"] = missing("javascript") or "here"
    return inputs


@cache
def environment() -> dict[str, str]:
    """Return a dict from the name of each installed package that codestress requires to
    its version; the first key is `python`."""
    listed = "\n".join(importlib.metadata.requires("codestress") or [])
    versions = {"python": platform.python_version()}
    for name in sorted(REQUIRED.findall(listed)):
        # Some packages are needed on some machines only.
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def closure(artefact: Artefact) -> list[Path]:
    """Return the paths of the files that `artefact` depends on, sorted.

    The files are this package's modules that the artefact's notebook, its study or its
    models' engines import, directly or not, and the data files in the folders of these
    modules.
    """
    paper = artefact.file.study.partition(".")[0]
    modules = {module_of(paper, "studies"), module_of(paper, "reading")}
    modules |= {ENGINES[model.engine] for model in artefact.models}
    return _closure(artefact.notebook, frozenset(modules))


@cache
def _closure(notebook: Path, modules: frozenset[str]) -> list[Path]:
    waiting = _imports_of(notebook) | _files_of(modules)
    files: set[Path] = set()
    while waiting:
        files |= waiting
        waiting = frozenset().union(*map(_imports_of, waiting)) - files
    for folder in {path.parent for path in files}:
        files |= _data_files(folder)
    return sorted(files)


def modules_of(artefact: Artefact) -> list[str]:
    """Return the dotted names of this package's modules that `artefact` depends on (the
    Python files in `closure`)."""
    files = [path for path in closure(artefact) if path.suffix == ".py"]
    names = [path.relative_to(PACKAGE.parent).with_suffix("").parts for path in files]
    return [".".join(parts).removesuffix(".__init__") for parts in names]


@cache
def _data_files(folder: Path) -> frozenset[Path]:
    files = set[Path]()
    for path in visible(folder):
        if path.suffix in SUFFIXES:
            files.add(path)
        elif path.is_dir() and not (path / "__init__.py").exists():
            files |= _data_files(path)
    return frozenset(files)


@cache
def _imports_of(path: Path) -> frozenset[Path]:
    """Return the files of this package that the module or notebook at `path` may import
    directly, and the packages that contain these files."""
    package = PACKAGE.name
    if path.suffix == ".ipynb":
        cells = plain_notebook(path)["cells"]
        codes = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        code = "\n".join(map("".join, codes))
    else:
        code = path.read_text("utf-8")
        package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
    names: set[str] = set()
    for match in IMPORT.finditer(code):
        module = resolve_name(match["module"] or match["plain"], package)
        names |= set(itertools.accumulate(module.split("."), "{}.{}".format))
        names |= {f"{module}.{name}" for name in NAME.findall(match["names"] or "")}
    return _files_of(frozenset(names))


def _files_of(modules: frozenset[str]) -> frozenset[Path]:
    return frozenset(filter(None, map(_module_file, modules)))


@cache
def _module_file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    files = path.with_suffix(".py"), path / "__init__.py"
    return next(filter(Path.is_file, files), None)
