"""Data sets: what there is, what is here."""

from __future__ import annotations

import json

import click

from codestress.cli.options import AS_JSON, exit_where
from codestress.errors import CodestressError
from codestress.paths import shown


@click.group()
def data() -> None:
    """Data sets with pinned revision, size, SHA-256 and licence."""


@data.command("list")
@AS_JSON
def data_list(as_json: bool) -> None:
    """What there is, and what is here."""
    from codestress.problems.datasets import load_catalogue, state

    rows = [
        dataset.model_dump() | {"files": [f.model_dump() | {"state": state(f)} for f in dataset.files]}
        for dataset in load_catalogue().values()
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        click.echo(f"{row['name']}: {row['description']}\n  licence: {row['licence']}; revision {row['revision'][:12]}")
        for file in row["files"]:
            click.echo(f"  {file['path']}  {file['bytes']:,} bytes  {file['state']}")


@data.command("fetch")
@click.argument("names", nargs=-1)
def data_fetch(names: tuple[str, ...]) -> None:
    """Brings data sets (default: all) to outputs/data/, from CODESTRESS_DATA or the network, and verifies them."""
    from codestress.problems.datasets import fetch, find_dataset, load_catalogue

    failed = False
    for name in names or tuple(load_catalogue()):
        dataset = find_dataset(name)
        for file in dataset.files:
            try:
                click.echo(f"{name}: {shown(fetch(dataset, file))}")
            except CodestressError as error:
                failed = True
                click.echo(str(error), err=True)
    exit_where(failed)


@data.command("verify")
def data_verify() -> None:
    """Hashes what is here; fails when a file is not what was pinned."""
    from codestress.problems.datasets import load_catalogue, state

    states = [(d.name, f.path, state(f)) for d in load_catalogue().values() for f in d.files]
    for name, path, found in states:
        click.echo(f"{name}: {path}: {found}")
    exit_where(any(found not in ("ok", "missing") for _, _, found in states))
