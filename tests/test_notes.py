"""What a build works out once."""

import os
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


def test_other_processes_of_a_build_read_what_was_worked_out() -> None:
    calls.clear()
    with notes.notes_kept():
        for text in ("ab", "ab", "c\udc80"):
            assert worked_out(text) == (text[::-1], Kept(""))
        notes._notes.cache_clear()  # as in another process
        assert worked_out("ab") == ("ba", Kept(""))
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
        file = Path(os.environ[notes.FILE])
        written = file.read_bytes()
        file.write_bytes(written + written[:50])
        notes._notes.cache_clear()
        assert worked_out("ab") == ("ba", Kept(""))
    assert calls == ["ab"]
