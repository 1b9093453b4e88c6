"""The word list and its maker."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import pytest

from codestress.problems.words import word_list
from words import TARGET_WORDS, collect


def test_the_embedded_list_has_enough_distinct_plain_words() -> None:
    words = word_list()
    assert len(words) >= 6003
    assert list(words) == sorted(set(words))
    assert all(re.fullmatch(r"[a-z]{3,12}", word) for word in words)
    assert TARGET_WORDS.isdisjoint(words)


@pytest.mark.slow
def test_the_maker_finds_it_in_this_pythons_documentation_without_importing_anything() -> (
    None
):
    found = collect()
    assert {"antigravity", "this", "idlelib", "turtledemo"}.isdisjoint(sys.modules)
    assert found == sorted(set(found))
    assert len(found) >= 6000
    share = len(set(found) & set(word_list())) / len(word_list())
    # The list was made from Python 3.11's documentation; other versions document other things.
    assert share >= (0.97 if sys.version_info[:2] == (3, 11) else 0.8)
