"""Numbers of right predictions that CodeCrash publishes, for the report's table of
models."""

import pandas as pd

from .results import leaderboard


def published() -> pd.DataFrame:
    """Return the numbers of right predictions in Table 1, computed from the published
    Pass@1. Columns: model (the registry's name), correct, n."""
    direct = leaderboard.scores()
    direct = direct[direct["perturbation"].isin(["VAN", *leaderboard.HEADLINE])]
    n = direct["dataset"].map(leaderboard.problem_counts())
    models = leaderboard.registry_names(direct["label"])
    return pd.DataFrame({"model": models, "correct": direct["share"] * n, "n": n})
