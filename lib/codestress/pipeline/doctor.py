"""What is here, what is missing, what to type."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from codestress.errors import CodestressError
from codestress.inference.registry import load_registry
from codestress.inference.store import Store
from codestress.paths import OUTPUTS, STORE, shown
from codestress.pipeline.artefacts import artefact_names, load_profile, profile_names
from codestress.pipeline.inputs import environment
from codestress.pipeline.notebooks import check_parameters_cell, schemas
from codestress.problems.datasets import load_catalogue, state
from codestress.sandbox import runtimes
from codestress.sandbox.executor import UNPROTECTED, Executor, told_row
from codestress.sandbox.worker import CONTAINERS

NEEDS = (
    "codestress score --task input, --rule reference or --compare; selftest; write; course build and grade; "
    "figures of data sets, of problems and perturbations of your own, of programs that real models wrote"
)
"""What runs programs of strangers."""


def _programs() -> Iterator[Finding]:
    """What holds programs of strangers, what of it is protected, and which languages run."""
    try:
        with Executor(workers=1) as executor:
            layers = executor.described()
            absent = "; ".join(f"{name}: {why}" for name, why in executor.layers.items() if name.startswith("no "))
            yield Finding("sandbox", "ok", f"{executor.backend}: {layers}" + (f" ({absent})" if absent else ""))
            matrix = executor.matrix()
            for name, row in matrix.items():
                yield Finding(f"protects {name}", "missing" if any(row.values()) else "ok", told_row(row))
            exposed = [language for language in matrix["files"] if any(row[language] for row in matrix.values())]
            yield Finding("the kit's own programs", "ok", "run: make, make test, every artefact of the demo")
            apart = "; not in a container: the course, JavaScript" if executor.backend in CONTAINERS else ""
            if executor.unprotected:
                told = f"run unprotected, because {UNPROTECTED}=1: {NEEDS}"
            elif exposed:
                told = f"are refused in {', '.join(exposed)}: {NEEDS}\n  {executor.remedy()}"
            else:
                told = f"run isolated: {NEEDS}{apart}"
            yield Finding("programs of strangers", "missing" if exposed else "ok", told)
    except CodestressError as error:
        yield Finding("sandbox", "broken", str(error))
    for language in runtimes.NEEDED:
        why = runtimes.missing(language)
        yield Finding(language, "missing" if why else "ok", why or runtimes.version(language))


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: str
    """`ok`, `missing` (something optional) or `broken`."""
    detail: str


def examine() -> Iterator[Finding]:
    """Looks at Python, packages, parameters, notebooks, store, keys, data and disk."""
    supported = sys.version_info >= (3, 11)
    yield Finding("Python", "ok" if supported else "broken", f"{platform.python_version()} (3.11 or later)")
    try:
        yield Finding("packages", "ok", ", ".join(f"{k} {v}" for k, v in environment().items() if k != "python"))
    except Exception as error:
        yield Finding("packages", "broken", f"{error} is not installed; run `make`")
    try:
        for profile in profile_names():
            load_profile(profile)
        yield Finding("parameters", "ok", f"{len(artefact_names())} artefacts, profiles {', '.join(profile_names())}")
        for notebook, (schema, _) in schemas().items():
            check_parameters_cell(notebook, schema)
        yield Finding("notebooks", "ok", f"{len(schemas())} notebooks agree with their schemas")
        registry = load_registry()
        yield Finding(
            "models", "ok", f"{len(registry)} in the registry, {sum(m.simulated for m in registry.values())} simulated"
        )
        variables = {str(m.settings.get("key_env") or "") for m in registry.values() if not m.simulated} - {""}
        for variable in sorted(variables):
            users = [m.name for m in registry.values() if m.settings.get("key_env") == variable]
            present = bool(os.environ.get(variable))
            advice = "set" if present else f"not set; `export {variable}=…` to ask {', '.join(users)}"
            yield Finding(f"key {variable}", "ok" if present else "missing", advice)
        for dataset in load_catalogue().values():
            states = {file.path: state(file) for file in dataset.files}
            bad = {path: found for path, found in states.items() if found != "ok"}
            broken = any(found != "missing" for found in bad.values())
            detail = f"{', '.join(f'{p}: {s}' for p, s in bad.items())}; run `codestress data fetch {dataset.name}`"
            yield Finding(
                f"data {dataset.name}", "broken" if broken else "missing" if bad else "ok", detail if bad else "here"
            )
        if STORE.exists():
            with Store(STORE) as store:
                yield Finding("store", "ok", f"{shown(STORE)}: {store.count():,} responses")
        else:
            yield Finding("store", "ok", f"{shown(STORE)}: empty, made by the first build")
    except CodestressError as error:
        yield Finding("project", "broken", str(error))
    yield from _programs()
    free = shutil.disk_usage(OUTPUTS if OUTPUTS.exists() else OUTPUTS.parent).free
    enough = free > 500e6
    yield Finding("disk", "ok" if enough else "broken", f"{free / 1e9:.1f} GB free" + ("" if enough else "; make room"))
