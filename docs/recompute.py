"""One table of each paper from the answers alone, without the kit: python docs/recompute.py outputs/demo"""

import sys
from pathlib import Path

import pandas as pd


def check(name: str, found: pd.Series, column: str, table_name: str = "table") -> None:
    """Compares a column of a table with `found`, a number for each of its rows."""
    table = pd.read_csv(Path(sys.argv[1], name, f"{table_name}.csv")).dropna(subset=[column])
    both = table.merge(found.rename("again").reset_index(), on=list(found.index.names))
    worst = (both[column] - both["again"]).abs().max()
    print(f"{name}: {len(both)} numbers of {column}, the largest difference is {worst:.1e}")
    assert worst < 1e-5 * both[column].abs().max(), name  # the table has six digits


def answers(name: str) -> pd.DataFrame:
    return pd.read_parquet(Path(sys.argv[1], name, "answers.parquet"))


distances = answers("origin/fig06").rename(columns={"model": "label"})
check("origin/fig06", distances.groupby(["label", "d"])["value_strict"].mean(), "accuracy")
tasks = answers("semtrace/tab01").groupby(["model", "dataset", "task"])
check("semtrace/tab01", tasks["value_strict"].mean(), "accuracy", "counts")
# Pass@1 of each problem, then its difference to that of the unchanged program.
asked = answers("codecrash/tab13").groupby(["model", "dataset", "problem", "perturbation"])
problems = asked["value_strict"].mean().unstack()
differences = problems.sub(problems["VAN"], axis=0).drop(columns="VAN").groupby(["model", "dataset"]).mean()
check("codecrash/tab13", 100 * differences.stack(), "points")
# The paper keeps the tasks that at least one model localizes.
faults = answers("faultloc/tab02")
kept = faults[faults.groupby("problem")["value_strict"].transform("max") > 0]
check("faultloc/tab02", kept.groupby(["model", "language", "fault"])["value_strict"].mean(), "accuracy_kept")
