"""A model that thinks before it answers gets the tokens that its row of the registry names, in every paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from codestress.artefact_files import artefact_names, read_artefact
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_for, request_of
from codestress.parameters import Asked
from codestress.pipeline.artefacts import Artefact, load_study, resolve
from codestress.pipeline.plan import make_plan
from codestress.types import Sampling
from openai_server import OpenAIServer, completion
from served import Served, in_two_steps, prompt, trials_of

REGISTRY = load_registry()
THINKING = {name: row.max_tokens for name, row in REGISTRY.items() if row.max_tokens}


def asking(names: list[str], profile: str, models: tuple[str, ...]) -> list[Artefact]:
    """Return those of the artefacts that ask models, with these models."""
    asked = []
    for name in names:
        if issubclass(load_study(read_artefact(name).study, name), Asked):
            asked.append(name)
    return resolve(asked, profile, models, registry=REGISTRY)


def test_every_model_of_the_category_reasoning_has_its_tokens() -> None:
    for name, row in REGISTRY.items():
        if row.architecture.get("category") == "reasoning":
            assert name in THINKING
    assert THINKING["qwq-32b"] == THINKING["o3-mini-high"] == 32768
    assert "phi-4" not in THINKING


@pytest.mark.parametrize(
    "names", [["origin/fig04"], pytest.param(artefact_names(), marks=pytest.mark.slow)]
)
def test_no_thinking_model_is_asked_with_fewer_tokens_than_its_row_says(
    names: list[str],
) -> None:
    for artefact in asking(names, "smoke", tuple(THINKING)):
        trials = artefact.trials()
        for model, tokens in THINKING.items():
            first = trials.of(model).items[0]
            request = request_of(trials, first, REGISTRY[model])
            limit = request.prompt.sampling.max_tokens
            assert limit >= tokens, (artefact.name, model)


def test_a_larger_limit_and_other_models_stay_as_they_are() -> None:
    short, large = prompt("?", max_tokens=512), prompt("?", max_tokens=40_000)
    assert request_for(REGISTRY["phi-4"], short).prompt is short
    assert request_for(REGISTRY["qwq-32b"], large).prompt is large
    raised = request_for(REGISTRY["qwq-32b"], short).prompt.sampling
    assert raised == Sampling(max_tokens=32768)


@pytest.mark.slow
def test_every_step_of_a_trial_is_sent_with_them(served: Served) -> None:
    first, again = prompt("first?", max_tokens=7), prompt("again?", max_tokens=7)
    trials = in_two_steps(trials_of(first), lambda *_: again)
    with OpenAIServer(lambda _: completion("yes")) as server:
        for name, tokens in (("plain", 0), ("thinks", 900)):
            served.rows(server, name, row={"max_tokens": tokens})
            served.run(trials, name)
    limits = [received.body["max_tokens"] for received in server.requests]
    assert limits == [7, 7, 900, 900]


def test_a_plan_counts_them(tmp_path: Path) -> None:
    [artefact] = asking(["faultloc/tab02"], "smoke", ("qwq-32b", "phi-4"))
    thinks, plain = make_plan([artefact], tmp_path / "s.sqlite").rows
    assert thinks.longest / plain.longest == 32768 / 512
