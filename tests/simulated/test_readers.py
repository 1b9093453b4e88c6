"""Simulated readers are the kit's check on itself: the estimators recover what is known of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.fitting.summaries import paired_differences
from codestress.inference.registry import load_registry
from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.results import fit_sides
from codestress.papers.origin.studies import FindTheOrigin
from codestress.parameters import questions
from codestress.pipeline.artefacts import Overrides, resolve
from codestress.scoring.summaries import summarize
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import (
    Settings,
    block_numbers,
    follow_probability,
    keep_probability,
    segments,
)
from codestress.types import Trials
from conftest import slow, some

READERS = {
    name: Settings.model_validate(e.settings)
    for name, e in load_registry().items()
    if e.simulated
}


def make(models: list[str], **values: Any) -> Trials:
    return questions(FindTheOrigin(artefact="origin/fig04", models=models, **values))


def asked(
    tmp_path: Path, models: list[str], **values: Any
) -> tuple[Trials, pd.DataFrame]:
    trials = make(models, **values)
    return trials, run(trials, models, store=tmp_path / "store.sqlite").answers


def right_probability(trials: Trials, reader: Settings) -> np.ndarray:
    """For each trial: both target lines kept, the link between them followed, an answer given (three tries)."""
    chances = []
    for trial in trials.items:
        messages = trials.render(trial).messages
        pieces = [piece for message in messages for piece in segments(message.content)]
        tokens = sum(len(message.content) for message in messages) / 4
        first = pieces.index(f'"{TARGET[0]}" is connected to "{TARGET[1]}"')
        second = pieces.index(f'"{TARGET[1]}" is connected to "{TARGET[2]}"')
        places = (np.array([first, second]) + 0.5) / len(pieces)
        kept = keep_probability(reader, places, tokens)
        if reader.style == "reasoning":
            kept = 1 - (1 - kept) ** 2  # reads twice
        kept = kept.prod()
        chances.append(
            kept * follow_probability(reader, second - first) * (1 - reader.refusal**3)
        )
    return np.array(chances)


@pytest.mark.slow
@pytest.mark.parametrize("name", some([*READERS], 3))
def test_shares_are_what_the_parameters_say(name: str, tmp_path: Path) -> None:
    trials, answers = asked(
        tmp_path, [name], d=[1, 15, -15], lists=6, step=40, max_tokens=4000
    )
    chances = right_probability(trials, READERS[name])
    summary = summarize(answers, by=["model", "d"], confidence=0.998)
    for row in summary.itertuples():
        expected = chances[(answers["d"] == row.d).to_numpy()].mean()
        # A reader that has not even the first link guesses; the guess is right once in hundreds.
        assert row.low - 0.01 <= expected <= row.high, f"d = {row.d}"
        assert (
            row.n
            == row.correct
            + row.incorrect
            + row.unparsable
            + row.truncated
            + row.refused
        )


@pytest.mark.slow
def test_the_decay_fit_recovers_both_reaches(tmp_path: Path) -> None:
    _, answers = asked(
        tmp_path,
        ["sim-near"],
        d=[-15, -10, -6, -3, -1, 1, 3, 6, 10, 15],
        lists=10,
        step=40,
        lines_below=250,
    )
    _, fitted = fit_sides(
        answers, SimpleNamespace(rule="strict", confidence=0.99, resamples=300, seed=0)
    )
    reader = READERS["sim-near"]
    for row, reach in zip(
        fitted.itertuples(), (reader.reach_down, reader.reach_up), strict=True
    ):
        assert row.reach_low <= reach <= row.reach_high, row.side
        assert row.failed_fits == 0


@pytest.mark.slow
def test_a_paired_difference_is_what_the_parameters_say(tmp_path: Path) -> None:
    trials, answers = asked(tmp_path, ["sim-flat"], d=[1, 15], lists=8, step=20)
    chances = right_probability(trials, READERS["sim-flat"])
    (row,) = paired_differences(answers, "d", confidence=0.99).itertuples()
    expected = (
        chances[(answers["d"] == 15).to_numpy()].mean()
        - chances[(answers["d"] == 1).to_numpy()].mean()
    )
    assert row.low <= expected <= row.high
    assert row.p_value < 0.01


def test_the_middle_dips_for_a_reader_that_reads_the_edges(tmp_path: Path) -> None:
    shares = []
    for place in (0.0, 0.5, 1.0):
        _, answers = asked(
            tmp_path, ["sim-edges"], d=[1], lists=6, step=60, depth=place
        )
        shares.append(answers["value_strict"].mean())
    assert shares[1] < min(shares[0], shares[2]) - 0.05


@pytest.mark.slow
def test_refusals_are_asked_again_and_counted(tmp_path: Path) -> None:
    _, with_retries = asked(
        tmp_path, ["sim-wordy"], d=[1], lists=4, step=16, max_tokens=4000
    )
    _, without = asked(
        tmp_path, ["sim-wordy"], d=[1], lists=4, step=16, max_tokens=4000, retries=0
    )
    refused = (without["outcome_strict"] == "refused").mean()
    assert 0.01 < refused < 0.12
    assert (with_retries["outcome_strict"] == "refused").mean() < refused / 2
    assert (with_retries["attempts"] > 1).mean() == pytest.approx(refused)


def test_the_cap_of_256_tokens_cuts_off_a_reader_that_writes_much(
    tmp_path: Path,
) -> None:
    _, capped = asked(
        tmp_path, ["sim-wordy", "sim-flat"], d=[1], step=40, max_tokens=256
    )
    cut = capped.groupby("model")["outcome_strict"].apply(
        lambda reasons: (reasons == "truncated").mean()
    )
    assert cut["sim-wordy"] > 0.5
    assert cut["sim-flat"] == 0


def test_the_rules_differ_for_a_reader_that_writes_in_bold(tmp_path: Path) -> None:
    _, answers = asked(tmp_path, ["sim-flat", "sim-wide"], d=[1], step=40)
    shares = answers.groupby("model")[["value_strict", "value_reference"]].mean()
    summary = summarize(answers, by=["model"]).set_index("model")
    assert summary.loc["sim-flat", "rules_differ"] == summary.loc["sim-flat", "correct"]
    assert summary.loc["sim-wide", "rules_differ"] == 0
    assert shares.loc["sim-flat", "value_strict"] > 0
    assert shares.loc["sim-flat", "value_reference"] == 0
    assert (
        shares.loc["sim-wide", "value_strict"]
        == shares.loc["sim-wide", "value_reference"]
        > 0
    )


def test_a_reader_continues_a_prefill() -> None:
    from codestress.simulated.reading import read
    from codestress.types import Message, Prompt, Request, Sampling

    text = '"a" is connected to "b"\n"b" is connected to "c"\n\nYour task is to find the origin of "c".'
    prompt = Prompt((Message("user", text),), Sampling(), prefill="FINAL ANSWER:")
    reading = read(Request("sim-x", "", prompt), Settings(capacity=1e9))
    assert answer_text(reading, "FINAL ANSWER:") == " a"
    assert answer_text(reading, "").endswith("FINAL ANSWER: a")


ANSWERS = {
    "codecrash/tab01": "c7a66f380cee1420",
    "codecrash/tab07": "305f861b1729f3da",
    "codecrash/tab09": "52b288a153e0ed2b",
    "faultloc/tab02": "5421c594476fd83f",
    "origin/fig04": "05ee1c9bfc32f242",
    "origin/sec62": "ec05d88dfe17ff5a",
    "semtrace/fig01": "8741c6e863650106",
    "semtrace/fig02": "9a4772002f904070",
    "semtrace/fig03": "ab413b1fedf18bc8",
    "semtrace/fig05": "4836d6443887dce6",
}
"""Keys and texts of the readers' answers at smoke size, under the revision `simulated.engine.REVISION`."""


@pytest.mark.parametrize("name", slow(some([*ANSWERS], 4), "codecrash/tab07"))
def test_answers_are_those_of_the_revision(name: str, tmp_path: Path) -> None:
    """Where this fails, an answer changed by accident, or `REVISION` needs a new value, and so does this table."""
    [artefact] = resolve([name], "smoke", Overrides(), load_registry())
    readers = [model.name for model in artefact.models if model.simulated]
    answers = run(artefact.trials(), readers, store=tmp_path / "s.sqlite").answers
    texts = stored_responses(answers["key"], tmp_path / "s.sqlite")
    found = hashlib.blake2b(digest_size=8)
    for key in answers["key"]:
        found.update(f"{key} {texts[key].text}\n".encode())
    assert found.hexdigest() == ANSWERS[name]


def test_blocks_begin_after_empty_lines_without_indentation() -> None:
    text = "import a\nimport b\n\ndef f():\n    x = 1\n\n    return x\n\n0123ab def g():\n0123ac \n0123ad     pass"
    assert block_numbers(text) == [1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3]
