"""`codestress perturb`: anybody's programs, perturbed; `codestress write`: texts that a model writes for CodeCrash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from codestress.errors import ParameterError
from codestress.paths import shown


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
    from codestress.papers.codecrash.studies import SOURCES, checked_problems
    from codestress.papers.codecrash.writing import write_hints, write_translations
    from codestress.problems.problem_files import own_sets

    _check("--problems", problems, "source", (*SOURCES, *own_sets()), "params/problems.yaml")
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


@click.command()
@click.argument("problems", type=click.Path(path_type=Path))
@click.option("--conditions", default="VAN,REN,RTF,GBC,PSC-ALL,MCC,MPS,MHC", show_default=True, help="Perturbations.")
@click.option("--language", type=click.Choice(["python", "javascript"]), default="python", show_default=True)
@click.option("--seed", default=0, show_default=True, help="The same seed makes the same variants.")
@click.option("--truth", type=click.Choice(["false", "any"]), default="false", show_default=True, help="Of messages.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines: a row for each problem and condition.")
def perturb(
    problems: Path,
    conditions: str,
    language: Literal["python", "javascript"],
    seed: int,
    truth: Literal["false", "any"],
    as_json: bool,
) -> None:
    """Rewrites programs to the same meaning, and says of each whether it could be: PROBLEMS is a file of JSON Lines
    with id, code, function and input (the arguments of a call).

    Each variant is run on the input and on others near by, isolated; programs of strangers run no other way.
    """
    from codestress.papers.codecrash.perturbations.outside import perturbed_rows
    from codestress.papers.codecrash.perturbations.own import own_perturbations
    from codestress.papers.codecrash.perturbations.variants import PERTURBATIONS

    wanted = conditions.replace(",", " ").split()
    for name in wanted:
        known = (*PERTURBATIONS, *own_perturbations())
        _check("--conditions", name, "perturbation", known, "params/perturbations.yaml")
    for row in perturbed_rows(problems, wanted, language, seed, truth):
        if as_json:
            click.echo(json.dumps(row))
        else:
            click.echo(f"{row['id']:20} {row['condition']:8} {row['state']:9} {row['reason']}".rstrip())


def _check(option: str, name: str, kind: str, known: tuple[str, ...], file: str) -> None:
    from codestress.validation import nearest

    if name not in known:
        raise ParameterError(f"{option} {name}: no such {kind}{nearest(name, known)}; your own are rows of {file}")


COMMANDS = (write, perturb)
