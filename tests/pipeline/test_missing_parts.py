"""Builds that lack a data set, or a model with a window for the prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_project import WITHOUT_KERNELS

from conftest import codestress, ran
from told import names


@pytest.mark.slow
def test_a_missing_data_set_fails_the_artefact_that_needs_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("CODESTRESS_OUTPUTS", "CODESTRESS_DATA"):
        monkeypatch.setenv(folder, str(tmp_path))
    artefacts = ("origin/sec63", "semtrace/fig06")
    options = ("--profile", "smoke", "--json", "--set", "problems=cruxeval")
    build = ran(*WITHOUT_KERNELS, "build", *artefacts, *options)
    assert build.returncode == 1
    outcomes = {outcome["name"]: outcome for outcome in json.loads(build.stdout)}
    assert outcomes["origin/sec63"]["state"] == "built"
    missing = outcomes["semtrace/fig06@smoke,problems=cruxeval"]
    names(missing["error"], "codestress data fetch cruxeval")
    plan = codestress("plan", *artefacts, "--profile", "paper", outputs=tmp_path)
    assert plan.returncode == 1
    names(plan.stderr, "semtrace/fig06", "cruxeval", "origin/sec63", "origin-paper")


@pytest.mark.slow
def test_prompts_beyond_the_window_of_a_model_are_named_before_any_is_asked(
    tmp_path: Path,
) -> None:
    """GPT-3.5 Turbo has 16,385 tokens; the key is never asked for."""
    model = "gpt-3.5-turbo-0125"
    options = ["semtrace/fig09", "--profile", "smoke", "--models", model]
    options += ["--set", "distractors=[300]"]
    build = codestress("build", *options, outputs=tmp_path, OPENAI_API_KEY="")
    assert build.returncode == 1
    names(build.stderr, model, "16,385", "distractors = 300", "MODELS=")
    plan = codestress("plan", *options, outputs=tmp_path, OPENAI_API_KEY="")
    names(plan.stderr, "18", model)
