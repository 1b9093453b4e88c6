"""Scoring of answers that are assertions between tags: `[ANSWER] f("a") == "b" [/ANSWER]`
(CodeCrash, appendix D).

The `strict` rule parses the assertion as an expression, separates its two sides, and scores them as
`scoring/predictions.py` does. The `reference` rule follows the paper's artifact: it splits the text
at `==` and pastes the answer after `assert`. Under that rule, an answer that cannot be extracted
counts as None, so it is correct where the output is None, and a repeated call passes as its own
output.
"""

import ast
import json
import re
from contextlib import suppress
from functools import lru_cache

from tree_sitter import Node

from codestress.literals import (
    LONGEST_TEXT,
    UNREADABLE,
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
    """Returns the score of the assertion `content` by the `strict` rule."""
    try:
        left, right = assertion_parts(content, problem)
    except SyntaxError as error:
        return Score(Outcome.SYNTAX_ERROR, 0.0, str(error))
    except ValueError as error:
        return Score(Outcome.UNPARSABLE, 0.0, str(error))
    if task == "output":
        return score_output(Answer(problem, right))
    answers = [Answer(problem, left)]
    [score] = score_answers(answers, "input", "strict", shared_executor())
    return score


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

    def written(node: ast.expr) -> str:
        # As it was written: a value may be arithmetic, and a text may hold anything.
        return ast.get_source_segment(text, node) or ""

    sides = asserted(node, problem.function)
    if sides:
        call, value = sides
        literal_of(value)
        return written(call), written(value)
    match node:
        case ast.Compare(_, [ast.Eq()], [_]) | ast.Compare(
            _, [ast.Is()], [ast.Constant(None | True | False)]
        ):
            raise ValueError(f"the left side is no call of {problem.function}")
    return written(node), written(node)


def score_assertion_as_run(problem: Problem, task: Task, response: Response) -> Score:
    """Returns the score of a `response` by the `reference` rule, that of the paper's artifact: the
    side that `task` asks for (the right one for `output`) is compared by `==`, as after `assert`,
    in the sandbox if need be. A response without an assertion is compared as the answer `None`.
    JavaScript has no artifact, so its assertions are scored strictly."""
    if problem.language != "python":
        return score_assertion(problem, task, response)
    if score := unanswered(response):
        return score
    _, tag, rest = without_thoughts(response.text).rpartition(TAG)
    content = ""
    if tag:
        content = rest.partition(END_TAG)[0].strip()
    return _as_run(problem, task, content)


@lru_cache(maxsize=100_000)
def _as_run(problem: Problem, task: Task, content: str) -> Score:
    """Returns the score of the assertion `content` by the `reference` rule."""
    sides = content.split("==")
    answer = "None"
    with suppress(SyntaxError):
        parse_program(content)
        if len(sides) > 1:
            answer = sides[task == "output"].strip()
    source = Source.STRANGER
    if task == "output":
        with suppress(NotLiteral):
            value = parse_literal(problem.output).value
            if value == parse_literal(answer).value:
                return Score(Outcome.CORRECT, 1.0, answer)
            return Score(Outcome.INCORRECT, 0.0, answer)
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
    with suppress(*UNREADABLE):
        match ast.parse(f"assert {assertion}").body:
            case [ast.Assert(ast.Compare(ast.Call() as call, [_], [value]), None)]:
                literal_of(value)
                return isinstance(
                    parse_arguments(ast.unparse(call), problem), Arguments
                )
    return False


# --- JavaScript: parsed by tree-sitter, never evaluated ---

ASSERT = re.compile(r"^\s*(?:console\.)?assert\b|\s+$")
"""Parts of an answer around the asserted expression."""
NESTED = (
    "array",
    "object",
    "pair",
    "unary_expression",
    "update_expression",
    "parenthesized_expression",
)
"""Types of syntax-tree nodes whose pieces, one after the other, are a literal."""
PIECES = {"true": "True", "false": "False", "null": "None", "undefined": "None"}
PIECES |= {sign: sign for sign in [*"[]{},:-()", "--"]}
"""Python's text for nodes of these types."""


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
    node = statement.named_children[0]
    while node.type == "parenthesized_expression":
        node = next(child for child in node.named_children if child.type != "comment")
    if text_at(node, "operator") in ("==", "==="):
        left = part(node, "left")
        right = part(node, "right")
        if right is None or text_at(left, "function") != function:
            raise ValueError(f"the left side is no call of {function}")
        return text_of(left), python_value(right)
    value = python_value(node)
    return value, value


def python_value(node: Node) -> str:
    """Returns the value of a JavaScript literal, the syntax tree's `node`, as Python writes it;
    `None` for null and undefined. Raises `ValueError` for anything else, and where literals are
    nested too deeply."""
    texts = []
    left = [node]
    while left:
        node = left.pop()
        if node.type in NESTED:
            left += reversed(node.children)
        elif node.type != "comment":
            texts.append(python_text(node))
    return repr(parse_literal("".join(texts)).value)


def python_text(node: Node) -> str:
    """Returns the piece of a JavaScript literal at `node` as Python writes it: a text, a number, a
    name, a key or a sign."""
    text = text_of(node)
    if node.type == "string":
        content = re.sub(r"\\'", "'", text[1:-1])
        if text[0] == "'":
            content = re.sub(r'(?<!\\)"', '\\"', content)
        return repr(json.loads(f'"{content}"', strict=False))
    after = node.next_sibling
    if node.type in ("property_identifier", "number") and after and after.type == ":":
        return repr(text)
    if node.type == "number":
        value = float(text)
        whole = value.is_integer() and abs(value) < 2**53
        return str(int(value)) if whole and not text.isdigit() else text
    if node.type not in PIECES:
        raise ValueError(f"not a value: {node.type}")
    return PIECES[node.type]
