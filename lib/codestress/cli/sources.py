"""Where problems and answers come from: data sets, models, what this machine has for them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

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


@click.command()
@click.argument("model")
@AS_JSON
def probe(model: str, as_json: bool) -> None:
    """What a model of the registry, or at a URL, can, tried with some short requests: tokens, stop, max_tokens,
    sampling, a begun answer, as many questions at once as builds ask.

    Exit 1 when it does not answer at all. Nothing is stored.
    """
    from codestress.inference.coroutines import run_coroutine
    from codestress.inference.probe import Ability, served_at
    from codestress.inference.probe import probe as tried
    from codestress.inference.registry import find_models, load_registry

    [entry] = [served_at(model, "", "", "probe")] if "://" in model else find_models([model], load_registry(), "probe")

    async def listed() -> list[Ability]:
        found = []
        async for one in tried(entry):
            found.append(one)
            if not as_json:
                click.echo(f"{'yes' if one.can else 'no ':4} {one.what}{': ' if one.detail else ''}{one.detail}")
        return found

    abilities = run_coroutine(listed())
    if as_json:
        click.echo(json.dumps([asdict(one) for one in abilities], indent=1))
    exit_where(not abilities[0].can)


@click.command()
@click.argument("model")
@click.option("--port", default=8000, show_default=True, help="Of 127.0.0.1.")
@click.option("--python", default=sys.executable, show_default=True, help="The Python that has vllm.")
@click.option("--dry-run", is_flag=True, help="Print the command, and run nothing.")
def serve(model: str, port: int, python: str, dry_run: bool) -> None:
    """Serves a model of the registry by vLLM: its weights, revision and GPUs from the row's `serve` settings.

    Ask it from another terminal: LOCAL_BASE_URL=http://127.0.0.1:PORT/v1 codestress build … --models MODEL.
    """
    import shlex

    from codestress.inference.engines.vllm import server_command
    from codestress.inference.registry import find_models, load_registry

    [entry] = find_models([model], load_registry(), "serve")
    command, environment = server_command(entry, python, port)
    click.echo(" ".join([*(f"{k}={v}" for k, v in environment.items()), shlex.join(command)]), err=not dry_run)
    if not dry_run:
        os.execvpe(command[0], command, os.environ | environment)


@click.command()
@AS_JSON
def doctor(as_json: bool) -> None:
    """What is here, what is missing, what to type. Exit 1 when something is broken."""
    from codestress.pipeline.doctor import examine

    findings = list(examine())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            click.echo(f"{finding.state:8} {finding.what}: {finding.detail}")
    exit_where(any(finding.state == "broken" for finding in findings))
