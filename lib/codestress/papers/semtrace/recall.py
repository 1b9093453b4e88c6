"""Scorers of Sense and Sensitivity: predictions from completions, exact retrieval,
partial traces.

The assistant's turn begins with an open fence and an assertion (appendix J), which the
model continues. `begun` is this prefill; it is empty if the model was asked to write
the beginning too. `rule` names the part of the completion that is read
(`scoring.begun.ReadingRule`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from codestress.literals import parse_literal, same_value
from codestress.problems.program import Problem
from codestress.sandbox.executor import shared_executor
from codestress.scoring.begun import (
    ReadingRule,
    begun_arguments,
    begun_block,
    begun_value,
)
from codestress.scoring.forms import without_thoughts
from codestress.scoring.judging import unanswered, unread
from codestress.scoring.predictions import Answer, score_answers, score_output
from codestress.types import Outcome, Response, Score


def score_output_completion(
    problem: Problem, response: Response, begun: str, rule: ReadingRule = "first_fence"
) -> Score:
    """Return the score (1 or 0) of an output predicted in `response`. The outcome is
    correct if the value after `assert f(…) ==` equals the output of `problem` in value
    and type, and unparsable if no value can be read.

    `begun` is the prefill (may be empty), `rule` the part of the completion that is
    read. A refusal scores 0. An incorrect value in a completion that was cut off before
    its fence counts as truncated, because more digits may have followed.
    """
    if score := unanswered(response):
        return score
    value = begun_value(without_thoughts(response.text), begun, rule)
    score = score_output(Answer(problem, value.text))
    cut_off = response.finish_reason == "length" and not value.closed
    if cut_off and score.outcome is not Outcome.CORRECT:
        return replace(score, outcome=Outcome.TRUNCATED)
    return score


def partial_trace(problem: Problem, exact: Score, *, any_length: bool = False) -> Score:
    """Return the partial score of a predicted list from `exact`, its score as a whole:
    the share of its elements that equal those of the output of `problem`, by index
    (section 3.3). The score is 0 for a list of another length, or for a value that is
    not a list.

    The outcome is correct only for the whole list. The paper does not define the score
    of a list of another length. With `any_length`, the score is the share of the longer
    list's indices at which both lists have the same value.
    """
    if exact.outcome is not Outcome.INCORRECT:
        return exact
    expected = parse_literal(problem.output).value
    values = parse_literal(exact.detail).value
    if not isinstance(values, list) or (
        len(values) != len(expected) and not any_length
    ):
        return exact
    right = sum(map(same_value, values, expected))
    return replace(exact, value=right / max(len(values), len(expected)))


def score_input_completion(
    problem: Problem, response: Response, begun: str, rule: ReadingRule = "first_fence"
) -> Score:
    """Return the score (1 or 0) of the arguments predicted in `response`. The outcome
    is correct if the program of `problem` returns its output for the arguments, so
    several inputs can be correct.

    The outcome is unparsable if the call is not closed, or truncated if the completion
    was also cut off. `begun` is the prefill, `rule` the part of the completion that is
    read.
    """
    if score := unanswered(response):
        return score
    arguments = begun_arguments(
        without_thoughts(response.text), begun, problem.function, rule
    )
    if arguments is None:
        return unread(response, "the call is not closed")
    # The line break ends a comment after the last argument, if there is one.
    return _score_input(Answer(problem, f"{problem.function}({arguments}\n)"))


@lru_cache(maxsize=100_000)
def _score_input(answer: Answer) -> Score:
    """Return the score of `answer`, a problem with a predicted call, by running the
    program. Cached because many positions and models give the same answer."""
    return score_answers([answer], "input", "strict", shared_executor())[0]


SCORERS = {
    "input_prediction": score_input_completion,
    "output_prediction": score_output_completion,
}
"""Dict from task to scorer of its predictions."""


def _ended(text: str) -> str:
    """Return `text` with line feeds as its only line breaks, and none at its end."""
    return text.replace("\r\n", "\n").rstrip("\r\n")


def score_retrieval(
    lines: Sequence[str], keyed: Sequence[str], response: Response, begun: str
) -> Score:
    """Return the score (1 or 0) of the block retrieved in `response`, which continues
    the prefill `begun`. The block is correct if it equals to the character either
    `lines` or `keyed`, the same lines as the context shows them, with their keys.

    The outcome is unparsable if no fence closes the block, or truncated if the response
    was also cut off. Only line breaks before the closing fence are stripped;
    indentation counts (section 3.2: an exact match). Lines may end in a carriage return
    and a line feed.
    """
    if score := unanswered(response):
        return score
    block = begun_block(_ended(without_thoughts(response.text)), begun)
    if block is None:
        return unread(response, "the block is not closed")
    if block.rstrip("\n") in [_ended("\n".join(own)) for own in (lines, keyed)]:
        return Score(Outcome.CORRECT, 1.0, block)
    return Score(Outcome.INCORRECT, 0.0, block)
