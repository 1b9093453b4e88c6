"""The console script `codestress`; the Makefile calls it."""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from codestress import __version__
from codestress.course.commands import course
from codestress.errors import CodestressError, ParameterError
from codestress.paths import NOTEBOOKS, OUTPUTS, PARAMS, ROOT, STORE, shown
from codestress.training.commands import nano

if TYPE_CHECKING:
    from codestress.build.artefacts import Artefact
    from codestress.build.plan import PlanRow

PROFILE = click.option("--profile", default="demo", show_default=True, help="A file in params/profiles/.")
MODELS = click.option("--models", default="", help="Names from params/models.yaml, separated by spaces or commas.")
SETTINGS = click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Overrides a parameter.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ARTEFACTS = click.argument("artefacts", nargs=-1, metavar="[PAPER | PAPER/ARTEFACT]…")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Regenerates the tables and figures of four papers on what language models understand of code."""
    if not (PARAMS.is_dir() and NOTEBOOKS.is_dir()):
        raise ParameterError(
            f"{ROOT}: no params/ and notebooks/ here; run from a checkout, or set CODESTRESS_ROOT to one"
        )


@cli.command()
@ARTEFACTS
@PROFILE
@MODELS
@SETTINGS
@click.option("--jobs", "-j", default=os.cpu_count() or 1, show_default=True, help="Notebooks executed at a time.")
@click.option("--force", is_flag=True, help="Build also what is up to date.")
@AS_JSON
def build(
    artefacts: tuple[str, ...],
    profile: str,
    models: str,
    settings: tuple[str, ...],
    jobs: int,
    force: bool,
    as_json: bool,
) -> None:
    """Executes the notebooks that are out of date, then writes the gallery. Default: all of the profile."""
    from codestress.build.artefacts import load_profile
    from codestress.build.builder import build as build_artefacts

    chosen = _resolve(artefacts, profile, models, settings)
    outcomes = build_artefacts(chosen, jobs=jobs, force=force, timeout_s=load_profile(profile).timeout_s)
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    index = OUTPUTS / profile / "index.html"
    if any(outcome.state != "up to date" for outcome in outcomes) or not index.exists():
        from codestress.report.gallery import gallery

        index = gallery(profile)
    if as_json:
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        states = [outcome.state for outcome in outcomes]
        told = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))
        click.echo(f"{told}; gallery: {shown(index)}")
        for outcome in outcomes:
            if outcome.name in artefacts and outcome.state != "failed":
                _tell_claims(OUTPUTS / profile / outcome.name / "claims.csv")
    if failed:
        raise click.exceptions.Exit(1)


def _tell_claims(ledger: Path) -> None:
    """The decided claims of an artefact that was asked for by name, a line each."""
    from codestress.report.claims import read_claims

    for claim in read_claims(ledger):
        click.echo(f"  {claim}")


@cli.command()
@ARTEFACTS
@PROFILE
@MODELS
@SETTINGS
@AS_JSON
def plan(artefacts: tuple[str, ...], profile: str, models: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Before any call: requests, how many are answered already, characters and dollars, per artefact and model."""
    from codestress.build.plan import make_plan

    rows, errors = make_plan(_resolve(artefacts, profile, models, settings), STORE)
    for name, error in errors.items():
        click.echo(f"{name}: {error}", err=True)
    if as_json:
        click.echo(json.dumps([asdict(row) | {"missing": row.missing} for row in rows], indent=1))
    else:
        _tell_plan(rows)
    if errors:
        raise click.exceptions.Exit(1)


def _tell_plan(rows: list[PlanRow]) -> None:
    click.echo(
        f"{'artefact':16} {'model':28} {'requests':>9} {'answered':>9} {'to ask':>9} {'characters':>13} "
        f"{'minutes':>8}  dollars"
    )
    for row in rows:
        dollars = "" if row.dollars_low is None else f"{row.dollars_low:.2f} to {row.dollars_high:.2f}"
        minutes = "" if row.seconds is None else f"{row.seconds / 60:.1f}"
        click.echo(
            f"{row.artefact:16} {row.model:28} {row.requests:>9,} {row.answered:>9,} {row.missing:>9,} "
            f"{row.characters:>13,} {minutes:>8}  {dollars}".rstrip()
        )
    for row in rows:
        if row.too_long:
            click.echo(f"{row.artefact}: {row.too_long:,} prompts are longer than the window of {row.model}", err=True)
    total = sum(row.missing for row in rows)
    characters = sum(row.characters for row in rows)
    click.echo(
        f"{total:,} requests to ask, {characters:,} characters: about {characters // 4:,} tokens at 4 characters each "
        "(a rule of thumb, no model's tokenizer)"
    )
    lows = [row.dollars_low for row in rows if row.dollars_low is not None]
    if lows:
        highs = [row.dollars_high for row in rows if row.dollars_high is not None]
        click.echo(f"${sum(lows):.2f} to ${sum(highs):.2f}: prompts alone, and with every answer as long as it may be")
    unpriced = sorted({row.model for row in rows if row.missing and row.unpriced})
    if unpriced:
        click.echo(f"no price in params/models.yaml for {', '.join(unpriced)}", err=True)


@cli.command()
@click.argument("artefact", metavar="PAPER/ARTEFACT")
@PROFILE
@MODELS
@SETTINGS
@click.option("--limit", default=1, show_default=True, help="Requests to show; 0 for all.")
@click.option("--where", multiple=True, metavar="FACTOR=VALUE", help="Only trials with this factor, e.g. d=15.")
@AS_JSON
def show(
    artefact: str,
    profile: str,
    models: str,
    settings: tuple[str, ...],
    limit: int,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """The requests exactly as a model would get them, with their factors. Nothing is asked."""
    from codestress.build.plan import show_requests

    factors = _where(where)
    (chosen,) = _resolve((artefact,), profile, models, settings)
    requests = itertools.islice(show_requests(chosen, factors), limit or None)
    if as_json:
        click.echo(json.dumps(list(requests), indent=1, ensure_ascii=False))
        return
    shown_any = False
    for request in requests:
        shown_any = True
        told = ", ".join(f"{name} = {value}" for name, value in request["factors"].items())
        click.echo(f"=== {told}\n=== key {request['key']}, sampling {request['prompt']['sampling']}")
        for message in request["prompt"]["messages"]:
            click.echo(f"--- {message['role']}\n{message['content']}")
        if request["prompt"]["prefill"]:
            click.echo(f"--- prefill\n{request['prompt']['prefill']}")
    if not shown_any:
        click.echo("no request matches", err=True)


@cli.command()
@click.argument("artefact", metavar="PAPER/ARTEFACT")
@PROFILE
@MODELS
@SETTINGS
@click.option(
    "--where", multiple=True, metavar="FACTOR=VALUE", help="Only answers with this factor, e.g. model=sim-near."
)
@click.option("--reason", default="", help="Only answers with this reason code, e.g. wrong.")
@click.option("--limit", default=3, show_default=True, help="Answers to show; 0 for all.")
@AS_JSON
def explain(
    artefact: str,
    profile: str,
    models: str,
    settings: tuple[str, ...],
    where: tuple[str, ...],
    reason: str,
    limit: int,
    as_json: bool,
) -> None:
    """From a figure back to its answers: what was asked, what came, what was read out of it, and the verdict."""
    from codestress.build.explain import answers_of, manifest_of
    from codestress.build.explain import explain as explained
    from codestress.types import Reason
    from codestress.validation import nearest

    reasons = [one.value for one in Reason]
    if reason and reason not in reasons:
        raise ParameterError(f"--reason {reason!r}: no such reason code{nearest(reason, reasons)}")
    (chosen,) = _resolve((artefact,), profile, models, settings)
    results, manifest = answers_of(chosen), manifest_of(chosen)
    if not results.answers:
        raise ParameterError(f"{artefact}: nothing is asked for it; its numbers are facts, see its notebook")
    rule = manifest.get("rule", next(iter(results.answers[0].scores)))
    found = explained(chosen, results, rule, _where(where), reason)
    rows = list(itertools.islice(found, limit or None))
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
        return
    click.echo(f"{artefact}: {manifest.get('title', chosen.title)}")
    if manifest:
        click.echo(
            f"  {manifest['alt']}\n  numbers: {shown(chosen.folder / 'table.csv')}\n  again: {manifest['command']}"
        )
    for model, counts in results.counts(rule).items():
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        click.echo(f"  {model}: {told} ({rule})")
    for row in rows:
        click.echo("\n=== " + ", ".join(f"{name} = {value}" for name, value in row.factors.items()))
        verdicts = "; ".join(f"{name}: {verdict}" for name, verdict in row.verdicts.items())
        click.echo(
            f"=== {verdicts}; read: {row.extracted or 'nothing'}; by {row.answered_by or 'nobody'}; key {row.key}"
        )
        click.echo(f"--- asked, the last message\n{row.prompt}\n--- answered\n{row.text or row.error}")
    if not rows:
        click.echo("no answer matches", err=True)


@cli.command()
@PROFILE
@click.option(
    "--clone-profile", default="smoke", show_default=True, help="What a clean clone builds without a network."
)
@AS_JSON
def badge(profile: str, clone_profile: str, as_json: bool) -> None:
    """What a committee for artifact evaluation asks, checked; writes outputs/badge.md. Minutes: it builds a clone."""
    from codestress.build.artefacts import load_profile
    from codestress.build.badge import examine as criteria_of
    from codestress.build.badge import ready_for, write

    load_profile(profile)
    load_profile(clone_profile)
    criteria = []
    for one in criteria_of(profile, clone_profile):
        criteria.append(one)
        click.echo(f"{'ok ' if one.met else 'NO '} {one.badge:10} {one.what}: {one.detail}", err=as_json)
    path = write(criteria)
    ready = ready_for(criteria)
    if as_json:
        click.echo(json.dumps({"ready": ready, "criteria": [asdict(one) for one in criteria]}, indent=1))
    else:
        click.echo(f"ready to submit for: {', '.join(ready) or 'none yet'}; {shown(path)}")


def _where(texts: tuple[str, ...]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ParameterError(f"--where {text!r}: expected FACTOR=VALUE, for instance --where d=15")
    return dict(text.split("=", 1) for text in texts)


@cli.command()
@PROFILE
def report(profile: str) -> None:
    """Writes the gallery and the claims ledger of a profile anew, from what was built."""
    from codestress.build.artefacts import load_profile
    from codestress.report.gallery import gallery

    load_profile(profile)
    click.echo(shown(gallery(profile)))


@cli.group()
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


@cli.group()
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


@store.command("salvage")
def store_salvage() -> None:
    """Moves a damaged store aside and copies every readable response to a new one."""
    from codestress.inference.store import salvage

    aside = next(p for n in itertools.count(1) if not (p := STORE.with_name(f"{STORE.name}.damaged-{n}")).exists())
    for suffix in ("", "-wal", "-shm"):
        part = Path(f"{STORE}{suffix}")
        if part.exists():
            part.rename(f"{aside}{suffix}")
    kept = salvage(aside, STORE)
    click.echo(f"{kept:,} responses saved to {shown(STORE)}; the damaged file is kept as {shown(aside)}")


@cli.command()
@click.argument("model")
@AS_JSON
def probe(model: str, as_json: bool) -> None:
    """What a model can, tried with a dozen short requests: tokens, stop, max_tokens, sampling, a begun answer.

    Exit 1 when it does not answer at all. Nothing is stored.
    """
    from codestress.inference.coroutines import run_coroutine
    from codestress.inference.probe import Ability
    from codestress.inference.probe import probe as tried
    from codestress.inference.registry import find_models, load_registry

    [entry] = find_models([model], load_registry(), "probe")

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
    if not abilities[0].can:
        raise click.exceptions.Exit(1)


@cli.command()
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


@cli.group()
def archive() -> None:
    """Responses as one file that rebuilds every figure without a model (REPLAY=FILE)."""


FILE = click.argument("file", type=click.Path(path_type=Path))


@archive.command("export")
@FILE
@ARTEFACTS
@PROFILE
@MODELS
@SETTINGS
def archive_export(
    file: Path, artefacts: tuple[str, ...], profile: str, models: str, settings: tuple[str, ...]
) -> None:
    """Writes all responses that the artefacts (default: all of the profile) have, with hashes of what was asked."""
    from codestress.inference.archive import write_archive
    from codestress.inference.requests import stored_requests
    from codestress.inference.store import Store

    chosen = _resolve(artefacts, profile, models, settings)
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
    from codestress.build.adopt import adopt
    from codestress.scoring.answer_files import read_answers

    (chosen,) = _resolve((artefact,), profile, model, settings)
    (entry,) = chosen.models
    found = adopt(file, read_answers(file), chosen, entry, _where(where), STORE, form)
    click.echo(
        f"{found.taken:,} answers taken for {entry.name}; {found.answered:,} questions had one, {found.lacking:,} have "
        f"none in the file, {found.unused:,} answers are not asked for"
    )


@archive.command("import")
@FILE
def archive_import(file: Path) -> None:
    """Puts an archive's responses into the store, so that builds need not ask."""
    from codestress.inference.archive import import_archive

    rows, new = import_archive(file, STORE)
    click.echo(f"{rows:,} responses, {new:,} of them new: {shown(STORE)}")


@archive.command("verify")
@FILE
def archive_verify(file: Path) -> None:
    """Reads all of an archive: form, order, and that every key is the hash of what was asked."""
    from collections import Counter

    from codestress.inference.archive import read_archive

    counts = Counter(row.model for row in read_archive(file))
    for model, count in sorted(counts.items()):
        click.echo(f"{model:28} {count:>9,}")
    click.echo(f"{file}: {sum(counts.values()):,} responses, as they were asked")


@cli.command()
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
        click.echo(f"warning: {warning}", err=True)
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
        click.echo(f"programs ran isolated by {executor.described()}")


@cli.command()
@click.option(
    "--problems", "problems_file", type=click.Path(path_type=Path), help="JSON Lines; default: generated ones."
)
@AS_JSON
def selftest(problems_file: Path | None, as_json: bool) -> None:
    """Tests the scorers: right answers 100 %, corrupted ones 0 %, exploits 0 %. Exit 1 when strict fails."""
    from codestress.problems.generated import generated_problems
    from codestress.problems.problem_files import read_problems
    from codestress.sandbox.executor import Executor, Limits
    from codestress.scoring.selftest import selftest as rows_of
    from codestress.scoring.selftest import selftest_programs

    problems = read_problems(problems_file).problems if problems_file else generated_problems(200)
    failed = False
    with Executor(limits=Limits(cpu_s=1, wall_s=10)) as executor:
        told = f"{len(problems)} problems; programs run isolated by {executor.described()}"
        click.echo(told, err=as_json)
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
    if failed:
        raise click.exceptions.Exit(1)


@cli.command()
@click.argument("first")
@click.argument("second")
@AS_JSON
def diff(first: str, second: str, as_json: bool) -> None:
    """Compares two runs: folders, profiles, or PROFILE/PAPER/ARTEFACT. Exit 1 when they differ."""
    from codestress.build.diff import diff as diff_runs
    from codestress.build.diff import find_run

    lines = diff_runs(find_run(first), find_run(second))
    click.echo(json.dumps(lines, indent=1) if as_json else "\n".join(lines) or "no difference")
    if lines:
        raise click.exceptions.Exit(1)


@cli.command()
@AS_JSON
def doctor(as_json: bool) -> None:
    """What is here, what is missing, what to type. Exit 1 when something is broken."""
    from codestress.build.doctor import examine

    findings = list(examine())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            click.echo(f"{finding.state:8} {finding.what}: {finding.detail}")
    if any(finding.state == "broken" for finding in findings):
        raise click.exceptions.Exit(1)


@cli.command()
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


@cli.command()
@click.option("--check", is_flag=True, help="Change nothing; fail when a notebook would change.")
def sync(check: bool) -> None:
    """Writes the parameters cell of every notebook from its schema, and clears outputs."""
    from codestress.build.notebooks import sync as sync_notebooks

    changed = sync_notebooks(write=not check)
    for path in changed:
        click.echo(f"{shown(path)}: {'differs from its schema; run `codestress sync`' if check else 'written'}")
    if check and changed:
        raise click.exceptions.Exit(1)


cli.add_command(course)
cli.add_command(nano)


def _resolve(artefacts: tuple[str, ...], profile: str, models: str, settings: tuple[str, ...]) -> list[Artefact]:
    from codestress.build.artefacts import Overrides, load_profile, resolve, select
    from codestress.inference.registry import load_registry

    names = select(artefacts, load_profile(profile))
    overrides = Overrides(tuple(models.replace(",", " ").split()), settings)
    return resolve(names, profile, overrides, load_registry())


def main() -> None:
    """Errors that a person can act on end without a traceback."""
    try:
        sys.exit(cli(standalone_mode=False) or 0)
    except CodestressError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; every answer that came is kept: run the same command again to go on", err=True)
        sys.exit(130)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            click.echo(f"error: {error}; check the folder's rights, or set CODESTRESS_OUTPUTS to another", err=True)
        elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            click.echo(f"error: no space left: {error}; make room (`make clean` keeps all answers)", err=True)
        else:
            raise
        sys.exit(1)
