"""Question and number of Sense and Sensitivity on the report's first screen."""

from codestress.report.headline import Headline
from codestress.report.model_table import Printed

from .results.tables import published_baselines

HEADLINE = Headline(
    title="Sense and Sensitivity",
    question="Does a language model still work out what a function returns when the function stands among others?",
    figure="semtrace/fig01",
    stated="accuracy falls by up to",
    told="of accuracy are lost where the function stands at its worst place, in four cases of three models",
)


def published() -> Printed:
    """Returns the right answers of Table 1."""
    cells = published_baselines("semtrace/tab01", 0.95).rename(
        columns={"label": "model"}
    )
    counts = cells[["model", "correct", "n"]]
    return Printed(
        "semtrace/tab01", counts, "questions of the table's three columns together"
    )
