"""Dialects in a whole run: part of the keys of answers, and kept beside the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_dialects import REFUSED, SYSTEM, failing, server_of

from codestress.errors import EngineError
from codestress.inference import ask as ask_module, registry
from codestress.inference.engines.dialects import DIALECTS, adapted
from codestress.inference.registry import ModelEntry, keep, load_registry
from codestress.inference.requests import request_of
from codestress.inference.served import checked, served_at
from codestress.inference.store import Store
from codestress.types import Message, Prompt, Sampling, Trials
from conftest import ROOT
from openai_server import OpenAIServer, Reply
from served import Served, entry, prompt, responses, trials_of
from told import refused


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "SERVED", tmp_path / "served.yaml")
    for module in (registry, ask_module):
        monkeypatch.setattr(module, "REGISTRY", tmp_path / "models.yaml")


def questions(count: int) -> Trials:
    texts = [Message("user", str(number)) for number in range(count)]
    return trials_of(*[Prompt((SYSTEM, text), Sampling()) for text in texts])


def test_a_run_keeps_its_answers_under_the_keys_of_what_was_sent(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next run begins in the dialect, and so does a row with the same settings."""
    reply = failing(400, "role system unknown")
    trials = questions(20)
    with OpenAIServer(server_of("system", reply)) as server:
        plain = load_registry(served.rows(server))["served"]
        results = served.run(trials)
        count = len(server.requests)
        again = served.run(trials)
        assert len(server.requests) == count
    assert {*results.answers["error"]} == {""}
    [row] = results.models
    line = DIALECTS["system"].line
    assert row.adapted == {"system": line}
    assert capsys.readouterr().err.count(line) == 1
    assert again.models == results.models == [load_registry(served.registry)["served"]]
    settings = plain.settings | {"roles": "no system"}
    written = ModelEntry(**plain.model_dump() | {"settings": settings})
    keys = {*results.answers["key"]}
    for model, same in ((row, True), (written, True), (plain, False)):
        own = {request_of(trials, trial, model).key for trial in trials.items}
        assert (own == keys) is same
        with Store(served.store) as store:
            assert len(store.get(own)) == 20 * same


def test_a_row_that_is_changed_loses_what_was_found_about_its_server(
    served: Served,
) -> None:
    file = served.rows("http://127.0.0.1:9/v1")
    keep(adapted(load_registry(file)["served"], ["top_p", "of another version"]))
    row = load_registry(file)["served"]
    assert row.settings["omit"] == ["top_p"]
    assert row.adapted == {"top_p": DIALECTS["top_p"].line}
    served.rows("http://127.0.0.1:10/v1")
    assert "omit" not in load_registry(file)["served"].settings


def test_a_row_of_ray_passes_the_dialect_to_its_workers() -> None:
    settings = {"worker": {"engine": "openai", "settings": {"omit": ["temperature"]}}}
    row = ModelEntry(name="cluster", engine="ray", id="m", settings=settings)
    changed = adapted(row, ["top_p", "finish_reason"])
    assert changed.settings["worker"]["settings"]["omit"] == ["temperature", "top_p"]
    assert changed.identity != row.identity


def test_the_first_question_finds_the_dialect_and_survives_a_lost_connection() -> None:
    class Breaking(OpenAIServer):
        """A server that hangs up when it should continue a begun answer."""

        def reply(self, *request: Any) -> Reply:
            if b"continue_final_message" in request[-1]:
                return Reply(b"", hang_up=True)
            return super().reply(*request)

    reply = failing(500, "System role not supported")
    with Breaking(server_of("system", reply)) as server:
        row = served_at(server.base_url, "", "")
        settings = row.settings | {"retries": 0}
        row = checked(row.model_copy(update={"settings": settings}))
        with refused(EngineError, "served", "connection", "SET=prefill=user"):
            responses(entry(server, prefill="vllm"), prompt("4?", "It is"))
    assert row.settings["roles"] == "no system"
    assert row.adapted == {"system": DIALECTS["system"].line}


def test_the_documentation_has_the_table() -> None:
    text = (ROOT / "docs" / "models.md").read_text()
    for dialect in DIALECTS.values():
        setting = f"`{dialect.setting}`" if dialect.setting else ""
        assert f"| {dialect.sign} | {dialect.done} | {setting} |" in text
    assert set(DIALECTS) == {*REFUSED, "finish_reason", "parts"}
