"""What a build works out once."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from codestress import notes

calls: list[str] = []


@dataclass(frozen=True)
class Kept:
    text: str


@notes.noted
def worked_out(text: str, other: Kept | None = None) -> tuple[str, Kept]:
    calls.append(text)
    return text[::-1], other or Kept("")


def elsewhere(text: str) -> str:
    """Returns what another process of the build finds, and what it had to compute."""
    code = f"import test_notes as t; print(t.worked_out({text!r}), t.calls)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_other_processes_of_a_build_read_what_was_worked_out() -> None:
    calls.clear()
    with notes.notes_kept():
        for text in ("ab", "ab", "c\udc80"):
            assert worked_out(text) == (text[::-1], Kept(""))
        assert elsewhere("ab") == "('ba', Kept(text='')) []"
        assert elsewhere("cd") == "('dc', Kept(text='')) ['cd']"
        assert worked_out("cd") == ("dc", Kept(""))
        assert worked_out("a", Kept("b")) == ("a", Kept("b"))
        assert worked_out("a", Kept("c")) == ("a", Kept("c"))
        assert calls == ["ab", "c\udc80", "a", "a"]
    worked_out("ab")
    with notes.notes_kept():
        worked_out("ab")
    assert calls[4:] == ["ab", "ab"]


def test_a_note_that_is_just_being_written_is_none_yet() -> None:
    calls.clear()
    with notes.notes_kept():
        worked_out("ab")
        [file] = Path(os.environ[notes.FOLDER]).iterdir()
        part = file.with_suffix(".1")
        file.rename(part)
        part.write_bytes(part.read_bytes()[:50])
        assert elsewhere("ab") == "('ba', Kept(text='')) ['ab']"
        assert elsewhere("ab") == "('ba', Kept(text='')) []"
