"""One version: of the package, of the citation, and of what the changelog describes first."""

from __future__ import annotations

import re

import yaml

from codestress import __version__
from conftest import ROOT


def test_the_package_the_citation_and_the_changelog_have_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first, *_ = re.findall(r"^## ([^ ,:\n]+)", changelog, re.M)
    assert first == __version__.removesuffix(".dev0")
