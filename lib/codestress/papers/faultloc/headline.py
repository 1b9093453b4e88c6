"""Fault Localizability's main experiment (Table II): faults of four kinds, found or not, in Python."""

from __future__ import annotations

import pandas as pd

from codestress.papers.faultloc.faults.sites import KINDS
from codestress.report.headline import Headline
from codestress.report.published import published_models, published_numbers

LABELS = {
    "IncorrectBooleanLogic": "Boolean logic",
    "MisplacedReturn": "return",
    "OffByOne": "off by one",
    "OperatorSwap": "operator",
}
PROGRAMS = 400
"""Enough for off-by-one faults, which few programs have room for."""
LINES = 300
"""The longest program: some 3,500 tokens."""


def _published() -> pd.DataFrame:
    numbers = published_numbers("faultloc/tab02") or {}
    names = published_models("faultloc")
    known = {label.replace("-", " ").casefold(): name for label, name in names.items()}
    rows = [
        (known.get(label.replace("-", " ").casefold(), label), LABELS[kind], share / 100, total)
        for kind, shares in numbers["values"]["python"].items()
        for label, share in zip(numbers["columns"], shares, strict=True)
        for total in [numbers["denominators"]["python"][kind]]
    ]
    return pd.DataFrame(rows, columns=["model", "cell", "share", "n"])


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
