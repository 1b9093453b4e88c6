"""Right predictions that CodeCrash prints, for the report's table of models."""

import pandas as pd

from .results import leaderboard


def published() -> pd.DataFrame:
    """Returns the right predictions of Table 1, of which the paper publishes Pass@1: model,
    correct, n."""
    direct = leaderboard.scores()
    direct = direct[direct["perturbation"].isin(["VAN", *leaderboard.HEADLINE])]
    n = direct["dataset"].map(leaderboard.problem_counts())
    models = leaderboard.registry_names(direct["label"])
    correct = direct["share"] * n
    return pd.DataFrame({"model": models, "correct": correct, "n": n})
