"""Programs that readers piece together."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from codestress.sandbox.executor import Execution, Executor, Program
from codestress.simulated import runs
from codestress.types import Source


def test_a_program_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    class Counting(Executor):
        def run(self, programs: Iterable[Program], **how: Any) -> Iterator[Execution]:
            listed = list(programs)
            calls.append(len(listed))
            return super().run(listed, **how)

    def program(number: int) -> Program:
        return Program(f"def f():\n    return {number}", "f", source=Source.KIT)

    with Counting(workers=1) as executor:
        monkeypatch.setattr(runs, "_executor", lambda: executor)
        monkeypatch.setattr(runs, "_executions", {})
        values = [runs.run_piece(program(number)) for number in (1, 2, 1)]
        assert values == [1, 2, 1]
    assert calls == [1, 1]
