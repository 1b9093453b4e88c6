"""Comparison of two runs: parameters, inputs, numbers, figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codestress.errors import ParameterError
from codestress.paths import MINE, OUTPUTS, visible, whole
from codestress.report.checked import read_manifest, read_table

COMPARED = (
    "parameters",
    "models",
    "counts",
    "environment",
    "inputs",
    "prompts",
    "requests_sha256",
)


def find_run(text: str) -> Path:
    """Return the folder of a run that `text` names: a path, or PROFILE,
    PROFILE/PAPER/ARTEFACT or PAPER/ARTEFACT@CHANGES below outputs/.

    Raises `ParameterError` if no such folder exists.
    """
    for path in (whole(text), OUTPUTS / text, OUTPUTS / MINE / text):
        if path.is_dir():
            return path
    raise ParameterError(
        f"{text!r}: no such folder, here or in outputs/; name a profile or PROFILE/PAPER/ARTEFACT"
    )


def diff(first: Path, second: Path) -> list[str]:
    """Return the differences, as lines of text, between two runs: the folders `first`
    and `second`, with built artefacts at any depth.

    The list is empty if both folders have the same artefacts with the same parameters,
    inputs, numbers and figures. Raises `ParameterError` if neither folder has an
    artefact.
    """
    before, after = _artefacts(first), _artefacts(second)
    if not before and not after:
        raise ParameterError(f"{first} and {second}: no artefact in either")
    lines = [f"{name}: only in {first}" for name in sorted(before - after)]
    lines += [f"{name}: only in {second}" for name in sorted(after - before)]
    for name in sorted(before & after):
        # Lines name the artefact if the runs are profiles, not if each is an artefact.
        where = "" if name == "." else f"{name}: "
        folders = first / name, second / name
        changes = differences(*folders, COMPARED)
        for file in ("figure.svg", "figure.pdf", "figure.png"):
            old, new = ((folder / file).read_bytes() for folder in folders)
            if old != new:
                changes.append(f"{file} differs")
        lines += [f"{where}{line}" for line in changes]
    return lines


def _artefacts(root: Path) -> set[str]:
    paths = visible(root, "**/manifest.json")
    return {str(path.parent.relative_to(root)) for path in paths}


def differences(first: Path, second: Path, parts: Sequence[str]) -> list[str]:
    """Return the differences, as lines of text, between two builds of an artefact in
    the folders `first` and `second`; empty if there are none.

    Differences in `parts` (keys) of their manifests come first, then differences in
    their numbers (data.parquet). Raises `DataError` if a file is missing or faulty.
    """
    before, after = read_manifest(first), read_manifest(second)
    lines = []
    for part in parts:
        old, new = before.get(part), after.get(part)
        if old == new:
            continue
        if not (isinstance(old, dict) and isinstance(new, dict)):
            old, new, part = {part: old}, {part: new}, ""
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                name = f"{part}.{key}".strip(".")
                lines.append(f"{name}: {_text(old.get(key))} -> {_text(new.get(key))}")
    return lines + _diff_numbers(first, second)


def _text(value: Any) -> str:
    """Return the text of a manifest's `value` (`str`); of a dict, only the entries that
    are not zero or empty are shown."""
    if isinstance(value, dict):
        value = {name: count for name, count in value.items() if count}
    return str(value)


def _diff_numbers(first: Path, second: Path) -> list[str]:
    old, new = (read_table(folder / "data.parquet") for folder in (first, second))
    shapes = [f"{len(table)} rows of {list(table.columns)}" for table in (old, new)]
    if shapes[0] != shapes[1]:
        return [f"data: {' -> '.join(shapes)}"]
    changed = (old != new) & ~(old.isna() & new.isna())
    lines = []
    for column, count in changed.sum()[changed.any()].items():
        line = f"data.{column}: {count} of {len(old)} rows differ"
        if column in old.select_dtypes("number"):
            line += f", by at most {(new[column] - old[column]).abs().max():.4g}"
        lines.append(line)
    return lines
