"""Simulated readers are the kit's check on itself: the estimators recover what is known of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chances import chain_chance
from codestress.fitting.summaries import paired_differences
from codestress.inference.registry import load_registry
from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.papers.origin.studies import FindTheOrigin
from codestress.parameters import questions
from codestress.pipeline.artefacts import resolve
from codestress.scoring.summaries import summarize
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, placed
from codestress.types import Trials
from conftest import slow, some


def make(models: list[str], **values: Any) -> Trials:
    return questions(FindTheOrigin(artefact="origin/fig04", models=models, **values))


def asked(
    tmp_path: Path, models: list[str], **values: Any
) -> tuple[Trials, pd.DataFrame]:
    trials = make(models, **values)
    return trials, run(trials, models, store=tmp_path / "store.sqlite").answers


@pytest.mark.slow
def test_a_paired_difference_is_what_the_parameters_say(tmp_path: Path) -> None:
    how = {"d": [1, 15], "lists": 8, "step": 20, "retries": 0}
    trials, answers = asked(tmp_path, ["sim-flat"], **how)
    (row,) = paired_differences(answers, "d", confidence=0.99).itertuples()
    reader = Settings.model_validate(load_registry()["sim-flat"].settings)
    chances = pd.Series(
        [chain_chance(trials.render(trial), reader) for trial in trials.items]
    )
    near, far = chances.groupby(answers["d"]).mean()
    assert row.low <= far - near <= row.high
    assert row.p_value < 0.01


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
    [artefact] = resolve([name], "smoke")
    readers = [model.name for model in artefact.models if model.simulated]
    answers = run(artefact.trials(), readers, store=tmp_path / "s.sqlite").answers
    texts = stored_responses(answers["key"], tmp_path / "s.sqlite")
    found = hashlib.blake2b(digest_size=8)
    for key in answers["key"]:
        found.update(f"{key} {texts[key].text}\n".encode())
    assert found.hexdigest() == ANSWERS[name]


def test_blocks_begin_after_empty_lines_without_indentation() -> None:
    text = "import a\nimport b\n\ndef f():\n    x = 1\n\n    return x\n\n0123ab def g():\n0123ac \n0123ad     pass"
    assert placed(text).blocks == [1, 1, 2, 2, 2, 3, 3, 3]
