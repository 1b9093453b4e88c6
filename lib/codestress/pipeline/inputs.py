"""Everything that a built artefact depends on, hashed, so that exactly what is out of date is built again.

Inputs: the notebook, its parameters, the modules of this package that it imports (and their data files), the
registry's rows of its models, the published numbers of its paper, the data catalogue, the environment.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import json
import platform
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from codestress.inference.registry import ENGINES
from codestress.paths import PACKAGE, PARAMS, PUBLISHED, ROOT, shown
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.notebooks import plain_cells
from codestress.problems.problem_files import own_sets
from codestress.rooms import module_of
from codestress.sandbox.runtimes import NEEDED, missing

SUFFIXES = frozenset({".txt", ".mplstyle", ".yaml", ".json", ".js", ".java"})
"""Data files that modules read from their own folder; of folders that are no packages also .py."""

IMPORT = re.compile(
    r"^[ \t]*(?:from (?P<module>codestress[\w.]*) import (?P<names>\([^)]*\)|.*)|import (?P<plain>codestress[\w.]*))",
    re.M,
)
NAME = re.compile(r"\w+")
NAME_OF_PACKAGE = re.compile(r"^[\w.-]*\w", re.M)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@cache
def _file_digest(path: Path) -> str:
    return digest(path.read_bytes())


def inputs_of(artefact: Artefact) -> dict[str, str]:
    """Name of each input to its hash."""
    inputs = {
        f"notebook {shown(artefact.notebook)}": _file_digest(artefact.notebook),
        "parameters": digest(artefact.parameters.model_dump_json().encode()),
        "environment": digest(json.dumps(environment()).encode()),
        f"data {shown(PARAMS / 'datasets.yaml')}": _file_digest(PARAMS / "datasets.yaml"),
    }
    inputs |= {f"model {m.name}": digest(m.model_dump_json().encode()) for m in artefact.models}
    inputs |= {f"module {shown(path)}": sha256 for path, sha256 in closure(artefact).items()}
    parameters = artefact.parameters.model_dump()
    named = parameters.get("problems", ())
    files = [
        ROOT / own.file for name, own in own_sets().items() if name in ([named] if isinstance(named, str) else named)
    ]
    files += artefact.study.files(artefact.parameters)
    inputs |= {f"data {shown(path)}": _file_digest(path) for path in files if path.is_file()}
    for language in (name for name in NEEDED if name in parameters.get("languages", ())):
        inputs[f"runtime {language}"] = missing(language) or "here"
    published = PUBLISHED / f"{artefact.name.split('/')[0]}.json"
    if published.is_file():
        inputs[f"published {shown(published)}"] = _file_digest(published)
    return inputs


def changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The inputs that differ, by name."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


@cache
def environment() -> dict[str, str]:
    """Versions of Python and of the packages that this one requires."""
    required = [text for text in importlib.metadata.requires("codestress") or [] if "extra ==" not in text]
    names = sorted(NAME_OF_PACKAGE.findall("\n".join(required)))
    return {"python": platform.python_version()} | {name: at for name in names if (at := _version(name))}


def _version(package: str) -> str:
    """As `importlib.metadata.version`, which reads the package's whole description as a letter, a millisecond each;
    empty where it is not here, for only some machines need it."""
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
    written = re.search(r"^Version: *(\S+) *$", found.read_text("METADATA") or "", re.M)
    return written[1] if written else found.version


def git(*arguments: str) -> str | None:
    """What git says of the checkout; None where it fails, or there is none."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def closure(artefact: Artefact) -> dict[Path, str]:
    """Files of this package that the notebook, its study or its models' engines import, directly or not: their hashes.
    Beside them the data files of the same folders."""
    paper = artefact.study_name.partition(".")[0]
    engines = frozenset(ENGINES[model.engine] for model in artefact.models)
    return _closure(artefact.notebook, frozenset({module_of(paper, "studies"), module_of(paper, "reading")}) | engines)


@cache
def _closure(notebook: Path, modules: frozenset[str]) -> dict[Path, str]:
    waiting = _imports_of(notebook) | _files_of(modules)
    seen: set[Path] = set()
    while waiting:
        seen |= waiting
        waiting = frozenset().union(*map(_imports_of, waiting)) - seen
    files = seen.union(*(_data_files(folder) for folder in {path.parent for path in seen}))
    return {path: _file_digest(path) for path in sorted(files, key=lambda path: path.parts)}


def modules_of(artefact: Artefact) -> list[str]:
    """The names of the modules among them."""
    files = [path for path in closure(artefact) if path.suffix == ".py" and (path.parent / "__init__.py").exists()]
    names = [".".join(["codestress", *path.relative_to(PACKAGE).with_suffix("").parts]) for path in files]
    return [name.removesuffix(".__init__") for name in names]


@cache
def _data_files(package: Path) -> frozenset[Path]:
    return frozenset(_found(package, SUFFIXES))


def _found(folder: Path, suffixes: frozenset[str]) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.suffix in suffixes:
            yield path
        elif not path.suffix and path.is_dir() and not (path / "__init__.py").exists():
            yield from _found(path, SUFFIXES | {".py"})


@cache
def _imports_of(path: Path) -> frozenset[Path]:
    """Files of this package that a module or a notebook may import by itself, their packages' included."""
    if path.suffix == ".ipynb":
        code = "\n".join("".join(cell["source"]) for cell in plain_cells(path) if cell["cell_type"] == "code")
    else:
        code = path.read_text(encoding="utf-8")
    names: set[str] = set()
    for match in IMPORT.finditer(code):
        module = match["module"] or match["plain"]
        names |= set(itertools.accumulate(module.split("."), "{}.{}".format))
        names |= {f"{module}.{name}" for name in NAME.findall(match["names"] or "")}
    return _files_of(frozenset(names))


def _files_of(modules: frozenset[str]) -> frozenset[Path]:
    return frozenset(filter(None, map(_module_file, modules)))


@cache
def _module_file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
