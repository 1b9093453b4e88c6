"""What a completion of a prefilled answer says (Sense and Sensitivity, appendix J).

The assistant's turn begins with an open fence and an assertion; the model goes on. A model that was not given the
prefill writes all of it, so the text is read from the last assertion on where there is one.
"""

from __future__ import annotations

import io
import tokenize

FENCE = "```"
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Incomplete(ValueError):
    """The completion ends before what was asked for does."""


def completed_output(text: str) -> str:
    """The right side of `assert f(…) ==`, up to the closing fence."""
    rest = text.rpartition("assert ")[2].partition("==")[2] if "assert " in text else text
    return rest.partition(FENCE)[0].strip()


def completed_arguments(text: str, function: str = "f") -> str:
    """What stands between the parentheses of `assert … == f(`; `Incomplete` when they are never closed."""
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
    raise Incomplete("the call is not closed")


def completed_block(text: str) -> str:
    """The content of the fenced block that the prefill opened, without its first and last line break.

    `Incomplete` when the fence is not closed. A model that opens a block of its own is read from there.
    """
    rest = text.rpartition(f"{FENCE}python\n")[2] if f"{FENCE}python\n" in text else text.removeprefix("\n")
    body, fence, _ = rest.partition(f"\n{FENCE}")
    if not fence and rest.rstrip().endswith(FENCE):
        body, fence = rest.rstrip().removesuffix(FENCE), FENCE
    if not fence:
        raise Incomplete("the block is not closed")
    return body
