"""A build of which no request was answered, in a process of its own, with a server on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import codestress
from openai_server import OpenAIServer, Received, Reply, echo, failure


def answers_greetings(received: Received) -> Reply:
    """Answer the short prompts with which the kit gets to know a server alone."""
    if len(received.prompt) < 100:
        return echo(received)
    return failure(418, "no such thing")


@pytest.mark.parametrize("failures", ["raise", "count"])
def test_a_figure_of_failures_alone_is_not_built(tmp_path: Path, failures: str) -> None:
    with OpenAIServer(answers_greetings) as server:
        build = codestress(
            *("build", "origin/fig04", "--profile", "smoke"),
            *("--models", server.base_url, "--id", "served-1"),
            *("--set", f"failures={failures}"),
            outputs=tmp_path,
        )
    message = build.stdout + build.stderr
    assert build.returncode == 1, message
    assert "requests failed" in message
    assert "no such thing" in message
    assert not [*tmp_path.rglob("figure.svg")]
