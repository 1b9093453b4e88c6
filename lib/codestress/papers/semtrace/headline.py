"""Numbers of right answers that Sense and Sensitivity prints, for the report's table of
models."""

import pandas as pd

from .results.tables import published_baselines


def published() -> pd.DataFrame:
    """Return the numbers of right answers in Table 1. Columns: model, correct, n."""
    cells = published_baselines("semtrace/tab01", 0.95).rename(
        columns={"label": "model"}
    )
    return cells[["model", "correct", "n"]]
