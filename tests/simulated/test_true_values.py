"""What is said to be true of the readers, against readings drawn anew; an integral, against the sum over all cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codestress.inference.registry import load_registry
from codestress.papers.faultloc import studies as faultloc
from codestress.papers.faultloc.results.localization import localized
from codestress.papers.faultloc.scoring import named_line
from codestress.papers.origin import studies as origin
from codestress.papers.semtrace import studies as semtrace
from codestress.report.publish import coverage
from codestress.scoring.judging import said
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, block_numbers, read, share_of_kept
from codestress.types import Request, Response, Sampling, Trial, Trials
from conftest import some

READINGS = 400
FOUR_DEVIATIONS = 4


def settings_of(reader: str) -> Mapping[str, Any]:
    return load_registry()[reader].settings


def right_answers(trials: Trials, trial: Trial, reader: str, retries: int = 0) -> float:
    """The share of right answers of fresh readings, a refusal asked again as `run` does."""
    prompt = trials.render(trial)
    warm = replace(prompt, sampling=replace(prompt.sampling, temperature=1.0))
    settings = Settings.model_validate(settings_of(reader))
    right = 0
    for sample in range(READINGS):
        for attempt in range(retries + 1):
            reading = read(Request(reader, "test", warm, sample, attempt), settings)
            if reading.random.random() >= settings.refusal:
                text = answer_text(reading, warm.prefill)
                right += trials.judges["strict"](trial, Response(text, "stop")).value == 1
                break
    return right / READINGS


def check(trials: Trials, trial: Trial, reader: str, retries: int = 0) -> None:
    assert trials.chance
    true = trials.chance(trial, trials.render(trial), settings_of(reader))
    assert true is not None
    found = right_answers(trials, trial, reader, retries)
    assert abs(found - true) <= FOUR_DEVIATIONS * max(1 / READINGS, (true * (1 - true) / READINGS) ** 0.5)


@pytest.mark.parametrize("reader", ["sim-near", "sim-wordy", "sim-flat"])
def test_chains_are_followed_as_often_as_is_said(reader: str) -> None:
    study = origin.FindTheOrigin(artefact="x", models=[reader], d=[2, -3], first_lines=8, lines_below=60, step=40)
    trials = origin.find_the_origin(study)
    for trial in trials.items:
        check(trials, trial, reader, retries=2)


@pytest.mark.parametrize("reader", ["sim-near", "sim-flat", "sim-wordy"])
@pytest.mark.parametrize("test", some(["inefficient_code", "clue", "unlock"], 2))
def test_what_is_planted_is_noticed_as_often_as_is_said(reader: str, test: Any) -> None:
    study = origin.NeedleInHaystack(artefact="x", models=[reader], test=test, characters=[4000, 16000], variants=2)
    trials = origin.needle_in_haystack(study)
    for trial in trials.items[::10]:
        check(trials, trial, reader)


def test_who_copies_a_listing_is_right_as_often_as_is_said() -> None:
    """By copying definitions, by noticing flaws, and not where too many other functions are copied: four listings of
    which these are 0 %, 3 %, 71 % and 93 %; and one so long that it is read in part."""
    study = origin.NeedleInHaystack(
        artefact="x", models=["sim-wordy"], test="inefficient_code", characters=[4000, 8000, 16000], variants=4
    )
    trials = origin.needle_in_haystack(study)
    first = [trial for trial in trials.items if trial.sample == 0]
    for number in (0, 2, 6, 7, 9):
        check(trials, first[number], "sim-wordy")


@pytest.mark.parametrize(
    ("reader", "tasks", "problems"),
    [
        ("sim-ends", ["input_prediction", "output_prediction"], "generated"),
        ("sim-ends", ["function_retrieval", "line_retrieval"], "generated"),
        ("sim-wordy", ["output_prediction"], "semtrace"),
        ("sim-near", ["output_prediction"], "semtrace"),
    ],
)
def test_code_is_understood_as_often_as_is_said(reader: str, tasks: list[Any], problems: str) -> None:
    study = semtrace.Positions(
        artefact="x",
        models=[reader],
        problems=[problems],
        tasks=tasks,
        n_problems=10,
        distractors=[4],
        distractor_source="installed",
        positions=3,
    )
    trials = semtrace.target_positions(study)
    for trial in trials.items[:: len(trials.items) // 6]:
        check(trials, trial, reader)


def test_removed_lines_are_missed_as_often_as_is_said() -> None:
    study = semtrace.LineRemoval(artefact="x", models=["sim-near"], problems="generated", n_problems=8, versions=3)
    trials = semtrace.line_removal(study)
    for trial in trials.items[:: len(trials.items) // 6]:
        check(trials, trial, "sim-near")


@pytest.mark.parametrize(("reader", "numbered"), [("sim-flat", False), ("sim-trusting", False), ("sim-thinking", True)])
def test_faulty_lines_are_named_as_often_as_is_said(reader: str, numbered: bool) -> None:
    """As they are, and with comments that accuse other lines; of programs so long that fences are missed too."""
    study = faultloc.Localization(
        artefact="x", models=[reader], programs=["installed", "queens"], n_programs=3, min_lines=20, content="bank",
        spms=["comments"], strengths=[4], controls=[], said=["accuses elsewhere"], comments="insert", numbered=numbered,
    )  # fmt: skip
    trials = faultloc.localization(study)
    settings = Settings.model_validate(settings_of(reader))
    asked = [trial for trial in trials.items if trial.factors["spm"] != "none"]
    for trial in asked[:: len(asked) // 5]:
        assert trials.chance
        task = faultloc.tasks_of(study, trial.factors["source"])[trial.problem]  # type: ignore[arg-type]
        content = faultloc.bank(task.correct.language, "accuses elsewhere", "insert")
        mutated = faultloc.mutated_program(task, "comments", 4, content, 0)
        assert not isinstance(mutated, str)
        for spm, program in (("none", task.program), ("comments", mutated)):
            this = replace(trial, factors={**trial.factors, "spm": spm})
            true = trials.chance(this, trials.render(this), settings.model_dump())
            assert true is not None
            prompt = faultloc.localize_prompt(task.correct, program.code, numbered, Sampling(temperature=1.0))
            readings = (read(Request(reader, "test", prompt, sample), settings) for sample in range(READINGS))
            named = [named_line(said(answer_text(reading, ""))) for reading in readings]
            found = sum(one is not None and one[0] == program.line for one in named) / READINGS
            assert abs(found - true) <= FOUR_DEVIATIONS * max(1 / READINGS, (true * (1 - true) / READINGS) ** 0.5)


def test_what_is_kept_because_somebody_found_it_is_found_more_often() -> None:
    """True shares of tasks that at least one model finds, against 4,000 drawn tasks."""
    random, rows = np.random.default_rng(0), []
    for task in range(4000):
        for model, chance in (("one", 0.5), ("other", 0.2)):
            right = float(random.random() < chance)
            rows.append((model, "none", "s", f"p{task}/f", "python", right, right, chance))
    columns = ["model", "spm", "source", "problem", "language", "value_strict", "value_reference", "chance"]
    table = localized(pd.DataFrame(rows, columns=columns), ["language"], rule="strict", confidence=0.95)
    found = table.set_index("model")
    assert found.loc["one", "true_kept"] == pytest.approx(0.5 / 0.6)
    assert found.loc[["one", "other"], "true"].tolist() == pytest.approx([0.5, 0.2])
    for model in ("one", "other"):
        assert found.loc[model, "accuracy_kept"] == pytest.approx(found.loc[model, "true_kept"], abs=0.04)


def test_nothing_is_said_where_lines_of_neighbours_are_taken_for_the_targets() -> None:
    study = semtrace.Positions(
        artefact="x", models=["sim-near"], problems=["generated"], n_problems=1, distractors=[4], positions=3,
        distractor_source="installed",
    )  # fmt: skip
    trials = semtrace.target_positions(study)
    assert trials.chance
    first = trials.items[0]
    assert trials.chance(first, trials.render(first), settings_of("sim-near")) is None


@given(st.floats(0, 1), st.lists(st.floats(0, 1), max_size=6))
def test_the_integral_is_the_sum_over_all_cases(mine: float, others: list[float]) -> None:
    total = 0.0
    for kept in product((0, 1), repeat=len(others)):
        chance = np.prod([p if one else 1 - p for one, p in zip(kept, others, strict=True)])
        total += mine * float(chance) / (1 + sum(kept))
    assert share_of_kept(mine, np.array(others)) == pytest.approx(total, abs=1e-12)


def test_many_others_leave_their_share() -> None:
    assert share_of_kept(1.0, np.ones(944)) == pytest.approx(1 / 945, rel=1e-6)


def test_blocks_begin_after_empty_lines_without_indentation() -> None:
    text = "import a\nimport b\n\ndef f():\n    x = 1\n\n    return x\n\n0123ab def g():\n0123ac \n0123ad     pass"
    assert block_numbers(text) == [1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3]


def test_intervals_that_hold_the_truth_are_counted() -> None:
    drawn = pd.DataFrame({"true": [0.5, 0.5, 1.0, np.nan], "low": [0.4, 0.6, 0.9, 0.1], "high": [0.6, 0.9, 1.0, 0.2]})
    assert coverage(drawn) == {"held": 2, "intervals": 3}
    assert coverage(drawn[drawn["true"].isna()]) is None
    assert coverage(drawn.drop(columns="true")) is None
