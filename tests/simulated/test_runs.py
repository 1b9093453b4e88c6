"""Programs that readers piece together run in few processes."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from codestress.sandbox.executor import Execution, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.simulated import runs
from codestress.types import Source


class _Executor:
    """Counts the programs of each call of `run`; a program returns its own text."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def run(self, programs: Iterable[Program], **_: Any) -> list[Execution]:
        texts = [program.code for program in programs]
        self.calls.append(len(texts))
        return [Execution(Ending.RETURNED, text) for text in texts]


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> _Executor:
    made = _Executor()
    monkeypatch.setattr(runs, "_executor", lambda: made)
    monkeypatch.setattr(runs, "_ends", {})
    return made


def reader(number: int, steps: int) -> Callable[[], str]:
    """Work that needs `steps` programs, one after the other."""

    def work() -> str:
        pieces = [
            runs.run_piece(Program(f"{number} {step}", source=Source.KIT))
            for step in range(steps)
        ]
        return str(pieces[-1])

    return work


def test_readers_at_work_at_the_same_time_run_their_programs_together(
    executor: _Executor,
) -> None:
    async def ask() -> list[str]:
        works = [runs.run_together(reader(number, 3)) for number in range(10)]
        return await asyncio.gather(*works)

    assert asyncio.run(ask()) == [f"{number} 2" for number in range(10)]
    assert executor.calls == [10, 10, 10]


@pytest.mark.usefixtures("executor")
def test_a_reader_that_is_cancelled_holds_up_no_other() -> None:
    async def ask() -> list[str]:
        first, *others = [
            asyncio.create_task(runs.run_together(reader(number, 2)))
            for number in range(4)
        ]
        await asyncio.sleep(0)
        first.cancel()
        return await asyncio.gather(*others)

    assert asyncio.run(ask()) == [f"{number} 1" for number in range(1, 4)]
