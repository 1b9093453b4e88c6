"""Parameters of the papers' own size."""

from typing import Any

from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Overrides, resolve


def paper_parameters(name: str) -> Any:
    """The parameters of an artefact by the profile `paper`."""
    [artefact] = resolve([name], "paper", Overrides(), load_registry())
    return artefact.parameters
