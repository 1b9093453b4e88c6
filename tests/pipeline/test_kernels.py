"""Kernels that are forked: which of them have ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codestress.pipeline.kernels import AVAILABLE, Nursery

LAST = Path("/proc/sys/kernel/ns_last_pid")


@pytest.mark.skipif(
    not (AVAILABLE and os.access(LAST, os.W_OK)),
    reason="the next process's number cannot be chosen",
)
def test_a_kernel_with_the_number_of_an_earlier_one_has_not_ended(
    tmp_path: Path,
) -> None:
    nursery = Nursery()
    request = {"modules": [], "env": dict(os.environ), "cwd": str(tmp_path)}

    def started() -> int:
        pid: int = nursery.ask(
            start=str(tmp_path / "no connection file.json"), **request
        )
        return pid

    first = started()
    os.kill(first, 9)
    assert nursery.ask(wait=first) == -9
    for _ in range(50):  # others start processes too, and may take the number
        try:
            LAST.write_text(str(first - 1))
        except OSError:
            pytest.skip("the next process's number cannot be chosen here")
        again = started()
        if again == first:
            assert nursery.ask(poll=again) is None
        os.kill(again, 9)
        assert nursery.ask(wait=again) == -9
        if again == first:
            return
    pytest.skip("another process took the number each time")
