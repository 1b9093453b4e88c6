"""Description of a profile's outputs and their sources as an RO-Crate 1.1, which
archives such as Zenodo accept.

The description keeps to the rules for runs of programs (`PROFILE`).
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codestress.errors import DataError
from codestress.paths import OUTPUTS, ROOT, shown, visible, write_whole
from codestress.validation import read_yaml

from .checked import read_manifest, sha256_of_files

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
METADATA = "ro-crate-metadata.json"


def write_crate(profile: str) -> Path:
    """Write outputs/PROFILE/ro-crate-metadata.json from the manifests; return its path. Raises `DataError` if a
    manifest is faulty, nothing is built, or the package rocrate is missing."""
    root = OUTPUTS / profile
    manifests = visible(root, "*/*/manifest.json")
    if not manifests:
        raise DataError(f"{shown(root)}: nothing is built here; make PROFILE={profile}")
    try:
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise DataError(
            "rocrate is not installed: .venv/bin/pip (or uv pip) install rocrate"
        ) from None
    crate = ROCrate(version="1.1")
    runs = [_run(crate, path.parent) for path in manifests]
    citation = read_yaml(ROOT / "CITATION.cff")
    licence = citation["license"]
    terms = f"https://spdx.org/licenses/{licence}"
    about = {
        "name": f"{citation['title']}: the profile {profile}",
        "description": "Regenerated figures and tables, and the report on them: index.html",
        "version": citation["version"],
        "license": _entity(crate, terms, "CreativeWork", licence),
        "author": [
            _entity(crate, author["name"], "Organization", author["name"])
            for author in citation["authors"]
        ],
        "datePublished": max(run["endTime"] for run in runs),
        "conformsTo": _entity(crate, PROFILE, "CreativeWork", "Process Run Crate 0.5"),
        "mentions": runs,
    }
    for name, value in about.items():
        crate.root_dataset[name] = value
    for file in _files(crate, root, ""):
        if file.id == "index.html":
            crate.mainEntity = file
    path = root / METADATA
    write_whole(path, json.dumps(crate.metadata.generate(), indent=1))
    return path


def _entity(crate: Any, name: str, kind: str, title: str, **facts: Any) -> Any:
    """Add the entity `name` to the crate and return it.

    `name` is a URL, or a text that serves as id. `kind` is the entity's schema.org
    type; `facts` describe the entity.
    """
    from rocrate.model import ContextEntity

    id_ = name if name.startswith("https://") else f"#{quote(name)}"
    return crate.add(ContextEntity(crate, id_, {"@type": kind, "name": title, **facts}))


def _run(crate: Any, folder: Path) -> Any:
    """Add the action that made an artefact's files to the crate and return it. The action has the notebook at a
    commit, the packages used, the parameters, the models, and the files."""
    manifest = read_manifest(folder)
    name, commit = f"{folder.parent.name}/{folder.name}", manifest["commit"]
    notebook = name
    for key in manifest["inputs"]:
        if key.startswith("notebook "):
            notebook = key.removeprefix("notebook ")
    packages = [" ".join(package) for package in manifest["environment"].items()]
    program = _entity(
        crate,
        f"{notebook}@{commit}",
        "SoftwareSourceCode",
        notebook,
        version=commit,
        softwareRequirements=packages,
    )
    objects = []
    for key, value in manifest["parameters"].items():
        text = json.dumps(value)
        objects.append(
            _entity(crate, f"{name}/{key}", "PropertyValue", key, value=text)
        )
    for model in manifest["models"]:
        version = str(model.get("key_revision", ""))
        title = model["name"]
        entity = _entity(
            crate,
            f"{title}@{version}",
            "SoftwareApplication",
            title,
            version=version,
            description=json.dumps(model),
        )
        objects.append(entity)
    results = _files(crate, folder, f"{name}/")
    facts = {"name": manifest["title"], "description": manifest["command"]}
    facts["endTime"] = manifest["built_at"]
    return crate.add_action(program, f"#{quote(name)}", objects, results, facts)


def _files(crate: Any, folder: Path, begun: str) -> list[Any]:
    """Add the files in `folder` to the crate and return them; each name in the crate
    begins with `begun`."""
    files = []
    for name, sha256 in sha256_of_files(folder, METADATA).items():
        facts = {"name": name, "sha256": sha256}
        files.append(crate.add_file(folder / name, f"{begun}{name}", properties=facts))
    return files
