"""Judges of Sense and Sensitivity: predictions from completions, exact retrieval, partial traces.

The assistant's turn begins with an open fence and an assertion (appendix J); the model goes on. A model that was not
given the prefill writes all of it, so the text is read from the last assertion on where there is one.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence
from functools import lru_cache

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.problems.program import Problem
from codestress.scoring.judging import shared_executor, unanswered, unread
from codestress.scoring.predictions import Answer, score_answers, score_output
from codestress.types import Outcome, Response, Score

FENCE = "```"
CLOSING = {"(": ")", "[": "]", "{": "}"}


def completed_output(text: str) -> str:
    """The right side of `assert f(…) ==`, up to the closing fence."""
    rest = text.rpartition("assert ")[2].partition("==")[2] if "assert " in text else text
    return rest.partition(FENCE)[0].strip()


def completed_arguments(text: str, function: str = "f") -> str | None:
    """What stands between the parentheses of `assert … == f(`; None when they are never closed."""
    opening = f"== {function}("
    rest = text.rpartition(opening)[2] if opening in text else text
    depth: list[str] = []
    source = rest.partition(f"\n{FENCE}")[0]
    lines = source.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.OP and token.string in CLOSING:
                depth.append(CLOSING[token.string])
            elif token.type == tokenize.OP and token.string in CLOSING.values():
                if not depth and token.string == ")":
                    row, column = token.start
                    return "\n".join([*lines[: row - 1], lines[row - 1][:column]]).strip()
                if not depth or depth.pop() != token.string:
                    break
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return None


def completed_block(text: str) -> str | None:
    """The content of the fenced block that the prefill opened, without its first and last line break.

    None when the fence is not closed. A model that opens a block of its own is read from there.
    """
    rest = text.rpartition(f"{FENCE}python\n")[2] if f"{FENCE}python\n" in text else text.removeprefix("\n")
    body, fence, _ = rest.partition(f"\n{FENCE}")
    if not fence and rest.rstrip().endswith(FENCE):
        return rest.rstrip().removesuffix(FENCE)
    return body if fence else None


def score_output_completion(problem: Problem, response: Response) -> Score:
    """The value after `assert f(…) ==`, compared by value and type."""
    if score := unanswered(response):
        return score
    score = score_output(Answer(problem, completed_output(response.text)))
    return unread(response, score.detail) if score.outcome is Outcome.UNPARSABLE else score


def score_partial_trace(problem: Problem, response: Response) -> Score:
    """Share of the list's elements that are right, by position (section 3.3); a list of another length has none.

    The paper does not say what a wrong length is worth; elements beyond it could only be guesses.
    """
    exact = score_output_completion(problem, response)
    if exact.outcome is not Outcome.INCORRECT:
        return exact
    expected = parse_literal(problem.output).value
    try:
        found = parse_literal(completed_output(response.text)).value
    except NotLiteral as error:
        return unread(response, str(error))
    if not isinstance(found, list) or len(found) != len(expected):
        return exact
    right = sum(same_value(one, other) for one, other in zip(found, expected, strict=True))
    return Score(Outcome.INCORRECT, right / len(expected), exact.detail, exact.unresolved)


def score_input_completion(problem: Problem, response: Response) -> Score:
    """Right when the program returns the output for the arguments (several can be right)."""
    if score := unanswered(response):
        return score
    arguments = completed_arguments(response.text, problem.function)
    if arguments is None:
        return unread(response, "the call is not closed")
    return _score_input(Answer(problem, f"{problem.function}({arguments})"))


@lru_cache(maxsize=100_000)
def _score_input(answer: Answer) -> Score:
    """Judged once: many places and models give the same answer."""
    return score_answers([answer], "input", "strict", shared_executor())[0]


def score_completion(problem: Problem, task: str, response: Response) -> Score:
    """A prediction of inputs or of outputs."""
    return (score_input_completion if task == "input_prediction" else score_output_completion)(problem, response)


def right_inputs(problem: Problem, arguments: Sequence[str]) -> list[str]:
    """Those for which the program returns the output."""
    answers = [Answer(problem, f"{problem.function}({one})") for one in arguments]
    scores = score_answers(answers, "input", "strict", shared_executor())
    return [one for one, score in zip(arguments, scores, strict=True) if score.outcome is Outcome.CORRECT]


def score_retrieval(lines: Sequence[str], keys: Sequence[str], response: Response) -> Score:
    """Right when the block is these lines, to the character, with or without their keys.

    Only the line break before the closing fence is stripped; indentation counts (section 3.2: an exact match).
    """
    if score := unanswered(response):
        return score
    found = completed_block(response.text)
    if found is None:
        return unread(response, "the block is not closed")
    plain = "\n".join(lines)
    keyed = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    right = found.rstrip("\n") in (plain.rstrip("\n"), keyed.rstrip("\n"))
    return Score(Outcome.CORRECT if right else Outcome.INCORRECT, float(right), found)
