"""Numbers of right answers that Find the Origin prints, for the report's table of
models."""

import pandas as pd

from .results import published_shares


def published() -> pd.DataFrame:
    """Return the numbers of right answers in Figure 4. Columns: model (the registry's
    name), correct, n."""
    return published_shares("origin/fig04", 0.95)[["model", "correct", "n"]]
