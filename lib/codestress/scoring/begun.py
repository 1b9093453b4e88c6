"""Answers that a prefill begins: completions of an assistant's turn whose first words the prompt
wrote (Sense and Sensitivity, appendix J), a fence and an assertion, or a fence alone.

Each reader takes the completion `text`, which continues the prefilled text `begun`; `begun` is
empty without a prefill.
"""

import ast
import re
from contextlib import suppress
from typing import Literal

from codestress.literals import NotLiteral, parse_literal

from .dress import FENCE, Ending, before_fence, outside_brackets, unwrapped
from .forms import alone, marked
from .input_answers import asserted_expression

ReadingRule = Literal["first_fence", "last_assertion", "first_line"]
"""Rule for the part of an answer that counts where a prefill begins the answer: the text before the
first closing fence (appendix J of Sense and Sensitivity opens the fence), the text after the last
assertion in the completion, or the first line alone."""
ASSERT = re.compile(r"(?<![A-Za-z0-9])assert\b(?!\s*\(?\s*not\b)")
QUESTION = re.compile(r"\w\(\?\?\)|==\s*\?\?")
"""Pattern of the question marks in the prompt's assertion."""
CALL = re.compile(r"[\s(]*[A-Za-z_]\w*\s*\(")
OPENING_FENCE = re.compile(r"```[^\n`]*(?=\n)")
CLOSING_FENCE = re.compile(r"(?:\A|\n)```|(?<=[^\s`])```[ \t]*(?=\n|\Z)")
"""Pattern of a closing fence: it begins a line, or ends a line that has text."""
FENCE_WITH_LANGUAGE = re.compile(r"```(?:\{?\.?\w|[ \t]+\w+[ \t]*\n)")


def begun_value(text: str, begun: str, rule: ReadingRule = "first_fence") -> Ending:
    """Returns, as `Ending`, the value on the right side of `assert f(…) ==`, up to the closing fence
    or the assertion's message (a text after a comma), and whether a fence closes it. `rule`
    (`ReadingRule`) names the part of the completion that counts."""
    rest, _ = _after_beginning(text, begun, rule, "")
    value, closed = before_fence(rest)
    # A model may repeat the prefilled `==`, and end an assertion by signs that end no value.
    value = alone(value).lstrip("=").rstrip(";`*_").strip()
    return Ending(_without_message(value), closed)


def _without_message(text: str) -> str:
    """Returns an assertion's value without the assertion's message, a string after a comma."""
    if "," in text:
        source = f"assert _ == {text}"
        with suppress(SyntaxError):
            match asserted_expression(source):
                case ast.Compare(comparators=[value]):
                    return ast.get_source_segment(source, value) or text
    return text


def begun_arguments(
    text: str, begun: str, function: str, rule: ReadingRule = "first_fence"
) -> str | None:
    """Returns the arguments in `assert … == f(`, where `f` is `function`, up to the parenthesis
    that closes the call; None when nothing closes the call. `rule` (`ReadingRule`) names the part
    of the completion that counts."""
    rest, anew = _after_beginning(text, begun, rule, function)
    call = _call_of(function, rest)
    # A model may repeat `f(` alone; a call in the arguments has a parenthesis that closes both.
    if call and (anew or outside_brackets(rest, ")") < 0):
        rest = rest[call.end() :]
    end = outside_brackets(rest, ")")
    return rest[:end].strip() if end >= 0 else None


def begun_block(text: str, begun: str) -> str | None:
    """Returns the content of the block of code that the prefill opened, without its first line
    break; None when no fence closes the block.

    Lines are kept to the character (Sense and Sensitivity, section 3.2). A block that the model
    opens itself is read from its opening.
    """
    if _begins_anew(text, begun):
        opening = OPENING_FENCE.search(text)
        if opening and (opening[0] != FENCE or text.count(FENCE) > 1):
            text = text[opening.end() :]
    end = CLOSING_FENCE.search(text)
    return text[: end.start()].removeprefix("\n") if end else None


def _after_beginning(
    text: str, begun: str, rule: ReadingRule, function: str
) -> tuple[str, bool]:
    """Returns the part of the completion that continues the prefilled `assert … ==`, by `rule`, and
    whether the model wrote the assertion itself (True without a prefill). `function` is the
    function whose call counts, empty where the value does."""
    anew = _begins_anew(text, begun, "assert")
    if rule == "last_assertion" and "assert " in text:
        text = _side(text.rpartition("assert ")[2], function)
        anew = True
    elif anew:
        if FENCE not in text:
            inside = marked(text)
            text = unwrapped(text) if inside is None else inside
        text = _written_whole(text, function)
    if rule == "first_line":
        text = text.lstrip().partition("\n")[0]
    return text, anew


def _begins_anew(text: str, begun: str, *openings: str) -> bool:
    """Whether the completion begins the answer itself, without a prefill or because it repeats the
    prefilled text: it starts with the first word of `begun`, a fence with a language, or one of the
    words `openings`.

    No value and no argument begins so; a closing fence names no language.
    """
    start = text.lstrip()
    if not begun or start.startswith((begun.split()[0], *openings)):
        return True
    return FENCE_WITH_LANGUAGE.match(start) is not None


def _written_whole(text: str, function: str) -> str:
    """Returns the side that counts (`_side`) of the first assertion in `text` that a model wrote
    itself: on a line of its own, else within the prose before the first fence.

    Without an assertion, the result is the rest after the first opening fence that names a
    language or begins the text; without such a fence, the text without the formatting around the
    whole of it.
    """
    in_prose = None
    start = 0
    for line in text.splitlines(keepends=True):
        word = ASSERT.search(line)
        if word and "==" in line and not QUESTION.search(line):
            behind = start + word.end()
            if not line[: word.start()].strip():
                return _side(text[behind:], function)
            if in_prose is None and text.find(FENCE, 0, start) < 0:
                in_prose = behind
        start += len(line)
    if in_prose is not None:
        return _side(text[in_prose:], function)
    opening = OPENING_FENCE.search(text)
    if opening and (opening[0] != FENCE or not text[: opening.start()].strip()):
        return text[opening.end() :]
    bare = unwrapped(text)
    # A fence still says that the answer was not cut off.
    return bare + FENCE if FENCE in text else bare


def _side(text: str, function: str) -> str:
    """Returns the side of an assertion's `==` that counts, from the `text` behind `assert`, which
    may be in parentheses: the call of `function`, or, where that is empty, the value, which stands
    right unless a call stands there and a value left. Empty without `==`."""
    equals, end = outside_brackets(text, "=="), len(text)
    if equals < 0 and text.lstrip().startswith("("):
        text = text.lstrip()[1:]
        equals, end = outside_brackets(text, "=="), outside_brackets(text, ")")
    if not 0 <= equals < end:
        return ""
    left, right = text[:equals], text[equals + 2 : end] + text[end + 1 :]
    if function:
        return left if _call_of(function, left) else right
    if CALL.match(right):
        # A value may be a call itself: `set()`.
        with suppress(NotLiteral):
            parse_literal(left)
            return left
    return right


def _call_of(function: str, text: str) -> re.Match[str] | None:
    """Returns the match of the name `function` and a parenthesis, with which `text` begins."""
    return re.match(rf"\s*{re.escape(function)}\s*\(", text)
