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
    done = codestress("doctor", outputs=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^(ok|missing|broken) +([^:]+):", done.stdout, re.M)
    states = {what: state for state, what in found}
    assert "broken" not in states.values()
    [own] = [state for state, what in found if "own programs" in what]
    assert states["packages"] == states["javascript"] == own == "ok"
    [untrusted] = [state for state, what in found if "untrusted" in what]
    assert untrusted == ("missing" if exposed() else "ok")
