"""CodeCrash: what became of the perturbations, and of programs that models cleaned up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.inference.run import stored_responses
from codestress.literals import parse_literal, same_value
from codestress.papers.codecrash.perturbations.variants import (
    Checked,
    Variant,
    on_unseen,
    run_calls,
    unseen_differences,
)
from codestress.papers.codecrash.results.conditions import told
from codestress.papers.codecrash.studies import (
    Perturbed,
    checked_problems,
    fenced_program,
    made_variants,
    variants,
    written_by_model,
)
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.executor import Outcome as Ending
from codestress.types import Language

STATUSES = ("applied", "unchanged", "refused", "rejected")


def variant_counts(given: Perturbed) -> pd.DataFrame:
    """Applied, unchanged, refused and rejected variants for each data set and perturbation, and problems left out of
    all.

    Columns: dataset, language, perturbation, density, problems, applied, unchanged, refused, rejected, doubtful (of
    those applied: made although the text does not prove that they mean the same), drawn_again, sites, left_out, reasons
    (of refusals and doubts, counted), why. Applied, unchanged, refused and rejected add up to problems (checked).
    """
    rows = []
    for source, language, perturbation, density, found in made_variants(given):
        usable, faults = checked_problems(source, language, given.n_problems, given.translations, given.seed)
        made = found.values()
        counts = Counter[str](one.status for one in made)
        if sum(counts.values()) != len(usable):
            raise AssertionError(f"{perturbation}: {dict(counts)} of {len(usable)} problems")
        rejected = {name: one.why for name, one in found.items() if one.status == "rejected"}
        refused = [one.why for one in made if one.status == "refused"]
        doubts = Counter([*refused, *(one.doubt for one in made if one.doubt)])
        rows.append(
            {"dataset": source, "language": language, "perturbation": perturbation, "density": density}
            | {"problems": len(usable), **{status: counts[status] for status in STATUSES}}
            | {"doubtful": sum(bool(one.doubt) for one in made), "drawn_again": sum(one.attempts > 1 for one in made)}
            | {"sites": float(np.mean([len(one.sites) for one in made])) if found else 0.0, "left_out": len(faults)}
            | {"reasons": "; ".join(f"{why} ({count})" for why, count in doubts.most_common())}
            | {"why": "; ".join(f"{name}: {why}" for name, why in [*faults.items(), *rejected.items()])[:500]}
        )
    return pd.DataFrame(rows)


def reasons(given: Perturbed) -> pd.DataFrame:
    """Why variants were refused or rejected, or are doubtful: dataset, language, perturbation, status, reason, n."""
    rows: Counter[tuple[str, ...]] = Counter()
    for source, language, perturbation, found in _each(given):
        for one in found.values():
            status = "doubtful" if one.doubt else one.status
            if one.doubt or one.why:  # what a run showed is told in the table of counts
                why = one.doubt or (one.why if status == "refused" else "another outcome")
                rows[source, language, perturbation, status, why] += 1
    columns = ["dataset", "language", "perturbation", "status", "reason"]
    return pd.DataFrame([(*key, n) for key, n in rows.most_common()], columns=[*columns, "n"])


def differing_unseen(given: Perturbed) -> pd.DataFrame:
    """Applied variants that do something else on inputs that validation did not use: dataset, language, perturbation,
    tried (variants with such inputs), differ, share and Wilson's interval (accuracy, low, high), example."""
    rows = []
    with Executor() as executor:

        @cache
        def unseen(source: str, language: Language) -> dict[str, Checked]:
            usable, _ = checked_problems(source, language, given.n_problems, given.translations, given.seed)
            return on_unseen(usable, executor, given.seed)

        for source, language, perturbation, found in _each(given):
            told = unseen_differences(unseen(source, language), found, executor)
            different = [why for why in told.values() if why]
            group = {"dataset": source, "language": language, "perturbation": perturbation}
            rows.append(group | {"tried": len(told), "differ": len(different), "example": "; ".join(different[:1])})
    table = pd.DataFrame(rows)
    return with_accuracy(table[table["tried"] > 0], "differ", "tried")


def _each(given: Perturbed) -> Iterator[tuple[str, Language, str, dict[str, Variant]]]:
    """Each source and perturbation, with its variants at the highest density."""
    highest = given.model_copy(update={"densities": [max(given.densities)]})
    for source, language, perturbation, _, found in made_variants(highest):
        yield source, language, perturbation, found


def describe_variants(table: pd.DataFrame) -> str:
    """The figure in words."""
    counts = ", ".join(f"{{{name}}} {name}" for name in STATUSES)
    form = "{dataset}, {language}, {perturbation}: " + counts
    return told("What became of each perturbation.", table, form)


def unchanged_shares(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the share of programs that stay as they are, and Wilson's interval: share, low, high."""
    return with_accuracy(table[table["problems"] > 0], "unchanged", "problems")


def told_variant(perturbation: str, variant: Variant) -> str:
    """A variant for people."""
    head = f"=== {perturbation}: {variant.status}, {len(variant.sites)} sites {variant.why}{variant.doubt}".rstrip()
    return "\n".join([head, variant.problem.code, f">>> {variant.problem.call}", ""])


def refactored(answers: pd.DataFrame, given: Perturbed) -> pd.DataFrame:
    """Whether the programs that models cleaned up still return the recorded output (section 4.3).

    Columns: model, dataset, language, perturbation, programs (distinct answers), same, different, failed (raised or
    stopped), none (no program in the answer); the last four add up to programs. They run apart.
    """
    by = ["model", "dataset", "language", "perturbation"]
    rows = answers[answers["refactor"]]
    rows = rows.assign(cleaned=[(*earlier, key)[0] for earlier, key in zip(rows["earlier"], rows["key"], strict=True)])
    rows = rows.drop_duplicates([*by, "cleaned"])
    texts = stored_responses(rows["cleaned"]) if len(rows) else {}
    rows = rows[rows["cleaned"].isin(list(texts))]  # but for requests that failed
    kinds: list[str] = []
    waiting: list[tuple[int, Problem]] = []
    for number, row in enumerate(rows.itertuples()):
        found = variants(given, row.dataset, row.language, row.perturbation, row.density or 1.0)
        code = fenced_program(texts[row.cleaned].text)
        kinds.append("failed" if code else "none")
        if code:
            waiting.append((number, written_by_model(found[row.problem].problem, code)))
    with Executor() as executor:
        executions = run_calls([(problem, problem.arguments) for _, problem in waiting], executor)
    for (number, problem), execution in zip(waiting, executions, strict=True):
        if execution.outcome is Ending.RETURNED:
            same = same_value(execution.value, parse_literal(problem.output).value)
            kinds[number] = "same" if same else "different"
    columns = {kind: [one == kind for one in kinds] for kind in ("same", "different", "failed", "none")}
    counted = rows[by].assign(programs=1, **columns)
    return counted.groupby(by, sort=False, as_index=False).sum()
