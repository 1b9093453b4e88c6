"""What a build works out once."""

from codestress import notes

calls: list[str] = []


@notes.noted
def worked_out(text: str, other: str) -> str:
    calls.append(text)
    return f"{text[::-1]}\n{other}"


def test_other_processes_of_a_build_read_what_was_worked_out() -> None:
    calls.clear()
    with notes.notes_kept():
        for text in ("ab", "ab", "c\udc80"):
            assert worked_out(text, "") == f"{text[::-1]}\n"
        notes._read.cache_clear()  # as in a kernel, which reads them anew
        assert worked_out("ab", "") == "ba\n"
        assert worked_out("a", "b") == "a\nb"
        assert calls == ["ab", "c\udc80", "a"]
    worked_out("ab", "")
    with notes.notes_kept():
        worked_out("ab", "")
    assert calls == ["ab", "c\udc80", "a", "ab", "ab"]
