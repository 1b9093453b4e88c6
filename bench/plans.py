"""Writes params/plans.csv, what the paper profile's plans count: `python bench/plans.py [ARTEFACT …]`.

Counts of questions are exact; lengths are those of up to 100 prompts, evenly spaced, times that count. An artefact
whose data sets are not at hand keeps its rows, or has none: the report says that its price is unknown.
"""

from __future__ import annotations

import sys

import pandas as pd

from codestress.errors import CodestressError
from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Artefact, Overrides, load_profile, resolve, select
from codestress.report.prices import COLUMNS, PLANS, plans

SAMPLE = 100


def counted(artefact: Artefact) -> list[tuple[str, str, int, int, int]]:
    trials = artefact.trials()
    rows = []
    for entry in artefact.models:
        own = trials.of(entry.name)
        requests = sum(own.steps(trial) for trial in own.items)
        if requests:
            chosen = [(own.render(trial), own.steps(trial)) for trial in own.items[:: -(-len(own.items) // SAMPLE)]]
            steps = sum(count for _, count in chosen)
            characters = sum(count * prompt.characters for prompt, count in chosen) / steps
            longest = sum(count * prompt.sampling.max_tokens for prompt, count in chosen) / steps
            rows.append((artefact.name, entry.name, requests, round(requests * characters), round(requests * longest)))
    return rows


def main() -> None:
    registry, known = load_registry(), plans()
    for name in select(sys.argv[1:], load_profile("paper")):
        (artefact,) = resolve([name], "paper", Overrides(), registry)
        try:
            rows = counted(artefact)
        except CodestressError as error:
            print(f"{name}: {str(error).splitlines()[0]}", flush=True)
            continue
        known = pd.concat([known[known["artefact"] != name], pd.DataFrame(rows, columns=COLUMNS)])
        known.sort_values(["artefact", "model"]).to_csv(PLANS, index=False)
        print(f"{name}: {len(rows)} models", flush=True)


if __name__ == "__main__":
    main()
