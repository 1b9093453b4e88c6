"""Numbers of thirteen tables from the answers alone, without the kit: python docs/recompute.py outputs/demo"""

import sys
from pathlib import Path

import pandas as pd


def check(name: str, found: pd.Series, column: str, table_name: str = "table") -> None:
    """Compares a column of a table with `found`, a number for each of its rows."""
    keys, path = list(found.index.names), Path(sys.argv[1], name, f"{table_name}.csv")
    table = pd.read_csv(path).dropna(subset=[column]).fillna({key: "" for key in keys})
    both = table.merge(found.rename("again").reset_index(), on=keys)
    assert len(both) == found.count(), (
        f"{name}: the table lacks some of {found.count()} numbers"
    )
    worst = (both[column] - both["again"]).abs().max()
    print(
        f"{name}: {len(both)} numbers of {column}, the largest difference is {worst:.1e}"
    )
    assert worst <= 1e-5 * both[column].abs().max(), name  # the table has six digits


def answers(name: str) -> pd.DataFrame:
    return pd.read_parquet(Path(sys.argv[1], name, "answers.parquet"))


# --- Find the Origin: shares of right answers -----------------------------------------------------------------------
sizes = answers("origin/fig02").groupby(["model", "d", "shuffled"])
check("origin/fig02", sizes["value_strict"].mean(), "accuracy", "summary")
shares = answers("origin/fig04").rename(columns={"model": "label"}).groupby("label")
check("origin/fig04", shares["value_reference"].mean(), "accuracy_reference")
distances = (
    answers("origin/fig06").rename(columns={"model": "label"}).groupby(["label", "d"])
)
check("origin/fig06", distances["value_strict"].mean(), "accuracy")
lengths = answers("origin/sec63").groupby(["model", "characters"])
check("origin/sec63", lengths["value_strict"].mean(), "accuracy", "summary")

# --- Sense and Sensitivity ------------------------------------------------------------------------------------------
places = answers("semtrace/fig01").groupby(
    ["model", "dataset", "task", "distractors", "position"]
)
check("semtrace/fig01", places["value_strict"].mean(), "accuracy")
removed = answers("semtrace/fig06")
removed["share_removed"] = (
    (removed["removed"] / removed["lines"]).map("{:.6g}".format).astype(float)
)
check(
    "semtrace/fig06",
    removed.groupby("share_removed")["value_strict"].mean(),
    "accuracy",
)
tasks = answers("semtrace/tab01").groupby(["model", "dataset", "task"])
check("semtrace/tab01", tasks["value_strict"].mean(), "accuracy", "counts")

# --- CodeCrash ------------------------------------------------------------------------------------------------------
# Pass@1 of each problem, then its difference to that of the unchanged program.
CONDITION = ["model", "dataset", "perturbation"]
asked = answers("codecrash/tab13").groupby(
    ["model", "dataset", "problem", "perturbation"]
)
problems = asked["value_strict"].mean().unstack()
differences = (
    problems.sub(problems["VAN"], axis=0)
    .drop(columns="VAN")
    .groupby(["model", "dataset"])
    .mean()
)
check("codecrash/tab13", 100 * differences.stack(), "points")
# Relative to the unchanged programs.
passed = answers("codecrash/tab01").groupby(CONDITION)["value_strict"].mean().unstack()
relative = passed.div(passed["VAN"], axis=0).drop(columns="VAN").stack() - 1
check("codecrash/tab01", 100 * relative, "relative_pct")
thoughts = answers("codecrash/tab04").groupby(CONDITION)
check("codecrash/tab04", 100 * thoughts["value_strict"].mean(), "pass_at_1_pct")
# The share of problems whose candidates are all right or all wrong.
candidates = (
    answers("codecrash/tab11")
    .groupby([*CONDITION, "problem"])["value_strict"]
    .nunique()
)
check("codecrash/tab11", (candidates == 1).groupby(CONDITION).mean(), "same_verdict")

# --- Fault Localizability -------------------------------------------------------------------------------------------
faults = answers("faultloc/tab02")
FAULT = ["model", "language", "fault"]
check("faultloc/tab02", faults.groupby(FAULT)["value_strict"].mean(), "accuracy")
# The paper keeps the tasks that at least one model localizes.
kept = faults[faults.groupby("problem")["value_strict"].transform("max") > 0]
check("faultloc/tab02", kept.groupby(FAULT)["value_strict"].mean(), "accuracy_kept")
# What was skipped has no score, so that it does not count.
mutated = (
    answers("faultloc/fig06")
    .query("spm != 'none'")
    .dropna(subset=["value_strict", "said"])
)
again = mutated.groupby(["model", "language", "spm", "said"])
check("faultloc/fig06", again["value_strict"].mean(), "accuracy")
