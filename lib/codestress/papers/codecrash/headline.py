"""CodeCrash's entry on the report's first screen."""

import pandas as pd

from codestress.report.headline import Headline
from codestress.report.model_table import Printed
from codestress.report.published import published_models

from .results import leaderboard

HEADLINE = Headline(
    title="CodeCrash",
    question="Does a language model predict what a program returns when code, comments, prints or a hint mislead it?",
    figure="codecrash/tab01",
    stated="abstract: average degradation of output prediction, direct",
    told="fewer predictions are right, on average over models, when programs are perturbed",
)


def published() -> Printed:
    """Returns the right predictions of Table 1, of which the paper publishes Pass@1."""
    direct = leaderboard.scores()
    direct = direct[direct["perturbation"].isin(["VAN", *leaderboard.HEADLINE])]
    n = direct["dataset"].map(leaderboard.problem_counts())
    models = direct["label"].map(published_models("codecrash"))
    correct = direct["share"] * n
    counts = pd.DataFrame({"model": models, "correct": correct, "n": n})
    told = "predictions about programs as they are and perturbed (PSC-ALL, MCC, MPS, MHC), both data sets"
    return Printed("codecrash/tab01", counts, told)
