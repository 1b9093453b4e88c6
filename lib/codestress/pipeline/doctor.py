"""Check of the installation: present and missing parts, with the commands that add them."""

from __future__ import annotations

import os
import platform
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codestress.artefact_files import artefact_names, load_profile, profile_names
from codestress.errors import CodestressError
from codestress.inference.registry import load_registry
from codestress.inference.store import Store
from codestress.paths import OUTPUTS, STORE, shown
from codestress.pipeline.notebooks import check_parameters_cell, schemas
from codestress.pipeline.surroundings import commit
from codestress.problems.datasets import load_catalogue, state
from codestress.sandbox import probe, runtimes
from codestress.sandbox.executor import Executor, remedy
from codestress.types import LANGUAGE_NAMES

ENOUGH_BYTES = 500_000_000
"""Free space on disk that a build needs."""


@dataclass(frozen=True)
class Finding:
    """One finding of the check: a part of the installation, its state, and details or advice."""

    what: str
    state: str
    """`ok`, `missing` (something optional) or `broken`."""
    detail: str


def examine() -> Iterator[Finding]:
    """Yields a `Finding` on each of the parameters, notebooks, models, keys, data, store, sandbox,
    commit and disk. An error in a part's own files is a finding too (`broken`)."""
    yield Finding("Python", "ok", platform.python_version())
    for part, findings in PARTS.items():
        try:
            yield from findings()
        except CodestressError as error:
            yield Finding(part, "broken", str(error))
    known, why = commit()
    yield Finding(
        "commit", "ok" if known else "missing", known or f"not recorded: {why}"
    )
    free = shutil.disk_usage(OUTPUTS if OUTPUTS.exists() else OUTPUTS.parent).free
    state = "ok" if free > ENOUGH_BYTES else "broken"
    yield Finding("disk", state, f"{free / 1e9:.1f} GB free")


def _project() -> Iterator[Finding]:
    profiles = profile_names()
    for profile in profiles:
        load_profile(profile)
    detail = f"{len(artefact_names())} artefacts, profiles {', '.join(profiles)}"
    yield Finding("parameters", "ok", detail)
    notebooks = schemas()
    for notebook, (schema, _) in notebooks.items():
        check_parameters_cell(notebook, schema)
    detail = f"{len(notebooks)} notebooks agree with their schemas"
    yield Finding("notebooks", "ok", detail)


def _models() -> Iterator[Finding]:
    """Yields a `Finding` on the registry, and one for each environment variable that a model in it
    names for its server's key: `ok` when it is set, else `missing`."""
    registry = load_registry()
    yield Finding("models", "ok", f"{len(registry)} in the registry")
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


def _store() -> Iterator[Finding]:
    detail = "empty, made by the first build"
    if STORE.exists():
        with Store(STORE) as store:
            detail = f"{store.count():,} responses"
    yield Finding("store", "ok", f"{shown(STORE)}: {detail}")


def _programs() -> Iterator[Finding]:
    """Yields a `Finding` on the sandbox, and for each language one on the programs of strangers:
    `missing` where an attack on this machine gets through."""
    with Executor(workers=1) as executor:
        detail = f"{executor.backend}: {executor.described()}"
        yield Finding("sandbox", "ok", detail)
        for language in probe.ATTACKS:
            name = LANGUAGE_NAMES[language]
            if why := runtimes.missing(language):
                yield Finding(name, "missing", why)
                continue
            what = f"programs of strangers in {name}"
            exposed = executor.exposed(language)
            told = "; ".join(f"{attack}: {why}" for attack, why in exposed.items())
            if exposed:
                yield Finding(what, "missing", f"{told}\n  {remedy()}")
            else:
                yield Finding(what, "ok", "run isolated")


PARTS: dict[str, Callable[[], Iterator[Finding]]] = {
    "project": _project,
    "models": _models,
    "data": _data,
    "store": _store,
    "sandbox": _programs,
}
