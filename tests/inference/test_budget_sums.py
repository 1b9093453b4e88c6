"""Sums of budgets in files: a command line that was killed goes on from its sum, and processes share one."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from processes import started
from test_budget import stored

from codestress.errors import ParameterError
from codestress.inference import budget as budget_module
from codestress.inference.budget import (
    Budget,
    Sum,
    read_sum,
)
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    echo,
)
from served import Served
from told import names, refused

RUN = """
import sys
from pathlib import Path
from codestress.inference.ask import ask
from served import Served
from test_budget import trials

served = Served(Path(sys.argv[1]))
for count in range(1, 3):
    ask(trials(40), ["served"], store=served.store, registry=served.registry)
"""


def command_line(
    served: Served, *arguments: str, most: int = 12
) -> subprocess.Popen[str]:
    """Start two runs in a process that may send `most` requests."""
    env = {"NO_PROXY": "*", "MAX_REQUESTS": str(most)}
    return started(RUN, served.folder, *arguments, env=env)


@pytest.mark.slow
def test_a_command_line_that_was_killed_goes_on_from_its_sum(served: Served) -> None:
    """It is killed twice, when two requests are answered and two more are under way."""
    answers = 0

    def behaviour(received: Received) -> Reply:
        """Reply to the first requests; let those after them hang."""
        hangs = len(server.requests) > answers
        return replace(echo(received), delay=600 * hangs)

    pattern = f".s.sqlite.{budget_module.SUMS}"
    with OpenAIServer(behaviour) as server:
        served.rows(server, concurrency=2)
        for _ in range(2):
            answers = len(server.requests) + 2
            process = command_line(served)
            while len(server.requests) < answers + 2:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            process.kill()
            process.communicate()
        answers = 1000
        # Stopped at the limit, it does not begin anew either.
        for _ in range(2):
            _, errors = command_line(served).communicate(timeout=600)
            names(errors, "12", "MAX_REQUESTS", budget_module.RESET)
        [file] = served.folder.glob(pattern)
        spent = read_sum(file)
        assert spent.requests == len(server.requests) == 12
        other = command_line(served, "another command line", most=100)
        _, errors = other.communicate(timeout=600)
        assert (other.returncode, "error" in errors) == (0, False), errors
        assert stored(served) == 40
        # The sum of a command line that ended well is deleted; the other stays.
        assert [*served.folder.glob(pattern)] == [file]
        assert read_sum(file) == spent


def test_processes_share_one_sum(tmp_path: Path) -> None:
    file, most = tmp_path / "sum.json", Sum(1, 15)
    first, second = (Budget(requests=3, tokens=10_000, file=file) for _ in range(2))
    assert first.set_aside(most)
    assert second.set_aside(most)
    first.count(most, Sum(1, 2))
    assert first.set_aside(most)
    assert not first.set_aside(most)
    assert not second.set_aside(most)
    file.write_bytes(b"not a sum")
    with refused(ParameterError, "sum.json", "codestress store budget --reset"):
        first.set_aside(most)
