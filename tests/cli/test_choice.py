"""Names of artefacts on the command line."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from codestress.cli import cli
from codestress.errors import ParameterError


@pytest.mark.parametrize("command", ["show", "explain", "what-if"])
@pytest.mark.parametrize("names", [["semtrace"], ["origin/fig04", "origin/fig05"]])
def test_a_command_on_one_artefact_refuses_the_name_of_several(
    command: str, names: list[str]
) -> None:
    outcome = CliRunner().invoke(cli, [command, *names])
    assert isinstance(outcome.exception, ParameterError)
    message = str(outcome.exception)
    assert " ".join(names) in message
    assert "name one artefact, such as" in message


def test_a_command_on_one_artefact_needs_its_name() -> None:
    outcome = CliRunner().invoke(cli, ["show"])
    assert outcome.exit_code == 2
    assert "PAPER/ARTEFACT" in outcome.output
