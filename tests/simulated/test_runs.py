"""Programs that readers piece together run in few processes."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from codestress.sandbox.executor import Execution, Executor, Program
from codestress.simulated import runs
from codestress.types import Source


class _Counted:
    """An executor that counts the programs of each call of `run`."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.calls: list[int] = []

    def run(self, programs: Iterable[Program], **how: Any) -> Iterator[Execution]:
        listed = list(programs)
        self.calls.append(len(listed))
        return self.executor.run(listed, **how)


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Counted]:
    with Executor(workers=1) as real:
        counted = _Counted(real)
        monkeypatch.setattr(runs, "_executor", lambda: counted)
        monkeypatch.setattr(runs, "_ends", {})
        yield counted


def reader(number: int, steps: int) -> Callable[[], str]:
    """Work that needs `steps` programs, one after the other."""

    def work() -> str:
        pieces = []
        for step in range(steps):
            code = f"def f():\n    return '{number} {step}'"
            pieces.append(runs.run_piece(Program(code, "f", source=Source.KIT)))
        return str(pieces[-1])

    return work


def test_readers_at_work_at_the_same_time_run_their_programs_together(
    executor: _Counted,
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
