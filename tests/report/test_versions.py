"""The version of each paper that the kit follows is named wherever the paper is."""

from __future__ import annotations

import pandas as pd
import pytest
from markupsafe import escape

from codestress.papers.semtrace.results.largest_drops import ANY, median_drops
from codestress.papers.semtrace.studies import Positions
from codestress.report.cards import all_claims, fronts
from codestress.report.claims import ledger
from codestress.report.notebook_page import render
from codestress.report.published import read_published, version_of
from codestress.report.statements import statements
from conftest import ROOT
from told import names

PAPERS = ("origin", "semtrace", "faultloc", "codecrash")


def words_of(name: str) -> str:
    return " ".join((ROOT / name).read_text(encoding="utf-8").replace("*", "").split())


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_is_named_with_its_version(paper: str) -> None:
    version, title = version_of(paper), read_published(paper)["about"]["paper"]
    for name in ("README.md", f"docs/{paper}.md", "CITATION.cff"):
        assert version in words_of(name)
    for name in (f"docs/{paper}.md", "CITATION.cff"):
        assert title in words_of(name)
    [card] = fronts([paper], [f"{paper}/published"], all_claims([]))
    assert card["version"] == version
    page = render("notebook.html", title="", body="", manifest={"version": version})
    assert escape(version) in page


def test_the_medians_of_a_later_version_are_rows_without_a_verdict() -> None:
    models = read_published("semtrace")["groups"]["all"]
    about = {"context": [ANY, "20"], "metric": "strict", "problems": 800}
    parts = []
    for dataset, shift in (("cruxeval", 0), ("semtrace", 5)):
        for number, model in enumerate(models):
            drops = pd.DataFrame({"relative": [10.0 * number + shift, 99.0], **about})
            parts.append(drops.assign(model=model, dataset=dataset))
    medians = median_drops(pd.concat(parts))
    assert medians["dataset"].tolist() == ["cruxeval", "semtrace"]
    assert medians["relative"].tolist() == [45, 50]
    # A model was not asked about SemTrace.
    assert median_drops(pd.concat(parts[:-1])).shape[0] == 1
    for name, published, found in (("fig01", 53.36, 45), ("fig03", 92.73, 50)):
        stated = statements("semtrace", name)
        named = {table for one in stated for table in (one.each, one.table) if table}
        empty = dict.fromkeys(named, pd.DataFrame())
        given = Positions(artefact=f"semtrace/{name}", models=models)
        for table, numbers in (
            (medians, (published, found, "no verdict")),
            (medians[:0], (published, None, "not run")),
        ):
            claims = ledger(given, empty | {"medians": table})
            row = claims[claims["statement"].str.startswith("version 3")].squeeze()
            number = row[["published", "regenerated", "verdict"]]
            assert tuple(number.astype(object).where(number.notna(), None)) == numbers
        names(row["basis"], "version 3", "not at hand")
