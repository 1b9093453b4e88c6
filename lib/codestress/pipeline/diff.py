"""Two runs compared: parameters, inputs, numbers, figures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from codestress.errors import DataError, ParameterError
from codestress.paths import OUTPUTS, shown
from codestress.report.checked import read_manifest

COMPARED = ("parameters", "models", "counts", "environment", "inputs", "prompts", "requests_sha256")


def find_run(text: str) -> Path:
    """A folder given as a path, or as a name below outputs/ (PROFILE or PROFILE/PAPER/ARTEFACT)."""
    for path in (Path(text), OUTPUTS / text):
        if path.is_dir():
            return path
    raise ParameterError(f"{text!r}: no such folder, here or in outputs/; name a profile or PROFILE/PAPER/ARTEFACT")


def diff(first: Path, second: Path) -> list[str]:
    """Differences in words; empty when both runs have the same parameters, numbers and figures."""
    names = [
        {str(path.parent.relative_to(root)): path.parent for path in root.rglob("manifest.json")}
        for root in (first, second)
    ]
    if not names[0] and not names[1]:
        raise ParameterError(f"{first} and {second}: no artefact in either")
    found = [f"{name}: only in {first}" for name in sorted(names[0].keys() - names[1].keys())]
    found += [f"{name}: only in {second}" for name in sorted(names[1].keys() - names[0].keys())]
    for name in sorted(names[0].keys() & names[1].keys()):
        found += [f"{name}: {line}" for line in _diff_artefact(names[0][name], names[1][name])]
    return found


def _diff_artefact(first: Path, second: Path) -> list[str]:
    before, after = (read_manifest(folder) for folder in (first, second))
    lines = []
    for part in COMPARED:
        old, new = before.get(part), after.get(part)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            keys = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
            lines += [f"{part}.{key}: {old.get(key)} -> {new.get(key)}" for key in keys]
        else:
            lines.append(f"{part}: {old} -> {new}")
    lines += _diff_numbers(first, second)
    for name in ("figure.svg", "figure.pdf", "figure.png"):
        if (first / name).read_bytes() != (second / name).read_bytes():
            lines.append(f"{name} differs")
    return lines


def _read_data(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's own are of these kinds
        raise DataError(f"{shown(path)}: cannot be read: {error}; build it again with --force") from None


def _diff_numbers(first: Path, second: Path) -> list[str]:
    old, new = (_read_data(folder / "data.parquet") for folder in (first, second))
    if old.shape != new.shape or list(old.columns) != list(new.columns):
        return [f"data: {old.shape[0]} rows of {list(old.columns)} -> {new.shape[0]} rows of {list(new.columns)}"]
    lines = []
    for column in old.columns:
        changed = ~((old[column] == new[column]) | (old[column].isna() & new[column].isna()))
        if changed.any():
            largest = ""
            if pd.api.types.is_numeric_dtype(old[column]) and not pd.api.types.is_bool_dtype(old[column]):
                largest = f", by at most {(new[column] - old[column]).abs().max():.4g}"
            lines.append(f"data.{column}: {int(changed.sum())} of {len(old)} rows differ{largest}")
    return lines
