"""Check of the installation: present and missing parts, with the commands that add them."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from tempfile import gettempdir

from codestress.artefact_files import artefact_names, load_profile, profile_names
from codestress.errors import CodestressError, EngineError
from codestress.inference.network import connection, through
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.store import Store
from codestress.paths import OUTPUTS, STORE, shown
from codestress.pipeline.inputs import environment
from codestress.pipeline.notebooks import check_parameters_cell, schemas
from codestress.pipeline.surroundings import (
    commit,
    faulty_jupyter_settings,
    left_aside,
    socket_folder,
)
from codestress.problems.datasets import load_catalogue, state
from codestress.sandbox import probe, runtimes
from codestress.sandbox.executor import UNPROTECTED, Executor, remedy
from codestress.types import LANGUAGE_NAMES

NEEDS = (
    "codestress score --task input or --rule reference; write; course build and grade; "
    "figures of data sets, of problems and perturbations of your own, of programs that real models wrote"
)
"""Commands and figures that run untrusted programs."""


def _programs() -> Iterator[Finding]:
    """Yields a `Finding` on the sandbox for untrusted programs, on each of its protections, and on
    each language that programs may have."""
    try:
        with Executor(workers=1) as executor:
            detail = f"{executor.backend}: {executor.described()}"
            yield Finding("sandbox", "ok", detail)
            exposed = []
            for language in probe.ATTACKS:
                if runtimes.missing(language):
                    continue
                through = executor.exposed(language)
                exposed += [LANGUAGE_NAMES[language]] if through else []
                why = "; ".join(f"{name}: {way}" for name, way in through.items())
                yield Finding(
                    f"attacks in {LANGUAGE_NAMES[language]}",
                    "missing" if through else "ok",
                    why or "files, network and processes are protected",
                )
            detail = "run: make, make test, every artefact of the demo"
            yield Finding("the kit's own programs", "ok", detail)
            if executor.unprotected:
                detail = f"run unprotected, because {UNPROTECTED}=1: {NEEDS}"
            elif exposed:
                detail = f"are refused in {', '.join(exposed)}: {NEEDS}\n  {remedy()}"
            else:
                detail = f"run isolated: {NEEDS}"
            yield Finding(
                "programs of strangers", "missing" if exposed else "ok", detail
            )
    except CodestressError as error:
        yield Finding("sandbox", "broken", str(error))
    why = runtimes.missing("javascript")
    yield Finding(
        "javascript",
        "missing" if why else "ok",
        why or runtimes.version(*runtimes.executables()),
    )


@dataclass(frozen=True)
class Finding:
    """One finding of the check: a part of the installation, its state (`ok`, `missing` or
    `broken`), and details or advice."""

    what: str
    state: str
    """`ok`, `missing` (something optional) or `broken`."""
    detail: str


def _keys(registry: Mapping[str, ModelEntry]) -> Iterator[Finding]:
    """Yields a `Finding` for each environment variable that a model in `registry` names for its
    server's key: `ok` when it is set, else `missing`."""
    users = defaultdict[str, list[str]](list)
    for model in registry.values():
        variable = str(model.settings.get("key_env") or "")
        if variable and not model.simulated:
            users[variable].append(model.name)
    for variable, names in sorted(users.items()):
        if os.environ.get(variable):
            yield Finding(f"key {variable}", "ok", "set")
        else:
            advice = f"not set; `export {variable}=…` to ask {', '.join(names)}"
            yield Finding(f"key {variable}", "missing", advice)


def _network() -> Finding:
    """Returns a `Finding` on how servers elsewhere are asked: directly, by a proxy, or not at
    all."""
    address = "https://api.openai.com/v1"
    try:
        connection(address)
        return Finding(
            "network",
            "ok",
            f"servers elsewhere are asked{through(address) or ' directly'}",
        )
    except EngineError as error:
        return Finding(
            "network", "missing", f"servers elsewhere cannot be asked: {error}"
        )


def _data() -> Iterator[Finding]:
    """Yields a `Finding` for each data set: `ok`, `broken` when a file is damaged, or `missing`
    when files are missing and none is damaged."""
    for dataset in load_catalogue().values():
        states = {file.path: state(file) for file in dataset.files}
        faults = {path: fault for path, fault in states.items() if fault != "ok"}
        if not faults:
            yield Finding(f"data {dataset.name}", "ok", "here")
            continue
        missing = set(faults.values()) == {"missing"}
        files = ", ".join(f"{path}: {fault}" for path, fault in faults.items())
        advice = f"{files}; run `codestress data fetch {dataset.name}`"
        yield Finding(
            f"data {dataset.name}", "missing" if missing else "broken", advice
        )


def _around() -> Iterator[Finding]:
    """Yields a `Finding` on the commit, on the folder of kernels' sockets, and on each of a
    person's settings that are left aside, or stop JupyterLab."""
    known, why = commit()
    yield Finding(
        "commit", "ok" if known else "missing", known or f"not recorded: {why}"
    )
    with socket_folder() as folder:
        where = f"in {folder}" if folder else "in no folder; kernels use TCP"
        yield Finding("sockets", "ok", f"TMPDIR is {gettempdir()}: {where}")
    for setting in left_aside():
        yield Finding("left aside by builds", "ok", setting)
    for fault in faulty_jupyter_settings():
        yield Finding("Jupyter's settings stop `make lab`", "broken", fault)


def examine() -> Iterator[Finding]:
    """Yields a `Finding` on each of Python, packages, parameters, notebooks, models, keys, data,
    store, sandbox, what lies around the kit, and disk. The first error in the project's files is a
    finding too (`broken`); the checks then go on at the sandbox."""
    supported = sys.version_info >= (3, 11)
    version = f"{platform.python_version()} (3.11 or later)"
    yield Finding("Python", "ok" if supported else "broken", version)
    try:
        packages = [
            f"{name} {at}" for name, at in environment().items() if name != "python"
        ]
        yield Finding("packages", "ok", ", ".join(packages))
    except PackageNotFoundError as error:
        yield Finding("packages", "broken", f"{error} is not installed; run `make`")
    try:
        profiles = profile_names()
        for profile in profiles:
            load_profile(profile)
        detail = f"{len(artefact_names())} artefacts, profiles {', '.join(profiles)}"
        yield Finding("parameters", "ok", detail)
        notebooks = schemas()
        for notebook, (schema, _) in notebooks.items():
            check_parameters_cell(notebook, schema)
        yield Finding(
            "notebooks", "ok", f"{len(notebooks)} notebooks agree with their schemas"
        )
        registry = load_registry()
        simulated = sum(model.simulated for model in registry.values())
        yield Finding(
            "models", "ok", f"{len(registry)} in the registry, {simulated} simulated"
        )
        yield from _keys(registry)
        yield from _data()
        detail = "empty, made by the first build"
        if STORE.exists():
            with Store(STORE) as store:
                detail = f"{store.count():,} responses"
        yield Finding("store", "ok", f"{shown(STORE)}: {detail}")
    except CodestressError as error:
        yield Finding("project", "broken", str(error))
    yield _network()
    yield from _programs()
    yield from _around()
    free = shutil.disk_usage(OUTPUTS if OUTPUTS.exists() else OUTPUTS.parent).free
    detail = f"{free / 1e9:.1f} GB free"
    if free > 500e6:
        yield Finding("disk", "ok", detail)
    else:
        yield Finding("disk", "broken", f"{detail}; make room")
