"""`codestress serve` says with `--dry-run` which server it would start."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from codestress.cli import cli
from codestress.errors import ParameterError
from told import names


def serve(name: str, *words: str) -> Result:
    return CliRunner().invoke(cli, ["serve", name, "--dry-run", *words])


def test_a_model_s_server_is_started_with_its_own_settings() -> None:
    result = serve("llama-3.1-70b", "--python", "/x/python")
    assert result.exit_code == 0
    names(
        result.output,
        "/x/python -m vllm.entrypoints.openai.api_server",
        "--served-model-name meta-llama/Llama-3.1-70B-Instruct",
        "--tensor-parallel-size 4",
    )


@pytest.mark.parametrize("name", ["sim-near", "gpt-4o-mini-2024-07-18"])
def test_a_model_that_needs_no_server_is_refused(name: str) -> None:
    result = serve(name)
    assert isinstance(result.exception, ParameterError)
    names(result.exception, name)
