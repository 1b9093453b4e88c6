"""Commands on data sets, on models, and on the parts of the kit that this computer has
installed."""

import os
import shlex
import sys

import click

from codestress.errors import CodestressError, ParameterError
from codestress.inference.registry import find_models, load_registry
from codestress.paths import shown
from codestress.pipeline.options import exit_where, warn


@click.group()
def data() -> None:
    """List, fetch and verify data sets with pinned revision, SHA-256 and licence."""


@data.command("list")
def data_list() -> None:
    """List all data sets, and which of their files are on this machine."""
    from codestress.problems.datasets import load_catalogue, state

    for name, dataset in load_catalogue().items():
        click.echo(f"{name}: {dataset.description}")
        click.echo(f"  licence: {dataset.licence}; revision {dataset.revision[:12]}")
        for file in dataset.files:
            size = f"{file.bytes:,} bytes" if file.bytes else "size not known"
            click.echo(f"  {file.path}  {size}  {state(file)}")


@data.command("fetch")
@click.argument("names", nargs=-1)
def data_fetch(names: tuple[str, ...]) -> None:
    """Fetch data sets (default: all) into outputs/data/, from CODESTRESS_DATA or the
    network, and verify them."""
    from codestress.problems.datasets import fetch, find_dataset, load_catalogue

    failed = False
    for name in names or load_catalogue():
        for file in find_dataset(name).files:
            try:
                click.echo(f"{name}: {shown(fetch(name, file))}")
            except CodestressError as error:
                failed = True
                warn(str(error))
    exit_where(failed)


@data.command("verify")
def data_verify() -> None:
    """Verify the data files on this machine by their hashes. Exit status 1 if a file
    differs from the pinned one."""
    from codestress.problems.datasets import load_catalogue, state

    faulty = False
    for name, dataset in load_catalogue().items():
        for file in dataset.files:
            status = state(file)
            click.echo(f"{name}: {file.path}: {status}")
            faulty |= status not in ("ok", "missing")
    exit_where(faulty)


@click.command()
@click.argument("model")
@click.option("--port", default=8000, show_default=True, help="Port of this machine.")
@click.option(
    "--python",
    default=sys.executable,
    show_default=True,
    help="The Python that has vllm.",
)
@click.option("--dry-run", is_flag=True, help="Print the command, and run nothing.")
def serve(model: str, port: int, python: str, dry_run: bool) -> None:
    """Serve a model of the registry with vLLM: weights, revision and GPUs come from the
    row's `serve` settings.

    To ask the model from another terminal: LOCAL_BASE_URL=http://127.0.0.1:PORT/v1
    codestress build … --models MODEL.
    """
    from codestress.inference.engines.vllm import server_command

    [entry] = find_models([model], load_registry(), "serve")
    if entry.local or entry.needs_key:
        raise ParameterError(
            f"{model}: cannot be served by vLLM (engine {entry.engine}: in this process, or a "
            "paid server); name a model with engine vllm or `serve` settings"
        )
    command = server_command(entry, python, port)
    click.echo(shlex.join(command), err=not dry_run)
    if not dry_run:
        os.execvp(command[0], command)


@click.command()
def doctor() -> None:
    """List installed and missing parts, with the command that adds a missing part. Exit
    status 1 if a part is broken."""
    from codestress.pipeline.doctor import examine

    broken = False
    for finding in examine():
        click.echo(f"{finding.state:8} {finding.what}: {finding.detail}")
        broken |= finding.state == "broken"
    exit_where(broken)
