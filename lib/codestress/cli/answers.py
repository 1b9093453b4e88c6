"""Answers: their file, archives of them, judging them."""

from __future__ import annotations

import itertools
import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import click

from codestress.cli.options import (
    ARTEFACTS,
    AS_JSON,
    PROFILE,
    SETTINGS,
    Knobs,
    exit_where,
    resolved,
    where_of,
    with_knobs,
)
from codestress.literals import printable
from codestress.paths import OUTPUTS, STORE, shown

FILE = click.argument("file", type=click.Path(path_type=Path))


@click.group()
def store() -> None:
    """The file of all responses."""


@store.command("status")
@AS_JSON
def store_status(as_json: bool) -> None:
    """Responses by model."""
    from codestress.inference.store import Store

    with Store(STORE) as responses:
        counts = responses.counts_by_model()
    if as_json:
        click.echo(json.dumps(counts, indent=1))
    else:
        for model, count in counts.items():
            click.echo(f"{model:28} {count:>9,}")
        click.echo(f"{shown(STORE)}: {sum(counts.values()):,} responses")


REPAIR = click.option("--repair", is_flag=True, help="Set damaged responses aside, so that a build asks them again.")


@store.command("verify")
@REPAIR
def store_verify(repair: bool) -> None:
    """Reads all responses and all published files: whether each is what it was. Exit 1 where one is not."""
    from codestress.inference.store import Store
    from codestress.report.checked import changed_files

    with Store(STORE) as responses:
        count, damaged, faults = responses.count(), responses.damaged(), responses.faults()
        if damaged and repair:
            responses.set_aside(damaged)
    told = "set aside, to be asked again" if repair else "damaged; --repair has it asked again"
    for key in damaged.values():
        click.echo(f"{key}: {told}")
    for fault in faults:
        click.echo(f"{shown(STORE)}: {fault}: `codestress store salvage` writes a sound file")
    changed = changed_files(OUTPUTS)
    for file in changed:
        click.echo(f"{file}: the next build of it makes it anew")
    click.echo(f"{shown(STORE)}: {count:,} responses, {len(damaged):,} of them damaged; {len(changed):,} files changed")
    exit_where((damaged and not repair) or faults or changed)


@store.command("salvage")
@REPAIR
def store_salvage(repair: bool) -> None:
    """Moves a damaged store aside and copies every readable response to a new one, damaged ones too, which it names."""
    from codestress.inference.store import Store, salvage

    aside = next(p for n in itertools.count(1) if not (p := STORE.with_name(f"{STORE.name}.damaged-{n}")).exists())
    for suffix in ("", "-wal", "-shm"):
        part = Path(f"{STORE}{suffix}")
        if part.exists():
            part.rename(f"{aside}{suffix}")
    kept = salvage(aside, STORE)
    with Store(STORE) as responses:
        damaged = responses.damaged()
        if repair:
            responses.set_aside(damaged)
    for key in damaged.values():
        click.echo(f"{key}: {'set aside, to be asked again' if repair else 'damaged'}")
    if damaged and not repair:
        click.echo("builds refuse damaged responses; `codestress store verify --repair` has them asked again")
    click.echo(f"{kept:,} responses saved to {shown(STORE)}; the damaged file is kept as {shown(aside)}")


@store.command("budget")
@click.option("--reset", is_flag=True, help="Forget the sums: command lines begin again from 0.")
def store_budget(reset: bool) -> None:
    """What command lines that were killed or stopped have spent of their budgets."""
    from codestress.inference.budget import SUMS, sums

    files = list(STORE.parent.glob(f".{STORE.name}.{SUMS}"))
    if reset:
        for path in files:
            path.unlink(missing_ok=True)
        click.echo(f"{len(files)} sums forgotten")
        return
    for path, spent in sums(STORE).items():
        click.echo(f"{shown(path)}: {spent.requests:,} requests, {spent.tokens:,} tokens, ${spent.usd:.4f}")
    if not files:
        click.echo("no sums: no command line with a budget was killed or stopped")


@click.group()
def archive() -> None:
    """Responses as one file that rebuilds every figure without a model (REPLAY=FILE)."""


@archive.command("export")
@FILE
@ARTEFACTS
@with_knobs
def archive_export(file: Path, artefacts: tuple[str, ...], knobs: Knobs) -> None:
    """Writes all responses that the artefacts (default: all of the profile) have, with hashes of what was asked."""
    from codestress.inference.archive import write_archive
    from codestress.inference.requests import stored_requests
    from codestress.inference.store import Store

    chosen = resolved(artefacts, knobs)
    with Store(STORE) as responses:
        answered = (
            (entry, request, response)
            for artefact in chosen
            for trials in [artefact.trials()]
            for entry in artefact.models
            for request, response in stored_requests(trials, entry, responses)
        )
        count = write_archive(file, answered)
    click.echo(f"{count:,} responses of {len(chosen)} artefacts: {file} ({file.stat().st_size:,} bytes)")


@archive.command("adopt")
@FILE
@click.argument("artefact", metavar="PAPER/ARTEFACT")
@PROFILE
@click.option("--model", required=True, help="A name from params/models.yaml: who answered.")
@SETTINGS
@click.option("--where", multiple=True, metavar="FACTOR=VALUE", help="Only questions with this factor.")
@click.option("--form", default="{}", show_default=True, help="What the questions want around an answer, {}.")
def archive_adopt(
    file: Path, artefact: str, profile: str, model: str, settings: tuple[str, ...], where: tuple[str, ...], form: str
) -> None:
    """Takes answers that somebody published (CRUXEval's format: JSON of id to list of texts) for those of a model.

    You say that they answer the artefact's questions; manifests name the file and its hash as what answered.
    """
    from codestress.pipeline.adopt import adopt
    from codestress.scoring.answer_files import read_answers

    (chosen,) = resolved((artefact,), Knobs(profile, model, settings))
    (entry,) = chosen.models
    found = adopt(file, read_answers(file), chosen, entry, where_of(where), STORE, form)
    click.echo(
        f"{found.taken:,} answers taken for {entry.name}; {found.answered:,} questions had one, {found.lacking:,} have "
        f"none in the file, {found.unused:,} answers are not asked for"
    )


@archive.command("import")
@FILE
def archive_import(file: Path) -> None:
    """Puts an archive's responses into the store, so that builds need not ask."""
    from codestress.inference.archive import import_archive
    from codestress.inference.registry import load_registry

    rows, new = import_archive(file, STORE, load_registry())
    click.echo(f"{rows:,} responses, {new:,} of them new: {shown(STORE)}")


@archive.command("verify")
@FILE
def archive_verify(file: Path) -> None:
    """Reads all of an archive: form, order, and that every key is the hash of what was asked."""
    from collections import Counter

    from codestress.inference.archive import read_archive

    counts = Counter((row.model, row.server) for row in read_archive(file))
    for (model, server), count in sorted(counts.items()):
        click.echo(f"{model:28} {count:>9,}  {server or 'server unknown'}")
    click.echo(f"{file}: {sum(counts.values()):,} responses, as they were asked")


@click.command()
@click.option("--task", type=click.Choice(["input", "output"]), required=True, help="What the answers predict.")
@click.option("--answers", "answers_file", type=click.Path(path_type=Path), required=True, help="JSON: id to texts.")
@click.option("--problems", "problems_file", type=click.Path(path_type=Path), help="JSON Lines; default: CRUXEval.")
@click.option("--rule", type=click.Choice(["strict", "reference"]), default="strict", show_default=True)
@click.option("--samples", type=click.IntRange(min=1), help="Answers asked for each problem; default: the most given.")
@click.option(
    "--compare", is_flag=True, help="Judge by the other rule too, and list each answer that they judge apart."
)
@AS_JSON
def score(
    task: Literal["input", "output"],
    answers_file: Path,
    problems_file: Path | None,
    rule: Literal["strict", "reference"],
    samples: int | None,
    compare: bool,
    as_json: bool,
) -> None:
    """Scores answers that somebody else has, in CRUXEval's format: pass@1, pass@5, a reason for each.

    strict: values are parsed and compared by type; reference: what CRUXEval's own harness does.
    """
    from codestress.problems.datasets import data_file
    from codestress.problems.problem_files import read_problems
    from codestress.sandbox.executor import Executor
    from codestress.scoring.answer_files import read_answers, score_file

    answers = read_answers(answers_file)
    problems = read_problems(problems_file or data_file("cruxeval", "cruxeval/cruxeval.jsonl"))
    parsed_only = task == "output" and rule == "strict" and not compare
    other: Literal["strict", "reference"] = "reference" if rule == "strict" else "strict"
    differences = None
    with nullcontext() if parsed_only else Executor() as executor:
        report = score_file(problems, answers, task=task, rule=rule, executor=executor, samples=samples)
        if compare:
            judged_by_other = score_file(problems, answers, task=task, rule=other, executor=executor, samples=samples)
            differences = report.differences(judged_by_other)
    for warning in report.warnings:
        click.echo(printable(f"warning: {warning}"), err=True)
    if as_json:
        found = report.as_json() | ({"differences": differences} if differences is not None else {})
        click.echo(json.dumps(found, indent=1))
        return
    asked = sum(report.counts.values())
    click.echo(f"pass@1 {report.pass_at(1):.4%}, pass@5 {report.pass_at(5):.4%} ({rule}, {asked:,} answers)")
    for reason, count in report.counts.items():
        if count:
            click.echo(f"  {reason:14} {count:>8,}")
    if differences is not None:
        click.echo(f"{len(differences)} answers are judged otherwise by {other}")
        for one in differences:
            click.echo(f"  {one['problem']}[{one['sample']}]: {one['reason']}, not {one['other']}: {one['detail']}")
    if executor:
        click.echo(f"programs ran {executor.manner()}")


@click.command()
@click.option(
    "--problems", "problems_file", type=click.Path(path_type=Path), help="JSON Lines; default: generated ones."
)
@AS_JSON
def selftest(problems_file: Path | None, as_json: bool) -> None:
    """Tests the scorers: right answers 100 %, corrupted ones 0 %, exploits 0 %. Exit 1 when strict fails."""
    from codestress.problems.generated import generated_problems
    from codestress.problems.problem_files import read_problems
    from codestress.sandbox.executor import Executor, Limits, told_row
    from codestress.scoring.selftest import selftest as rows_of
    from codestress.scoring.selftest import selftest_programs

    problems = read_problems(problems_file).problems if problems_file else generated_problems(200)
    failed = False
    with Executor(limits=Limits(cpu_s=1)) as executor:
        executor.admit()
        told = f"{len(problems)} problems; programs run {executor.manner()}"
        click.echo(told, err=as_json)
        for name, through in executor.matrix().items():
            click.echo(f"protects {name:10} {told_row(through)}", err=as_json)
        rows = []
        for row in itertools.chain(rows_of(problems, executor), selftest_programs(problems, executor)):
            rows.append(asdict(row) | {"ok": row.ok})
            failed = failed or not row.ok
            if not as_json:
                passed = f"  passed: {', '.join(row.passed)}" if row.passed else ""
                state = "ok" if row.ok else "FAILED"
                click.echo(
                    f"{row.task:7} {row.rule:10} {row.kind:10} {row.right:>5} of {row.asked:>5} right "
                    f"{row.right / row.asked:>7.1%}  {state if row.rule == 'strict' else 'shown'}{passed}"
                )
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    exit_where(failed)
