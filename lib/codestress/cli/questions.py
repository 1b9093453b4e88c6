"""Commands on the requests of artefacts and their responses: plan, show requests,
explain answers. No command here asks a model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from codestress.errors import ParameterError
from codestress.paths import STORE, shown
from codestress.pipeline.options import (
    AS_JSON,
    WHERE,
    Choice,
    Factors,
    exit_where,
    on_artefact,
    on_artefacts,
    print_json,
    warn,
)
from codestress.report.checked import read_manifest
from codestress.types import Outcome

if TYPE_CHECKING:
    from codestress.pipeline.plan import PlanRow


def in_words(counts: Mapping[str, int]) -> str:
    """Return the numbers in `counts` with their names, without zeros: `3 built, 1
    failed`."""
    return ", ".join(f"{counts[name]:,} {name}" for name in counts if counts[name])


@click.command()
@on_artefacts
@AS_JSON
def plan(choice: Choice, as_json: bool) -> None:
    """Count requests, stored answers, characters and dollars before any model is asked.

    There is a row for each artefact and model. Counts of large artefacts are estimates,
    marked ~, from the prompts of a sample of their problems.
    """
    from codestress.pipeline.notebooks import tell_ignored_values
    from codestress.pipeline.plan import make_plan

    chosen = choice.resolved()
    tell_ignored_values(chosen)
    rows, errors = make_plan(chosen, STORE)
    for name, error in errors.items():
        warn(f"{name}: {error}")
    if as_json:
        print_json([asdict(row) | {"missing": row.missing} for row in rows])
    else:
        _tell_plan(rows)
    exit_where(errors)


LEGEND = """repeated: equal to a request above it; one answer serves both
~: estimated from the prompts of a sample of the problems
dollars: prompts alone, and with every answer as long as it may be, at 4 characters a token"""


def _tell_plan(rows: list[PlanRow]) -> None:
    import pandas as pd

    cells = []
    missing = characters = 0
    low = high = 0.0
    for row in rows:
        cells.append(_cells(row))
        if row.too_long:
            warn(
                f"{row.artefact}: {row.too_long:,} prompts are longer than the window of {row.model}"
            )
        missing += row.missing
        characters += row.characters
        low += row.dollars_low or 0.0
        high += row.dollars_high or 0.0
    if cells:
        click.echo(pd.DataFrame(cells).to_string(index=False))
    asked = f"{missing:,} requests to ask at most, {characters:,} characters"
    click.echo(f"{asked}, ${low:.2f} to ${high:.2f}\n{LEGEND}")


def _cells(row: PlanRow) -> dict[str, str]:
    """Return the cells of a row in the table that `plan` prints, by column."""
    about = "~" if row.rendered < 1 else ""
    cells = {"artefact": row.artefact, "model": row.model}
    for name in ("problems", "requests"):
        cells[name] = f"{getattr(row, name):,}"
    for name in ("answered", "repeated", "missing", "characters"):
        cells[name] = f"{about}{getattr(row, name):,}"
    cells["minutes"] = cells["dollars"] = ""
    if row.seconds is not None:
        cells["minutes"] = f"{row.seconds / 60:.1f}"
    if row.dollars_low is not None:
        cells["dollars"] = f"{about}{row.dollars_low:.2f} to {row.dollars_high:.2f}"
    elif row.unpriced:
        cells["dollars"] = "no price"
    return cells


@click.command()
@on_artefact
@click.option(
    "--limit", default=1, show_default=True, help="Requests to show; 0 for all."
)
@WHERE
@AS_JSON
def show(choice: Choice, limit: int, where: Factors, as_json: bool) -> None:
    """Show the requests exactly as a model would get them, with their factors. No model
    is asked."""
    from codestress.pipeline.plan import listed, show_requests

    chosen = choice.only()
    requests = itertools.islice(show_requests(chosen, where), limit or None)
    if as_json:
        print_json(list(requests), escaped=False)
        return
    prompt = None
    for request in requests:
        prompt = request["prompt"]
        click.echo(f"=== {listed(request['factors'])}")
        click.echo(f"=== key {request['key']}, sampling {prompt['sampling']}")
        for message in prompt["messages"]:
            click.echo(f"--- {message['role']}\n{message['content']}")
        if prompt["prefill"]:
            click.echo(f"--- prefill\n{prompt['prefill']}")
    if not prompt:
        warn("no request matches")


@click.command()
@on_artefact
@WHERE
@click.option(
    "--outcome",
    type=click.Choice([outcome.value for outcome in Outcome]),
    metavar="OUTCOME",
    help="Only answers with this outcome, e.g. incorrect.",
)
@click.option(
    "--limit", default=3, show_default=True, help="Answers to show; 0 for all."
)
@AS_JSON
def explain(
    choice: Choice,
    where: Factors,
    outcome: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show the answers behind a figure: prompt, completion, extracted answer and outcome.

    The figure is the one built with the same --profile, --models and --set.
    """
    from codestress.pipeline.explain import answers_of, explain as explained

    chosen = choice.only()
    built = (chosen.folder / "manifest.json").is_file()
    manifest = read_manifest(chosen.folder) if built else {}
    results = answers_of(chosen, some=bool(manifest.get("not_asked")))
    if results.answers.empty:
        reason = "nothing is asked for it; its numbers are facts, see its notebook"
        raise ParameterError(f"{chosen.name}: {reason}")
    rule = chosen.parameters.rule
    counts = results.counts(rule)
    drawn = manifest.get("requests_sha256"), manifest.get("counts")
    if manifest and drawn != (results.requests_sha256(), counts):
        line = f"{chosen.name}: the figure has other answers or verdicts"
        warn(f"{line}; build it again: {manifest['command']}")
    answers = explained(results, rule, where, outcome or "")
    rows = list(itertools.islice(answers, limit or None))
    if as_json:
        print_json(rows, escaped=False)
        return
    click.echo(f"{chosen.name}: {manifest.get('title', chosen.file.title)}")
    if manifest:
        click.echo(f"  {manifest['alt']}")
        click.echo(f"  numbers: {shown(chosen.folder / 'table.csv')}")
        click.echo(f"  again: {manifest['command']}")
    for model, by_outcome in counts.items():
        click.echo(f"  {model}: {in_words(by_outcome)} ({rule})")
    _print_answers(rows)


def _print_answers(rows: list[dict[str, Any]]) -> None:
    from codestress.pipeline.plan import listed

    for row in rows:
        factors = listed(row["factors"])
        verdicts = listed(row["verdicts"])
        read = row["extracted"] or "nothing"
        author = row["answered_by"] or "nobody"
        click.echo(f"\n=== {factors}")
        click.echo(f"=== {verdicts}; read: {read}")
        click.echo(f"=== by {author}; key {row['key']}")
        click.echo(f"--- asked, the last message\n{row['prompt']}")
        click.echo(f"--- answered\n{row['text'] or row['error']}")
    if not rows:
        warn("no answer matches")
