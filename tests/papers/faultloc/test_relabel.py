"""Answers under labels that drift and under the lines that changed: files are read, judged and compared by quarter."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.errors import CodestressError
from codestress.mutate.faults.kinds import KINDS
from codestress.papers.faultloc import studies
from codestress.papers.faultloc.programs import parses
from codestress.papers.faultloc.results import relabel
from codestress.papers.faultloc.results.relabel import perfect_answers
from codestress.papers.faultloc.tasks import RENAMED
from told import refused


def relabelling(**changes: Any) -> studies.Relabel:
    """Eight installed programs with drifted labels, but for `changes`."""
    given = {"artefact": "faultloc/relabel", "models": ["sim-careful"]}
    given |= {"per_quarter": 0, "programs": ["installed"], "selection": "drifted"}
    return studies.Relabel.model_validate(
        given | {"n_programs": 8, "max_lines": 300} | changes
    )


def tasks(given: studies.Relabel) -> dict[str, studies.Task]:
    [source] = given.programs
    return studies.tasks_of(given, source)


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_labels_drift_as_the_artifacts_do() -> None:
    right, drifted = tasks(relabelling(selection="kit")), tasks(relabelling())
    assert drifted.keys() == right.keys()
    others = []
    for name, task in drifted.items():
        # Of the text before it was formatted anew.
        assert task.program.line == right[name].program.line
        assert parses(task.program.code, "python")
        assert task.label_is_right == (task.changed == task.program.line)
        if task.kind == "MisplacedReturn":
            assert task.label_is_right
        else:
            others.append(task.label_is_right)
    assert sum(others) < len(others) / 2
    given = relabelling()
    perfect = perfect_answers(given, given.trials())
    assert perfect["value_changed"].eq(1).all(), "it names the line that changed"
    labels = {name: task.label_is_right for name, task in drifted.items()}
    expected = perfect["problem"].map(labels).astype(float)
    assert perfect["value_strict"].tolist() == expected.tolist()


def test_answers_of_a_file_are_scored_by_both_lines(tmp_path: Path) -> None:
    """Labels are right by the label alone, changed lines by the change alone, other lines by neither."""
    given = relabelling()
    rows, inside, same = [], [], set()
    for name, task in tasks(given).items():
        label, lines = task.program.line, task.program.lines
        far = lines if max(label, task.changed or 0) < lines - 5 else 1
        named = {"label": label, "change": task.changed, "far": far, "none": None}
        for model, line in named.items():
            rows.append({"id": name, "line": line, "model": model})
        if label <= lines:
            inside.append(name)
        if task.label_is_right:
            same.add(name)
    read = relabel.read_answers(written(tmp_path / "a.jsonl", rows), given)
    frame = read.set_index(["model", "problem"])
    values = frame.filter(regex="^value_")
    label, change, far, none = (values.loc[model] for model in named)
    assert label.loc[inside, ["value_strict", "value_reference"]].eq(1).all(axis=None)
    assert change.filter(like="changed").eq(1).all(axis=None)
    assert 0 < change["value_strict"].mean() < 1
    assert set(change.query("value_strict == 1").index) == same
    assert far.to_numpy().sum() == none.to_numpy().sum() == 0
    assert set(frame.loc["none"]["outcome_changed"]) == {"unparsable"}
    row = {"id": inside[0], "line": 3.0, "model": None}  # as pandas writes it
    one = written(tmp_path / "b.jsonl", [row])
    assert relabel.read_answers(one, given)["model"].tolist() == ["b.jsonl"]


FORM = '"id": "29/MisplacedReturn/1", "line": 2'
"""The row of answers as messages show it."""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "nobody", "line": 3}', ("line 1", "'nobody'", "TASK")),
        ('{"id": "TASK", "line": 3}\n{"id": "TASK", "line": 4}', ("line 2", "TASK")),
        ('{"id": "TASK"}', ("line 1", FORM)),
        ('\n{"id": "TASK", "line": "3"}', ("line 2", "line = '3'", FORM)),
        ('{"id": "TASK", "line": true}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3.5}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 1e999}', ("line 1", FORM)),
        ('{"id": ["TASK"], "line": 3}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3, "model": "\\ud800"}', ("line 1", FORM)),
        ('{"id": "TASK", "line": 3, "model": "perfect localizer"}', ("line 1", "TASK")),
        ("[1]", ("line 1", FORM)),
        ("no JSON", ("line 1", FORM)),
        ("", (FORM,)),
        (gzip.compress(b"{}", mtime=0), ("line 1", FORM)),
        (None, ()),
    ],
)
def test_what_is_no_file_of_answers_is_told(
    text: str | bytes | None, told: tuple[str, ...], tmp_path: Path
) -> None:
    given = relabelling(n_programs=1)
    path, task = tmp_path / "a.jsonl", min(tasks(given))
    if isinstance(text, str):
        path.write_text(text.replace("TASK", task))
    elif text is not None:
        path.write_bytes(text)
    wanted = [part.replace("TASK", task) for part in told]
    with refused(CodestressError, "a.jsonl", *wanted):
        relabel.read_answers(path, given)


def frame_of(
    shares: dict[int, tuple[float, float]], programs: int, seed: int = 0
) -> pd.DataFrame:
    """Answers drawn by quarter: with which probability each is right by the label, and by the change."""
    draws, parts = np.random.default_rng(seed), []
    problems = [f"{n % programs}/x/{n}" for n in range(3 * programs)]
    for quarter, both in shares.items():
        part = pd.DataFrame({"model": "m", "source": "s", "problem": problems})
        part = part.assign(quarter=quarter, changed_quarter=quarter)
        for rule, share in zip(("", "changed_"), both, strict=True):
            right = (draws.random(len(part)) < share).astype(float)
            part[f"value_{rule}reference"] = right
            part["value_changed" if rule else "value_strict"] = right
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [
        ((0.9, 0.9), (0.2, 0.9), "does not survive"),
        ((0.9, 0.9), (0.2, 0.2), "survives"),
        ((0.5, 0.5), (0.5, 0.5), "no fall"),
    ],
)
def test_what_becomes_of_the_position_effect(
    first: tuple[float, float], last: tuple[float, float], verdict: str
) -> None:
    shares = {1: first, 2: (0.5, 0.5), 3: (0.5, 0.5), 4: last}
    answers = frame_of(shares, 200, seed=1)
    effects = relabel.position_effects(answers, 0.95)
    [found] = set(effects["verdict"])
    assert found.startswith(verdict)
    for row in effects.itertuples():
        assert row.low <= first[0] - last[0] <= row.high
        assert row.changed_low <= first[1] - last[1] <= row.changed_high
        assert row.by_labels == pytest.approx(row.fall - row.fall_changed)
    lacking = relabel.position_effects(answers.query("quarter < 4"), 0.95)
    assert lacking["verdict"].str.match("not kn").all()


@pytest.mark.slow
def test_the_fall_s_interval_covers_it() -> None:
    """Of 100 studies of 60 programs: 95 %, but for chance."""
    shares = {1: (0.7, 0.6), 4: (0.4, 0.5)}
    parts = [
        relabel.position_effects(frame_of(shares, 60, seed), 0.95).iloc[[0]]
        for seed in range(100)
    ]
    found = pd.concat(parts)
    for name, truth in (("", 0.3), ("by_labels_", 0.2)):
        held = (found[f"{name}low"] <= truth) & (truth <= found[f"{name}high"])
        assert held.mean() >= 0.9


@pytest.mark.slow
@pytest.mark.usefixtures("public")
def test_all_public_tasks_under_both_lines(tmp_path: Path) -> None:
    """A file of the changed lines to all 9,150 tasks: 39 of them have none."""
    public = {"programs": ["alpaca"], "selection": "artifact"}
    given = relabelling(**public, n_programs=0, max_lines=0)
    rows = [{"id": name, "line": task.changed} for name, task in tasks(given).items()]
    assert len(rows) == 9150
    assert sum(row["line"] is None for row in rows) == 39
    assert rows[0]["id"].split("/")[1] in {*KINDS, *RENAMED}
    answers = relabel.read_answers(written(tmp_path / "a.jsonl", rows), given)
    shares = relabel.by_quarter(answers, 0.95).set_index(["rule", "quarter"])
    assert shares.loc["changed", "accuracy"].eq(1).all()
    for rule in ("strict", "changed"):
        assert shares.loc[rule, "tasks"].sum() == 9111
    # By the kit's quarters, of lines; the audit's are of the data set's percentages.
    percent = (100 * shares.loc["reference", "accuracy"]).round()
    assert percent.tolist() == [86, 61, 51, 26]
    effects = relabel.position_effects(answers, 0.95)
    assert set(effects["verdict"]) == {"does not survive"}
