"""Tables of Fault Localizability: accuracy on localized faults after mutations of the
program."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import UNKNOWN, paired_difference
from codestress.mutate.faults.kinds import CONTROLS
from codestress.report.curves import MEAN
from codestress.report.marks import with_cells
from codestress.types import LANGUAGE_NAMES, Outcome

from .localization import (
    ALL_MUTATIONS,
    TASK,
    shares,
    spoken,
    with_seed,
)

MUTATED = "mutated"
"""Value of the column `change` under mutations; under a control it is the control's
name."""


def with_change(answers: pd.DataFrame, rule: str = "strict") -> pd.DataFrame:
    """Return those of `answers` to trials under mutations and controls, skipped ones
    too, with three added columns.

    The columns are `seed_program` (the program's source and id), `change` (`mutated`,
    or the control's name) and `counts` (whether the trial is not skipped by the scoring
    rule `rule`).
    """
    again = with_seed(answers.query("spm != 'none'"))
    again["change"] = again["spm"].where(again["spm"].isin(CONTROLS), MUTATED)
    again["counts"] = again[f"outcome_{rule}"] != Outcome.SKIPPED.value
    return again


def asked_again(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return those of `answers` to trials under mutations, with the columns of
    `with_change`.

    Controls are left out, and so are trials that the scoring rule `rule` scores as
    skipped.
    """
    return with_change(answers, rule).query("counts and change == @MUTATED")


def robustness(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return accuracy on localized tasks, asked again under mutations and controls (no
    change, or a blank line).

    `answers` is a table of answers (`Results.answers`). There is a row for each model
    and combination of values of the columns `by`. `by` has `change` or `spm`, which
    keeps controls apart from mutations.

    Columns: model, those of `by`, tasks (all, with their mutations), localized (tasks
    that the model localized before), asked_again (localized tasks to which a neutral
    mutation could be made), found_again, accuracy (of tasks asked again, by the scoring
    rule `rule`), low, high (Wilson at `confidence`, programs as clusters), cell
    (selects these answers). Shares are 0 to 1, nan if none was asked again.
    """
    again = with_change(answers, rule)
    before = again[f"detail_{rule}"] != "not localized before"
    again["localized"] = again["counts"] | before
    groups = again.groupby(["model", *by], sort=False)["localized"]
    table = shares(again, ["model", *by], rule, confidence)
    table[["tasks", "localized"]] = groups.agg(["size", "sum"]).to_numpy()
    names = {"answers": "asked_again", "found": "found_again"}
    table = table.rename(columns=names)
    columns = ["model", *by, "tasks", "localized", *names.values()]
    return table[[*columns, "accuracy", "low", "high", "cell"]]


def losses(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return the loss of localized faults under mutations, beside the loss under
    controls (no change, or a blank line).

    `answers` is a table of answers. There is a row for each control, model and
    combination of values of the columns `by`. Only tasks asked again under both
    mutation and control count.

    Columns: model, those of `by`, asked_again, lost, control (its name), lost_control
    (of the same tasks, under the control), net_lost (lost - lost_control), low, high
    (of net_lost, paired, over programs, at `confidence`; nan for a single program),
    low_joint (lower end of an interval at the higher level at which the intervals of
    all rows of a control hold together; Bonferroni). Shares are 0 to 1.
    """
    value = f"value_{rule}"
    task = ["model", *TASK]
    asked = with_change(answers, rule).query("counts")
    mutated = asked.query("change == @MUTATED")
    rows = []
    for control in CONTROLS:
        kept = asked.query("change == @control").set_index(task)[value]
        paired = mutated.join(kept.rename("kept"), on=task).dropna(subset="kept")
        groups = paired.groupby(["model", *by], sort=False)
        for group, part in groups:
            net = part["kept"] - part[value]
            programs = part["seed_program"]
            interval = joint = UNKNOWN
            if programs.nunique() > 1:
                level = 1 - (1 - confidence) / len(groups)
                interval = paired_difference(net, programs, confidence)
                joint = paired_difference(net, programs, level)
            loss = 1 - part[value].mean()
            row = [*group, len(part), loss, control, 1 - part["kept"].mean()]
            rows.append([*row, net.mean(), *interval, joint.low])
    measures = ["asked_again", "lost", "control", "lost_control", "net_lost"]
    measures += ["low", "high", "low_joint"]
    return pd.DataFrame(rows, columns=["model", *by, *measures])


POINTS = ["model", "language", "mutation", "strength", "cell", "value", "low", "high"]
"""Columns of points of Figure 8.

They are model (or the name of the mean line), language, mutation (or `ALL_MUTATIONS`),
strength, cell (selects these answers), and accuracy with its interval, in %.
"""


def strength_points(table: pd.DataFrame) -> pd.DataFrame:
    """Return points (`POINTS`) for `strength_curves`, from `table`.

    `table` is the result of `robustness` by language, spm, said and strength. Controls
    are left out.
    """
    points = named(table.query("spm not in @CONTROLS"))
    points[["value", "low", "high"]] = 100 * points[["accuracy", "low", "high"]]
    return points[POINTS]


def mean_points(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Return the points (`POINTS`) of Figure 8's mean line, for each language, mutation
    (and all mutations together) and strength.

    `answers` is a table of answers. The mean is over the models asked, with the same
    weight for each model's share. Programs are the clusters of the intervals at level
    `confidence`.
    """
    again = named(asked_again(answers, rule))
    single = with_cells(again, ["language", "spm", "said", "strength"])
    every = with_cells(again, ["language", "change", "strength"])
    both = pd.concat([single, every.assign(mutation=ALL_MUTATIONS)])
    rows = []
    for group, part in both.groupby(["language", "mutation", "strength"], sort=False):
        part = part.set_index("seed_program")
        models = part.groupby("model")[f"value_{rule}"]
        average = mean([share(values) for _, values in models])
        ends = average.interval(part.index.nunique(), confidence)
        numbers = 100 * np.clip([average.value, *ends], 0, 1)
        rows.append((MEAN, *group, part["cell"].iloc[0], *numbers))
    return pd.DataFrame(rows, columns=POINTS)


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Return `table` with the added column `mutation`: the name in its column spm, with
    the word accusing if its comments accuse.

    A table without the column spm is returned unchanged.
    """
    if "spm" not in table:
        return table
    accusing = table["said"].map({"accuses elsewhere": ", accusing"}).fillna("")
    return table.assign(mutation=table["spm"] + accusing)


def headline(losses: pd.DataFrame, points: pd.DataFrame, show: str) -> str:
    """Return, in a sentence, the finding of a figure that compares what `show` says.

    With `show` = `strengths`, the finding is how the mean in `points` (made by
    `mean_points`) moves over strengths. Otherwise it is how often `losses` (a table of
    the function `losses`) shows that mutations cost more than the last of the controls.
    """
    if show == "strengths":
        return _strengths_headline(points)
    control = "".join(losses["control"][-1:]) or "no control"
    paired = losses.query("control == @control")
    more = (paired["low_joint"] > 0).sum()
    return (
        f"Mutations together clearly cost more than {spoken(control)} in "
        f"{more or 'none'} of {len(paired)} comparisons"
    )


def _strengths_headline(points: pd.DataFrame) -> str:
    """Return, in a sentence, how the mean of all mutations moves over strengths."""
    together = points.query("mutation == @ALL_MUTATIONS").sort_values("strength")
    moves = []
    for language, values in together.groupby("language", sort=False)["value"]:
        first, last = values.iloc[[0, -1]]
        name = LANGUAGE_NAMES[language]
        moves.append(f"from {first:.0f} to {last:.0f} % in {name}")
    least = points["strength"].min()
    most = points["strength"].max()
    return f"From strength {least:g} to {most:g} the mean goes {' and '.join(moves)}"
