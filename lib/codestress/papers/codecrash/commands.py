"""Commands `codestress perturb`, which perturbs the user's programs, and `codestress
write`, which has a model write material for CodeCrash."""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Literal

import click

from codestress.paths import shown, write_whole
from codestress.pipeline.options import AS_JSON, KEY_ENV, MODEL_ID, warn

with_default = partial(click.option, show_default=True)
"""Version of `click.option` whose help shows the option's default."""


@click.command()
@click.argument("what", type=click.Choice(["hints", "translations"]))
@click.option(
    "--problems",
    required=True,
    help="Of these: cruxeval, livecodebench, generated, contest, or your own.",
)
@with_default("--n-problems", default=0, help="How many, from the first on; 0 for all.")
@with_default(
    "--task", type=click.Choice(["output", "input"]), default="output", help="Of hints."
)
@click.option(
    "--model",
    required=True,
    help="A name from params/models.yaml, a URL, or FILE.py:FUNCTION; the paper: GPT-4o.",
)
@MODEL_ID
@KEY_ENV
@click.option(
    "--output",
    "-o",
    required=True,
    type=Path,
    help="The file to write.",
)
@with_default("--seed", default=0, help="As in the artefacts that will use the file.")
def write(
    what: str,
    problems: str,
    n_problems: int,
    task: Literal["output", "input"],
    output: Path,
    seed: int,
    **asked: str,
) -> None:
    """Have a model write hints or translations for CodeCrash, check them by running
    them, and give a reason for each rejection.

    Other rows of the file (JSON Lines) stay. Rejected rows are written too, each with
    its reason, and are not used. To use the file, name it in the parameter hints or
    translations. Answers are stored: if you give the same command again, it asks only
    for what is missing.
    """
    from codestress.inference.served import name_of
    from codestress.validation import check

    from . import writing
    from .programs import Perturbed, checked_problems

    model = name_of(**asked, ask=True)
    given = {"artefact": "", "models": [model], "problems": [problems]}
    check(Perturbed, given, "--problems")
    usable, faults = checked_problems(problems, "python", n_problems, "", seed)
    task_of = task if what == "hints" else None
    rows = writing.write_material(usable, model, task_of, seed=seed)
    write_whole(output, writing.with_other_rows(rows, output, problems))
    counts = Counter(row.get("reason", "accepted") for row in rows)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    click.echo(
        f"{shown(output.resolve())}: {len(usable)} problems, {len(faults)} others cannot be used: {kinds}"
    )


@click.command()
@click.argument("problems", type=Path)
@with_default(
    "--conditions", default="VAN,REN,RTF,GBC,PSC-ALL,MCC,MPS,MHC", help="Perturbations."
)
@with_default(
    "--language", type=click.Choice(["python", "javascript"]), default="python"
)
@with_default("--seed", default=0, help="The same seed makes the same variants.")
@with_default(
    "--truth", type=click.Choice(["false", "any"]), default="false", help="Of messages."
)
@AS_JSON
def perturb(
    problems: Path,
    conditions: str,
    language: Literal["python", "javascript"],
    seed: int,
    truth: Literal["false", "any"],
    as_json: bool,
) -> None:
    """Rewrite programs without changing their meaning, and give each a status. PROBLEMS
    is a file of JSON Lines with id, code, function and input (the arguments of a call).

    Each variant is run on the input and on inputs near by, always in a sandbox. A row
    whose problem cannot be run is rejected with the reason, and the remaining rows are
    perturbed. --json prints JSON Lines: a row for each problem and condition.
    """
    from codestress.mutate.perturbations.outside import perturbed_rows
    from codestress.validation import check

    from .programs import Perturbed

    codes = conditions.replace(",", " ").split()
    given = {"artefact": "", "models": ["python"], "perturbations": codes}
    check(Perturbed, given, "--conditions")
    rows = perturbed_rows(problems, codes, language, seed, truth)
    states = Counter[str]()
    for row in rows:
        text = "{id:20} {condition:8} {state:9} {reason}".format_map(row)
        if as_json:
            text = json.dumps(row)
        click.echo(text.rstrip())
        states[row["state"]] += 1
    if rejected := states["rejected"]:
        warn(f"{rejected:,} of {states.total():,} rows rejected")


COMMANDS = (write, perturb)
