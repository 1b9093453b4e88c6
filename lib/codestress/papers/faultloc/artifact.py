"""Files of the paper's public artifact (data set `llmcodeimpact`)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

from codestress.problems.datasets import data_file


def packed_rows(name: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of the file `name`, a gzipped JSON Lines file of the paper's public artifact,
    as dictionaries. Raises `DataError` if the data set is not at hand."""
    with gzip.open(
        data_file("llmcodeimpact", f"llmcodeimpact/{name}"), "rt", encoding="utf-8"
    ) as file:
        for line in file:
            yield json.loads(line)
