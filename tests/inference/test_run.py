"""Runs against a real server on loopback: every question once, every outcome counted."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import math
from dataclasses import replace
from functools import partial

import pytest
from numbered import answer, equal_questions, judge, number_of, questions

from codestress.errors import EngineError, IncompleteError
from codestress.inference.ask import ask
from codestress.inference.results import Results
from codestress.inference.run import score
from codestress.notes import notes_kept
from codestress.types import Outcome, Prompt, Response, Score, Trial
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
    failure,
)
from served import Served, counts_of, in_two_steps, prompt
from told import names, refused


def test_every_question_is_asked_once_and_answers_keep_their_order(
    served: Served,
) -> None:
    both = ("alpha", "beta")
    with OpenAIServer(answer) as server:
        served.rows(server, *both)
        first = served.run(questions(30), *both)
        rows = first.answers[["model", "number"]].itertuples(index=False, name=None)
        assert list(rows) == [*itertools.product(both, range(30))]
        for counts in first.counts().values():
            assert counts["correct"] == 30 == sum(counts.values())
        assert first.asked == len(server.requests) == 60
        again = served.run(questions(30), *both)
        assert (again.asked, len(server.requests)) == (0, 60)
        assert again.answers.equals(first.answers)
        # A model that is named twice is asked once.
        more = served.run(questions(40), "alpha", "alpha")
        assert (more.asked, len(more.answers)) == (10, 40)
    shifted = first.answers.iloc[[0, *range(59)]]
    with refused(AssertionError, "alpha", 31, 30):
        Results(shifted, first.models, first.questions).counts()


def test_equal_questions_are_asked_once(served: Served) -> None:
    with OpenAIServer(lambda _: completion("half \ud800")) as server:
        served.rows(server)
        results = served.run(equal_questions(20))
    assert results.asked == 1
    assert counts_of(results) == {"incorrect": 20}
    assert {*results.answers["detail_strict"]} == {"half \\ud800"}


def test_refused_questions_are_asked_again_at_the_next_temperature(
    served: Served,
) -> None:
    def behaviour(received: Received) -> Reply:
        number = number_of(received)
        if number < 3:  # refused for good
            return completion("", finish_reason="content_filter")
        if number < 5 and received.body["temperature"] == 0:  # refused at first
            return completion("  ")
        cut = completion("cut o", finish_reason="length")
        return cut if number == 5 else answer(received)

    trials = questions(10, (0.5, 0.9))
    with OpenAIServer(behaviour) as server:
        served.rows(server)
        results = served.run(trials)
        assert counts_of(results) == {"correct": 6, "refused": 3, "truncated": 1}
        assert list(results.answers["attempts"]) == [3, 3, 3, 2, 2, 1, 1, 1, 1, 1]
        assert len(server.requests) == results.asked == 10 + 3 * 2 + 2
        for number, temperatures in ((0, [0, 0.5, 0.9]), (3, [0, 0.5]), (5, [0])):
            bodies = [r.body for r in server.requests if number_of(r) == number]
            assert [body["temperature"] for body in bodies] == temperatures
        again = served.run(trials)
        assert again.asked == 0
        assert again.answers.equals(results.answers)


def test_failures_are_raised_or_counted_and_asked_again_by_the_next_run(
    served: Served,
) -> None:
    """Within a build they are asked once."""
    broken = True

    def behaviour(received: Received) -> Reply:
        fails = broken and number_of(received) % 2
        return failure(400, "not this one") if fails else answer(received)

    run = partial(served.run, questions(100))
    counts = {"correct": 50, "harness error": 50}
    parts = ("50 of 100", "served", "not this one", "failures=count")
    with OpenAIServer(behaviour) as server:
        served.rows(server)
        with refused(IncompleteError, *parts):
            run()
        assert counts_of(run(failures="count")) == counts
        with notes_kept():
            run(failures="count")
            before = len(server.requests)
            assert counts_of(run(failures="count")) == counts
            assert len(server.requests) == before
        broken = False
        assert run().asked == 50
        assert {*map(number_of, server.requests[before:])} == {*range(1, 100, 2)}


def test_the_failure_of_a_question_counts_for_all_trials_that_ask_it(
    served: Served,
) -> None:
    """It is one failure, and 30 in a row would end the run."""
    with OpenAIServer(lambda _: failure(500, "out of order", delay=0.1)) as server:
        served.rows(server, concurrency=40)
        results = served.run(equal_questions(30), failures="count")
        assert counts_of(results) == {"harness error": 30}
        assert len(server.requests) == results.asked == 1


@pytest.mark.parametrize(
    ("failing", "outcome", "value"),
    [
        ("question 0", Outcome.SKIPPED, math.nan),
        ("next 0", Outcome.HARNESS_ERROR, 0),
    ],
)
def test_a_trial_whose_last_question_was_never_sent_has_no_score(
    failing: str, outcome: Outcome, value: float, served: Served
) -> None:
    def behaviour(received: Received) -> Reply:
        fails = received.prompt == failing
        return failure(500, "oops") if fails else completion("answer 1")

    def second(trial: Trial, _: Response) -> Prompt:
        return prompt(f"next {trial.factors['number']}")

    with OpenAIServer(behaviour) as server:
        served.rows(server)
        results = served.run(in_two_steps(questions(2), second), failures="count")
    failed, whole = results.answers.to_dict("records")
    assert (whole["outcome_strict"], whole["value_strict"]) == (Outcome.CORRECT, 1)
    assert failed["outcome_strict"] == outcome
    assert failed["value_strict"] == pytest.approx(value, nan_ok=True)
    names(failed["detail_strict"], "oops")


def test_a_run_without_trials_has_no_answers(served: Served) -> None:
    served.rows("http://127.0.0.1:9/v1")
    results = served.run(questions(0))
    assert (len(results.answers), results.asked) == (0, 0)
    assert results.requests_sha256() == hashlib.sha256().hexdigest()
    assert results.reasons("strict") == {"served": {}}
    assert results.counts() == {"served": {outcome.value: 0 for outcome in Outcome}}


def test_the_answer_that_is_stored_first_counts_for_every_row_of_the_model(
    served: Served,
) -> None:
    both = ("alpha", "beta")

    def behaviour(received: Received) -> Reply:
        """Reply last to the row that asks first."""
        late = completion("something else", delay=0.2)
        return answer(received) if received.seen else late

    with OpenAIServer(behaviour) as server:
        served.rows(server, *both, row={"id": "same"}, concurrency=8)
        first = served.run(questions(8), *both)
        again = served.run(questions(8), *both)
    assert again.asked == 0
    assert first.answers.equals(again.answers)


def test_a_server_that_goes_away_ends_the_run_and_costs_no_answer(
    served: Served,
) -> None:
    answers = 30

    def behaviour(received: Received) -> Reply:
        works = len(server.requests) <= answers
        return answer(received) if works else failure(500, "down")

    with OpenAIServer(behaviour) as server:
        served.rows(server)
        for failures in ("raise", "count"):
            before = len(server.requests)
            with refused(EngineError, "served", "down"):
                served.run(questions(300), failures=failures)
            assert len(server.requests) - before < 100
        answers = 1000
        assert served.run(questions(300)).asked == 270


def test_run_is_a_plain_call_where_an_event_loop_is_running(served: Served) -> None:
    async def cell() -> int:
        return served.run(questions(5)).asked

    with OpenAIServer(answer) as server:
        served.rows(server)
        assert asyncio.run(cell()) == 5


def test_a_model_that_changes_under_its_name_is_reported(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    def updated(received: Received) -> Reply:
        version = "fp_new" if number_of(received) > 15 else "fp_old"
        return as_json(completion_body("answer 1") | {"system_fingerprint": version})

    with OpenAIServer(updated) as server:
        served.rows(server)
        results = served.run(questions(20))
    assert results.answered_by() == {"served": ["served-1 fp_new", "served-1 fp_old"]}
    names(capsys.readouterr().err, "served", "fp_new", "fp_old", "CODESTRESS_STORE")


def test_asking_scores_nothing_and_scoring_asks_nothing(served: Served) -> None:
    scored: list[str] = []

    def counting(trial: Trial, response: Response) -> Score:
        scored.append(trial.problem)
        return judge(trial, response)

    trials = replace(questions(9), judges={"strict": counting})
    models = ["sim-near", "sim-wide"]
    replies = ask(trials, models, store=served.store)
    assert scored == []
    assert replies.requests == 18
    results = score(trials, replies, store=served.store)
    assert len(scored) == len(results.answers) == 18
    assert ask(trials, models, store=served.store).requests == 0
