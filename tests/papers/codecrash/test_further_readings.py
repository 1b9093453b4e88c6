"""What the file says of further readings, against other ones drawn anew; and that it knows the demo's questions."""

from __future__ import annotations

import asyncio
import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

import readings

from codestress.errors import DataError
from codestress.inference.registry import load_registry
from codestress.papers.codecrash.further_readings import FURTHER, READINGS, known
from codestress.papers.codecrash.further_readings import readings as further
from codestress.papers.codecrash.results import conditions, differences, verdicts
from codestress.pipeline.artefacts import Overrides, artefact_names, resolve
from codestress.simulated.engine import open_engine
from conftest import THOROUGH, some

NAMES = [name for name in artefact_names() if name.startswith("codecrash/")]
ASKED_TWICE = "codecrash/tab09"
READ_AGAIN = {"codecrash/tab01": 12, "codecrash/tab04": 4, "codecrash/tab05": 4, "codecrash/tab07": 4, ASKED_TWICE: 4}
"""How many questions of which artefact: a direct reader, one that thinks, inputs, JavaScript, two steps."""


@pytest.mark.parametrize("name", NAMES if THOROUGH else [ASKED_TWICE])
def test_every_question_of_the_demo_was_read_further(name: str) -> None:
    (artefact,) = resolve([name], "demo", Overrides(), load_registry())
    trials, unknown = artefact.trials(), list[str]()
    for entry in artefact.models:
        mine = trials.of(entry.name)
        for trial in mine.items if entry.simulated else ():
            assert mine.chance
            if mine.chance(trial, mine.render(trial), entry.settings) is None:
                unknown.append(f"{entry.name} {trial.problem} {trial.factors['perturbation']}")
    assert not unknown, f"{len(unknown)}, {unknown[:3]}; python bench/readings.py adds them"


@pytest.mark.parametrize("name", some([*READ_AGAIN], 5))
def test_other_readings_say_the_same(name: str) -> None:
    """Of some questions that are not always answered alike: told apart from the counts of other questions."""
    (artefact,) = resolve([name], "demo", Overrides(), load_registry())
    entry = artefact.models[-1]
    trials, reader = artefact.trials().of(entry.name), open_engine(entry)
    assert trials.chance
    shares = [
        (trial, trials.chance(trial, trials.render(trial), entry.settings))
        for trial in trials.items
        if not trial.sample
    ]
    count = READ_AGAIN[name]
    between = [(trial, share) for trial, share in shares if share is not None and 0.1 < share < 0.9]
    chosen = between[:: len(between) // count][:count]
    there = np.array([share for _, share in chosen])
    found = [
        asyncio.run(readings.read_further(trials, trial, entry, reader, readings.FIRST + FURTHER))[0]
        for trial, _ in chosen
    ]
    here = np.array(found) / FURTHER
    spread = np.sqrt(2 * there * (1 - there) / FURTHER)
    assert (np.abs(here - there) <= 4 * spread).all()
    assert count < 12 or not (np.abs(here - np.roll(there, 1)) <= 4 * spread).all()


def test_a_question_of_another_seed_is_not_known() -> None:
    (artefact,) = resolve(["codecrash/tab01"], "demo", Overrides(settings=("seed=7",)), load_registry())
    trials, entry = artefact.trials(), load_registry()["sim-trusting"]
    mhc = [trial for trial in trials.items if trial.factors["perturbation"] == "MHC"]
    assert any(further(entry.settings, trials.render(trial)) is None for trial in mhc)


LINES = READINGS.read_text(encoding="utf-8").splitlines()[:3]
DAMAGED = ["401,1,1", "-1,1,1", "9" * 5000 + ",1,1", "1,nan,1", "1,1,inf", "1,1,-2", "1,1", "1,1,1,1", "x,1,1", ""]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        *((1, text) for text in ("", "question,right", LINES[1])),
        *((3, f"00ff,{one}") for one in DAMAGED),
        (3, LINES[1]),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, line: int, text: str) -> None:
    path = tmp_path / "codecrash.csv"
    path.write_text("\n".join([*LINES[: line - 1], text, *LINES[line:]]), encoding="utf-8")
    with pytest.raises(DataError, match=rf"codecrash\.csv, line {line}: .*git checkout"):
        known(path)


@pytest.mark.parametrize("content", [None, b"", b"question,right,tokens,thought\n\xff"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "codecrash.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"codecrash\.csv"):
        known(path)


def test_the_bench_writes_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "READINGS", tmp_path / "codecrash.csv")
    readings.write(known())
    assert (tmp_path / "codecrash.csv").read_bytes() == READINGS.read_bytes()


def drawn(random: np.random.Generator, problems: int, candidates: int) -> pd.DataFrame:
    """Answers of an instrument that is right with a chance of its own on each problem and condition."""
    rows = []
    for problem, perturbation in itertools.product(range(problems), ["VAN", "MCC"]):
        chance = [0.9, 0.7, 0.5][problem % 3] - (0.4 if perturbation == "MCC" else 0.0)
        for sample in range(candidates):
            right = float(random.random() < chance)
            rows.append((f"p{problem}", perturbation, sample, right, right, chance))
    columns = ["problem", "perturbation", "sample", "value_strict", "value_reference", "chance"]
    frame = pd.DataFrame(rows, columns=columns).assign(
        **{"model": "one", "dataset": "generated", "language": "python", "task": "output", "mode": "direct"},
        **{"ignore": False, "refactor": False, "density": 1.0, "status": "applied"},
    )
    return frame.assign(question=frame["problem"], density=(frame["perturbation"] == "MCC") * 1.0)


def test_what_tables_call_true_is_what_many_answers_come_to() -> None:
    random = np.random.default_rng(0)
    answers = drawn(random, 6000, 3)
    [row] = differences.differences(answers, rule="strict", confidence=0.95).to_dict("records")
    assert row["true_points"] == pytest.approx(-40) == pytest.approx(row["points"], abs=2)
    assert row["true_relative_pct"] == pytest.approx(-40 / 0.7) == pytest.approx(row["relative_pct"], abs=3)
    alike = verdicts.stability(answers, rule="strict", confidence=0.95).set_index("perturbation")
    for perturbation, chances in (("VAN", (0.9, 0.7, 0.5)), ("MCC", (0.5, 0.3, 0.1))):
        assert alike.loc[perturbation, "true"] == pytest.approx(sum(p**3 + (1 - p) ** 3 for p in chances) / 3)
        assert alike.loc[perturbation, "same_verdict"] == pytest.approx(alike.loc[perturbation, "true"], abs=0.03)
    [turned] = verdicts.changed_verdicts(answers, rule="strict", confidence=0.95).to_dict("records")
    assert turned["true"] == pytest.approx(turned["share"], abs=0.03)
    before = {p: p**3 for p in (0.9, 0.7, 0.5)}
    expected = sum(right * (1.4 - p) ** 3 for p, right in before.items()) / sum(before.values())
    assert turned["true"] == pytest.approx(expected, abs=0.01)


def test_what_is_the_same_question_is_not_missed_anew() -> None:
    """Of problems that a perturbation left as they were, and of programs that may be the same once they are clean."""
    answers = drawn(np.random.default_rng(4), 30, 2)
    same = answers["perturbation"].eq("MCC") & answers["problem"].isin([f"p{number}" for number in range(0, 30, 2)])
    kept = answers.assign(status=np.where(same, "unchanged", "applied"))
    before = kept[kept["perturbation"] == "VAN"].set_index(["problem", "sample"])["value_strict"]
    told = [before[row.problem, row.sample] for row in kept[same].itertuples()]
    kept.loc[same, ["value_strict", "chance"]] = np.transpose([told, kept.loc[same, "chance"] + 0.4])
    [row] = verdicts.changed_verdicts(kept, rule="strict", confidence=0.95).to_dict("records")
    right = before.groupby("problem").min()
    changed = kept[~same & kept["perturbation"].eq("MCC")].groupby("problem")["chance"].first()
    changed = changed[right[changed.index] == 1]
    assert row["true"] == pytest.approx(((1 - changed) ** 2).sum() / right.sum())
    [cleaned] = verdicts.changed_verdicts(kept.assign(refactor=True), rule="strict", confidence=0.95).to_dict("records")
    assert math.isnan(cleaned["true"])


@pytest.mark.parametrize("lack", ["models", "another rule", "one question"])
def test_nothing_is_true_where_something_is_not_known(lack: str) -> None:
    answers, rule = drawn(np.random.default_rng(1), 12, 2), "strict"
    if lack == "models":
        answers = answers.drop(columns="chance")
    elif lack == "another rule":
        rule = "reference"
    else:
        answers.loc[answers["problem"].eq("p3") & answers["perturbation"].eq("MCC"), "chance"] = math.nan
    table = differences.differences(answers, rule=rule, confidence=0.95)
    assert table[["true_points", "true_relative_pct"]].isna().all(axis=None)
    alike = verdicts.stability(answers, rule=rule, confidence=0.95).set_index("perturbation")["true"]
    assert math.isnan(alike["MCC"])
    assert not alike.isna().all() or lack != "one question"


def test_no_difference_without_messages_is_no_estimate() -> None:
    answers = drawn(np.random.default_rng(2), 12, 2).assign(completion_tokens=10.0, key="k", true_tokens=11.0)
    table = differences.by_density(answers, {}, rule="strict", confidence=0.95)
    points = differences.density_points(table, show="accuracy", relative=False).set_index("density")
    assert points.loc[1.0, "true"] == pytest.approx(-40)
    assert math.isnan(points.loc[0.0, "true"])
    tokens = differences.density_points(table, show="tokens", relative=False)
    assert tokens["true"].tolist() == [11.0, 11.0]


def test_bars_have_what_is_true() -> None:
    table = verdicts.stability(drawn(np.random.default_rng(3), 9, 2), rule="strict", confidence=0.95)
    (panel,) = conditions.share_panels(table, "same_verdict", "low", "high", "true").values()
    assert panel["true"].tolist() == table["true"].tolist()
