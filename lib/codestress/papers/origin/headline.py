"""Right answers that Find the Origin prints, for the report's table of models."""

import pandas as pd

from .results import published_shares


def published() -> pd.DataFrame:
    """Returns the right answers of Figure 4: model, correct, n."""
    return published_shares("origin/fig04", 0.95)[["model", "correct", "n"]]
