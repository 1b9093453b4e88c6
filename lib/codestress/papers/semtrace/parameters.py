"""Parameters of Sense and Sensitivity's studies without requests, whose notebooks load no
trials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codestress.parameters import Facts


class Registry(Facts):
    """Parameters of appendices F and G, tables from the model registry without requests: its `show`
    names the table (licences or architecture), its `longest_context` a context in tokens."""

    show: Literal["licences", "architecture"] = Field(
        "licences", description="which table"
    )
    longest_context: int = Field(
        30_810, ge=1000, description="tokens; the paper: approximately 31k"
    )
    rule: Literal["strict"] = Field("strict", description="nothing is judged")
