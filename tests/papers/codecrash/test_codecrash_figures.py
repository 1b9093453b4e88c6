"""CodeCrash's figures: names of rows, titles, and the size with all of the paper's models."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from codestress.papers.codecrash.charts import difference_dots, share_dots, token_dots
from codestress.papers.codecrash.results import conditions, differences, reasoning
from codestress.report.publish import _save_figure
from drawn import faults

MODELS = list(dict.fromkeys(differences.swept_models()["model"]))[:17]


def table_of(models: list[str], modes: list[str], perturbations: list[str]) -> pd.DataFrame:
    """Rows like those of `differences`, with the columns that figures need: each loss is 10 % more than the one of
    the perturbation before, and half as large step by step."""
    datasets = ["generated", "contest", "merge"]
    rows = product(models, datasets, modes, enumerate(perturbations, start=1))
    table = pd.DataFrame(rows, columns=["model", "dataset", "mode", "place"])
    losses = [
        -10.0 * number / (1 + (mode == "cot"))
        for (number, _), mode in zip(table["place"], table["mode"], strict=True)
    ]
    names = [name for _, name in table["place"]]
    table = table.drop(columns="place").assign(perturbation=names, relative_pct=losses)
    ends = {"relative_low": table["relative_pct"] - 5, "relative_high": table["relative_pct"] + 5}
    setting = {"language": "python", "task": "output", "ignore": False, "refactor": False}
    return table.assign(density=1.0, **setting, **ends)


def test_codes_stand_beside_their_names_once() -> None:
    rows = ["MCC", "MCC, told to ignore", "MHC", "asked again", "mine", "MPS, true"]
    assert conditions.row_names(rows) == [
        "misleading comments (MCC)",
        "… told to ignore",
        "misleading hints (MHC)",
        "asked again",
        "mine",
        "misleading prints (MPS), true",
    ]


def test_titles_say_what_costs_most_or_what_a_setting_changes() -> None:
    headline = differences.headline
    table = table_of(MODELS[:2], ["direct"], ["PSC-ALL", "MHC"])
    assert headline(table, relative=True) == (
        "Pass@1 falls most under misleading hints (-20 % on average), least under structural changes (-10 %)"
    )
    alone = table[table["perturbation"] == "MHC"]
    assert headline(alone, relative=True) == (
        "Pass@1 falls under misleading hints (-20 % on average)"
    )
    modes = table_of(MODELS[:2], ["direct", "cot"], ["PSC-ALL", "MHC"])
    assert headline(modes, relative=True) == (
        "Perturbations cost 15 % of Pass@1 on average asked directly, 8 % step by step"
    )
    assert headline(table.assign(relative_pct=float("nan")), relative=True) == (
        "Pass@1 falls: not known"
    )


@pytest.mark.slow
def test_figures_fit_a_page_with_all_of_the_paper_s_models(tmp_path: Path) -> None:
    perturbations = ["VAN", *("REN", "RTF", "GBC"), *differences.HEADLINE]
    table = table_of(MODELS, ["direct", "cot"], perturbations[1:])
    published = differences.published_differences()
    theirs = differences.published_points(published, table, relative=True)
    points = differences.difference_points(
        table.assign(points=0.0, points_low=0.0, points_high=0.0), relative=True
    )
    plain = table[(table["mode"] == "direct") & (table["dataset"] != "merge")]
    tokens = plain.assign(average_tokens=9.0, tokens_low=8.0, tokens_high=10.0, most_tokens=99)
    shares = plain.assign(share=0.5, low=0.4, high=0.6, other=70.0)
    figures = [
        difference_dots(points, theirs, xlabel="x", told="published"),
        share_dots(conditions.share_points(shares, "share", "other"), xlabel="x"),
        token_dots(*reasoning.token_points(tokens, reasoning.published_reasoning())),
    ]
    for figure in figures:
        _save_figure(figure, tmp_path, "title", "words")
        assert figure.get_figheight() < 8
        assert faults(tmp_path / "figure.svg", "page") == []
