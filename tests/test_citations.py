"""Sections that the kit cites of Sense and Sensitivity and of CodeCrash are sections of these papers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT

SECTIONS = {
    "semtrace": "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 3.3 3.4 4 5 6 A B C D E F G H I J",
    "codecrash": "1 2 2.1 2.2 3 3.1 3.2 3.3 3.4 3.5 4 4.1 4.2 4.3 5 6 A B B.1 B.1.1 B.1.2 B.1.3 B.2 B.3 "
    "C D D.1 D.2 D.3 D.4 E E.1 E.2 E.3 F F.1 F.2 F.3 F.4 F.5 F.6 G",
}
TITLES = {"semtrace": "Sense and Sensitivity", "codecrash": "CodeCrash"}
ONE = r"(?:\d(?:\.\d)*|[A-Z](?:\.\d)*)\b"
CITED = rf"\b(?:section|appendi(?:x|ces))s? ({ONE}(?:(?:, | and | to |-){ONE})*)"


def places(paper: str) -> list[Path]:
    folders = ("lib/codestress/papers", "notebooks", "params")
    files = [
        path for folder in folders for path in (ROOT / folder / paper).rglob("*.*")
    ]
    files += [ROOT / f"docs/{paper}.md", ROOT / f"params/published/{paper}.json"]
    return [
        path
        for path in files
        if path.suffix in (".py", ".ipynb", ".yaml", ".md", ".json")
    ]


@pytest.mark.parametrize("paper", SECTIONS)
def test_cited_sections_are_the_papers(paper: str) -> None:
    cited = {
        path: re.findall(CITED, path.read_text("utf-8"), re.I) for path in places(paper)
    }
    for path in (
        *(ROOT / "notebooks/course").glob("*.ipynb"),
        ROOT / "docs/glossary.md",
    ):
        text = path.read_text("utf-8")
        named = re.findall(rf"{CITED} of {TITLES[paper]}", text, re.I)
        cited[path] = named + re.findall(rf"{TITLES[paper]},? \(?{CITED}", text, re.I)
    assert sum(map(len, cited.values())) > 50
    for path, groups in cited.items():
        for name in re.findall(ONE, " ".join(groups)):
            assert name in SECTIONS[paper].split(), f"{path.name}: {name}"


def test_garbage_and_structural_perturbations_are_cited_where_they_are_defined() -> (
    None
):
    lesson = (ROOT / "notebooks/course/04_perturbation.ipynb").read_text("utf-8")
    assert re.search(r"dead loops[^.]* \(appendix B\.1\.3\)", lesson)
    glossary = (ROOT / "docs/glossary.md").read_text()
    assert re.search(r"REN, RTF, GBC.*CodeCrash, section 2\.2", glossary)
