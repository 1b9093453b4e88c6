"""Check of the installation: present and missing parts, with the commands that add
missing parts."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from tempfile import gettempdir
from typing import NamedTuple

from codestress.artefact_files import artefact_names, load_profile, profile_names
from codestress.errors import CodestressError, EngineError
from codestress.inference.network import connection, through
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.store import Store
from codestress.paths import STORE, shown
from codestress.problems.datasets import load_catalogue, state
from codestress.sandbox import probe, runtimes
from codestress.sandbox.executor import UNPROTECTED, Executor, remedy
from codestress.types import LANGUAGE_NAMES

from .inputs import environment
from .notebooks import check_parameters_cell, schemas
from .surroundings import (
    commit,
    faulty_jupyter_settings,
    left_aside,
    socket_folder,
)

NEEDS = (
    "codestress score --task input or --rule reference; write; course build and grade; "
    "figures of data sets, of problems and perturbations of your own, of programs that real models wrote"
)
"""Commands and figures that run untrusted programs, as text for messages."""


class Finding(NamedTuple):
    """One finding of the check: a part of the installation, its state, and details or
    advice."""

    what: str
    state: str
    """`ok`, `missing` (an optional part) or `broken`."""
    detail: str


def finding(
    what: str, detail: str, fault: object = "", state: str = "missing"
) -> Finding:
    """Return the finding on the part `what`: `ok` with the text `detail`, or, if there
    is a `fault` (in words), `state` with the fault as its text."""
    return Finding(what, state, str(fault)) if fault else Finding(what, "ok", detail)


def _programs() -> Iterator[Finding]:
    """Yield a `Finding` on the sandbox, on its protection in each language, and on
    whether the kit's own and untrusted programs run."""
    with Executor(workers=1) as executor:
        yield finding("sandbox", f"{executor.backend}: {executor.described()}")
        exposed = []
        for language in probe.ATTACKS:
            if runtimes.missing(language):
                continue
            name = LANGUAGE_NAMES[language]
            ways = executor.exposed(language)
            why = "; ".join(f"{attack}: {way}" for attack, way in ways.items())
            if ways:
                exposed.append(name)
            detail = "files, network and processes are protected"
            yield finding(f"attacks in {name}", detail, why)
        detail = "run: make, make test, every artefact of the demo"
        yield finding("the kit's own programs", detail)
        fault = f"are refused in {', '.join(exposed)}: {NEEDS}\n  {remedy()}"
        if executor.unprotected:
            fault = f"run unprotected, because {UNPROTECTED}=1: {NEEDS}"
        detail = f"run isolated: {NEEDS}"
        yield finding("untrusted programs", detail, exposed and fault)


def _javascript() -> Iterator[Finding]:
    """Yield a `Finding` on the JavaScript runtime."""
    why = runtimes.missing("javascript")
    node = "" if why else runtimes.version(*runtimes.executables())
    yield finding("javascript", node, why)


def _keys(registry: Mapping[str, ModelEntry]) -> Iterator[Finding]:
    """Yield a `Finding` for each environment variable that a model in `registry` names
    for its server's key: `ok` if the variable is set, else `missing`."""
    users = defaultdict[str, list[str]](list)
    for model in registry.values():
        users[str(model.settings.get("key_env") or "")].append(model.name)
    users.pop("", None)
    for variable, names in sorted(users.items()):
        advice = f"not set; `export {variable}=…` to ask {', '.join(names)}"
        yield finding(f"key {variable}", "set", not os.environ.get(variable) and advice)


def _network() -> Iterator[Finding]:
    """Yield a `Finding` on how servers elsewhere are asked: directly, through a proxy,
    or not at all."""
    address, fault = "https://api.openai.com/v1", ""
    try:
        connection(address)
    except EngineError as error:
        fault = f"servers elsewhere cannot be asked: {error}"
    way = through(address) or " directly"
    yield finding("network", f"servers elsewhere are asked{way}", fault)


def _data() -> Iterator[Finding]:
    """Yield a `Finding` for each data set: `ok`, `broken` if a file is damaged, or
    `missing` if files are missing and none is damaged."""
    for name, dataset in load_catalogue().items():
        states = {file.path: state(file) for file in dataset.files}
        faults = [f"{path}: {states[path]}" for path in states if states[path] != "ok"]
        advice = f"{', '.join(faults)}; run `codestress data fetch {name}`"
        damaged = set(states.values()) - {"ok", "missing"}
        how = "broken" if damaged else "missing"
        yield finding(f"data {name}", "here", faults and advice, how)


def _around() -> Iterator[Finding]:
    """Yield a `Finding` on the commit, on each of a person's settings that builds
    ignore or that stop JupyterLab, and on the folder for kernels' sockets."""
    known, why = commit()
    yield finding("commit", known, not known and f"not recorded: {why}")
    for setting in left_aside():
        yield finding("left aside by builds", setting)
    if fault := faulty_jupyter_settings():
        yield Finding("Jupyter's settings stop `make lab`", "broken", fault)
    with socket_folder() as folder:
        yield finding("sockets", f"TMPDIR is {gettempdir()}: in {folder}")


def _project() -> Iterator[Finding]:
    """Yield a `Finding` on each of packages, parameters, notebooks, models, keys, data
    and store."""
    packages = [f"{name} {at}" for name, at in environment().items()]
    yield finding("packages", ", ".join(packages))
    profiles = profile_names()
    for profile in profiles:
        load_profile(profile)
    detail = f"{len(artefact_names())} artefacts, profiles {', '.join(profiles)}"
    yield finding("parameters", detail)
    notebooks = schemas()
    for notebook, (schema, _) in notebooks.items():
        check_parameters_cell(notebook, schema)
    yield finding("notebooks", f"{len(notebooks)} notebooks agree with their schemas")
    registry = load_registry()
    simulated = sum(model.simulated for model in registry.values())
    yield finding("models", f"{len(registry)} in the registry, {simulated} simulated")
    yield from _keys(registry)
    yield from _data()
    detail = "empty, made by the first build"
    if STORE.exists():
        with Store(STORE) as store:
            detail = f"{store.count():,} responses"
    yield finding("store", f"{shown(STORE)}: {detail}")


PARTS = {
    "project": _project,
    "network": _network,
    "sandbox": _programs,
    "javascript": _javascript,
    "surroundings": _around,
}
"""Dict from each part of the installation to the function that yields its findings."""


def examine() -> Iterator[Finding]:
    """Yield a `Finding` on each part of the installation (`PARTS`).

    The first error in a part is a finding too (`broken`), and the checks then go on at
    the next part.
    """
    for part, findings in PARTS.items():
        try:
            yield from findings()
        except CodestressError as error:
            yield finding(part, "", error, "broken")
