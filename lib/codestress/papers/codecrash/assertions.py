"""Scoring of answers that are assertions between tags: `[ANSWER] f("a") == "b"
[/ANSWER]` (CodeCrash, appendix D).

The `strict` rule parses the assertion as an expression, separates its two sides, and
scores them as `scoring/predictions.py` does. The `reference` rule follows the paper's
artifact: it splits the text at `==` and pastes the answer after `assert`. Two
consequences are kept. An answer that cannot be extracted counts as None, so the answer
is correct if the output is None. A call that repeats the question passes as its own
output.
"""

import ast
import json
import re
from contextlib import suppress
from functools import lru_cache

from tree_sitter import Node

from codestress.literals import (
    NotLiteral,
    literal_of,
    parse_literal,
    parse_program,
)
from codestress.problems.program import Problem
from codestress.sandbox.executor import Program, shared_executor
from codestress.sandbox.runtimes import parser, text_of
from codestress.scoring.forms import END_TAG, TAG, alone, tagged, without_thoughts
from codestress.scoring.input_answers import (
    Arguments,
    NotArguments,
    asserted,
    asserted_expression,
    parse_arguments,
)
from codestress.scoring.judging import unanswered, unread
from codestress.scoring.predictions import (
    Answer,
    compared,
    score_answers,
    score_asserted,
    score_output,
)
from codestress.types import Outcome, Response, Score, Source, Task


def score_assertion(problem: Problem, task: Task, response: Response) -> Score:
    """Return the score of `response` under the `strict` rule: 1 if the assertion
    between the answer tags is right, else 0 with the reason.

    For the `task` `output`, the asserted value must be right. For `input`, the program
    of `problem` must return its output for the asserted arguments (run in the sandbox).
    A block that does not parse is a syntax error (appendix D). A block that asserts
    anything else, or a missing block, is unparsable; a response that was cut off before
    its block is truncated.
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
    """Return the score of the assertion `content` under the `strict` rule."""
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
    """Return the left and right side of the assertion `content`, as texts of Python
    expressions. If the text is not a comparison by `==` (or by `is` with None, True or
    False), both sides are the whole expression.

    Raises `SyntaxError` if the text is neither an expression nor an assertion. Raises
    `ValueError` if the left side is not a call of the function of `problem`, or the
    right side is not a literal value.
    """
    text = alone(content)
    if problem.language == "javascript":
        assertion = f"assert {as_python(text, problem.function)}"
        text = ast.unparse(parse_program(assertion))
    node = asserted_expression(text)

    def written(node: ast.expr) -> str:
        # The text as written: a value may be arithmetic, and a string may hold anything.
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
    """Return the score of `response` under the `reference` rule, that of the paper's
    artifact. The side that `task` asks for (the right side for `output`, the left side
    for `input`) must equal the problem's own side by `==`, as after `assert`. The
    comparison runs in the sandbox if necessary.

    A response without an assertion is compared as the answer `None`. The paper has no
    artifact for JavaScript, so JavaScript assertions are scored strictly.
    """
    if problem.language != "python":
        return score_assertion(problem, task, response)
    if score := unanswered(response):
        return score
    _, tag, rest = without_thoughts(response.text).rpartition(TAG)
    content = rest.partition(END_TAG)[0].strip() if tag else ""
    return _as_run(problem, task, content)


@lru_cache(maxsize=100_000)
def _as_run(problem: Problem, task: Task, content: str) -> Score:
    """Return the score of the assertion `content` under the `reference` rule."""
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
            return compared(value == parse_literal(answer).value, answer)
        assertion = f"{problem.call} == {answer}"
    else:
        assertion = f"{answer} == {problem.output}"
        with suppress(NotArguments):
            # A call on literal values runs no code that the model wrote.
            if isinstance(parse_arguments(answer, problem), Arguments):
                source = problem.source
    program = Program(f"{problem.code}\nassert {assertion}", source=source)
    [execution] = shared_executor().run([program])
    return score_asserted(execution, answer)


# --- JavaScript: parsed by tree-sitter, never evaluated ---

ASSERT = re.compile(r"^\s*(?:console\.)?assert\b|\s+$")
"""Pattern of the parts of a JavaScript answer around the asserted expression: `assert`,
`console.assert`, blanks at the end."""
INNER = (
    "program",
    "expression_statement",
    "parenthesized_expression",
    "binary_expression",
    "call_expression",
    "arguments",
    "array",
    "object",
    "pair",
    "unary_expression",
    "update_expression",
)
"""Types of syntax-tree nodes whose pieces, joined in order, form an assertion about
literals."""
PIECES = {"true": "True", "false": "False", "null": "None", "undefined": "None"}
PIECES |= {"==": "==", "===": "=="} | {sign: sign for sign in [*"[]{}(),:-", "--"]}
"""Dict from the type of a syntax-tree node to Python's text for it."""


def as_python(text: str, function: str) -> str:
    """Return the JavaScript assertion or value `text` as Python writes it, without its
    comments; null and undefined become None.

    Raises `SyntaxError` if the text is not an expression, and `ValueError` if it holds
    anything but literals, comparisons and the name `function`.
    """
    written = f"({ASSERT.sub('', text).rstrip(';')}\n)".encode("utf-8", "replace")
    root = parser("javascript").parse(written).root_node
    if root.has_error:
        raise SyntaxError("not an expression")
    texts = []
    left = [root]
    while left:
        node = left.pop()
        if node.type in INNER:
            left += reversed(node.children)
        elif node.type == "identifier" and text_of(node) == function:
            texts.append(function)
        elif node.type != "comment":
            texts.append(python_text(node))
    return "".join(texts)


def python_text(node: Node) -> str:
    """Return the piece of a JavaScript literal at `node` as Python writes it: a string,
    number, constant, key or sign. Raises `ValueError` for any other node."""
    text = text_of(node)
    if node.type == "string":
        # A quote without a backslash is in a string between single quotes.
        content = re.sub(r'(?<!\\)"', '\\"', text[1:-1].replace("\\'", "'"))
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
