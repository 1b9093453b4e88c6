"""Writes what a profile's outputs are, and of what they were made, as an RO-Crate 1.1, which archives
such as Zenodo take. It keeps to the rules for runs of programs (`PROFILE`)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codestress.errors import DataError
from codestress.paths import OUTPUTS, ROOT, shown, visible, write_whole
from codestress.validation import read_yaml

from .checked import read_manifest

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
MISSING = "a crate is written by the package rocrate: uv pip install rocrate"


def write_crate(profile: str) -> Path:
    """Writes outputs/PROFILE/ro-crate-metadata.json from the manifests beside the figures, and
    returns its path. Raises `DataError` for a faulty manifest, where nothing is built, and without
    the package rocrate."""
    root = OUTPUTS / profile
    folders = [path.parent for path in visible(root, "*/*/manifest.json")]
    manifests = [read_manifest(folder) for folder in folders]
    if not folders:
        raise DataError(f"{shown(root)}: nothing is built here; make PROFILE={profile}")
    try:
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise DataError(MISSING) from None
    crate = ROCrate(version="1.1")
    runs = [_run(crate, *one) for one in zip(folders, manifests, strict=True)]
    citation = read_yaml(ROOT / "CITATION.cff")
    licence = f"https://spdx.org/licenses/{citation['license']}"
    about = {
        "name": f"{citation['title']}: the profile {profile}",
        "description": "Regenerated figures and tables, and the report on them: index.html",
        "version": citation["version"],
        "license": _entity(crate, licence, "CreativeWork", citation["license"]),
        "author": [
            _entity(crate, author["name"], "Organization", author["name"])
            for author in citation["authors"]
        ],
        "datePublished": max(manifest["built_at"] for manifest in manifests),
        "conformsTo": _entity(crate, PROFILE, "CreativeWork", "Process Run Crate 0.5"),
        "mentions": runs,
    }
    for name, value in about.items():
        crate.root_dataset[name] = value
    if (root / "index.html").is_file():
        crate.mainEntity = crate.add_file(
            root / "index.html", properties={"name": "The report"}
        )
    path = root / "ro-crate-metadata.json"
    write_whole(path, json.dumps(crate.metadata.generate(), indent=1))
    return path


def _entity(crate: Any, name: str, kind: str, title: str, **facts: Any) -> Any:
    """Adds to the crate, and returns, the entity `name` (a URL, or text that serves as its id) of
    the schema.org type `kind`, described by `facts`."""
    from rocrate.model import ContextEntity

    id_ = name if name.startswith("https://") else f"#{quote(name)}"
    return crate.add(ContextEntity(crate, id_, {"@type": kind, "name": title, **facts}))


def _run(crate: Any, folder: Path, manifest: dict[str, Any]) -> Any:
    """Adds to the crate, and returns, the action that made an artefact's files: its notebook at a
    commit, with the packages used; its parameters and models; the files."""
    name, commit = f"{folder.parent.name}/{folder.name}", manifest["commit"]
    notebook = name
    for key in manifest["inputs"]:
        if key.startswith("notebook "):
            notebook = key.removeprefix("notebook ")
    packages = manifest["environment"].items()
    facts: dict[str, Any] = {"version": commit}
    facts["softwareRequirements"] = [" ".join(package) for package in packages]
    kind = "SoftwareSourceCode"
    program = _entity(crate, f"{notebook}@{commit}", kind, notebook, **facts)
    objects = []
    for key, value in manifest["parameters"].items():
        text = json.dumps(value)
        id_ = f"{name}/{key}"
        objects.append(_entity(crate, id_, "PropertyValue", key, value=text))
    for model in manifest["models"]:
        version = str(model.get("key_revision", ""))
        facts = {"version": version, "description": json.dumps(model)}
        id_ = f"{model['name']}@{version}"
        kind = "SoftwareApplication"
        objects.append(_entity(crate, id_, kind, model["name"], **facts))
    results = []
    for path in visible(folder):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        facts = {"name": path.name, "sha256": sha256}
        target = f"{name}/{path.name}"
        results.append(crate.add_file(path, target, properties=facts))
    facts = {"@type": "CreateAction", "name": manifest["title"]}
    facts |= {"endTime": manifest["built_at"], "description": manifest["command"]}
    return crate.add_action(program, f"#{quote(name)}", objects, results, facts)
