"""What questions are made of: data sets, and texts that a model writes for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from codestress.cli.options import AS_JSON
from codestress.errors import CodestressError, ParameterError
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
    if failed:
        raise click.exceptions.Exit(1)


@data.command("verify")
def data_verify() -> None:
    """Hashes what is here; fails when a file is not what was pinned."""
    from codestress.problems.datasets import load_catalogue, state

    states = [(d.name, f.path, state(f)) for d in load_catalogue().values() for f in d.files]
    for name, path, found in states:
        click.echo(f"{name}: {path}: {found}")
    if any(found not in ("ok", "missing") for _, _, found in states):
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("what", type=click.Choice(["hints", "translations"]))
@click.option("--problems", required=True, help="cruxeval, livecodebench, generated or contest.")
@click.option("--n-problems", default=0, show_default=True, help="How many, from the first on; 0 for all.")
@click.option("--task", type=click.Choice(["output", "input"]), default="output", show_default=True, help="Of hints.")
@click.option("--model", required=True, help="A name from params/models.yaml; the paper: GPT-4o.")
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The JSON Lines file to write.")
@click.option("--seed", default=0, show_default=True, help="As in the artefacts that will use the file.")
def write(
    what: str, problems: str, n_problems: int, task: Literal["output", "input"], model: str, output: Path, seed: int
) -> None:
    """Has a model write CodeCrash's hints or JavaScript translations; only what passes its check by running is kept.

    Name the file in the parameters `hints` or `translations`. Answers are stored: the same command again asks only
    what is missing.
    """
    from codestress.problems.own import own_sets
    from codestress.studies.codecrash import SOURCES, checked_problems
    from codestress.studies.codecrash_writing import write_hints, write_translations
    from codestress.validation import nearest

    sources = (*SOURCES, *own_sets())
    if problems not in sources:
        raise ParameterError(f"--problems {problems}: no such source{nearest(problems, sources)}")
    usable, faults = checked_problems(problems, "python", n_problems, "", seed)
    if what == "hints":
        written = write_hints(usable, task, model, seed=seed)
    else:
        written = write_translations(usable, model, seed=seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in written.rows]
    output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    counts = ", ".join(f"{count} {kind}" for kind, count in written.counts.most_common())
    click.echo(f"{shown(output.resolve())}: {len(usable)} problems: {counts}; {len(faults)} cannot be used")
