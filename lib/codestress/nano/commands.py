"""`codestress nano`: train the kit's small transformer anew, save it, measure it."""

from __future__ import annotations

from pathlib import Path

import click

from codestress.paths import OUTPUTS, PARAMS, shown

RUN = OUTPUTS / "nano"
"""Where a training run keeps its checkpoint and its log."""


@click.group()
def nano() -> None:
    """The kit's own small transformer: train it anew, measure what it can."""


@nano.command("train")
@click.option("--settings", type=click.Path(exists=True, path_type=Path), default=PARAMS / "nano.yaml")
@click.option("--run", type=click.Path(path_type=Path), default=RUN, help="Folder of the run; one begun goes on.")
@click.option(
    "--from",
    "begin",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Weights that a new run begins with; without, random ones.",
)
def nano_train(settings: Path, run: Path, begin: Path | None) -> None:
    """Trains for the hours that the settings say, then writes RUN/weights. Needs torch (the extra `train`).

    Stopped, it goes on from its last checkpoint.
    """
    from codestress.validation import check, read_yaml

    content = read_yaml(settings)
    try:
        from codestress.nano.training.train import Training, export, train
    except ImportError as error:
        raise click.ClickException(f"{error}: make train-nano installs what training needs") from None
    training = check(Training, content, str(settings))
    train(training, run, begin)
    export(run, run / "weights", training.shape, training.seed)
    click.echo(f"weights: {shown(run / 'weights')}; measure them: codestress nano evaluate {shown(run / 'weights')}")


@nano.command("evaluate")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--asked", type=click.IntRange(min=10), default=300, help="Held-out prompts of each kind.")
@click.option("--write", is_flag=True, help="Write evaluation.json and curves.png into the folder.")
def nano_evaluate(folder: Path | None, asked: int, write: bool) -> None:
    """What weights (the kit's own by default) answer on held-out prompts, with 95 % intervals."""
    import json

    from codestress.nano.configuration import WEIGHTS
    from codestress.nano.evaluate import evaluate, training_figure, training_log

    place = folder or WEIGHTS
    log = training_log(place) if write else None
    found = evaluate(place, asked)
    for name, rows in found.items():
        if not isinstance(rows, list):
            click.echo(f"{name}: {rows:.1%}")
            continue
        click.echo(name)
        for row in rows:
            where = f"part {row['part']} of {row['lines']} lines" if "part" in row else f"{row['lines']} lines"
            interval = f"{row['low']:.1%} to {row['high']:.1%}"
            click.echo(f"  {where}: {row['right']} of {row['asked']}, {row['share']:.1%} ({interval})")
    if log is not None:
        (place / "evaluation.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        training_figure(log, found).savefig(place / "curves.png", dpi=150)
