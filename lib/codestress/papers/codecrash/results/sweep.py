"""CodeCrash: Pass@1 and lengths of responses at each density of misleading messages
(Figure 4, Table 6)."""

import itertools
from collections.abc import Sequence

import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.mutate.perturbations.kinds import MESSAGES

from .conditions import CELL, cells, drawn_points, spelled
from .differences import (
    NUMBERS,
    PAIRED,
    condition_means,
    estimate_row,
)
from .leaderboard import published_differences, registry_names


def by_density(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Return the result of `condition_means` for each model, setting, perturbation and
    density; density 0 is vanilla, repeated for each perturbation with messages.

    Tokens are lengths of whole responses, including reasoning, as the server counts
    them; nan without its counts. `rule` is the scoring rule. Raises `ParameterError` if no
    perturbed answer can be paired with a vanilla one.
    """
    table = condition_means(
        answers, "completion_tokens", rule=rule, confidence=confidence
    )
    vanilla = table["perturbation"] == "VAN"
    parts = [table[~vanilla]]
    for name in MESSAGES:
        if name in set(table["perturbation"]):
            parts.append(table[vanilla].assign(perturbation=name))
    return pd.concat(parts).sort_values(CELL, kind="stable", ignore_index=True)


SMALL = {
    "7 and 8 billion": ["llama-3.1-8b", "qwen2.5-7b"],
    "7 to 14 billion": ["llama-3.1-8b", "qwen2.5-7b", "qwen2.5-14b"],
}
"""Dict from the reading of "small" (in numbers of model parameters) to the registry
names of the open models that count as small. Sections 3.3 and 4.1 do not name the small
models."""
LARGER = [
    "llama-3.1-70b",
    "llama-3.1-405b",
    "llama-3.3-70b",
    "qwen2.5-32b",
    "qwen2.5-72b",
    "qwen2.5-coder-32b",
]
"""Registry names of open models of the same two families that are larger than those in
`SMALL`."""


def density_orders(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return the differences between density 1 and vanilla programs (section 4.1), paired by
    problem: additional tokens, and the additional loss of small open models.

    The column number is `tokens` for additional tokens, or `small - larger`: how much more of their
    vanilla score small open models lose than larger ones, in percentage points. Further columns:
    model (`open` for several), dataset, mode, perturbation, reading (key of `SMALL`: the models
    that count as small; empty for tokens), value, low, high (interval at `confidence`, over
    questions), questions (clusters of problems), independent. `rule` is the scoring rule.
    """
    keys = [*PAIRED, "question"]
    tokens = answers["completion_tokens"].astype(float)
    by = [*keys, "perturbation", "density"]
    groups = answers.assign(tokens=tokens).groupby(by, as_index=False)
    means = groups.agg(score=(f"value_{rule}", "mean"), tokens=("tokens", "mean"))
    vanilla = means.query("perturbation == 'VAN'")
    most = means.query("density == 1 and perturbation in @MESSAGES")
    pairs = most.merge(vanilla, on=keys, suffixes=("", "_before"))
    rows = []
    condition = ["dataset", "mode", "perturbation"]
    for row, part in cells(pairs, condition):
        row |= {"number": "tokens", "reading": ""}
        kept = {}
        for model, own in part.set_index("question").groupby("model"):
            kept[model] = share(own["score"], own["score_before"])
            more = own["tokens"] - own["tokens_before"]
            row["model"] = model
            rows.append(row | estimate_row(share(more.dropna()), part, confidence))
        row |= {"number": "small - larger", "model": "open"}
        for reading, small in SMALL.items():
            if {*small, *LARGER} <= {*kept}:
                row["reading"] = reading
                larger = mean([kept[name] for name in LARGER])
                smaller = mean([kept[name] for name in small])
                loss = (larger - smaller) * 100
                rows.append(row | estimate_row(loss, part, confidence))
    columns = ["number", "model", *condition, "reading", *NUMBERS]
    return pd.DataFrame(rows, columns=columns)


def swept_models() -> pd.DataFrame:
    """Return the models of Figure 4, a row for each model and kind of message (MCC,
    MPS). Columns: label (the paper's name), model (the registry's name), perturbation.
    """
    labels = [*published_differences()["label"].unique(), "QwQ-32B"]
    rows = itertools.product(labels, ["MCC", "MPS"])
    table = pd.DataFrame(rows, columns=["label", "perturbation"])
    return table.assign(model=registry_names(table["label"]))


def density_points(table: pd.DataFrame, numbers: Sequence[str]) -> pd.DataFrame:
    """Return the points to draw (`drawn_points`, at each density) from the columns
    `numbers` of `table`, the result of `by_density`. Each kind of message has its
    panels."""
    messages = table["perturbation"].map(lambda name: spelled(name, code=True))
    asked = table["perturbation"].where(table["density"] > 0, "VAN")
    points = drawn_points(table.assign(perturbation=asked), numbers, "density")
    points["panel"] = messages + ", " + points["panel"]
    return points
