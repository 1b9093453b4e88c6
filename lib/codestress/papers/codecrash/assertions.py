"""Scoring of answers that are assertions between tags: `[ANSWER] f("a") == "b" [/ANSWER]`
(CodeCrash, appendix D).

The `strict` rule parses the assertion as an expression, separates its two sides, and scores them as
`scoring/predictions.py` does. The `reference` rule follows the paper's artifact: it splits the text
at `==` and pastes the answer after `assert`. Under that rule, an answer that cannot be extracted
counts as None, so it is correct where the output is None, and a repeated call passes as its own
output.
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from codestress.literals import (
    LONGEST_TEXT,
    NotLiteral,
    literal_of,
    parse_literal,
    parse_program,
)
from codestress.mutate.perturbations.javascript_syntax import part, text_at
from codestress.problems.program import Problem
from codestress.sandbox.executor import Program, shared_executor
from codestress.sandbox.runtimes import parser, text_of
from codestress.scoring.forms import END_TAG, TAG, alone, tagged, without_thoughts
from codestress.scoring.input_answers import (
    Arguments,
    asserted,
    asserted_expression,
    parse_arguments,
)
from codestress.scoring.judging import unanswered, unread
from codestress.scoring.predictions import (
    Answer,
    score_answers,
    score_asserted,
    score_output,
)
from codestress.types import Outcome, Response, Score, Source, Task

if TYPE_CHECKING:
    from tree_sitter import Node


def score_assertion(problem: Problem, task: Task, response: Response) -> Score:
    """Returns the score of a `response` by the `strict` rule. It is 1 where the assertion between
    the answer tags has the right value (`task` is `output`), or arguments with which the program of
    `problem` returns its output (`input`; run in the sandbox); else 0 with its reason. A block that
    does not parse is a syntax error (appendix D); one that asserts anything else, or a response
    without a block, is unparsable, and a response that was cut off before its block is truncated.
    """
    if score := unanswered(response):
        return score
    content = tagged(
        without_thoughts(response.text), open_ended=response.finish_reason != "length"
    )
    if content is None:
        return unread(response, f"no {TAG}")
    return _strict(problem, task, content)


@lru_cache(maxsize=100_000)
def _strict(problem: Problem, task: Task, content: str) -> Score:
    try:
        left, right = assertion_parts(content, problem)
    except SyntaxError as error:
        return Score(Outcome.SYNTAX_ERROR, 0.0, str(error))
    except ValueError as error:
        return Score(Outcome.UNPARSABLE, 0.0, str(error))
    if task == "output":
        return score_output(Answer(problem, right))
    return score_answers([Answer(problem, left)], "input", "strict", shared_executor())[
        0
    ]


def assertion_parts(content: str, problem: Problem) -> tuple[str, str]:
    """Returns the left and right side of the assertion `content`, as texts of Python expressions (a
    JavaScript call stays JavaScript). Both are the asserted text where it does not compare by `==`
    (or by `is` with None, True or False).

    Raises `SyntaxError` where the text is no expression or assertion, and `ValueError` where the
    left side is no call of the function of `problem` or the right side is no value.
    """
    text = alone(content)
    if problem.language == "javascript":
        return assertion_sides(text, problem.function)
    node = asserted_expression(text)
    # The sides as they were written: a value may be arithmetic, and a text may hold anything.
    written = partial(ast.get_source_segment, text)
    sides = asserted(node, problem.function)
    if sides:
        literal_of(sides[1])
        return written(sides[0]) or "", written(sides[1]) or ""
    match node:
        case ast.Compare(_, [ast.Eq()], [_]) | ast.Compare(
            _, [ast.Is()], [ast.Constant(None | True | False)]
        ):
            raise ValueError(f"the left side is no call of {problem.function}")
    whole = written(node) or ""
    return whole, whole


def score_assertion_as_run(problem: Problem, task: Task, response: Response) -> Score:
    """Returns the score of a `response` by the `reference` rule, that of the paper's artifact: the
    side that `task` asks for (the right one for `output`) is compared by `==`, as after `assert`,
    in the sandbox if need be. A response without an assertion is compared as the answer `None`.
    JavaScript has no artifact, so its assertions are scored strictly."""
    if problem.language != "python":
        return score_assertion(problem, task, response)
    if score := unanswered(response):
        return score
    text = without_thoughts(response.text)
    content = (
        text.rpartition(TAG)[2].partition(END_TAG)[0].strip() if TAG in text else ""
    )
    return _as_run(problem, task, content)


@lru_cache(maxsize=100_000)
def _as_run(problem: Problem, task: Task, content: str) -> Score:
    sides = content.split("==")
    answer = "None"
    with suppress(SyntaxError):
        parse_program(content)
        answer = sides[task == "output"].strip() if len(sides) > 1 else answer
    source = Source.STRANGER
    if task == "output":
        with suppress(NotLiteral):
            value = parse_literal(problem.output).value
            right = bool(value == parse_literal(answer).value)
            outcome = Outcome.CORRECT if right else Outcome.INCORRECT
            return Score(outcome, float(right), answer)
        assertion = f"{problem.call} == {answer}"
    else:
        assertion = f"{answer} == {problem.output}"
        if _only_calls(assertion, problem):
            source = problem.source
    program = Program(f"{problem.code}\nassert {assertion}", source=source)
    (execution,) = shared_executor().run([program])
    return score_asserted(execution, answer)


def _only_calls(assertion: str, problem: Problem) -> bool:
    """Whether the text `assertion`, put behind `assert`, is one statement that compares a call of
    the problem's function on values with a value; false where it does not parse."""
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        match ast.parse(f"assert {assertion}").body:
            case [ast.Assert(ast.Compare(ast.Call() as call, [_], [value]), None)]:
                literal_of(value)
                return isinstance(
                    parse_arguments(ast.unparse(call), problem), Arguments
                )
    return False


# --- JavaScript: parsed by tree-sitter, never evaluated ---

ASSERT = re.compile(r"^\s*(?:console\.)?assert\b|\s+$")
DEEPEST = 200
NESTED = ("array", "object", "pair", "unary_expression")
WRITTEN = ("property_identifier", "number", "true", "false", "null", *"[]{},:-")
"""Types of syntax-tree nodes that JSON writes as JavaScript does."""


def assertion_sides(text: str, function: str) -> tuple[str, str]:
    """Returns both sides of a JavaScript assertion `f(…) === VALUE`, as texts: the call, and the
    value as a Python literal. A text that holds a value alone gives that value twice.

    Raises `SyntaxError` where the text is no expression, and `ValueError` where the left side is no
    call of `function`, the right side is no value, or the text is too long.
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(
            f"the answered assertion is longer than {LONGEST_TEXT:,} characters"
        )
    written = f"({ASSERT.sub('', text).rstrip(';')}\n)".encode("utf-8", "replace")
    root = parser("javascript").parse(written).root_node
    statement = root.named_children[0] if len(root.named_children) == 1 else None
    if root.has_error or statement is None or statement.type != "expression_statement":
        raise SyntaxError("not an expression")
    node = _inner(_parts(statement)[0])
    if node.type == "binary_expression" and text_at(node, "operator") in ("==", "==="):
        left, right = part(node, "left"), part(node, "right")
        call = left is not None and left.type == "call_expression"
        if right is None or not call or text_at(left, "function") != function:
            raise ValueError(f"the left side is no call of {function}")
        return text_of(left), repr(value_of(_inner(right)))
    value = repr(value_of(node))
    return value, value


def _inner(node: Node) -> Node:
    while node.type == "parenthesized_expression" and len(_parts(node)) == 1:
        node = _parts(node)[0]
    return node


def _parts(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def value_of(node: Node) -> Any:
    """Returns the value of a JavaScript literal, the syntax tree's `node`, as Python data; None for
    null and undefined. Raises `ValueError` for anything else, and where literals are nested more
    than `DEEPEST` deep."""
    text = json_text(node)
    try:
        return json.loads(text, strict=False, parse_float=_number)
    except ValueError:
        raise ValueError(f"not a value: {text[:40]}") from None


def json_text(node: Node, depth: int = 0) -> str:
    """Returns the JavaScript literal `node`, with `depth` others around it, as JSON."""
    text = text_of(node)
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if node.type in NESTED:
        children = [child for child in node.children if child.type != "comment"]
        texts = [json_text(child, depth + 1) for child in children]
        if node.type == "pair" and texts[0][0] != '"':
            texts[0] = f'"{texts[0]}"'
        if len(texts) > 3 and texts[-2] == ",":
            del texts[-2]
        return "".join(texts)
    if node.type == "string":
        content = re.sub(r"\\'", "'", text[1:-1])
        if text[0] == "'":
            content = re.sub(r'(?<!\\)"', '\\"', content)
        return f'"{content}"'
    if node.type in WRITTEN:
        return text
    if node.type == "undefined":
        return "null"
    raise ValueError(f"not a value: {node.type}")


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
