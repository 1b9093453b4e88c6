"""Fault Localizability's main experiment (Table II): faults of four kinds, found or not, in Python."""

from __future__ import annotations

import pandas as pd

from codestress.papers.faultloc.faults.sites import KINDS
from codestress.papers.faultloc.results.paper import published_localization
from codestress.report.headline import Headline

LABELS = {
    **{"IncorrectBooleanLogic": "Boolean logic", "MisplacedReturn": "return"},
    **{"OffByOne": "off by one", "OperatorSwap": "operator"},
}
PROGRAMS = 400
"""Enough for off-by-one faults, which few programs have room for."""
LINES = 300
"""The longest program: some 3,500 tokens."""


def _published() -> pd.DataFrame:
    cells = published_localization()
    cells = cells[cells["language"] == "python"].reset_index(drop=True)
    return cells[["model"]].assign(cell=cells["fault"].map(LABELS), share=cells["value"] / 100, n=cells["of"])


HEADLINE = Headline(
    title="Fault Localizability",
    question="Given a program and what it should do, does it name the line with the fault?",
    study="localization",
    parameters=lambda _: {
        **{"programs": ["installed"], "n_programs": PROGRAMS, "max_lines": LINES, "spms": [], "controls": []}
    },
    deviates=lambda _: (
        "functions of installed packages, 50 to 300 lines, not the paper's programs",
        "every task counts; the paper counts those that at least one of its models finds, which lifts its shares",
    ),
    cell=lambda trial: LABELS[str(trial.factors["fault"])],
    cells=tuple(LABELS[kind] for kind in KINDS),
    axis="kind of fault",
    published=_published,
    source="Table II, Python",
    figure="faultloc/fig08",
    stated="abstract: localized faults lost after mutations",
    told="of the faults that a model finds are lost when the program is rewritten to the same meaning",
    cluster=lambda trial: trial.problem.split("/")[0],
)
