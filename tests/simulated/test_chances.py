"""Answers of simulated readers against their known probabilities (`chances`), which the papers'
estimators recover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from chances import chain_chance, contained, line_chance, share_drawn, trace_chance
from codestress.fitting.proportions import clustered_share
from codestress.inference.registry import load_registry
from codestress.papers.faultloc import studies as faultloc
from codestress.papers.origin import studies as origin
from codestress.papers.origin.results import fit_sides
from codestress.papers.semtrace.positions import Contexts
from codestress.papers.semtrace.prompting import problems_of
from codestress.papers.semtrace.results.by_position import dips
from codestress.parameters import questions
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, read
from codestress.types import Prompt, Request, Response, Trial, Trials
from conftest import slow

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


def chains(reader: str, lists: int, d: list[int]) -> Trials:
    """Chains at the distances `d` in lists of 16 to 216 lines."""
    return questions(
        origin.Chains(
            artefact="x",
            models=[reader],
            d=d,
            lists=lists,
            first_lines=16,
            lines_below=250,
            step=40,
            retries=0,
        )
    )


def traces(reader: str, problems: int, positions: int, distractors: int) -> Trials:
    """SemTrace's outputs at each of the positions among functions of installed packages."""
    return questions(
        Contexts(
            artefact="x",
            models=[reader],
            n_problems=problems,
            positions=positions,
            tasks=["output_prediction"],
            problems=["semtrace"],
            distractors=[distractors],
            distractor_source="installed",
            matched="count",
        )
    )


@pytest.mark.parametrize(
    "name", slow(["sim-near", "sim-wordy", "sim-flat"], "sim-wordy")
)
def test_chains_are_followed_as_often_as_is_said(name: str) -> None:
    trials, reader = chains(name, 1, [2, -3]), settings_of(name)
    for trial in trials.items[::4]:
        check(trials, trial, reader, lambda prompt: chain_chance(prompt, reader))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sim-ends", "sim-flat", "sim-near"])
def test_traces_are_computed_as_often_as_is_said(name: str) -> None:
    trials, reader = traces(name, 4, 3, 4), settings_of(name)
    problems = problems_of("semtrace", 4, 0)
    for trial in trials.items[::3]:
        problem = problems[trial.problem]
        check(
            trials,
            trial,
            reader,
            lambda prompt, problem=problem: trace_chance(problem, prompt, reader),
        )  # type: ignore[misc]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("name", ["sim-flat", "sim-near"])
def test_faulty_lines_are_named_as_often_as_is_said(name: str, numbered: bool) -> None:
    study = faultloc.Localization(
        artefact="x",
        models=[name],
        programs=["installed"],
        n_programs=4,
        min_lines=50,
        max_lines=150,
        numbered=numbered,
        spms=[],
        controls=[],
    )
    trials, reader = questions(study), settings_of(name)
    tasks = faultloc.tasks_of(study, "installed")
    for trial in trials.items[::6]:
        line = tasks[trial.problem].program.line
        check(
            trials,
            trial,
            reader,
            lambda prompt, line=line: line_chance(prompt, reader, line),
        )  # type: ignore[misc]


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


def with_chances(
    trials: Trials, reader: str, chance: Callable[[Trial, Prompt], float]
) -> pd.DataFrame:
    """A table with a row for each trial: model, problem, factors and chance of a right answer."""
    rows = []
    for trial in trials.items:
        known = chance(trial, trials.render(trial))
        rows.append(
            {"model": reader, "problem": trial.problem, "chance": known}
            | dict(trial.factors)
        )
    return pd.DataFrame(rows)


def ends(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return table[columns].set_axis(["value", "low", "high"], axis=1)


def shares(answers: pd.DataFrame, by: str) -> pd.DataFrame:
    rows = {}
    for place, part in answers.groupby(by, sort=False):
        share = clustered_share(part["value_strict"], part["problem"])
        rows[place] = (share.value, *share.interval)
    return pd.DataFrame.from_dict(
        rows, orient="index", columns=["value", "low", "high"]
    )


def recovered(
    answers: pd.DataFrame, estimate: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    """The intervals of 95 % contain the true value in at least 88 of 100 studies."""
    counts = contained(answers, estimate, 100, np.random.default_rng(0))
    assert (counts["studies"] >= 90).all(), counts
    assert (counts["contained"] >= 0.88 * counts["studies"]).all(), counts


@pytest.mark.slow
def test_the_reach_of_a_readers_decay_is_recovered() -> None:
    trials, reader = (
        chains("sim-near", 8, [-12, -5, -1, 1, 3, 6, 12]),
        settings_of("sim-near"),
    )
    answers = with_chances(
        trials, "sim-near", lambda _, prompt: chain_chance(prompt, reader)
    )
    recovered(answers, lambda table: shares(table, "d"))

    def reach(table: pd.DataFrame) -> pd.DataFrame:
        _, sides = fit_sides(
            table,
            SimpleNamespace(rule="strict", confidence=0.95, resamples=100, seed=0),
        )
        return ends(sides, ["reach_lines", "reach_low", "reach_high"])

    recovered(answers, reach)


@pytest.mark.slow
def test_the_dip_in_the_middle_of_a_readers_context_is_recovered() -> None:
    trials, reader = traces("sim-ends", 40, 5, 10), settings_of("sim-ends")
    problems = problems_of("semtrace", 40, 0)
    answers = with_chances(
        trials,
        "sim-ends",
        lambda trial, prompt: trace_chance(problems[trial.problem], prompt, reader),
    )
    recovered(answers, lambda table: shares(table, "depth"))

    def dip(table: pd.DataFrame) -> pd.DataFrame:
        found = dips(
            table,
            SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=100, seed=0),
        )
        return ends(found, ["dip_points", "dip_low", "dip_high"])

    recovered(answers, dip)
