"""The badge: nothing is claimed that was not found."""

from __future__ import annotations

from pathlib import Path

import pytest

from codestress.pipeline import badge
from codestress.pipeline.badge import Criterion, ready_for, write


def test_a_badge_needs_all_of_its_criteria(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(badge, "OUTPUTS", tmp_path)
    criteria = [
        Criterion("available", "a licence", True, "LICENSE"),
        Criterion("available", "archived with a DOI", False, "deposit it"),
        Criterion("functional", "a clean clone builds", True, "64 built"),
        Criterion("reusable", "tests", True, "60"),
        Criterion("reproduced", "every artefact is built", False, "3 of 64"),
    ]
    assert ready_for(criteria) == ["functional", "reusable"]
    path = write(criteria)
    text = path.read_text()
    assert "Ready to submit for: functional, reusable" in text
    assert "- [ ] archived with a DOI: deposit it" in text
