"""A Python function as a model, and what `codestress probe` finds out of a model."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference.probe import Ability, probe
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.run import run
from codestress.types import Message, Outcome, Prompt, Sampling, Score, Trial, Trials
from conftest import ROOT
from openai_server import OpenAIServer, Received, Reply, completion
from told import names, refused

TRIALS = Trials(
    [Trial(str(n), {}) for n in range(6)],
    lambda trial: Prompt(
        (Message("user", f'say "{trial.problem}"'),), Sampling(max_tokens=5), "It is"
    ),
    {
        "strict": lambda trial, response: Score(
            Outcome.CORRECT if trial.problem in response.text else Outcome.INCORRECT,
            1.0,
        )
    },
)


def rows(folder: Path, name: str = "my_model.py:answer") -> Path:
    path = folder / "models.yaml"
    settings = {"function": f"{folder}/{name}", "concurrency": 3}
    path.write_text(json.dumps({"mine": {"engine": "function", "settings": settings}}))
    return path


def test_the_readme_s_function_answers(tmp_path: Path) -> None:
    readme = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    code = re.search(r"    # my_model.py\n((?:    .*\n)+)", readme)
    assert code
    (tmp_path / "my_model.py").write_text(
        "\n".join(line[4:] for line in code[1].splitlines())
    )
    results = run(
        TRIALS, ["mine"], store=tmp_path / "s.sqlite", registry=rows(tmp_path)
    )
    assert results.counts()["mine"]["correct"] == 6
    assert (
        run(
            TRIALS, ["mine"], store=tmp_path / "s.sqlite", registry=rows(tmp_path)
        ).asked
        == 0
    )
    (tmp_path / "my_model.py").write_text(
        "def answer(messages, **how):\n    return 'no'\n"
    )
    changed = run(
        TRIALS, ["mine"], store=tmp_path / "s.sqlite", registry=rows(tmp_path)
    )
    assert (changed.asked, changed.counts()["mine"]["incorrect"]) == (6, 6)


def test_what_a_function_does_wrong_is_a_failure_of_the_request(tmp_path: Path) -> None:
    (tmp_path / "my_model.py").write_text(
        "def answer(messages, **how):\n    if '3' in messages[0]['content']: raise ValueError('three')\n"
        "    return 4 if '4' in messages[0]['content'] else messages[0]['content']\n"
    )
    results = run(
        TRIALS,
        ["mine"],
        store=tmp_path / "s.sqlite",
        registry=rows(tmp_path),
        failures="count",
    )
    assert {reason: n for reason, n in results.counts()["mine"].items() if n} == {
        "correct": 4,
        "harness error": 2,
    }
    raised, returned = sorted(
        answer.error for answer in results.answers if answer.error
    )
    names(raised, "mine", "ValueError: three")
    names(returned, "mine", "int")
    for name in ("absent.py:answer", "my_model.py:other"):
        with refused(EngineError, "mine", name):
            run(
                TRIALS,
                ["mine"],
                store=tmp_path / "t.sqlite",
                registry=rows(tmp_path, name),
            )


@pytest.fixture(autouse=True)
def store_of_probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codestress.inference.probe.STORE", tmp_path / "probes.sqlite")


def tried(entry: ModelEntry) -> dict[str, Ability]:
    async def listed() -> list[Ability]:
        return [one async for one in probe(entry)]

    return {one.what: one for one in asyncio.run(listed())}


def named(found: dict[str, Ability], words: str) -> Ability:
    """The one ability whose name has these words."""
    [what] = [what for what in found if words in what]
    return found[what]


def able(received: Received) -> Reply:
    body: dict[str, Any] = received.body
    if body.get("continue_final_message"):
        return completion("2")
    if "stop" in body:
        return completion("1, 2, 3, 4, 5, 6, ")
    if body["max_tokens"] == 8:
        return completion("1, 2, 3,", finish_reason="length")
    return completion(f"animal {received.seen}" if body["temperature"] else "42")


def test_a_server_that_can_all_is_found_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with OpenAIServer(able) as server:
        settings = {"base_url": server.base_url, "key_env": "", "prefill": "vllm"}
        found = tried(ModelEntry(name="m", engine="openai", id="m", settings=settings))
        assert [one for one in found.values() if not one.can] == []
        assert len(found) >= 8
        few = tried(
            ModelEntry(
                name="m",
                engine="openai",
                id="m",
                settings=settings | {"concurrency": 3},
            )
        )
        assert named(few, " 3 questions").can
        settings["prefill"] = "none"
        found = tried(ModelEntry(name="m", engine="openai", id="m", settings=settings))
        assert [one for one in found.values() if not one.can] == [
            named(found, "begun answer")
        ]


def test_a_reader_is_found_to_be_no_language_model() -> None:
    found = tried(load_registry()["sim-near"])
    assert next(iter(found.values())).can  # it answers
    assert not named(found, "temperature 1").can
    begun = named(found, "begun answer")
    assert begun.can  # a build asks it so; what it says is another matter
    assert "42" in begun.detail


def test_a_server_that_is_not_there_is_an_error() -> None:
    settings = {"base_url": "http://127.0.0.1:9/v1", "key_env": "", "retries": 0}
    entry = ModelEntry(name="m", engine="openai", id="m", settings=settings)
    with refused(EngineError, settings["base_url"]):
        tried(entry)
