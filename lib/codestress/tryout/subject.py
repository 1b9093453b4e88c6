"""Whom `codestress try` asks: a row of the registry, or what a URL serves; and what loopback ports have to offer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codestress.errors import EngineError, ParameterError
from codestress.inference.coroutines import run_coroutine
from codestress.inference.probe import LOOK_S, begins, checked, fault_of, models_of, served_at
from codestress.inference.registry import LOCAL, ModelEntry, find_models, load_registry
from codestress.report.headline import Reach

LOCAL_SERVERS = {
    "Ollama": ("http://localhost:11434/v1", "ollama serve"),
    "LM Studio": ("http://localhost:1234/v1", "lms server start"),
    "llama.cpp": ("http://localhost:8080/v1", "llama-server -m MODEL.gguf"),
    "vLLM": ("http://localhost:8000/v1", "vllm serve MODEL"),
}
"""The servers that people have: where they listen unless told otherwise, and how they are started."""
TIMEOUT_S = (10.0, 120.0)
"""For an answer: a fifth of the time that there is, within these."""
RETRIES = 2


@dataclass(frozen=True)
class Subject:
    """A model that is tried."""

    entry: ModelEntry
    reach: Reach
    told: list[str] = field(default_factory=list)
    """What was found out about its server, in words."""


def registered(name: str, minutes: float) -> Subject:
    """A row of params/models.yaml; where it is on a server, with less patience than a study has."""
    [entry] = find_models([name], load_registry(), "try")
    if entry.local:
        return Subject(entry, Reach(entry.context, True))
    if entry.engine != "openai":
        raise ParameterError(
            f"try: {name}: its engine is {entry.engine}, which does not answer within minutes; the engines openai, "
            f"{', '.join(LOCAL)} do: serve it (`make serve MODEL={name}`) and try its URL"
        )
    return _checked(entry, minutes)


def at_url(url: str, model_id: str, key_env: str, minutes: float) -> Subject:
    """A model that an OpenAI-compatible server offers, the only one where it offers one alone."""
    return _checked(served_at(url, model_id, key_env, "try"), minutes)


def on_loopback() -> Iterator[tuple[str, str, dict[str, int | None]]]:
    """The servers that answer on this machine: name, URL, models with contexts."""
    for name, (url, _) in LOCAL_SERVERS.items():
        try:
            yield name, url, models_of(url, "", LOOK_S)
        except EngineError:
            continue


def function(path: Path, name: str) -> Subject:
    """A Python function of a file (`inference.engines.function` says how it is called), which has answered once."""
    settings = {"function": f"{path.resolve()}:{name}"}
    entry = ModelEntry(name=name, engine="function", id=name, settings=settings, archive=None)
    try:
        run_coroutine(fault_of(entry, ""))
    except EngineError as error:
        raise EngineError(
            f"{error}\nIt is called as {name}(messages, prefill=…, temperature=…, top_p=…, max_tokens=…, stop=…), "
            "messages being dictionaries of role and content, and returns the answer's text."
        ) from None
    return Subject(entry, Reach(None, True))


def _checked(entry: ModelEntry, minutes: float) -> Subject:
    """With the longest overrun: after the last minute no request is sent, nor sent again."""
    patience = {"timeout_s": min(max(TIMEOUT_S[0], 12 * minutes), TIMEOUT_S[1]), "retries": RETRIES}
    found, told = checked(entry.model_copy(update={"settings": {**entry.settings, **patience}}))
    return Subject(found, Reach(found.context, begins(found)), told)
