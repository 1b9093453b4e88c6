"""Trials that ask numbered questions, and a server's numbered answers."""

from __future__ import annotations

from dataclasses import replace

from codestress.types import Outcome, Response, Score, Trial, Trials
from openai_server import Received, Reply, completion
from served import prompt, trials_of


def judge(trial: Trial, response: Response) -> Score:
    if response.refused:
        return Score(Outcome.REFUSED, 0)
    if response.finish_reason == "length":
        return Score(Outcome.TRUNCATED, 0)
    right = response.text == f"answer {trial.factors['number']}"
    outcome = Outcome.CORRECT if right else Outcome.INCORRECT
    return Score(outcome, float(right), response.text)


def questions(count: int, retries: tuple[float, ...] = ()) -> Trials:
    """Return trials that ask `question 0` and so on; `retries` are temperatures."""
    prompts = [prompt(f"question {number}") for number in range(count)]
    return replace(trials_of(*prompts, judge=judge), retry_temperatures=retries)


def equal_questions(count: int) -> Trials:
    return trials_of(*[prompt("question 0")] * count, judge=judge)


def answer(received: Received) -> Reply:
    return completion(received.prompt.replace("question", "answer"))


def number_of(received: Received) -> int:
    return int(received.prompt.split()[-1])
