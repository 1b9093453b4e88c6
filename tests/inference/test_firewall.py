"""A firewall before a server refuses single prompts with the status of a missing right."""

from __future__ import annotations

import pytest

from codestress.errors import EngineError
from openai_server import OpenAIServer, Received, Reply, echo
from served import Served, counts_of, prompt, trials_of

PAGE = Reply(b"<html>Request blocked</html>", 403, "text/html")


def blocking(received: Received) -> Reply:
    return PAGE if "blocked" in received.prompt else echo(received)


def test_a_prompt_that_a_firewall_refuses_costs_no_other_prompt(
    served: Served,
) -> None:
    trials = trials_of(*map(prompt, ("first", "this is blocked", "last")))
    with OpenAIServer(blocking) as server:
        served.rows(server, concurrency=1)
        results = served.run(trials, failures="count")
    assert counts_of(results) == {"correct": 2, "harness error": 1}
    [reasons] = results.reasons("strict").values()
    assert "status 403" in str(reasons)
    assert "Request blocked" in str(reasons)


def test_a_server_that_refuses_the_first_prompt_lets_the_account_ask_nothing(
    served: Served,
) -> None:
    with OpenAIServer(lambda _: PAGE) as server:
        served.rows(server)
        with pytest.raises(EngineError, match="the account's rights"):
            served.run(trials_of(prompt("first")))
