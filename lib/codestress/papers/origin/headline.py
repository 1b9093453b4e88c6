"""Headline of Find the Origin on the report's first screen."""

from codestress.report.headline import Headline
from codestress.report.model_table import Printed

from .results import published_shares

HEADLINE = Headline(
    title="Find the Origin",
    question="Can a language model follow two links, 15 lines apart, in a list of links that grows?",
    figure="origin/fig02",
    stated="share of right answers",
    told="of the answers are right, from the worst of 14 models to the best, with 15 lines between the links",
)


def published() -> Printed:
    """Returns the right answers of Figure 4."""
    counts = published_shares("origin/fig04", 0.95)[["model", "correct", "n"]]
    return Printed("origin/fig04", counts, "sizes of the list, links 15 lines apart")
