"""Answers as assertions between tags: `[ANSWER] f("a") == "b" [/ANSWER]` (CodeCrash, appendix D).

`strict` reads the assertion as an expression, takes its sides apart and judges them as `predictions` does. `reference`
does what the paper's artifact does: the text is cut at `==` and pasted behind `assert`; what cannot be extracted counts
as None, so it is right where the output is None; the call, echoed, passes as its own output.
"""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from codestress.literals import LONGEST_TEXT, NotLiteral, literal_of, parse_literal, parse_program
from codestress.papers.codecrash.perturbations.javascript_guards import part, text_at
from codestress.problems.program import Problem
from codestress.sandbox.executor import Outcome as Ending
from codestress.sandbox.executor import Program
from codestress.sandbox.runtimes import parser, text_of
from codestress.scoring.input_answers import Arguments, parse_arguments
from codestress.scoring.judging import said, shared_executor, unanswered, unread
from codestress.scoring.predictions import REASONS, Answer, Task, score_answers, score_output
from codestress.types import Outcome, Response, Score, Source

if TYPE_CHECKING:
    from tree_sitter import Node

OPENING, CLOSING = "[ANSWER]", "[/ANSWER]"
MARKED = r"(?:(\*{1,3}|_{1,3}|`{1,3})%s:?\1|%s):?"
"""A tag, in bold type or as code, or as it is, and a colon behind it."""
OPENINGS, CLOSINGS = (re.compile(MARKED % (re.escape(tag), re.escape(tag))) for tag in (OPENING, CLOSING))


def score_assertion(problem: Problem, task: Task, response: Response) -> Score:
    """The strict score. A block that does not parse is a syntax error (appendix D); no block is unparsable."""
    if score := unanswered(response):
        return score
    content = last_block(said(response.text), open_ended=response.finish_reason != "length")
    if content is None:
        return unread(response, f"no {OPENING}")
    return _strict(problem, task, content)


def last_block(text: str, *, open_ended: bool = False) -> str | None:
    """What stands behind the last opening tag, up to the closing one or, where that may be missing (a stop sequence
    leaves it out), the text's end; None where there is no such block."""
    blocks = [*OPENINGS.finditer(text)]
    if not blocks:
        return None
    rest = text[blocks[-1].end() :]
    closing = CLOSINGS.search(rest)
    if not closing and not open_ended:
        return None
    return (rest[: closing.start()] if closing else rest).strip()


WRAPPINGS = (
    r"```(?:[\w+-]*[ \t]*\n|(?:python3?|py|javascript|js)\s)?(.*?)(?:```)?",
    r"\*{1,3}(.*?)\*{1,3}",
    r"`(.*)`",
    r"(.*?)(?:;|```|\*\*)",
)
"""A fence, bold type, code, and what stands behind an answer and is no part of it."""
DEEPEST_WRAPPING = 5


def _unwrapped(text: str) -> str:
    """An answer without the fence, the bold type, the backticks and the semicolon that may stand around it."""
    text = text.strip()
    for wrapping in WRAPPINGS * DEEPEST_WRAPPING:
        if whole := re.fullmatch(wrapping, text, re.S):
            text = whole[1].strip()
    return text


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
    return score_answers([Answer(problem, left)], "input", "strict", shared_executor())[0]


def assertion_parts(content: str, problem: Problem) -> tuple[str, str]:
    """Both sides of an assertion as Python expressions; of a text without `==`, the text twice.

    `SyntaxError` where it is no expression, `ValueError` where the left side is no call of the problem's function or
    the right side no value.
    """
    text = _unwrapped(content)
    if problem.language == "javascript":
        return assertion_sides(text, problem.function)
    body = parse_program(text).body
    match body:
        case [ast.Assert(test=node, msg=None | ast.Constant())] | [ast.Expr(value=node)]:
            pass
        case _:
            raise SyntaxError("neither an expression nor an assertion")
    # The sides as they were written: a value may be arithmetic, and a text may hold anything.
    written = partial(ast.get_source_segment, text)
    match node:
        case ast.Compare(left, [ast.Eq()], [right]) | ast.Compare(
            left, [ast.Is()], [ast.Constant(None | True | False) as right]
        ):
            called = left.func if isinstance(left, ast.Call) else None
            if not (isinstance(called, ast.Name) and called.id == problem.function):
                raise ValueError(f"the left side is no call of {problem.function}")
            literal_of(right)
            return written(left) or "", written(right) or ""
    whole = text if isinstance(body[0], ast.Expr) else written(node) or ""
    return whole, whole


def score_assertion_as_run(problem: Problem, task: Task, response: Response) -> Score:
    """The score by the artifact's rule. JavaScript, for which there is no artifact, is judged strictly."""
    if problem.language != "python":
        return score_assertion(problem, task, response)
    if score := unanswered(response):
        return score
    text = said(response.text)
    content = text.rpartition(OPENING)[2].partition(CLOSING)[0].strip() if OPENING in text else ""
    return _as_run(problem, task, content)


@lru_cache(maxsize=100_000)
def _as_run(problem: Problem, task: Task, content: str) -> Score:
    sides = content.split("==")
    answer = "None"
    with suppress(SyntaxError):
        parse_program(content)
        answer = sides[task == "output"].strip() if len(sides) > 1 else answer
    if task == "output":
        try:
            right = bool(parse_literal(problem.output).value == parse_literal(answer).value)
        except NotLiteral:
            assertion = f"{problem.call} == {answer}"
        else:
            return Score(Outcome.CORRECT if right else Outcome.INCORRECT, float(right), answer)
    else:
        assertion = f"{answer} == {problem.output}"
    source = problem.source if task == "input" and _only_calls(assertion, problem) else Source.STRANGER
    (execution,) = shared_executor().run([Program(f"{problem.code}\nassert {assertion}", source=source)])
    if execution.outcome is Ending.RETURNED:
        return Score(Outcome.CORRECT, 1.0, answer)
    if execution.detail.startswith("AssertionError"):
        return Score(Outcome.INCORRECT, 0.0, answer)
    return Score(REASONS[execution.outcome], 0.0, execution.detail)


def _only_calls(assertion: str, problem: Problem) -> bool:
    """Whether an assertion, as a program, is one statement that compares a call on values with a value."""
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        match ast.parse(f"assert {assertion}").body:
            case [ast.Assert(ast.Compare(ast.Call() as call, [_], [value]), None)]:
                literal_of(value)
                return isinstance(parse_arguments(ast.unparse(call), problem), Arguments)
    return False


# --- JavaScript: parsed by tree-sitter, never evaluated ---

DEEPEST = 200


def assertion_sides(text: str, function: str) -> tuple[str, str]:
    """The call, and the value as a Python literal, of `f(…) === VALUE`; of a value alone the value twice.

    `SyntaxError` where the text is no expression, `ValueError` where the left side is no call of `function` or the
    right side no value.
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"longer than {LONGEST_TEXT:,} characters")
    root = parser("javascript").parse(f"({text.strip().rstrip(';')}\n)".encode("utf-8", "replace")).root_node
    statement = root.named_children[0] if len(root.named_children) == 1 else None
    if root.has_error or statement is None or statement.type != "expression_statement":
        raise SyntaxError("not an expression")
    node = _inner(statement.named_children[0])
    if node.type == "binary_expression" and text_at(node, "operator") in ("==", "==="):
        left, right = part(node, "left"), part(node, "right")
        if left is None or right is None or left.type != "call_expression" or text_at(left, "function") != function:
            raise ValueError(f"the left side is no call of {function}")
        return text_of(left), repr(value_of(_inner(right)))
    value = repr(value_of(node))
    return value, value


def _inner(node: Node) -> Node:
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def value_of(node: Node, depth: int = 0) -> Any:
    """The value of a literal as Python data; `ValueError` for anything else. undefined counts as null."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    text = text_of(node)
    match node.type:
        case "true" | "false":
            return node.type == "true"
        case "null" | "undefined":
            return None
        case "number":
            return _number(text)
        case "string":
            return _string(text)
        case "array":
            return [value_of(child, depth + 1) for child in node.named_children]
        case "object":
            return dict(_pair(child, depth) for child in node.named_children)
        case "unary_expression" if text.startswith("-"):
            value = value_of(node.named_children[0], depth + 1)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return -value
    raise ValueError(f"not a value: {node.type}")


def _pair(node: Node, depth: int) -> tuple[str, Any]:
    key, value = part(node, "key"), part(node, "value")
    if node.type != "pair" or key is None or value is None:
        raise ValueError(f"not a value: {node.type}")
    name = text_of(key)
    return (_string(name) if key.type == "string" else name), value_of(value, depth + 1)


def _number(text: str) -> int | float:
    if re.fullmatch(r"[0-9]+", text) and len(text) < 400:
        return int(text)
    if re.fullmatch(r"[0-9]*\.?[0-9]*(e[+-]?[0-9]{1,3})?", text, re.I):
        value = float(text)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    raise ValueError(f"not a number: {text[:40]}")


def _string(text: str) -> str:
    """The content of a quoted text, its quotes made those of JSON."""
    content = re.sub(r"\\'", "'", text[1:-1])
    if text[0] == "'":
        content = re.sub(r'(?<!\\)"', '\\"', content)
    try:
        return str(json.loads(f'"{content}"', strict=False))
    except ValueError:
        raise ValueError(f"not a text: {text[:40]}") from None
