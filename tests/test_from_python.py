"""The lines of docs/from_python.md and docs/mutate.md do what the pages show, typed as they stand."""

from __future__ import annotations

import doctest

import pytest

from conftest import ROOT


@pytest.mark.isolation
@pytest.mark.parametrize(("page", "lines"), [("from_python", 4), ("mutate", 14)])
def test_parts_are_used_from_python_as_the_page_shows(page: str, lines: int) -> None:
    done = doctest.testfile(str(ROOT / f"docs/{page}.md"), module_relative=False)
    assert done.failed == 0
    assert done.attempted >= lines
