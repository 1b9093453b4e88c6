"""Artefacts as they were built: what their manifests say, whatever files and profiles say by now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codestress.errors import CodestressError, DataError, ParameterError
from codestress.inference.registry import find_models, load_registry
from codestress.paths import MINE, OUTPUTS, PARAMS, shown
from codestress.pipeline.artefacts import Artefact, Overrides, load_study, read_artefact, resolve
from codestress.pipeline.variants import Change, typed
from codestress.report.checked import read_manifest
from codestress.validation import nearest


def folder_of(name: str) -> Path | None:
    """The folder that PROFILE/PAPER/ARTEFACT names, or [mine/]PAPER/ARTEFACT@CHANGES; None where PAPER/ARTEFACT is all.

    `ParameterError` with the nearest name where there is none.
    """
    if "@" not in name and name.count("/") < 2:
        return None
    for folder in (OUTPUTS / name, OUTPUTS / MINE / name):
        if (folder / "manifest.json").is_file():
            return folder
    known = [str(path.parent.relative_to(OUTPUTS)) for path in OUTPUTS.glob("*/*/*/manifest.json")]
    sought = name if name.count("/") > 1 else f"{MINE}/{name}"
    raise ParameterError(f"{name}: nothing is built there, in {shown(OUTPUTS)}{nearest(sought, known)}")


def built(folder: Path) -> tuple[Artefact, dict[str, Any]]:
    """What lies in a folder, with the parameters that it was built with, and its manifest."""
    path = folder / "manifest.json"
    manifest = read_manifest(folder)
    name = "/".join(folder.parts[-2:]).partition("@")[0]
    file = read_artefact(name)
    study = load_study(file.study, shown(PARAMS / f"{name}.yaml"))
    try:
        parameters = study.parameters.checked({**manifest["parameters"], "artefact": name}, shown(path))
        models = find_models(parameters.models, load_registry(), shown(path))
    except CodestressError as error:
        raise DataError(f"{error}\nIt is of another version; build it again: {manifest['command']}") from None
    notebook = Path(file.notebook)
    artefact = Artefact(
        *(name, manifest["title"], notebook, file.study, study, parameters, models, manifest["profile"]),
        leaderboard=file.leaderboard,
        changed=changes_of(manifest),
    )
    return artefact, manifest


def changes_of(manifest: dict[str, Any]) -> tuple[Change, ...]:
    """What the command line changed."""
    return tuple(Change(**one) for one in (manifest["changed"] or {"changes": ()})["changes"])


def again(name: str) -> Artefact:
    """The artefact of PAPER/ARTEFACT@CHANGES as it would be built now: the same changes of the profile as it is."""
    folder = folder_of(name)
    assert folder is not None
    manifest = read_manifest(folder)
    plain = "/".join(folder.parts[-2:]).partition("@")[0]
    (artefact,) = resolve([plain], manifest["profile"], Overrides(*typed(changes_of(manifest))), load_registry())
    return artefact
