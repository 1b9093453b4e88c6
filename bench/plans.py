"""Writes params/plans.csv, the counts of the paper profile's plans: `python bench/plans.py [ARTEFACT …]`.

Prompts of large artefacts are rendered for a sample of their problems, as `codestress plan` does. An artefact whose
data sets are not at hand (CODESTRESS_DATA names a folder that has them) keeps its rows, or has none: the report says
that its price is unknown. Three parts are estimates, and say so in their rows. Of CRUXEval, CodeCrash's variants are
made of the first 100 programs only. LiveCodeBench's programs are not at hand: its number of samples is published, and
their prompts, JavaScript ones too, are taken to be as long as those of the kit's own contest programs in Python. Fault
Localizability asks again only where a model found the fault: taken to be as often as in its Table II.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.artefact_files import load_profile
from codestress.errors import CodestressError
from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Overrides, resolve, select
from codestress.pipeline.plan import PlanRow, make_plan
from codestress.report.published import read_published
from codestress.report.summary import PLAN_COLUMNS, PLANS, plans

Row = tuple[str, str, str, str, int, int, int]
"""Values of the columns `PLAN_COLUMNS`."""
STAND_IN = {"livecodebench": "contest"}
PROGRAMS = 100
"""Programs of CRUXEval from which CodeCrash's variants are made for a plan: all 800 take an hour."""


def planned(artefact: str, *settings: str) -> list[PlanRow]:
    """What an empty store would lack; `CodestressError` where it cannot be counted."""
    with tempfile.TemporaryDirectory() as folder:
        found = resolve(
            [artefact], "paper", Overrides(settings=settings), load_registry()
        )
        rows, errors, _ = make_plan(found, Path(folder) / "empty.sqlite")
    if errors:
        raise CodestressError(errors[artefact])
    return [row for row in rows if row.missing]


def row_of(
    row: PlanRow, part: str, basis: str, requests: float, times: float = 1.0
) -> Row:
    """`requests` of a plan's, as long as all of them are on average."""
    if not basis and row.rendered < 1:
        basis = "estimated: sizes from the prompts of a sample of problems"
    share = times * requests / row.missing
    sizes = (
        round(times * requests),
        round(share * row.characters),
        round(share * row.longest),
    )
    return (row.artefact, row.model, part, basis, *sizes)


def by_data_set(
    artefact: str, problems: list[str], languages: int, programs: int = PROGRAMS
) -> list[Row]:
    """Return the rows of an artefact of CodeCrash, whose data sets can be asked apart."""
    rows = []
    for source in problems:
        stand_in = STAND_IN.get(source, source)
        # Hints of the kit are as long as a model's.
        settings = [
            f"problems=[{stand_in}]",
            f"n_problems={programs}",
            "hints=generated",
        ]
        if source != stand_in:
            # A program is as long in each language.
            settings += ["languages=[python]", 'translations=""']
        samples = read_published("codecrash")["problems"][source]
        for row in planned(artefact, *settings):
            if source == stand_in:
                basis = f"estimated: from {row.problems} of {samples} programs"
                rows.append(
                    row_of(row, source, basis, row.missing, samples / row.problems)
                )
            else:
                basis = f"estimated: {samples} samples, as long as the kit's own contest programs in Python"
                rows.append(
                    row_of(
                        row,
                        source,
                        basis,
                        row.missing,
                        languages * samples / row.problems,
                    )
                )
    return rows


def found_again(artefact: str, *settings: str) -> list[Row]:
    """Return the rows of an artefact of Fault Localizability: every fault once, and each again where it was found."""
    published = read_published("faultloc")
    labels = {model: label for label, model in published["models"].items()}
    rows = []
    for row in planned(artefact, *settings):
        rows.append(row_of(row, "", "", row.missing - row.later))
        if row.later:
            share = found_share(published["tab02"], labels[row.model])
            basis = "estimated: asked where the model found the fault, taken to be as often as in Table II"
            rows.append(row_of(row, "", basis, row.later, share))
    return rows


def found_share(table: dict[str, Any], label: str) -> float:
    """Return the share of its tasks that a model localized in Table II, 0 to 1."""
    column = table["columns"].index(label)
    found = tasks = 0.0
    for language, faults in table["values"].items():
        for fault, percentages in faults.items():
            denominator = table["denominators"][language][fault]
            found += percentages[column] / 100 * denominator
            tasks += denominator
    return found / tasks


def counted(artefact: str, parameters: dict[str, Any]) -> list[Row]:
    """The rows of an artefact."""
    paper = artefact.partition("/")[0]
    if paper == "codecrash" and "problems" in parameters:
        return by_data_set(
            artefact, parameters["problems"], len(parameters["languages"])
        )
    if paper == "faultloc":
        return found_again(artefact)
    return [row_of(row, "", "", row.missing) for row in planned(artefact)]


def main() -> None:
    registry = load_registry()
    for name in select(sys.argv[1:], load_profile("paper")):
        (artefact,) = resolve([name], "paper", Overrides(), registry)
        try:
            rows = counted(name, artefact.parameters.model_dump())
        except CodestressError as error:
            print(f"{name}: {str(error).splitlines()[0]}", flush=True)
            continue
        # Read anew: another process may count another paper meanwhile.
        known = plans.__wrapped__()
        added = pd.DataFrame(rows, columns=PLAN_COLUMNS)
        table = pd.concat([known[known["artefact"] != name], added])
        table.sort_values(["artefact", "model", "part", "basis"]).to_csv(
            PLANS, index=False
        )
        print(f"{name}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
