"""Two runs compared: parameters, inputs, numbers, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.errors import ParameterError
from codestress.paths import MINE, OUTPUTS
from codestress.report.checked import read_manifest, read_table

COMPARED = ("parameters", "models", "counts", "environment", "inputs", "prompts", "requests_sha256")


def find_run(text: str) -> Path:
    """A folder given as a path, or below outputs/ as PROFILE, PROFILE/PAPER/ARTEFACT or PAPER/ARTEFACT@CHANGES."""
    for path in (Path(text), OUTPUTS / text, OUTPUTS / MINE / text):
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
        where = "" if name == "." else f"{name}: "  # of two artefacts, and not of two profiles
        found += [f"{where}{line}" for line in _diff_artefact(names[0][name], names[1][name])]
    return found


def _diff_artefact(first: Path, second: Path) -> list[str]:
    before, after = (read_manifest(folder) for folder in (first, second))
    lines = differences(first, before, second, after, COMPARED)
    for name in ("figure.svg", "figure.pdf", "figure.png"):
        if (first / name).read_bytes() != (second / name).read_bytes():
            lines.append(f"{name} differs")
    return lines


def differences(
    first: Path, before: Mapping[str, Any], second: Path, after: Mapping[str, Any], parts: Sequence[str]
) -> list[str]:
    """How the numbers of two builds of an artefact differ, and these parts of their manifests."""
    lines = []
    for part in parts:
        old, new = before.get(part), after.get(part)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            keys = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
            lines += [f"{part}.{key}: {_told(old.get(key))} -> {_told(new.get(key))}" for key in keys]
        else:
            lines.append(f"{part}: {old} -> {new}")
    return lines + _diff_numbers(first, second)


def _told(value: Any) -> str:
    """Counts without what never happened."""
    return str({name: count for name, count in value.items() if count} if isinstance(value, dict) else value)


def _diff_numbers(first: Path, second: Path) -> list[str]:
    old, new = (read_table(folder / "data.parquet") for folder in (first, second))
    if list(old.columns) != list(new.columns):
        return [f"data: {old.shape[0]} rows of {list(old.columns)} -> {new.shape[0]} rows of {list(new.columns)}"]
    lines, among = [], ""
    if len(old) != len(new):
        lines, among = [f"data: {len(old)} rows -> {len(new)} rows"], " in both"
    keys = _keys(old, new)
    if keys:  # what stands for the same is compared, wherever it stands
        old, new = (one.set_index(keys) for one in (old, new))
        same = old.index.intersection(new.index, sort=False)
        if len(same) < max(len(old), len(new)):
            among = " in both"
        old, new = (one.loc[same].reset_index() for one in (old, new))
    elif among:
        return lines
    for column in old.columns:
        changed = ~((old[column] == new[column]) | (old[column].isna() & new[column].isna()))
        if changed.any():
            largest = ""
            if pd.api.types.is_numeric_dtype(old[column]) and not pd.api.types.is_bool_dtype(old[column]):
                largest = f", by at most {(new[column] - old[column]).abs().max():.4g}"
            lines.append(f"data.{column}: {int(changed.sum())} of {len(old)} rows{among} differ{largest}")
    return lines


def _keys(old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """The fewest columns that tell rows from each other, texts before whole numbers, what both have in common before
    what one alone has; none where nothing does."""

    def tell(columns: list[str]) -> bool:
        return bool(columns) and not any(one.duplicated(columns).any() for one in (old, new))

    def common(column: str) -> float:
        first, second = set(old[column]), set(new[column])
        return len(first & second) / max(1, len(first | second))

    for kinds in (["object", "string", "bool"], ["object", "string", "bool", "integer"]):
        keys = [str(name) for name in old.select_dtypes(kinds) if name in new.select_dtypes(kinds)]
        if tell(keys):
            for key in sorted(keys, key=common):
                keys = others if tell(others := [one for one in keys if one != key]) else keys
            return keys
    return []
