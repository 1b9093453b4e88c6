"""Artefacts: what would be asked, building them, what came of them."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from codestress.cli.options import ARTEFACTS, AS_JSON, PROFILE, Knobs, exit_where, resolved, where_of, with_knobs
from codestress.errors import IncompleteError, ParameterError
from codestress.literals import printable
from codestress.paths import MINE, OUTPUTS, STORE, shown

if TYPE_CHECKING:
    from codestress.pipeline.artefacts import Artefact
    from codestress.pipeline.builder import Outcome
    from codestress.pipeline.plan import PlanRow

ONE = click.argument("artefact", metavar="[PROFILE/]PAPER/ARTEFACT[@CHANGES]")


@click.command()
@ARTEFACTS
@with_knobs
@click.option("--jobs", "-j", default=os.cpu_count() or 1, show_default=True, help="Notebooks executed at a time.")
@click.option("--force", is_flag=True, help="Build also what is up to date.")
@AS_JSON
def build(artefacts: tuple[str, ...], knobs: Knobs, jobs: int, force: bool, as_json: bool) -> None:
    """Executes the notebooks that are out of date, then writes the gallery. Default: all of the profile.

    What --models and --set change lies apart, in outputs/mine."""
    from codestress.pipeline.artefacts import load_profile
    from codestress.pipeline.builder import build as build_artefacts

    chosen = resolved(artefacts, knobs, ask=True)
    outcomes = build_artefacts(chosen, jobs=jobs, force=force, timeout_s=load_profile(knobs.profile).timeout_s)
    by_label = {artefact.label: artefact for artefact in chosen}
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    indexes = []
    for shelf in dict.fromkeys(artefact.shelf for artefact in chosen):
        index = OUTPUTS / shelf / "index.html"
        ended = {outcome.state for outcome in outcomes if by_label[outcome.name].shelf == shelf}
        if ended != {"up to date"} or not index.exists():
            from codestress.report.gallery import gallery

            index = gallery(shelf)
        indexes.append(shown(index))
    if as_json:
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        states = [outcome.state for outcome in outcomes]
        told = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))
        click.echo(f"{told}; gallery: {', '.join(indexes)}")
        _tell_not_run(outcomes)
        for outcome in outcomes:
            artefact = by_label[outcome.name]
            if outcome.state != "failed" and (artefact.changed or artefact.name in artefacts):
                _tell_changed(artefact)
                if artefact.name in artefacts:
                    from codestress.report.claims import read_claims  # half a second, and not always needed

                    for claim in read_claims(artefact.folder / "claims.csv"):
                        click.echo(f"  {claim}")
    exit_where(failed)


def _tell_not_run(outcomes: list[Outcome]) -> None:
    """One line for each thing that is missing here, with the artefacts that were built without it."""
    without: dict[str, list[str]] = {}
    for outcome in outcomes:
        for what, why in outcome.not_run.items():
            without.setdefault(f"{what}: not run here: {why}", []).append(outcome.name)
    for told, names in without.items():
        click.echo(f"{told} (built without it: {', '.join(names)})")


def _tell_changed(artefact: Artefact) -> None:
    """What the command line changed, where it lies, how it differs from the unchanged one, how to remove it."""
    from codestress.report.checked import read_manifest

    changed = read_manifest(artefact.folder)["changed"]
    if changed:
        click.echo(f"{artefact.label}: {changed['told']}\n  figure: {shown(artefact.folder / 'figure.png')}")
        for line in changed["difference"]:
            click.echo(f"  {line}")
        click.echo(f"  remove it: {changed['remove']}")


@click.command()
@ARTEFACTS
@with_knobs
@AS_JSON
def plan(artefacts: tuple[str, ...], knobs: Knobs, as_json: bool) -> None:
    """Before any call: requests, how many are answered already, characters and dollars, per artefact and model."""
    from codestress.pipeline.plan import make_plan

    rows, errors = make_plan(resolved(artefacts, knobs), STORE)
    for name, error in errors.items():
        click.echo(printable(f"{name}: {error}"), err=True)
    if as_json:
        click.echo(json.dumps([asdict(row) | {"missing": row.missing} for row in rows], indent=1))
    else:
        _tell_plan(rows)
    exit_where(errors)


def _tell_plan(rows: list[PlanRow]) -> None:
    click.echo(
        f"{'artefact':16} {'model':28} {'problems':>8} {'requests':>9} {'answered':>9} {'to ask':>9} "
        f"{'characters':>13} {'minutes':>8}  dollars"
    )
    for row in rows:
        dollars = "" if row.dollars_low is None else f"{row.dollars_low:.2f} to {row.dollars_high:.2f}"
        minutes = "" if row.seconds is None else f"{row.seconds / 60:.1f}"
        click.echo(
            f"{row.artefact:16} {row.model:28} {row.problems:>8,} {row.requests:>9,} {row.answered:>9,} "
            f"{row.missing:>9,} {row.characters:>13,} {minutes:>8}  {dollars}".rstrip()
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


@click.command()
@ONE
@with_knobs
@click.option("--limit", default=1, show_default=True, help="Requests to show; 0 for all.")
@click.option("--where", multiple=True, metavar="FACTOR=VALUE", help="Only trials with this factor, e.g. d=15.")
@AS_JSON
def show(artefact: str, knobs: Knobs, limit: int, where: tuple[str, ...], as_json: bool) -> None:
    """The requests exactly as a model would get them, with their factors. Nothing is asked.

    Of PROFILE/PAPER/ARTEFACT and PAPER/ARTEFACT@CHANGES, those of which the figure was made."""
    from codestress.pipeline.artefacts import built, folder_of
    from codestress.pipeline.plan import show_requests

    factors = where_of(where)
    folder = folder_of(artefact)
    (chosen,) = [built(folder)[0]] if folder else resolved((artefact,), knobs)
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


@click.command()
@ONE
@with_knobs
@click.option(
    "--where", multiple=True, metavar="FACTOR=VALUE", help="Only answers with this factor, e.g. model=sim-near."
)
@click.option("--outcome", "--reason", "outcome", default="", help="Only answers with this outcome, e.g. incorrect.")
@click.option("--limit", default=3, show_default=True, help="Answers to show; 0 for all.")
@AS_JSON
def explain(artefact: str, knobs: Knobs, where: tuple[str, ...], outcome: str, limit: int, as_json: bool) -> None:
    """From a figure back to its answers: what was asked, what came, what was read out of it, and the verdict.

    The figure as it was built, of --profile, of --models and --set, or PAPER/ARTEFACT@CHANGES."""
    from codestress.pipeline.artefacts import built, folder_of
    from codestress.pipeline.explain import answers_of
    from codestress.pipeline.explain import explain as explained
    from codestress.types import Outcome
    from codestress.validation import nearest

    outcome = next((one.value for one in Outcome if outcome == one.code), outcome)
    if outcome and outcome not in (outcomes := [one.value for one in Outcome]):
        raise ParameterError(f"--outcome {outcome!r}: no such outcome{nearest(outcome, outcomes)}")
    folder = folder_of(artefact)
    manifest: dict[str, Any] = {}
    if folder is None:
        (chosen,) = resolved((artefact,), knobs)
        folder = chosen.folder
    if (folder / "manifest.json").is_file():
        chosen, manifest = built(folder)
    try:
        results = answers_of(chosen)
    except IncompleteError as error:
        by = f"\nIts parameters are those in {shown(folder / 'manifest.json')}." if manifest else ""
        raise IncompleteError(f"{error}{by}") from None
    if not results.answers:
        raise ParameterError(f"{artefact}: nothing is asked for it; its numbers are facts, see its notebook")
    rules = results.answers[0].scores
    rule = manifest["rule"] if manifest.get("rule") in rules else next(iter(rules))
    now = (results.requests_sha256(), results.counts(rule))
    if manifest and (manifest.get("requests_sha256"), manifest.get("counts")) != now:
        click.echo(
            f"{artefact}: the figure has other answers or verdicts: code, models or answers have changed since; build "
            f"it again: {manifest['command']}",
            err=True,
        )
    found = explained(chosen, results, rule, where_of(where), outcome)
    rows = list(itertools.islice(found, limit or None))
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
        return
    click.echo(f"{artefact}: {manifest.get('title', chosen.title)}")
    if manifest:
        click.echo(f"  {manifest['alt']}\n  numbers: {shown(folder / 'table.csv')}\n  again: {manifest['command']}")
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


@click.command()
@PROFILE
def report(profile: str) -> None:
    """Writes the gallery and the claims ledger of a profile anew, from what was built; and those of outputs/mine."""
    from codestress.pipeline.artefacts import load_profile
    from codestress.report.gallery import gallery

    load_profile(profile)
    for shelf in (profile, MINE):
        if shelf == profile or (OUTPUTS / shelf).is_dir():
            click.echo(shown(gallery(shelf)))


@click.command()
@click.argument("first")
@click.argument("second")
@AS_JSON
def diff(first: str, second: str, as_json: bool) -> None:
    """Compares two runs: folders, profiles, PROFILE/PAPER/ARTEFACT, PAPER/ARTEFACT@CHANGES. Exit 1 when they differ."""
    from codestress.pipeline.diff import diff as diff_runs
    from codestress.pipeline.diff import find_run

    lines = diff_runs(find_run(first), find_run(second))
    click.echo(json.dumps(lines, indent=1) if as_json else "\n".join(lines) or "no difference")
    exit_where(lines)


@click.command()
@PROFILE
@click.option(
    "--clone-profile", default="smoke", show_default=True, help="What a clean clone builds without a network."
)
@AS_JSON
def badge(profile: str, clone_profile: str, as_json: bool) -> None:
    """What a committee for artifact evaluation asks, checked; writes outputs/badge.md. Minutes: it builds a clone."""
    from codestress.pipeline.artefacts import load_profile
    from codestress.pipeline.badge import examine as criteria_of
    from codestress.pipeline.badge import ready_for, write

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


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; fail when a notebook would change.")
def sync(check: bool) -> None:
    """Writes the parameters cell of every notebook from its schema, and clears outputs."""
    from codestress.pipeline.notebooks import sync as sync_notebooks

    changed = sync_notebooks(write=not check)
    for path in changed:
        click.echo(f"{shown(path)}: {'differs from its schema; run `codestress sync`' if check else 'written'}")
    exit_where(check and changed)
