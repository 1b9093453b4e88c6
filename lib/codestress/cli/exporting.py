"""Commands that write the kit's studies for other harnesses."""

from pathlib import Path
from shlex import quote

import click

from codestress.paths import OUTPUTS, shown
from codestress.pipeline.options import (
    Choice,
    exit_where,
    on_artefacts,
    warn,
)


@click.group()
def export() -> None:
    """Write the papers' studies as tasks of other harnesses, with the kit's scoring."""


@export.command("inspect", context_settings={"default_map": {"profile": "try"}})
@on_artefacts
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=OUTPUTS / "inspect",
    show_default="outputs/inspect",
    help="Folder for the files.",
)
def export_inspect(choice: Choice, folder: Path) -> None:
    """Write a task file and a data set for inspect_ai from each artefact. Default: the
    papers' main questions.

    `inspect eval` then asks these questions of any model that inspect_ai supports, if
    this kit is installed too. An artefact's questions are those of its first model;
    --models names another model.
    """
    from codestress.pipeline.exports import write_inspect_task

    name = ""
    for artefact in choice.resolved():
        path, items = write_inspect_task(artefact, folder)
        if items:
            name = path.name
            click.echo(f"{shown(path)}: {items:,} items")
        else:
            warn(f"{artefact.label}: left out, for nothing is asked for it")
    exit_where(not name)
    # inspect_ai does not find a task by an absolute path.
    click.echo(
        f"run one: cd {quote(shown(folder))}; inspect eval {name} --model PROVIDER/MODEL"
    )
