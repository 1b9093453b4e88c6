"""Headline of Fault Localizability on the report's first screen."""

from codestress.report.headline import Headline
from codestress.report.model_table import Printed

from .results.paper import published_localization

HEADLINE = Headline(
    title="Fault Localizability",
    question="Given a program and what it should do, does a language model name the line with the fault?",
    figure="faultloc/fig08",
    stated="abstract: localized faults lost after mutations",
    told="of the faults that a model finds are lost when the program is rewritten to the same meaning",
)


def published() -> Printed:
    """Returns the localized faults of Table II."""
    cells = published_localization().eval("n = of")
    cells["correct"] = cells["value"] / 100 * cells["n"]
    told = "faults of both languages; published: only those that one of the paper's models localizes, here: all"
    return Printed("faultloc/tab02", cells[["model", "correct", "n"]], told)
