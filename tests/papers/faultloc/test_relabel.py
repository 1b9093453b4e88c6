"""Answers under labels that drift and under the lines that changed: files are read, judged and compared by quarter."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.errors import CodestressError
from codestress.mutate.faults.fault_site import KINDS
from codestress.papers.faultloc import studies
from codestress.papers.faultloc.programs import parses
from codestress.papers.faultloc.results import localization, relabel
from codestress.papers.faultloc.results.relabel import ORACLE, perfect_answers
from codestress.papers.faultloc.tasks import RENAMED
from told import refused

DRIFTED: dict[str, Any] = {
    **{
        "artefact": "faultloc/relabel",
        "models": ["sim-careful"],
        "programs": ["installed"],
        "selection": "drifted",
    },
    **{"n_programs": 8, "max_lines": 300, "per_quarter": 0},
}
PUBLIC: dict[str, Any] = {
    "artefact": "faultloc/relabel",
    "models": ["sim-careful"],
    "programs": ["alpaca"],
}
PUBLIC |= {"selection": "artifact", "per_quarter": 0, "n_programs": 0, "max_lines": 0}


def relabelling(**changes: Any) -> studies.Relabel:
    return studies.Relabel.model_validate(DRIFTED | changes)


def tasks(given: studies.Relabel) -> dict[str, studies.Task]:
    return {
        name: task
        for source in given.programs
        for name, task in studies.tasks_of(given, source).items()
    }


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_labels_drift_as_the_artifacts_do() -> None:
    given = relabelling()
    right = tasks(given.model_copy(update={"selection": "kit"}))
    drifted = tasks(given)
    assert drifted.keys() == right.keys()
    for name, task in drifted.items():
        # Of the text before it was formatted anew.
        assert task.program.line == right[name].program.line
        assert parses(task.program.code, "python")
        assert task.label_is_right == (task.changed == task.program.line)
        if task.kind == "MisplacedReturn":
            assert task.label_is_right
    others = [task for task in drifted.values() if task.kind != "MisplacedReturn"]
    assert sum(task.label_is_right for task in others) < len(others) / 2


def test_answers_of_a_file_are_scored_by_both_lines(tmp_path: Path) -> None:
    """Labels are right by the label alone, changed lines by the change alone, other lines by neither."""
    given = relabelling()
    rows = []
    for name, task in tasks(given).items():
        far = (
            task.program.lines
            if max(task.program.line, task.changed or 0) < task.program.lines - 5
            else 1
        )
        for model, line in (
            ("label", task.program.line),
            ("change", task.changed),
            ("far", far),
            ("none", None),
        ):
            rows.append({"id": name, "line": line, "model": model})
    read = relabel.read_answers(written(tmp_path / "a.jsonl", rows), given)
    frame = read.set_index(["model", "problem"])
    values = frame[[f"value_{rule}" for rule in relabel.READINGS]]
    inside = [
        name
        for name, task in tasks(given).items()
        if task.program.line <= task.program.lines
    ]
    assert (
        values.loc["label"]
        .loc[inside, ["value_strict", "value_reference"]]
        .eq(1)
        .all(axis=None)
    )
    assert (
        values.loc["change"][["value_changed", "value_changed_reference"]]
        .eq(1)
        .all(axis=None)
    )
    assert 0 < values.loc["change"]["value_strict"].mean() < 1
    same = {name for name, task in tasks(given).items() if task.label_is_right}
    assert set(values.loc["change"].query("value_strict == 1").index) == same
    assert values.loc["far"].to_numpy().sum() == 0
    assert values.loc["none"].to_numpy().sum() == 0
    assert set(frame.loc["none"]["outcome_changed"]) == {"unparsable"}
    one_model = relabel.read_answers(
        written(tmp_path / "b.jsonl", [{"id": inside[0], "line": 3}]), given
    )
    assert one_model["model"].tolist() == ["b.jsonl"]


FORM = '"id": "29/MisplacedReturn/1", "line": 2'
"""The row of answers as messages show it."""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "nobody", "line": 3}', ("line 1", "'nobody'", "TASK")),
        ('{"id": "TASK", "line": 3}\n{"id": "TASK", "line": 4}', ("line 2", "TASK")),
        ('{"id": "TASK"}', ("line 1", FORM)),
        ('\n{"id": "TASK", "line": "3"}', ("line 2", FORM)),
        ('{"id": "TASK", "line": true}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3.5}', ("line 1", FORM)),
        ('{"id": ["TASK"], "line": 3}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3, "model": 1}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3, "model": "\\ud800"}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3, "model": "perfect localizer"}', ("line 1", "TASK")),
        ("[1]", ("line 1", FORM)),
        ("no JSON", ("line 1", FORM)),
        ("", (FORM,)),
    ],
)
def test_what_is_no_file_of_answers_is_told(
    text: str, told: tuple[str, ...], tmp_path: Path
) -> None:
    given = relabelling(n_programs=1)
    path, task = tmp_path / "a.jsonl", min(tasks(given))
    path.write_text(text.replace("TASK", task))
    with refused(
        CodestressError, "a.jsonl", *(part.replace("TASK", task) for part in told)
    ):
        relabel.read_answers(path, given)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    given = relabelling(n_programs=1)
    with refused(CodestressError, "nowhere.jsonl"):
        relabel.read_answers(tmp_path / "nowhere.jsonl", given)
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"{}"))
    with refused(CodestressError, "a.gz", "line 1", FORM):
        relabel.read_answers(tmp_path / "a.gz", given)


def frame_of(
    shares: dict[int, tuple[float, float]], programs: int, seed: int = 0
) -> pd.DataFrame:
    """Answers drawn by quarter: with which probability each is right by the label, and by the change."""
    draws, parts = np.random.default_rng(seed), []
    for quarter, (label, change) in shares.items():
        part = pd.DataFrame(
            {
                "model": "m",
                "source": "s",
                "problem": [f"{n % programs}/x/{n}" for n in range(3 * programs)],
            }
        )
        by_label, by_change = (
            (draws.random(len(part)) < share).astype(float) for share in (label, change)
        )
        values = {"value_strict": by_label, "value_reference": by_label}
        values |= {"value_changed": by_change, "value_changed_reference": by_change}
        parts.append(part.assign(quarter=quarter, changed_quarter=quarter, **values))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("label", "change", "verdict"),
    [
        ((0.9, 0.2), (0.9, 0.9), "does not survive"),
        ((0.9, 0.2), (0.9, 0.2), "survives"),
        ((0.5, 0.5), (0.5, 0.5), "no fall"),
    ],
)
def test_what_becomes_of_the_position_effect(
    label: tuple[float, float], change: tuple[float, float], verdict: str
) -> None:
    shares = {
        1: (label[0], change[0]),
        2: (0.5, 0.5),
        3: (0.5, 0.5),
        4: (label[1], change[1]),
    }
    effects = relabel.position_effects(frame_of(shares, 200, seed=1), 0.95)
    [found] = set(effects["verdict"])
    assert found.startswith(verdict)
    for row in effects.itertuples():
        assert row.low <= label[0] - label[1] <= row.high
        assert row.changed_low <= change[0] - change[1] <= row.changed_high
        assert row.by_labels == pytest.approx(row.fall - row.fall_changed)
    assert (
        relabel.position_effects(frame_of(shares, 200).query("quarter < 4"), 0.95)[
            "verdict"
        ]
        .str.match("not kn")
        .all()
    )


@pytest.mark.slow
def test_the_fall_s_interval_covers_it() -> None:
    """Of 100 studies of 60 programs: 95 %, but for chance."""
    shares = {1: (0.7, 0.6), 4: (0.4, 0.5)}
    found = [
        relabel.position_effects(frame_of(shares, 60, seed), 0.95).iloc[0]
        for seed in range(100)
    ]
    held = np.mean([row["low"] <= 0.3 <= row["high"] for row in found])
    made = np.mean(
        [row["by_labels_low"] <= 0.2 <= row["by_labels_high"] for row in found]
    )
    assert held >= 0.9
    assert made >= 0.9


@pytest.mark.slow
def test_the_perfect_localizer_is_judged_by_the_labels_in_use(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    given = relabelling(**PUBLIC | {"per_quarter": 1})
    perfect = perfect_answers(given, given.trials())
    assert len(perfect) == 2750
    assert perfect["value_strict"].sum() == 1561
    assert (
        perfect["value_changed"].sum()
        == perfect["changed_quarter"].notna().sum()
        == 2747
    )
    table = localization.localized(
        perfect, ["language"], rule="strict", confidence=0.95
    )
    assert table.loc[0, ["model", "tasks", "found"]].tolist() == [ORACLE, 2750, 1561]


@pytest.mark.slow
def test_all_public_tasks_under_both_lines(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file of the changed lines to all 9,150 tasks: 39 of them have none."""
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    given = relabelling(**PUBLIC)
    rows = [{"id": name, "line": task.changed} for name, task in tasks(given).items()]
    assert len(rows) == 9150
    assert sum(row["line"] is None for row in rows) == 39
    assert rows[0]["id"].split("/")[1] in {*KINDS, *RENAMED}
    answers = relabel.read_answers(written(tmp_path / "a.jsonl", rows), given)
    shares = relabel.by_quarter(answers, 0.95).set_index(["rule", "quarter"])
    assert shares.loc["changed", "accuracy"].eq(1).all()
    assert (
        shares.loc["strict", "tasks"].sum()
        == shares.loc["changed", "tasks"].sum()
        == 9111
    )
    # By the kit's quarters, of lines; the audit's are of the data set's percentages.
    assert [round(100 * one) for one in shares.loc["reference", "accuracy"]] == [
        86,
        61,
        51,
        26,
    ]
    effects = relabel.position_effects(answers, 0.95)
    assert set(effects["verdict"]) == {"does not survive"}
