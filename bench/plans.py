"""Writes params/plans.csv, what the paper profile's plans count: `python bench/plans.py [ARTEFACT …]`.

An artefact whose data sets are not at hand (CODESTRESS_DATA names a folder that has them) keeps its rows, or has none:
the report says that its price is unknown. Two parts cannot be counted, and say so in their rows. LiveCodeBench's
programs are not at hand: its number of samples is published, and their prompts, JavaScript ones too, are taken to be as
long as those of the kit's own contest programs in Python. Fault Localizability asks again only where a model found the
fault: taken to be as often as in its Table II.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.errors import CodestressError
from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Overrides, load_profile, resolve, select
from codestress.pipeline.plan import PlanRow, make_plan
from codestress.report.published import read_published
from codestress.report.summary import PLAN_COLUMNS, PLANS, plans

Row = tuple[str, str, str, str, int, int, int]
"""As `PLAN_COLUMNS`."""
STAND_IN = {"livecodebench": "contest"}


def planned(artefact: str, *settings: str) -> list[PlanRow]:
    """What an empty store would lack; `CodestressError` where it cannot be counted."""
    with tempfile.TemporaryDirectory() as folder:
        found = resolve([artefact], "paper", Overrides(settings=settings), load_registry())
        rows, errors = make_plan(found, Path(folder) / "empty.sqlite")
    if errors:
        raise CodestressError(errors[artefact])
    return [row for row in rows if row.missing]


def row_of(row: PlanRow, part: str, basis: str, requests: float, times: float = 1.0) -> Row:
    """`requests` of a plan's, as long as all of them are on average."""
    share = times * requests / row.missing
    sizes = (round(times * requests), round(share * row.characters), round(share * row.longest))
    return (row.artefact, row.model, part, basis, *sizes)


def by_data_set(artefact: str, problems: list[str], languages: int) -> list[Row]:
    """Of CodeCrash, whose questions can be asked of one data set alone; a program is as long in each language."""
    found = []
    for source in problems:
        stand_in = STAND_IN.get(source, source)
        settings = [f"problems=[{stand_in}]"]
        if source != stand_in:
            settings += ["languages=[python]", 'translations=""']
        samples = read_published("codecrash")["problems"][source]
        for row in planned(artefact, *settings):
            if source == stand_in:
                found.append(row_of(row, source, "", row.missing))
            else:
                told = f"estimated: {samples} samples, as long as the kit's own contest programs in Python"
                found.append(row_of(row, source, told, row.missing, languages * samples / row.problems))
    return found


def found_again(artefact: str) -> list[Row]:
    """Of Fault Localizability: every fault once, and what was found again under mutations."""
    published, found = read_published("faultloc"), []
    table = published["tab02"]
    labels = {model: label for label, model in published["models"].items()}
    for row in planned(artefact):
        found.append(row_of(row, "", "", row.missing - row.later))
        if row.later:
            column = table["columns"].index(labels[row.model])
            cells = [
                (values[column], table["denominators"][language][fault])
                for language, faults in table["values"].items()
                for fault, values in faults.items()
            ]
            share = sum(value * of for value, of in cells) / sum(of for _, of in cells) / 100
            told = "estimated: asked where the model found the fault, taken to be as often as in Table II"
            found.append(row_of(row, "", told, row.later, share))
    return found


def counted(artefact: str, parameters: dict[str, Any]) -> list[Row]:
    """The rows of an artefact."""
    paper = artefact.partition("/")[0]
    if paper == "codecrash" and "problems" in parameters:
        return by_data_set(artefact, parameters["problems"], len(parameters["languages"]))
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
        known = pd.DataFrame(
            plans.__wrapped__(), columns=PLAN_COLUMNS
        )  # as it is now: somebody may count another paper
        known = pd.concat([known[known["artefact"] != name], pd.DataFrame(rows, columns=PLAN_COLUMNS)])
        known.sort_values(["artefact", "model", "part", "basis"]).to_csv(PLANS, index=False)
        print(f"{name}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
