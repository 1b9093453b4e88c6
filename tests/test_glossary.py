"""Parameters and tables use the terms of docs/glossary.md; names of earlier versions are told what they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Overrides, resolve
from codestress.pipeline.notebooks import schemas
from codestress.validation import RENAMED
from told import refused

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
    *RENAMED,
}
"""What must not name a parameter or a column any more."""


def test_no_parameter_has_an_earlier_name() -> None:
    for path, (schema, _) in schemas().items():
        assert not EARLIER & set(schema.model_fields), path.name


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_earlier_name_is_told_the_one_of_today(old: str, new: str) -> None:
    artefacts = {
        "programs": "faultloc/fig06",
        "n_programs": "faultloc/fig06",
        "depth": "origin/sec62",
    }
    with refused(ParameterError, old, f"'{new}'"):
        resolve(
            [artefacts[new]], "demo", Overrides(settings=(f"{old}=1",)), load_registry()
        )


def test_no_table_has_an_earlier_name(smoke: Path) -> None:
    for table in sorted(smoke.glob("smoke/*/*/table.csv")):
        columns = {str(name) for name in pd.read_csv(table, nrows=1).columns}
        # A share of something else stays one.
        assert not (EARLIER - {"share"}) & columns, f"{table}: {columns & EARLIER}"
    for manifest in sorted(smoke.glob("smoke/*/*/manifest.json")):
        for counts in json.loads(manifest.read_text())["counts"].values():
            assert "right" not in counts, manifest
