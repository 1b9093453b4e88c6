"""One version: of the package, of the citation, and of what the changelog describes first."""

from __future__ import annotations

import re

import yaml

from codestress import __version__
from conftest import ROOT

LINES = 25
"""Limit of the lines of one version in the changelog."""


def versions() -> dict[str, list[str]]:
    """The changelog's lines below the heading of each version."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            found[re.split("[ ,:]", line[3:])[0]] = []
        elif found:
            list(found.values())[-1].append(line)
    return found


def test_the_package_the_citation_and_the_changelog_have_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
    assert next(iter(versions())) == __version__.removesuffix(".dev0")


def test_a_version_is_told_in_few_lines() -> None:
    assert len(versions()) >= 4
    for version, lines in versions().items():
        assert 0 < len(lines) <= LINES, version
