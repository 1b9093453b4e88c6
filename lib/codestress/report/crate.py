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
from codestress.report.checked import read_manifest, sha256_of_files
from codestress.validation import read_yaml

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
MISSING = (
    "a crate is written by the package rocrate, which is missing: pip install rocrate, or into .venv: "
    "uv pip install --python .venv/bin/python -e '.[crate]'"
)


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
        "author": [_author(crate, author) for author in citation["authors"]],
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


def _author(crate: Any, author: dict[str, str]) -> Any:
    given = author.get("given-names")
    name = author.get("name") or f"{given} {author['family-names']}"
    kind = "Person" if given else "Organization"
    return _entity(crate, author.get("orcid", name), kind, name)


def _run(crate: Any, folder: Path, manifest: dict[str, Any]) -> Any:
    """Adds to the crate, and returns, the action that made an artefact's files: its notebook at a
    commit, with the packages used; its parameters and models; the files."""
    name, commit = f"{folder.parent.name}/{folder.name}", manifest["commit"]
    packages = [
        _entity(
            crate,
            f"{package}@{version}",
            "SoftwareApplication",
            package,
            version=version,
        )
        for package, version in manifest["environment"].items()
    ]
    notebook = next(
        (key[9:] for key in manifest["inputs"] if key.startswith("notebook ")), name
    )
    facts = {"version": commit, "softwareRequirements": packages}
    program = _entity(
        crate, f"{notebook}@{commit}", "SoftwareSourceCode", notebook, **facts
    )
    objects = [
        _entity(crate, f"{name}/{key}", "PropertyValue", key, value=json.dumps(value))
        for key, value in manifest["parameters"].items()
    ]
    for model in manifest["models"]:
        version, about = str(model.get("key_revision", "")), json.dumps(model)
        facts = {"version": version, "description": about}
        id_ = f"{model['name']}@{version}"
        objects.append(
            _entity(crate, id_, "SoftwareApplication", model["name"], **facts)
        )
    own = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    hashes = sha256_of_files(folder) | {"manifest.json": own}
    results = [
        crate.add_file(
            folder / file, f"{name}/{file}", properties={"name": file, "sha256": sha256}
        )
        for file, sha256 in hashes.items()
    ]
    facts = {
        "@type": "CreateAction",
        "name": manifest["title"],
        "endTime": manifest["built_at"],
    }
    facts["description"] = manifest["command"]
    return crate.add_action(program, f"#{quote(name)}", objects, results, facts)
