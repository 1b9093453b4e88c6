"""Which engine answers for a model: an archive where one is replayed, else the one of its row."""

from __future__ import annotations

import os
from pathlib import Path

from codestress.inference.engines.base import BatchEngine, Engine
from codestress.inference.engines.replay import Replay
from codestress.inference.registry import ModelEntry, engine_module


def replayed(entry: ModelEntry) -> bool:
    """Whether an archive answers for this model, which CODESTRESS_REPLAY names."""
    return bool(os.environ.get("CODESTRESS_REPLAY")) and not entry.local


def open_engine(entry: ModelEntry) -> Engine | BatchEngine:
    """The engine that answers for this model: an archive where CODESTRESS_REPLAY names one, else its own."""
    if replayed(entry):
        return Replay(entry, Path(os.environ["CODESTRESS_REPLAY"]))
    return engine_module(entry).open_engine(entry)
