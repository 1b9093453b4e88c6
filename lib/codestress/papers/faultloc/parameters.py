"""Parameters of studies that ask no model; their notebooks load no trials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codestress.parameters import Facts


class Audit(Facts):
    """Parameters of the audit, which compares the public tasks' labels with the lines that really
    changed; no model is asked."""

    tasks: Literal["public", "counted"] = Field(
        "public",
        description="public: the tasks, a data set; counted: what was counted in them (tolerance 2)",
    )
    tolerance: int = Field(
        2, ge=0, description="lines by which the artifact lets an answer be off"
    )
