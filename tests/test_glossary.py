"""Parameters and tables use the terms of docs/glossary.md; names of earlier versions are told what they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from codestress.pipeline.notebooks import schemas

EARLIER = {
    "right",
    "wrong",
    "asked",
    "share",
    "place",
    "reason",
    "surroundings",
    "planted",
    "labelled",
    "n_seeds",
    "seeds",
    "target_place",
}
"""What must not name a parameter or a column any more."""


def test_no_parameter_has_an_earlier_name() -> None:
    for path, (schema, _) in schemas().items():
        assert not EARLIER & set(schema.model_fields), path.name


def test_no_table_has_an_earlier_name(smoke: Path) -> None:
    for table in sorted(smoke.glob("smoke/*/*/table.csv")):
        columns = {str(name) for name in pd.read_csv(table, nrows=1).columns}
        # A share of something else stays one.
        assert not (EARLIER - {"share"}) & columns, f"{table}: {columns & EARLIER}"
    for manifest in sorted(smoke.glob("smoke/*/*/manifest.json")):
        for counts in json.loads(manifest.read_text())["counts"].values():
            assert "right" not in counts, manifest
