"""Every artefact at smoke size, built as a user builds it, and what its folder holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pandas as pd
import pytest

from codestress.artefact_files import read_artefact
from codestress.paths import FILES
from codestress.report.caption import LONGEST_ALT, READERS
from codestress.report.published import without_numbers
from codestress.types import Outcome
from conftest import ROOT, codestress, smoke_names
from drawn import faults
from told import names


class Built(NamedTuple):
    name: str
    folder: Path
    manifest: dict[str, Any]

    @property
    def drawing(self) -> ElementTree.Element:
        return ElementTree.parse(self.folder / "figure.svg").getroot()


@pytest.fixture(scope="module")
def artefacts(smoke: Path) -> list[Built]:
    builds = []
    for name in smoke_names():
        folder = smoke / "smoke" / name
        manifest = json.loads((folder / "manifest.json").read_text())
        builds.append(Built(name, folder, manifest))
    return builds


def test_all_files_of_an_artefact_are_there(artefacts: list[Built]) -> None:
    for name, folder, _ in artefacts:
        for file in (*FILES, "notebook.ipynb", "notebook.html"):
            assert (folder / file).stat().st_size > 0, f"{name}: {file}"
        assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
        assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
        assert len(pd.read_parquet(folder / "data.parquet")) > 0
        assert r"\toprule" in (folder / "table.tex").read_text()
        # No library's warning is shown.
        for cell in json.loads((folder / "notebook.ipynb").read_text())["cells"]:
            streams = [output.get("name") for output in cell.get("outputs", [])]
            assert "stderr" not in streams, (name, cell["outputs"])


TRACED = {"environment", "inputs", "commit", "requests_sha256", "tokens", "prompts"}


def test_counts_add_up_and_every_number_can_be_traced(artefacts: list[Built]) -> None:
    for name, _, manifest in artefacts:
        counts = pd.DataFrame(manifest["counts"], index=[*Outcome])
        assert counts.to_dict() == manifest["counts"]
        assert counts.to_numpy().sum() == manifest["asked"]
        assert set(counts) == {model["name"] for model in manifest["models"]}
        assert manifest["parameters"]["artefact"] == name
        assert {*TRACED, "build_seconds"} <= manifest.keys()


def test_simulated_readers_are_labelled_everywhere(
    artefacts: list[Built], smoke: Path
) -> None:
    for name, folder, manifest in artefacts:
        models = {model["name"] for model in manifest["models"]}
        readers = {model for model in models if model.startswith("sim-")}
        assert set(manifest["simulated"]) == readers
        assert models - readers <= {"python", "nano"} or manifest["asked"] == 0, name
        drawn = bool(readers) and manifest["asked"] > 0
        assert ("simulated readers" in (folder / "figure.svg").read_text()) == drawn
    names((smoke / "smoke" / "index.html").read_text(), "not language models")


def test_no_file_names_a_folder_of_this_machine(
    artefacts: list[Built], smoke: Path
) -> None:
    places = [f"{place}/".encode() for place in (ROOT, smoke, Path.home())]
    for _, folder, _ in artefacts:
        for path in folder.iterdir():
            if path.suffix not in (".parquet", ".pdf", ".png"):
                content = path.read_bytes()
                assert not any(place in content for place in places), path


WITHOUT_NUMBERS = {
    *("codecrash/cases", "codecrash/tab03", "faultloc/fig02", "faultloc/tab01"),
    *("faultloc/tab03", "semtrace/prompts", "semtrace/tab03", "semtrace/tab04"),
}
"""Lists, examples and drawings of programs."""


def test_each_figure_has_the_paper_s_numbers_or_says_why_not(
    artefacts: list[Built],
) -> None:
    for artefact in artefacts:
        text = " ".join(artefact.drawing.itertext()).casefold()
        reason = without_numbers(artefact.name).partition(": ")[2]
        assert reason in text, artefact.name
        assert ("as numbers" in text) == ("as numbers" in reason), artefact.name
        of_the_paper = re.match(
            "(Figures?|Table|Section)[ :]", artefact.manifest["title"]
        )
        if of_the_paper and artefact.name not in WITHOUT_NUMBERS:
            assert "published" in text or "the paper" in text, artefact.name


def test_figures_can_be_read_in_print_and_heard(artefacts: list[Built]) -> None:
    for artefact in artefacts:
        name, folder, manifest = artefact
        assert not faults(folder / "figure.svg", read_artefact(name).width), name
        alt = artefact.drawing.findtext("{http://www.w3.org/2000/svg}desc", "")
        assert artefact.drawing.get("role") == "img"
        assert manifest["alt"] == alt
        assert 60 < len(alt) <= LONGEST_ALT, name
        readers = manifest["simulated"] if manifest["asked"] else []
        assert (READERS in alt) == bool(readers), name
        names(alt, *readers)


def test_published_numbers_stand_beside_the_regenerated_ones(smoke: Path) -> None:
    folder = smoke / "smoke/origin/fig04"
    table = pd.read_csv(folder / "table.csv").set_index("label")
    assert table.loc["GPT4-turbo", "accuracy"] == pytest.approx(32 / 117, abs=1e-4)
    assert (table["source"] == "published").sum() == 14
    claims = pd.read_csv(folder / "claims.csv")
    for words, verdict in (("share of right", "not run"), ("height", "consistent")):
        rows = claims[claims["statement"].str.contains(words)]
        assert set(rows["verdict"]) == {verdict}


def test_no_number_of_a_real_model_comes_from_a_reader(
    artefacts: list[Built], smoke: Path
) -> None:
    for name, folder, _ in artefacts:
        if (folder / "claims.csv").is_file():
            claims = pd.read_csv(folder / "claims.csv")
            re_run = claims[claims["evidence"] == "re-run"]
            assert set(re_run["verdict"]) <= {"not run"}, name
            copied = claims[claims["evidence"].isin(["quoted", "finding"])]
            assert set(copied["verdict"]) <= {"no verdict", "not run"}, name
    table = pd.read_csv(smoke / "smoke/semtrace/tab04/table.csv")
    assert list(table.loc[table["reaches_bound"] == "no", "name"]) == [
        *("llama-3.1-8b", "llama-3.3-70b"),
        *("deepseek-coder-v2-lite", "deepseek-coder-v2"),
    ]


@pytest.mark.slow
@pytest.mark.isolation
def test_the_paper_s_figure_from_the_paper_s_programs(
    public: Path, tmp_path: Path
) -> None:
    """Sense and Sensitivity, Figure 6, to the digit: 71,994 programs, 88 at the smallest share, 23.86 % right."""
    build = ("build", "semtrace/fig06", "--profile", "paper")
    process = codestress(*build, outputs=tmp_path, CODESTRESS_DATA=str(public))
    assert process.returncode == 0, process.stderr
    folder = tmp_path / "paper/semtrace/fig06"
    counts = json.loads((folder / "manifest.json").read_text())["counts"]["python"]
    assert {outcome: count for outcome, count in counts.items() if count} == {
        "correct": 2829,
        "incorrect": 7851,
        "syntax error": 48607,
        "raised": 12294,
        "step limit": 413,
    }
    table = pd.read_csv(folder / "table.csv")
    smallest = table[table["share_removed"] > 0].iloc[0]
    assert (smallest["n"], round(100 * smallest["accuracy"], 2)) == (88, 23.86)
    claims = pd.read_csv(folder / "claims.csv").set_index("published")
    verdicts = {76.14: "inconclusive", 71994: "reproduced", 5: "no verdict"}
    assert claims["verdict"].to_dict() == verdicts
    readings = ("76.14 points (reproduced)", "86.76 points (differs)")
    names(claims.loc[76.14, "readings"], *readings, "88.89 points (differs)")


OUTSIDE = r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)\s*=\s*[\"']?(?:https?:)?//"


def test_the_pages_need_nothing_from_outside(smoke: Path) -> None:
    index = smoke / "smoke/index.html"
    pages = [index]
    for name in smoke_names():
        pages += (smoke / "smoke" / name).glob("*.html")
        names(index.read_text(), f'href="{name}/notebook.html"', f'id="{name}"')
    for page in pages:
        text = page.read_text()
        assert not re.search(OUTSIDE, text)
        assert "@import" not in text
        # The index has one script, which searches and filters.
        scripts = re.findall(r"<script\b(?! type=.text/html)[^>]*>", text)
        assert scripts == ["<script>"] * (page == index)
    assert not re.search(r'<img [^>]*alt=""', index.read_text())


def test_each_outcome_has_the_value_that_the_docs_say(smoke: Path) -> None:
    text = (ROOT / "docs/scoring.md").read_text()
    rows = re.findall(r"^\| ([a-z ]+) \| (none|[01])\b[^|]*\|$", text, re.M)
    documented = dict(rows)
    assert list(documented) == [outcome.value for outcome in Outcome]
    skipped = 0
    for path in (smoke / "smoke").glob("*/*/answers.parquet"):
        answers = pd.read_parquet(path)
        for column in answers.filter(regex="^value_"):
            rule = column.removeprefix("value_")
            for outcome, values in answers.groupby(f"outcome_{rule}")[column]:
                if documented[outcome] == "none":
                    assert values.isna().all(), path
                    skipped += len(values)
                elif outcome == "incorrect" and rule == "partial":
                    assert values.between(0, 1, inclusive="left").all(), path
                else:
                    assert (values == int(documented[outcome])).all(), (path, outcome)
    assert skipped
