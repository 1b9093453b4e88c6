"""Commands on responses: the store and its budget sums, archives, and scoring of
answers from elsewhere."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codestress.inference.registry import load_registry
from codestress.inference.store import Store
from codestress.paths import OUTPUTS, STORE, shown
from codestress.pipeline.options import (
    AS_JSON,
    PROFILE,
    SETTINGS,
    WHERE,
    Choice,
    Factors,
    exit_where,
    on_artefacts,
    print_json,
    warn,
)
from codestress.types import Task

if TYPE_CHECKING:
    from codestress.scoring.answer_files import Report
    from codestress.scoring.predictions import Rule

FILE = click.argument("file", type=Path)


@click.group()
def store() -> None:
    """Inspect and repair the file of all responses."""


@store.command("status")
def store_status() -> None:
    """Show the number of responses of each model."""
    with Store(STORE) as responses:
        counts = responses.counts_by_model()
    for model, count in counts.items():
        click.echo(f"{model:28} {count:>9,}")
    click.echo(f"{shown(STORE)}: {sum(counts.values()):,} responses")


@store.command("verify")
@click.option(
    "--repair",
    is_flag=True,
    help="Set damaged responses aside, so that a build asks them again.",
)
def store_verify(repair: bool) -> None:
    """Check that all responses and all published files are unchanged. Exit status 1 if
    one is not."""
    from codestress.report.checked import changed_files

    with Store(STORE) as responses:
        count = responses.count()
        damaged = responses.damaged()
        faults = responses.faults()
        if damaged and repair:
            responses.set_aside(damaged)
    state = "damaged; --repair has it asked again"
    if repair:
        state = "set aside, to be asked again"
    changed = changed_files(OUTPUTS)
    name = shown(STORE)
    for key in damaged.values():
        click.echo(f"{key}: {state}")
    for fault in faults:
        click.echo(f"{fault}: recover it: sqlite3 {name} .recover")
    for file in changed:
        click.echo(f"{file}: the next build of it makes it anew")
    sums = f"{count:,} responses, {len(damaged):,} of them damaged"
    click.echo(f"{name}: {sums}; {len(changed):,} files changed")
    exit_where((damaged and not repair) or faults or changed)


@store.command("budget")
@click.option(
    "--reset", is_flag=True, help="Forget the sums: command lines begin again from 0."
)
def store_budget(reset: bool) -> None:
    """Show the amounts that killed or stopped command lines have spent of their
    budgets."""
    from codestress.inference.budget import SUMS, read_sum

    files = sorted(STORE.parent.glob(f".{STORE.name}.{SUMS}"))
    if reset:
        for path in files:
            path.unlink(missing_ok=True)
        click.echo(f"{len(files)} sums forgotten")
        return
    for path in files:
        requests, tokens, usd = read_sum(path)
        click.echo(
            f"{shown(path)}: {requests:,} requests, {tokens:,} tokens, ${usd:.4f}"
        )
    if not files:
        click.echo("no sums: no command line with a budget was killed or stopped")


@click.group()
def archive() -> None:
    """Export and import responses as one file, which rebuilds every figure without a
    model."""


@archive.command("export")
@FILE
@on_artefacts
def archive_export(file: Path, choice: Choice) -> None:
    """Write all stored responses to the artefacts' requests (default: all of the
    profile), with the requests' hashes."""
    from codestress.inference.archive import write_archive
    from codestress.inference.requests import stored_requests

    chosen = choice.resolved()
    with Store(STORE) as responses:
        answered = (
            stored_requests(artefact.trials(), artefact.models, responses)
            for artefact in chosen
        )
        count = write_archive(file, chain.from_iterable(answered))
    size = f"{file.stat().st_size:,} bytes"
    click.echo(f"{count:,} responses of {len(chosen)} artefacts: {file} ({size})")


@archive.command("adopt")
@FILE
@click.argument("artefact", metavar="PAPER/ARTEFACT")
@PROFILE
@click.option(
    "--model", required=True, help="A name from params/models.yaml: who answered."
)
@SETTINGS
@WHERE
@click.option(
    "--form",
    default="{}",
    show_default=True,
    help="What the questions want around an answer, {}.",
)
def archive_adopt(
    file: Path,
    artefact: str,
    profile: str,
    model: str,
    settings: tuple[str, ...],
    where: Factors,
    form: str,
) -> None:
    """Import published answers of a model, in CRUXEval's format or any format that
    `codestress score` reads.

    You state that the file answers the artefact's questions. Manifests name the file
    and its hash as the responding model.
    """
    from codestress.pipeline.adopt import adopt
    from codestress.scoring.answer_layouts import read_answers

    chosen = Choice((artefact,), profile, model, settings).only()
    [entry] = chosen.models
    read = read_answers(file)
    for warning in read.warnings:
        warn(f"warning: {warning}")
    counts = adopt(file, read.answers, chosen, entry, where, STORE, form)
    click.echo(
        f"{counts.taken:,} answers taken for {entry.name}; {counts.answered:,} questions had one, "
        f"{counts.lacking:,} have none in the file, {counts.unused:,} answers are not asked for"
    )


@archive.command("import")
@FILE
def archive_import(file: Path) -> None:
    """Put an archive's responses into the store, so that builds need not ask."""
    from codestress.inference.archive import import_archive

    rows, new = import_archive(file, STORE, load_registry())
    click.echo(f"{rows:,} responses, {new:,} of them new: {shown(STORE)}")


@archive.command("verify")
@FILE
def archive_verify(file: Path) -> None:
    """Check all of an archive: form, order, and that every key is the hash of its
    request."""
    from codestress.inference.archive import read_archive

    counts = Counter((row.model, row.server) for row in read_archive(file))
    for (model, server), count in sorted(counts.items()):
        click.echo(f"{model:28} {count:>9,}  {server or 'server unknown'}")
    click.echo(f"{file}: {counts.total():,} responses, as they were asked")


@click.command()
@click.option(
    "--task",
    type=click.Choice(["input", "output"]),
    required=True,
    help="What the answers predict.",
)
@click.option(
    "--answers",
    "answers_file",
    type=Path,
    required=True,
    help="JSON of ids to texts, or another harness's file.",
)
@click.option(
    "--format",
    "form",
    default="",
    help="How the answers are written; default: recognised by content.",
)
@click.option(
    "--problems",
    "problems_file",
    type=Path,
    help="JSON Lines; default: CRUXEval.",
)
@click.option(
    "--rule",
    type=click.Choice(["strict", "reference"]),
    default="strict",
    show_default=True,
)
@AS_JSON
def score(
    task: Task,
    answers_file: Path,
    form: str,
    problems_file: Path | None,
    rule: Rule,
    as_json: bool,
) -> None:
    """Score answers from elsewhere: pass@1, pass@5, and an outcome for each answer.

    Formats: cruxeval (a JSON object of ids and lists of texts), inspect, lm-eval,
    openai-batch, livecodebench, evalplus, and tables: jsonl, csv, parquet
    (docs/scoring.md). Exit status 2 if no answer could be judged.

    Rule strict: values are parsed and compared by type. Rule reference: as by CRUXEval's
    own harness. Answers to rejected rows of the problems count as harness errors.
    """
    from codestress.problems.datasets import data_file
    from codestress.problems.problem_files import read_problems
    from codestress.sandbox.executor import Executor
    from codestress.scoring.answer_files import check_matched, score_file
    from codestress.scoring.answer_layouts import read_answers

    file = read_answers(answers_file, form)
    path = problems_file or data_file("cruxeval", "cruxeval/cruxeval.jsonl")
    problems = read_problems(path)
    parsed_only = task == "output" and rule == "strict"
    with nullcontext() if parsed_only else Executor() as executor:
        report = score_file(problems, file, task, rule, executor)
        manner = f"programs ran {executor.manner()}\n" if executor else ""
    if problems.faults:
        warn(f"{len(problems.faults):,} of {len(report.scores):,} problems rejected")
    for warning in report.warnings:
        warn(f"warning: {warning}")
    check_matched(answers_file, report)
    if as_json:
        print_json(report.as_json())
    else:
        _tell_report(report, rule)
        click.echo(manner, nl=False)


def _tell_report(report: Report, rule: Rule) -> None:
    file = report.file
    counts = report.counts
    answers = sum(counts.values())
    for k in (1, 5):
        share = report.pass_at(k)
        if share is not None:
            click.echo(f"pass@{k} {share:.4%}")
    click.echo(f"  {answers:,} answers, by the rule {rule}")
    click.echo(f"  read as {file.format} ({file.fields})")
    for reason, count in counts.items():
        if count:
            click.echo(f"  {reason:14} {count:>8,}")
