"""Commands that build artefacts (figures and tables), and commands on built artefacts:
report, describe, compare, check."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from codestress.artefact_files import load_profile
from codestress.literals import counted
from codestress.paths import MINE, OUTPUTS, shown
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.options import (
    AS_JSON,
    PROFILE,
    Choice,
    exit_where,
    minutes_of,
    on_artefacts,
    print_json,
)
from codestress.report.checked import read_manifest, sealed

from .questions import in_words

if TYPE_CHECKING:
    from codestress.pipeline.queue import Outcome as Built


@click.command()
@on_artefacts
@click.option(
    "--jobs",
    "-j",
    default=os.cpu_count() or 1,
    show_default=True,
    help="Notebooks executed at a time.",
)
@click.option("--force", is_flag=True, help="Build also what is up to date.")
@click.option(
    "--minutes",
    type=minutes_of,
    metavar="FLOAT",
    help="Ask for so long, all artefacts by turns; the figures show what was answered.",
)
@AS_JSON
def build(
    choice: Choice,
    jobs: int,
    force: bool,
    minutes: float | None,
    as_json: bool,
) -> None:
    """Execute the notebooks that are out of date, then write the gallery. Default: all artefacts of the profile.

    Artefacts that --models or --set changes are written to outputs/mine.
    """
    from codestress.inference.budget import minutes_from_now
    from codestress.pipeline.builder import build as build_artefacts

    with minutes_from_now(minutes):
        chosen = choice.resolved(ask=True)
        timeout_s = load_profile(choice.profile).timeout_s
        outcomes = build_artefacts(chosen, jobs=jobs, force=force, timeout_s=timeout_s)
    states = Counter(sorted(outcome.state for outcome in outcomes))
    indexes = []
    for shelf in dict.fromkeys(artefact.shelf for artefact in chosen):
        if not sealed(shelf):
            from codestress.report.gallery import gallery

            gallery(shelf)
        indexes.append(shown(OUTPUTS / shelf / "index.html"))
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        click.echo(f"{in_words(states)}; gallery: {', '.join(indexes)}")
        _tell_outcomes(outcomes)
        by_label = {artefact.label: artefact for artefact in chosen}
        if minutes is not None:
            _tell_questions([by_label[o.name] for o in outcomes if o.state == "built"])
        for outcome in outcomes:
            if outcome.state not in ("failed", "stopped"):
                _tell_changed(by_label[outcome.name])
    # With --minutes a stop is expected; without it, a stop means missing figures.
    exit_where(states["failed"] or (minutes is None and states["stopped"]))


def _tell_outcomes(outcomes: list[Built]) -> None:
    """Print a line for each error that several of the `outcomes` share, and a line for
    each part of a study that could not run here.

    The second kind of line has the reason and the artefacts that were built without the
    part.
    """
    alike: dict[str, list[Built]] = defaultdict(list)
    without: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        alike[outcome.error].append(outcome)
        for what, why in outcome.not_run.items():
            without[f"{what}: not run here: {why}"].append(outcome.name)
    for error, same in alike.items():
        if error and len(same) > 1:
            first = same[0]
            what = f"{len(same)} × {first.state}"
            click.echo(f"{what} for one reason, that of {first.name}")
    for part, names in without.items():
        click.echo(f"{part} (built without it: {', '.join(names)})")


def _tell_questions(artefacts: list[Artefact]) -> None:
    """Print, for each model, how many questions of `artefacts` together had each
    outcome, then a note that so small a sample judges no claim.

    For a model without a correct answer, the most frequent reasons are printed too. The
    numbers are from the manifests in the artefacts' folders.
    """
    from codestress.report.summary import added, shortfalls

    manifests = [read_manifest(artefact.folder) for artefact in artefacts]
    for model, counts in added(manifests, "counts").items():
        ordered = in_words(dict(counts.most_common()))
        number = counted(counts.total(), "question")
        click.echo(f"{model}: {number}: {ordered}")
    if sentences := shortfalls(manifests):
        click.echo("\n".join(sentences))
        click.echo(f"see answers: {artefacts[0].typed('explain')}")
    click.echo(
        "a sample of minutes judges no claim of the papers; "
        "the same command goes on where it ended"
    )


def _tell_changed(artefact: Artefact) -> None:
    """Print what the command line changed in `artefact`; nothing without changes.

    The lines have the changes, the figure's path, the difference to the unchanged
    artefact, and the command that removes the changed artefact.
    """
    if artefact.changed:
        changed = read_manifest(artefact.folder)["changed"]
        figure = shown(artefact.folder / "figure.png")
        click.echo(f"{artefact.label}: {changed['told']}\n  figure: {figure}")
        for line in changed.get("difference", []):
            click.echo(f"  {line}")
        click.echo(f"  remove it: {changed['remove']}")


@click.command()
@PROFILE
def report(profile: str) -> None:
    """Write the gallery and the claims ledger of a profile again, from built artefacts.

    The gallery and the ledger of outputs/mine are written too, if that folder exists.
    """
    from codestress.report.gallery import gallery

    load_profile(profile)
    for shelf in (profile, MINE):
        if shelf == profile or (OUTPUTS / shelf).is_dir():
            click.echo(shown(gallery(shelf)))


@click.command()
@PROFILE
def crate(profile: str) -> None:
    """Describe the built artefacts of a profile as an RO-Crate, for an archive: each
    file and its sources.

    Needs the package rocrate (the extra `crate`).
    """
    from codestress.report.crate import write_crate

    load_profile(profile)
    click.echo(shown(write_crate(profile)))


@click.command()
@click.argument("first")
@click.argument("second")
def diff(first: str, second: str) -> None:
    """Compare two runs: folders, profiles, PROFILE/PAPER/ARTEFACT, or
    PAPER/ARTEFACT@CHANGES.

    Exit status 1 if they differ.
    """
    from codestress.pipeline.diff import diff as diff_runs, find_run

    lines = diff_runs(find_run(first), find_run(second))
    click.echo("\n".join(lines) or "no difference")
    exit_where(lines)


@click.command()
@PROFILE
def badge(profile: str) -> None:
    """Check the criteria of artifact evaluation and write outputs/badge.md. The check
    takes minutes, because a clone is built."""
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
    """Write each notebook's parameters cell from its schema, and clear its outputs."""
    from codestress.pipeline.notebooks import (
        sync as sync_notebooks,
        tell_ignored_values,
    )

    tell_ignored_values(Choice().resolved())
    changed = sync_notebooks(write=not check)
    state = "differs from its schema; run `codestress sync`" if check else "written"
    for path in changed:
        click.echo(f"{shown(path)}: {state}")
    exit_where(check and changed)
