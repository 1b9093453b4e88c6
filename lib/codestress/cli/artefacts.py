"""Commands on artefacts (figures and tables): plan, build, show requests, explain answers, report,
compare, check."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from codestress.artefact_files import load_profile
from codestress.errors import ParameterError
from codestress.literals import counted, printable
from codestress.paths import MINE, OUTPUTS, STORE, shown
from codestress.pipeline.artefacts import Artefact
from codestress.types import Outcome

from .options import (
    ARTEFACTS,
    AS_JSON,
    PROFILE,
    WHERE,
    Factors,
    Knobs,
    exit_where,
    minutes_option,
    resolved,
    with_knobs,
)

if TYPE_CHECKING:
    from codestress.inference.results import Results
    from codestress.pipeline.builder import Outcome as Built
    from codestress.pipeline.plan import PlanRow

ONE = click.argument("artefact", metavar="PAPER/ARTEFACT")


@click.command()
@ARTEFACTS
@with_knobs
@click.option(
    "--jobs",
    "-j",
    default=os.cpu_count() or 1,
    show_default=True,
    help="Notebooks executed at a time.",
)
@click.option("--force", is_flag=True, help="Build also what is up to date.")
@minutes_option(
    None, "Ask for so long, all artefacts by turns; the figures show what was answered."
)
@AS_JSON
def build(
    artefacts: tuple[str, ...],
    knobs: Knobs,
    jobs: int,
    force: bool,
    minutes: float | None,
    as_json: bool,
) -> None:
    """Executes the notebooks that are out of date, then writes the gallery. Default: all of the profile.

    What --models and --set change lies apart, in outputs/mine."""
    from codestress.inference.budget import minutes_from_now
    from codestress.pipeline.builder import build as build_artefacts

    with minutes_from_now(minutes):
        chosen = resolved(artefacts, knobs, ask=True)
        timeout_s = load_profile(knobs.profile).timeout_s
        outcomes = build_artefacts(chosen, jobs=jobs, force=force, timeout_s=timeout_s)
    states = Counter(sorted(outcome.state for outcome in outcomes))
    indexes = []
    for shelf in dict.fromkeys(artefact.shelf for artefact in chosen):
        index = OUTPUTS / shelf / "index.html"
        if len(states) > 1 or "up to date" not in states or not index.exists():
            from codestress.report.gallery import gallery

            index = gallery(shelf)
        indexes.append(shown(index))
    if as_json:
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        click.echo(f"{_counted(states)}; gallery: {', '.join(indexes)}")
        _tell_outcomes(outcomes)
        by_label = {artefact.label: artefact for artefact in chosen}
        if minutes is not None:
            _tell_questions([by_label[o.name] for o in outcomes if o.state == "built"])
        for outcome in outcomes:
            if outcome.state not in ("failed", "stopped"):
                _tell_changed(by_label[outcome.name])
    # Within minutes a stop is what was asked for; else figures are missing.
    exit_where(states["failed"] or (minutes is None and states["stopped"]))


def _tell_outcomes(outcomes: list[Built]) -> None:
    """Prints, by the builds' `outcomes`, a line for each error that several share, and one for
    each part of a study that could not run here, with the reason and the artefacts that were built
    without it."""
    alike: dict[str, list[Built]] = defaultdict(list)
    without: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        alike[outcome.error].append(outcome)
        for what, why in outcome.not_run.items():
            without[f"{what}: not run here: {why}"].append(outcome.name)
    alike.pop("", None)
    for same in alike.values():
        if len(same) > 1:
            first = same[0]
            reason = f"for one reason, that of {first.name}"
            click.echo(f"{len(same)} × {first.state} {reason}")
    for part, names in without.items():
        click.echo(f"{part} (built without it: {', '.join(names)})")


def _tell_questions(artefacts: list[Artefact]) -> None:
    """Prints, for each model, how many questions of `artefacts` together had each outcome, and the
    most frequent reasons of a model without a right answer, from the manifests in their
    folders; then that a sample judges no claim."""
    from codestress.report.checked import read_manifest
    from codestress.report.summary import added, shortfalls

    manifests = [read_manifest(artefact.folder) for artefact in artefacts]
    for model, counts in added(manifests, "counts").items():
        ordered = _counted(dict(counts.most_common()))
        number = counted(counts.total(), "question")
        click.echo(f"{model}: {number}: {ordered}")
    if sentences := shortfalls(manifests):
        click.echo(printable("\n".join(sentences)))
        click.echo(f"see answers: {artefacts[0].typed('explain')}")
    end = (
        "a sample of minutes judges no claim of the papers; "
        "the same command goes on where it ended"
    )
    click.echo(end)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[name]:,} {name}" for name in counts if counts[name])


def _tell_changed(artefact: Artefact) -> None:
    """Prints what the command line changed in `artefact`, its figure's path, its difference to the
    unchanged artefact, and the command that removes the changed one; nothing without changes."""
    from codestress.report.checked import read_manifest

    if artefact.changed:
        changed = read_manifest(artefact.folder)["changed"]
        click.echo(
            f"{artefact.label}: {changed['told']}\n  figure: {shown(artefact.folder / 'figure.png')}"
        )
        for line in changed.get("difference", []):
            click.echo(f"  {line}")
        click.echo(f"  remove it: {changed['remove']}")


@click.command()
@ARTEFACTS
@with_knobs
@AS_JSON
def plan(artefacts: tuple[str, ...], knobs: Knobs, as_json: bool) -> None:
    """Counts, before any call, requests, stored answers, characters and dollars, per artefact and model.

    Counts of large artefacts are estimates, marked ~, from the prompts of a sample of their problems."""
    from codestress.pipeline.notebooks import tell_ignored_values
    from codestress.pipeline.plan import make_plan

    chosen = resolved(artefacts, knobs)
    tell_ignored_values(chosen)
    rows, errors = make_plan(chosen, STORE)
    for name, error in errors.items():
        click.echo(printable(f"{name}: {error}"), err=True)
    if as_json:
        content = [asdict(row) | {"missing": row.missing} for row in rows]
        click.echo(json.dumps(content, indent=1))
    else:
        _tell_plan(rows)
    exit_where(errors)


TABLE = "{:16} {:28} {:>8} {:>9} {:>9} {:>9} {:>10} {:>15} {:>8}  {}"
"""Format of a row in the table that `plan` prints."""
COUNTS = ("problems", "requests", "answered", "repeated")
"""Columns of this table with exact counts, fields of `PlanRow`."""
LEGEND = """repeated: equal to a request above it; one answer serves both
~: estimated from the prompts of a sample of the problems
dollars: prompts alone, and with every answer as long as it may be, at 4 characters a token"""


def _tell_plan(rows: list[PlanRow]) -> None:
    rest = ("missing", "characters", "minutes", "dollars")
    click.echo(TABLE.format("artefact", "model", *COUNTS, *rest))
    for row in rows:
        about = "~" if row.rendered < 1 else ""
        counts = [f"{getattr(row, name):,}" for name in COUNTS]
        guesses = [f"{about}{row.missing:,}", f"{about}{row.characters:,}"]
        minutes = "" if row.seconds is None else f"{row.seconds / 60:.1f}"
        dollars = "no price" if row.unpriced else ""
        if row.dollars_low is not None:
            dollars = f"{about}{row.dollars_low:.2f} to {row.dollars_high:.2f}"
        cells = [row.artefact, row.model, *counts, *guesses, minutes, dollars]
        click.echo(TABLE.format(*cells).rstrip())
        if row.too_long:
            line = f"{row.artefact}: {row.too_long:,} prompts are longer than the window of {row.model}"
            click.echo(line, err=True)
    total = sum(row.missing for row in rows)
    characters = sum(row.characters for row in rows)
    low = sum(row.dollars_low or 0.0 for row in rows)
    high = sum(row.dollars_high or 0.0 for row in rows)
    asked = f"{total:,} requests to ask at most, {characters:,} characters"
    click.echo(f"{asked}, ${low:.2f} to ${high:.2f}\n{LEGEND}")


@click.command()
@ONE
@with_knobs
@click.option(
    "--limit", default=1, show_default=True, help="Requests to show; 0 for all."
)
@WHERE
@AS_JSON
def show(
    artefact: str, knobs: Knobs, limit: int, where: Factors, as_json: bool
) -> None:
    """Shows the requests exactly as a model would get them, with their factors. Asks nothing."""
    from codestress.pipeline.plan import listed, show_requests

    (chosen,) = resolved((artefact,), knobs)
    requests = itertools.islice(show_requests(chosen, dict(where)), limit or None)
    if as_json:
        click.echo(json.dumps(list(requests), indent=1, ensure_ascii=False))
        return
    key = ""
    for request in requests:
        prompt = request["prompt"]
        key = f"key {request['key']}, sampling {prompt['sampling']}"
        click.echo(f"=== {listed(request['factors'])}\n=== {key}")
        for message in prompt["messages"]:
            click.echo(f"--- {message['role']}\n{message['content']}")
        if prompt["prefill"]:
            click.echo(f"--- prefill\n{prompt['prefill']}")
    if not key:
        click.echo("no request matches", err=True)


@click.command()
@ONE
@with_knobs
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
    artefact: str,
    knobs: Knobs,
    where: Factors,
    outcome: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Shows the answers behind a figure: the prompt, the completion, the answer read from it, and the outcome.

    Takes the figure of --profile, or the one that --models and --set made."""
    from codestress.pipeline.explain import explain as explained

    chosen, results, manifest = _answers(artefact, knobs)
    rule = chosen.parameters.rule
    counts = results.counts(rule)
    now = (results.requests_sha256(), counts)
    if manifest and (manifest.get("requests_sha256"), manifest.get("counts")) != now:
        line = f"{artefact}: the figure has other answers or verdicts"
        click.echo(f"{line}; build it again: {manifest['command']}", err=True)
    answers = explained(results, rule, dict(where), outcome or "")
    rows = list(itertools.islice(answers, limit or None))
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    click.echo(f"{artefact}: {manifest.get('title', chosen.file.title)}")
    if manifest:
        numbers = shown(chosen.folder / "table.csv")
        click.echo(f"  {manifest['alt']}\n  numbers: {numbers}")
        click.echo(f"  again: {manifest['command']}")
    for model, by_outcome in counts.items():
        click.echo(f"  {model}: {_counted(by_outcome)} ({rule})")
    for row in rows:
        _print_answer(row)
    if not rows:
        click.echo("no answer matches", err=True)


def _print_answer(row: dict[str, Any]) -> None:
    from codestress.pipeline.plan import listed

    read, by = row["extracted"] or "nothing", row["answered_by"] or "nobody"
    click.echo(f"\n=== {listed(row['factors'])}")
    click.echo(
        f"=== {listed(row['verdicts'])}; read: {read}; by {by}; key {row['key']}"
    )
    click.echo(f"--- asked, the last message\n{row['prompt']}")
    click.echo(f"--- answered\n{row['text'] or row['error']}")


def _answers(name: str, knobs: Knobs) -> tuple[Artefact, Results, dict[str, Any]]:
    """The artefact that `name` and `knobs` name, with its scored answers, and its manifest, empty
    where it was not built. `ParameterError` where nothing is asked for it."""
    from codestress.pipeline.explain import answers_of
    from codestress.report.checked import read_manifest

    (chosen,) = resolved((name,), knobs)
    built = (chosen.folder / "manifest.json").is_file()
    manifest = read_manifest(chosen.folder) if built else {}
    results = answers_of(chosen, some=bool(manifest.get("not_asked")))
    if results.answers.empty:
        raise ParameterError(
            f"{name}: nothing is asked for it; its numbers are facts, see its notebook"
        )
    return chosen, results, manifest


@click.command()
@PROFILE
def report(profile: str) -> None:
    """Writes the gallery and the claims ledger of a profile anew, from what was built; and those of outputs/mine."""
    from codestress.report.gallery import gallery

    load_profile(profile)
    for shelf in (profile, MINE):
        if shelf == profile or (OUTPUTS / shelf).is_dir():
            click.echo(shown(gallery(shelf)))


@click.command()
@PROFILE
def crate(profile: str) -> None:
    """Describes what was built of a profile as an RO-Crate, for an archive: each file, and of what it was made.

    Needs the package rocrate (the extra `crate`)."""
    from codestress.report.crate import write_crate

    load_profile(profile)
    click.echo(shown(write_crate(profile)))


@click.command()
@click.argument("first")
@click.argument("second")
def diff(first: str, second: str) -> None:
    """Compares two runs: folders, profiles, PROFILE/PAPER/ARTEFACT, PAPER/ARTEFACT@CHANGES. Exit 1 when they differ."""
    from codestress.pipeline.diff import diff as diff_runs, find_run

    lines = diff_runs(find_run(first), find_run(second))
    click.echo("\n".join(lines) or "no difference")
    exit_where(lines)


@click.command()
@PROFILE
def badge(profile: str) -> None:
    """Checks what a committee for artifact evaluation asks and writes outputs/badge.md. Takes
    minutes: it builds a clone."""
    from codestress.pipeline.badge import examine, ready_for, write

    load_profile(profile)
    criteria = []
    for criterion in examine(profile):
        criteria.append(criterion)
        met = "ok " if criterion.met else "NO "
        click.echo(f"{met} {criterion.badge:10} {criterion.what}: {criterion.detail}")
    path = write(criteria)
    click.echo(f"ready to submit for: {ready_for(criteria)}; {shown(path)}")


@click.command()
@click.option(
    "--check", is_flag=True, help="Change nothing; fail when a notebook would change."
)
def sync(check: bool) -> None:
    """Writes the parameters cell of every notebook from its schema, and clears outputs."""
    from codestress.pipeline.notebooks import (
        sync as sync_notebooks,
        tell_ignored_values,
    )

    tell_ignored_values(resolved((), Knobs("demo")))
    changed = sync_notebooks(write=not check)
    state = "differs from its schema; run `codestress sync`" if check else "written"
    for path in changed:
        click.echo(f"{shown(path)}: {state}")
    exit_where(check and changed)
