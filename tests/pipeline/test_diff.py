"""Differences between two builds: entries of their manifests, and rows of their tables by place."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from codestress.pipeline.diff import differences
from told import names


def write_build(folder: Path, table: pd.DataFrame, correct: int) -> Path:
    folder.mkdir()
    table.to_parquet(folder / "data.parquet")
    counts = {"counts": {"a": {"correct": correct, "missing": 0}}}
    (folder / "manifest.json").write_text(json.dumps(counts))
    return folder


def test_counts_and_rows_are_compared(tmp_path: Path) -> None:
    table = pd.DataFrame({"model": list("abc"), "share": [0.1, 0.2, 0.3]})
    changed = table.assign(model=["a", "b", "d"], share=[0.1, 0.6, 0.3])
    before = write_build(tmp_path / "before", table, correct=1)
    after = write_build(tmp_path / "after", changed, correct=2)
    shorter = write_build(tmp_path / "shorter", table.head(1), correct=1)
    assert differences(before, before, ("counts",)) == []
    counts, model, share = differences(before, after, ("counts",))
    names(counts, "counts.a:", "{'correct': 1}", "{'correct': 2}")
    names(model, "data.model:", "1 of 3")
    names(share, "data.share:", "1 of 3", "0.4")
    [rows] = differences(before, shorter, ("counts",))
    names(rows, "data:", "3 rows", "1 rows")
