"""CodeCrash: outcomes of perturbations, and of programs that models cleaned up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.inference.store import stored_responses
from codestress.literals import parse_literal, same_value
from codestress.mutate.perturbations.checking import Checked, run_calls
from codestress.mutate.perturbations.variants import Variant
from codestress.papers.codecrash.results.conditions import spelled
from codestress.papers.codecrash.studies import (
    Perturbed,
    checked_problems,
    made_variants,
    variants,
    written_by_model,
)
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.forms import fenced_program, without_thoughts
from codestress.types import Language

STATUSES = ("applied", "unchanged", "refused", "rejected")


def variant_counts(given: Perturbed) -> pd.DataFrame:
    """Returns the numbers of variants (problems after a perturbation) of the study with the
    parameters `given` by status: a row for each data set, language, perturbation and density.

    Columns: dataset, language, perturbation, density, problems, applied, unchanged, refused,
    rejected, doubtful (applied although a rule refuses), drawn_again (drawn more than once), sites
    (mean number of changed places), left_out (problems that no condition uses), reasons (of
    refusals and doubts, counted), why (of problems left out or rejected, cut to 500 characters).
    Applied, unchanged, refused and rejected add up to problems; else `AssertionError` is raised.
    """
    rows = []
    for source, language, perturbation, density, found in made_variants(given):
        usable, faults = _checked(given, source, language)
        made = found.values()
        counts = Counter[str](one.status for one in made)
        if counts.total() != len(usable):
            raise AssertionError(
                f"{perturbation}: {dict(counts)} of {len(usable)} problems"
            )
        rejected = {
            name: one.why for name, one in found.items() if one.status == "rejected"
        }
        refused = [one.why for one in made if one.status == "refused"]
        doubts = [one.doubt for one in made if one.doubt]
        reasons = Counter(refused + doubts).most_common()
        row: dict[str, object] = {"dataset": source, "language": language}
        row |= {"perturbation": perturbation, "density": density}
        row["problems"] = len(usable)
        row |= {status: counts[status] for status in STATUSES}
        row["doubtful"] = len(doubts)
        row["drawn_again"] = sum(one.attempts > 1 for one in made)
        sites = sum(len(one.sites) for one in made)
        row["sites"] = sites / max(len(made), 1)
        row["left_out"] = len(faults)
        row["reasons"] = "; ".join(f"{why} ({count})" for why, count in reasons)
        row["why"] = "; ".join(
            f"{name}: {why}" for name, why in (faults | rejected).items()
        )[:500]
        rows.append(row)
    return pd.DataFrame(rows)


def _checked(
    given: Perturbed, source: str, language: Language
) -> tuple[list[Checked], dict[str, str]]:
    """Returns the usable problems of a `source` in `language`, and a dict of the others' faults by
    id (`checked_problems`)."""
    return checked_problems(
        source, language, given.n_problems, given.translations, given.seed
    )


def reasons(given: Perturbed) -> pd.DataFrame:
    """Returns the reasons of refused, rejected and doubtful variants (applied although a rule
    refuses) at the highest density in `given`, with counts: dataset, language, perturbation,
    status, reason (`another outcome` for rejected ones), n."""
    rows: Counter[tuple[str, ...]] = Counter()
    for *condition, found in _each(given):
        for one in found.values():
            if one.doubt:
                rows[*condition, "doubtful", one.doubt] += 1
            elif one.why:  # what a run showed is told in the table of counts
                why = one.why if one.status == "refused" else "another outcome"
                rows[*condition, one.status, why] += 1
    columns = ["dataset", "language", "perturbation", "status", "reason", "n"]
    return pd.DataFrame([(*key, n) for key, n in rows.most_common()], columns=columns)


def _each(given: Perturbed) -> Iterator[tuple[str, Language, str, dict[str, Variant]]]:
    """Yields (source, language, perturbation, variants by problem id) for each combination in
    `given`, at the highest of its densities."""
    highest = given.model_copy(update={"densities": [max(given.densities)]})
    for source, language, perturbation, _, found in made_variants(highest):
        yield source, language, perturbation, found


def headline(table: pd.DataFrame) -> str:
    """Returns the title of the figure of `variant_counts`: how many perturbations are applied to
    every program, and which leaves most of them unchanged."""
    rows = table[table["problems"] > 0]
    left = rows["problems"] - rows["applied"]
    whole = left.groupby(rows["perturbation"]).sum() == 0
    title = f"{whole.sum()} of {len(whole)} perturbations are applied to every program"
    shares = (rows["unchanged"] / rows["problems"]).groupby(rows["perturbation"]).max()
    if not shares.max() > 0:
        return title
    return f"{title}; {spelled(shares.idxmax())} leave up to {100 * shares.max():.0f} % as they are"


def unchanged_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the table of `variant_counts` with the columns accuracy (share of unchanged programs,
    0 to 1), low, high (Wilson, 95 %); rows without problems are left out."""
    return with_accuracy(table[table["problems"] > 0], "unchanged", "problems")


def told_variant(perturbation: str, variant: Variant) -> str:
    """Returns a text to read about a `variant` under the perturbation named `perturbation`: this
    name, status, number of changed places, reason of a refusal, rejection or doubt, program and
    call."""
    head = f"=== {perturbation}: {variant.status}, {len(variant.sites)} sites {variant.why}{variant.doubt}".rstrip()
    return "\n".join([head, variant.problem.code, f">>> {variant.problem.call}", ""])


def refactored(answers: pd.DataFrame, given: Perturbed) -> pd.DataFrame:
    """Returns counts of the programs that models cleaned up, by whether they still return the
    recorded output (section 4.3). The programs run in the sandbox. `answers` are those to the
    trials of `given`; failed requests are left out.

    Columns: model, dataset, language, perturbation, programs (distinct responses), same, different,
    failed (raised or stopped), none (no program in the response); the last four add up to programs.
    """
    by = ["model", "dataset", "language", "perturbation"]
    rows = answers[answers["refactor"]]
    cleaned = [
        (*earlier, key)[0]
        for earlier, key in zip(rows["earlier"], rows["key"], strict=True)
    ]
    rows = rows.assign(cleaned=cleaned).drop_duplicates([*by, "cleaned"])
    texts = stored_responses(rows["cleaned"]) if len(rows) else {}
    rows = rows[rows["cleaned"].isin(list(texts))]  # but for requests that failed
    kinds: list[str] = []
    waiting: dict[int, Problem] = {}
    for number, row in enumerate(rows.itertuples()):
        found = variants(
            given, row.dataset, row.language, row.perturbation, row.density or 1.0
        )
        problem = found[row.problem].problem
        code = fenced_program(
            without_thoughts(texts[row.cleaned].text), problem.function
        )
        kinds.append("failed" if code else "none")
        if code:
            waiting[number] = written_by_model(problem, code)
    with Executor() as executor:
        calls = [(problem, problem.arguments) for problem in waiting.values()]
        executions = run_calls(calls, executor)
    for (number, problem), execution in zip(waiting.items(), executions, strict=True):
        if execution.outcome is Ending.RETURNED:
            same = same_value(execution.value, parse_literal(problem.output).value)
            kinds[number] = "same" if same else "different"
    counted = rows[by].assign(programs=1)
    for kind in ("same", "different", "failed", "none"):
        counted[kind] = [one == kind for one in kinds]
    return counted.groupby(by, sort=False, as_index=False).sum()
