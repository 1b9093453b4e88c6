"""`codestress doctor` says what this machine has and lacks: CI runs this as on a bare machine too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import codestress, exposed

pytestmark = pytest.mark.bare


# Long, and in `make test`: nothing else there has the whole of `codestress doctor`.
def test_doctor_says_what_is_missing_and_fails_for_nothing_optional(
    tmp_path: Path,
) -> None:
    process = codestress("doctor", outputs=tmp_path)
    assert process.returncode == 0, process.stdout + process.stderr
    lines = re.findall(r"^(ok|missing|broken) +([^:]+):", process.stdout, re.M)
    states = {subject: state for state, subject in lines}
    assert "broken" not in states.values()
    assert states["packages"] == states["javascript"] == "ok"
    [own] = [state for state, subject in lines if "own programs" in subject]
    assert own == "ok"
    [untrusted] = [state for state, subject in lines if "untrusted" in subject]
    assert untrusted == ("missing" if exposed() else "ok")
