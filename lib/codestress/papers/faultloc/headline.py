"""Localized faults that Fault Localizability prints, for the report's table of models."""

import pandas as pd

from .results.paper import published_localization


def published() -> pd.DataFrame:
    """Return the localized faults of Table II: model, correct, n."""
    cells = published_localization().eval("n = of")
    cells["correct"] = cells["value"] / 100 * cells["n"]
    return cells[["model", "correct", "n"]]
