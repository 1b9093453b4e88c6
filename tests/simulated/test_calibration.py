"""Probabilities behind the calibration artefacts, against fresh readings; coverage, against what it must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.results import Results
from codestress.papers.codecrash import calibration as codecrash
from codestress.papers.codecrash.parameters import DifferenceCalibration
from codestress.papers.faultloc import calibration as faultloc
from codestress.papers.faultloc import studies as faultloc_studies
from codestress.papers.origin import calibration as origin
from codestress.papers.origin import studies as origin_studies
from codestress.papers.semtrace import calibration as semtrace
from codestress.papers.semtrace import studies as semtrace_studies
from codestress.seeding import rng
from codestress.simulated.calibration import (
    count_coverage,
    coverage_chart,
    known_chances,
    share_drawn,
    shares,
)
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, read
from codestress.types import Prompt, Request, Response, Trial, Trials
from conftest import slow
from told import refused

READINGS = 400
FOUR_DEVIATIONS = 4


def settings_of(reader: str) -> Settings:
    return Settings.model_validate(load_registry()[reader].settings)


def right_answers(
    trials: Trials, trial: Trial, prompt: Prompt, reader: Settings
) -> float:
    """The share of right answers of fresh readings; a refusal is wrong."""
    warm = replace(prompt, sampling=replace(prompt.sampling, temperature=1.0))
    right = 0
    for sample in range(READINGS):
        reading = read(Request(reader.style, "test", warm, sample), reader)
        if reading.random.random() >= reader.refusal:
            text = answer_text(reading, warm.prefill)
            right += trials.judges["strict"](trial, Response(text, "stop")).value == 1
    return right / READINGS


def check(
    trials: Trials, trial: Trial, reader: Settings, chance: Callable[[Prompt], float]
) -> None:
    prompt = trials.render(trial)
    true, seen = chance(prompt), right_answers(trials, trial, prompt, reader)
    assert abs(seen - true) <= FOUR_DEVIATIONS * max(
        1 / READINGS, (true * (1 - true) / READINGS) ** 0.5
    )


@pytest.mark.parametrize(
    "name", slow(["sim-near", "sim-wordy", "sim-flat"], "sim-wordy")
)
def test_chains_are_followed_as_often_as_is_said(name: str) -> None:
    study = origin_studies.ChainCalibration(
        artefact="x", models=[name], d=[2, -3], lists=1
    )
    trials, reader = origin_studies.chains_to_calibrate(study), settings_of(name)
    for trial in trials.items[::4]:
        check(trials, trial, reader, lambda prompt: origin.chance(prompt, reader))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sim-ends", "sim-flat", "sim-near"])
def test_traces_are_computed_as_often_as_is_said(name: str) -> None:
    study = semtrace_studies.PositionCalibration(
        artefact="x", models=[name], n_problems=4, positions=3, distractors=4
    )
    trials, reader = semtrace_studies.positions_to_calibrate(study), settings_of(name)
    problems = semtrace_studies.problems_of("semtrace", 4, 0)
    for trial in trials.items[::3]:
        problem = problems[trial.problem]
        check(
            trials,
            trial,
            reader,
            lambda prompt, problem=problem: semtrace.chance(problem, prompt, reader),
        )  # type: ignore[misc]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("name", ["sim-flat", "sim-near"])
def test_faulty_lines_are_named_as_often_as_is_said(name: str, numbered: bool) -> None:
    study = faultloc_studies.QuarterCalibration(
        artefact="x", models=[name], n_programs=4, numbered=numbered
    )
    trials, reader = faultloc_studies.quarters_to_calibrate(study), settings_of(name)
    tasks = faultloc_studies.tasks_of(
        faultloc_studies.localization_of(study), "installed"
    )
    for trial in trials.items[::6]:
        line = tasks[trial.problem].program.line
        check(
            trials,
            trial,
            reader,
            lambda prompt, line=line: faultloc.chance(prompt, reader, line),
        )  # type: ignore[misc]


def test_readers_that_believe_comments_are_refused() -> None:
    with pytest.raises(ParameterError, match="credulity"):
        faultloc.chance(Prompt((), None), settings_of("sim-trusting"), 1)  # type: ignore[arg-type]


def test_models_without_known_parameters_are_refused() -> None:
    results = Results([], [load_registry()["python"]], 0, {})
    with refused(ParameterError, "python", "simulated"):
        known_chances(results, lambda *_: 0.5)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.02, 30)), min_size=1, max_size=6)
)
def test_the_integral_is_the_sum_over_all_cases(
    pieces: list[tuple[float, float]],
) -> None:
    kept, weights = (np.array(column) for column in zip(*pieces, strict=True))
    total = 0.0
    for case in product((0, 1), repeat=len(pieces)):
        chance = np.prod(
            [p if one else 1 - p for one, p in zip(case, kept, strict=True)]
        )
        total += float(chance) * weights[0] / (weights @ case) if case[0] else 0.0
    assert share_drawn(0, kept, weights) == pytest.approx(total, abs=2e-5)


def test_many_others_leave_their_share() -> None:
    assert share_drawn(0, np.ones(945), np.ones(945)) == pytest.approx(
        1 / 945, rel=1e-4
    )


def answers(problems: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(0)
    chances = random.beta(2, 2, problems)
    rows = [
        ("a", f"p{number}", place, chance)
        for number, chance in enumerate(chances)
        for place in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["model", "problem", "place", "chance"])
    return table.assign(
        value_strict=(random.random(len(table)) < table["chance"]) * 1.0
    )


@pytest.mark.slow
def test_an_interval_that_is_right_contains_the_true_value_as_often_as_it_says() -> (
    None
):
    table = count_coverage(
        answers(),
        lambda one: shares(one, "{by}", "place", 0.95),
        studies=400,
        random=rng(0, "x"),
    )
    assert table["true"].tolist() == pytest.approx(
        [100 * answers()["chance"].mean()] * 2
    )
    assert table["studies"].tolist() == [400, 400]
    assert table["coverage"].between(0.92, 0.98).all()
    assert (table["contained"] == (400 * table["coverage"]).round()).all()


def test_an_interval_that_is_too_short_is_found_out() -> None:
    def half_as_long(one: pd.DataFrame) -> pd.DataFrame:
        table = shares(one, "{by}", "place", 0.95)
        return table.assign(
            low=(table["low"] + table["value"]) / 2,
            high=(table["high"] + table["value"]) / 2,
        )

    table = count_coverage(answers(), half_as_long, studies=200, random=rng(0, "x"))
    assert table["coverage_high"].max() < 0.85


def test_what_gives_no_interval_is_not_counted() -> None:
    # Place 1: many studies lack it.
    some = answers().assign(place=lambda table: (table["problem"] == "p0") * 1)
    table = count_coverage(
        some,
        lambda one: shares(one, "{by}", "place", 0.95),
        studies=50,
        random=rng(0, "x"),
    )
    assert table.loc["0", "studies"] == 50 > table.loc["1", "studies"] > 10
    # An open end is drawn as an arrow.
    coverage_chart({"right (%)": table.assign(high=np.inf)}, 0.95)


def test_differences_have_their_true_values() -> None:
    study = DifferenceCalibration(
        artefact="x", models=["python"], n_problems=200, samples=1
    )
    drawn = codecrash.known_answers(study)
    table = count_coverage(
        drawn,
        lambda one: codecrash.differences(one, 0.95, relative=True),
        studies=100,
        random=rng(0, "x"),
    )
    assert table["true"].tolist() == pytest.approx([0, -20, -50])
    assert table["coverage"].min() > 0.9
