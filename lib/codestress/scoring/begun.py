"""Answers whose beginning is a prefill: completions of an assistant's turn whose first
words the prompt wrote (Sense and Sensitivity, appendix J). The prefill is a fence and
an assertion, or a fence alone.

The functions that read an answer take the completion `text`, which continues the
prefilled text `begun`. `begun` is empty without a prefill.
"""

import ast
import re
from contextlib import suppress
from typing import Literal

from codestress.literals import NotLiteral, parse_literal

from .dress import FENCE, Ending, before_fence, outside_brackets, unwrapped
from .forms import alone
from .input_answers import asserted_expression

ReadingRule = Literal["first_fence", "last_assertion", "first_line"]
"""Rule for the part of a completion that counts after a prefill.

`first_fence`: the text before the first closing fence. `last_assertion`: the text after
the last `assert`. `first_line`: the first line alone.

Appendix J of Sense and Sensitivity opens the fence in the prefill.
"""
ASSERTION = (
    r"(?<![A-Za-z0-9])assert\b(?!\s*\(?\s*not\b)"
    r"(?=[^\n]*==)(?![^\n]*(?:\w\(\?\?\)|==\s*\?\?))"
)
"""Regular expression of the beginning of an assertion with `==` in its line, but
without the question marks of the prompt's assertion."""
OWN_LINE = re.compile(rf"^[^\S\n]*{ASSERTION}", re.MULTILINE)
CALL = re.compile(r"[\s(]*[A-Za-z_]\w*\s*\(")
OPENING_FENCE = re.compile(r"```[^\n`]*(?=\n)")
CLOSING_FENCE = re.compile(r"(?:\A|\n)```|(?<=[^\s`])```[ \t]*(?=\n|\Z)")
"""Pattern of a closing fence, which stands at the beginning of a line, or at the end of
a line that has text."""
FENCE_WITH_LANGUAGE = re.compile(r"```(?:\{?\.?\w|[ \t]+\w+[ \t]*\n)")


def begun_value(text: str, begun: str, rule: ReadingRule = "first_fence") -> Ending:
    """Return the value on the right side of `assert f(…) ==`, and whether a fence
    closes it.

    The value ends before the closing fence or the assertion's message (a text after a
    comma). `rule` (`ReadingRule`) names the part of the completion that counts.
    """
    rest, _ = _after_beginning(text, begun, rule, "")
    value, closed = before_fence(rest)
    # A model may repeat the prefilled `==`, and add characters that cannot end a value.
    value = alone(value).lstrip("=").rstrip(";`*_").strip()
    return Ending(_without_message(value), closed)


def _without_message(text: str) -> str:
    """Return the value in `text`, the right side of an assertion, without the
    assertion's message (a string after a comma)."""
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
    """Return the arguments in `assert … == f(`, with `function` as `f`, up to the
    parenthesis that closes the call. None if nothing closes the call.

    `rule` (`ReadingRule`) names the part of the completion that counts.
    """
    rest, anew = _after_beginning(text, begun, rule, function)
    call = _call_of(function, rest)
    # A model may repeat the prefilled `f(`. A nested call of f in the arguments is told
    # apart by a second closing parenthesis, which closes the outer call.
    if call and (anew or outside_brackets(rest, ")") < 0):
        rest = rest[call.end() :]
    end = outside_brackets(rest, ")")
    return rest[:end].strip() if end >= 0 else None


def begun_block(text: str, begun: str) -> str | None:
    """Return the content of the code block that the prefill opened, without its first
    line break. None if no fence closes the block.

    Lines are kept to the character (Sense and Sensitivity, section 3.2). If the model
    opens a block itself, the content begins after that opening.
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
    """Return the part of the completion that counts under `rule`, and whether the model
    wrote the assertion itself (also True without a prefill).

    `function` is the function whose call is the answer; empty if the answer is the
    value.
    """
    anew = _begins_anew(text, begun, "assert")
    if rule == "last_assertion" and "assert " in text:
        text = _side(text.rpartition("assert ")[2], function)
        anew = True
    elif anew:
        text = _written_whole(text if FENCE in text else alone(text), function)
    if rule == "first_line":
        text = text.lstrip().partition("\n")[0]
    return text, anew


def _begins_anew(text: str, begun: str, *openings: str) -> bool:
    """Return whether the completion begins the answer itself: there is no prefill, or
    the completion repeats the prefilled text.

    A completion that repeats the prefilled text starts with the first word of `begun`,
    a fence with a language, or one of the words `openings`. Values and arguments do not
    begin like that, and a closing fence has no language.
    """
    start = text.lstrip()
    if not begun or start.startswith((begun.split()[0], *openings)):
        return True
    return bool(FENCE_WITH_LANGUAGE.match(start))


def _written_whole(text: str, function: str) -> str:
    """Return the side that counts (`_side`) of the first assertion that a model wrote
    itself in `text`.

    The assertion is on a line of its own, or else within the prose before the first
    fence. Without an assertion, the result is the rest after the first opening fence
    that has a language or begins the text. Without such a fence, the result is the text
    without the formatting around the whole of it.
    """
    assertion = OWN_LINE.search(text) or re.search(ASSERTION, text.partition(FENCE)[0])
    if assertion:
        return _side(text[assertion.end() :], function)
    opening = OPENING_FENCE.search(text)
    if opening and (opening[0] != FENCE or not text[: opening.start()].strip()):
        return text[opening.end() :]
    bare = unwrapped(text)
    # A fence is kept as the sign that the answer was not cut off.
    return bare + FENCE if FENCE in text else bare


def _side(text: str, function: str) -> str:
    """Return the side of an assertion's `==` that counts, from the `text` after
    `assert`, which may be in parentheses. Empty without `==`.

    With a `function`, that is the side with its call. Else it is the value: the right
    side, or the left side if the right one is a call and the left one a literal.
    """
    equals = outside_brackets(text, "==")
    end = len(text)
    if equals < 0 and text.lstrip().startswith("("):
        text = text.lstrip()[1:]
        equals = outside_brackets(text, "==")
        end = outside_brackets(text, ")")
    if not 0 <= equals < end:
        return ""
    left = text[:equals]
    right = text[equals + 2 : end] + text[end + 1 :]
    if function:
        return left if _call_of(function, left) else right
    if CALL.match(right):
        # A value may be a call itself: `set()`.
        with suppress(NotLiteral):
            parse_literal(left)
            return left
    return right


def _call_of(function: str, text: str) -> re.Match[str] | None:
    """Return the match of the name `function` and a parenthesis at the beginning of
    `text`; None if `text` begins otherwise."""
    return re.match(rf"\s*{re.escape(function)}\s*\(", text)
