"""Files of the paper's public artifact (data set `llmcodeimpact`), and the parameters of their audit."""

import gzip
import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from codestress.parameters import Facts
from codestress.problems.datasets import data_file


def packed_rows(name: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of the file `name`, a gzipped JSON Lines file of the paper's public artifact,
    as dictionaries. Raises `DataError` if the data set is not at hand."""
    path = data_file("llmcodeimpact", f"llmcodeimpact/{name}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


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
