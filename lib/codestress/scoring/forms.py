"""Forms of answers: the rules by which the answer is found in a completion, for all papers and
`codestress score` (law 5).

A scorer removes hidden thoughts (`without_thoughts`), then reads the form that its prompt asks for;
docs/scoring.md lists all forms.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from codestress.literals import LONGEST_TEXT, parse_program
from codestress.scoring.dress import (
    BOX,
    DRESS,
    FENCE,
    PIECES,
    boxes,
    outside_brackets,
    unescaped,
    unwrapped,
)

# --- Hidden thoughts, tokens of the chat template ---

THOUGHT_TAG = DRESS["hidden thoughts"]
CLOSING_TAG = re.compile(
    r"^(?:<\|?\s*/|\[[/\\]|◁/|<\|end|<unused95|<channel\||assistantfinal)"
    r"|[_ ]end\|>|_suffix|<\|channel\|>final|<\|content\|>|my response:",
    re.IGNORECASE,
)
WORDS = "here"
"""First word of a closing tag that is a sentence: without thoughts before it, it closes none."""
EMPTY_LINES = re.compile(r"(?:[ \t\r]*\n)+")
MENTION = re.compile(
    r"(?<![\w\\])[rbfu]{0,2}(?:'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`[^`\n]+`)(?!\w)",
    re.I,
)
"""Pattern of quotes and code, in which a tag is a mention."""


class Parts(NamedTuple):
    """A completion split in two texts: the hidden thoughts (between tags such as <think>) and the
    answer."""

    thoughts: str
    answer: str


def split_thoughts(text: str) -> Parts:
    """Returns, as `Parts`, a completion's hidden thoughts (between tags such as <think>) and the
    rest, its answer.

    Thoughts that are never closed reach to the end, those in brackets ([THOUGHT], which CodeCrash
    asks for) to the next answer's tag. Where the chat template opened the thoughts, only the
    closing tag stands in the text: everything before it is thought, unless other thoughts were
    closed before it and nothing follows. A tag in quotes or backticks is a mention, unless it
    closes thoughts.
    """
    thoughts: list[str] = []
    answer: list[str] = []
    start, thinking, opening = 0, False, ""
    mention = MENTION.search(
        text
    )  # the next one: the text is read once, however many tags it has
    for tag in THOUGHT_TAG.finditer(text):
        closes = CLOSING_TAG.search(tag[0]) is not None
        if thinking:
            if closes:
                thoughts.append(text[start : tag.start()])
                start, thinking = _after(text, tag), False
            continue
        while mention and (mention.start() < start or mention.end() <= tag.start()):
            behind = start if mention.start() < start else mention.end()
            mention = MENTION.search(text, behind)
        quoted = mention is not None and mention.start() < tag.start()
        if quoted or (closes and not thoughts and tag[0].lower().startswith(WORDS)):
            continue
        answer.append(text[start : tag.start()])
        start, thinking, opening = tag.end(), not closes, tag[0]
        if closes and not (thoughts and not text[tag.end() :].strip()):
            thoughts += answer
            answer = []
            start = _after(text, tag)
    asked = (
        FAMILIES[0][0].search(text, start) if thinking and opening[0] == "[" else None
    )
    if asked:
        thoughts.append(text[start : asked.start()])
        start, thinking = asked.start(), False
    (thoughts if thinking else answer).append(text[start:])
    return Parts("".join(thoughts), "".join(answer))


def _after(text: str, closing: re.Match[str]) -> int:
    """Returns the index in `text` at which the answer begins after the tag `closing`: empty lines
    belong to the tag, indentation to the answer."""
    lines = EMPTY_LINES.match(text, closing.end())
    return lines.end() if lines else closing.end()


LONG_FENCE = re.compile(r"^([ \t]*)(?:`{4,}|~{3,})", re.MULTILINE)


def without_thoughts(text: str) -> str:
    """Returns a completion without its hidden thoughts (between tags such as <think>), without the
    chat template's tokens before it, and up to the first of its tokens behind it: what follows is
    another turn.

    A token in quotes or backticks is a mention. Fences of other signs come out as three backticks.
    """
    turn = DRESS["first tokens"].sub("", split_thoughts(text).answer)
    tokens = DRESS["last tokens"].finditer(turn)
    ends = (token.start() for token in tokens if not token["mention"])
    return LONG_FENCE.sub(r"\1```", turn[: next(ends, None)])


def _fence(text: str) -> int:
    """Returns the index in `text` of the first fence (three backticks) outside strings; -1 without
    a fence."""
    fences = (piece.start() for piece in PIECES.finditer(text) if piece[0] == FENCE)
    return next(fences, -1)


# --- Begun answers: Sense and Sensitivity, appendix J ---

ReadingRule = Literal["first_fence", "last_assertion", "first_line"]
"""Rule for the part of an answer that counts where a prefill begins the answer: the text before the
first closing fence (appendix J of Sense and Sensitivity opens the fence), the text after the last
assertion in the completion, or the first line alone."""
ASSERT = re.compile(r"(?<![A-Za-z0-9])assert\b(?!\s*\(?\s*not\b)")
QUESTION = re.compile(r"\w\(\?\?\)|==\s*\?\?")
"""Pattern of the question marks in the prompt's assertion."""
OPENING_FENCE = re.compile(r"```[^\n`]*(?=\n)")


class Ending(NamedTuple):
    """The text of an answer that a model wrote, and whether a fence of the model's closed it."""

    text: str
    closed: bool


def begun_value(text: str, begun: str, rule: ReadingRule = "first_fence") -> Ending:
    """Returns, as `Ending`, the value on the right side of `assert f(…) ==`, up to the closing
    fence or the assertion's message (a text after a comma), and whether a fence closes it.

    `begun` is the prefilled text, empty without a prefill; the completion `text` continues it.
    `rule` (`ReadingRule`) names the part of the completion that counts.
    """
    rest, _ = _after_beginning(text, begun, rule, "")
    fence = _fence(rest)
    value = alone(rest[:fence] if fence >= 0 else rest).rstrip(BEHIND_A_VALUE).strip()
    return Ending(_without_message(value), fence >= 0)


BEHIND_A_VALUE = ";`*_"
"""Characters that may end an assertion but end no value: a semicolon, marks of code and bold
type."""


def _without_message(text: str) -> str:
    """Returns an assertion's value without the assertion's message, a string after a comma."""
    if "," in text and len(text) <= LONGEST_TEXT:
        source = f"assert _ == {text}"
        with suppress(SyntaxError):
            match parse_program(source).body:
                case [
                    ast.Assert(
                        ast.Compare(comparators=[value]),
                        ast.Constant(str()) | ast.JoinedStr(),
                    )
                ]:
                    return ast.get_source_segment(source, value) or text
    return text


def begun_arguments(
    text: str, begun: str, function: str, rule: ReadingRule = "first_fence"
) -> str | None:
    """Returns the arguments in `assert … == f(`, up to the parenthesis that closes the call; None
    when nothing closes the call.

    `begun` is the prefilled text, empty without a prefill; the completion `text` continues it.
    `function` is the name of `f`. `rule` (`ReadingRule`) names the part of the completion that
    counts.
    """
    rest, anew = _after_beginning(text, begun, rule, function)
    call = re.match(rf"\s*{re.escape(function)}\s*\(", rest)
    # A model may repeat `f(` alone; a call in the arguments is told from it by the parenthesis that closes both.
    if call and (anew or outside_brackets(rest, ")") < 0):
        rest = rest[call.end() :]
    end = outside_brackets(rest, ")")
    return rest[:end].strip() if end >= 0 else None


def _after_beginning(
    text: str, begun: str, rule: ReadingRule, function: str
) -> tuple[str, bool]:
    """Returns the part of the completion `text` that continues the prefilled `assert … ==`
    (`begun`), by `rule`, and whether the model wrote the assertion itself (True without a
    prefill). `function` is the function whose call counts, empty where the value does."""
    rest, anew = text, not begun or _begins_anew(text, begun, "assert")
    if rule == "last_assertion" and "assert " in text:
        rest, anew = _side(text.rpartition("assert ")[2], function), True
    elif anew:
        inside = None if FENCE in text else marked(text)
        rest = _written_whole(text if inside is None else inside, function)
    return (rest.lstrip().partition("\n")[0] if rule == "first_line" else rest), anew


def _begins_anew(text: str, begun: str, *openings: str) -> bool:
    """Whether the completion `text` repeats the prefilled text `begun` instead of continuing it: it
    starts with the first word of `begun`, a fence with a language, or one of the words `openings`.

    No value and no argument begins so; a fence that only closes names no language.
    """
    start = text.lstrip()
    return (
        start.startswith((begun.split()[0], *openings))
        or re.match(r"```(?:\{?\.?\w|[ \t]+\w+[ \t]*\n)", start) is not None
    )


def _written_whole(text: str, function: str) -> str:
    """Returns the side that counts (`_side`) of the first assertion in `text` that a model wrote
    itself: on a line of its own, else within the prose before the first fence.

    Without an assertion, the result is the rest after the first opening fence that names a language
    or begins the text; without such a fence, the text.
    """
    in_prose = -1
    start = 0
    for line in text.splitlines(keepends=True):
        word = ASSERT.search(line)
        if word and "==" in line and not QUESTION.search(line):
            if not line[: word.start()].strip():
                return _side(text[start + word.end() :], function)
            if in_prose < 0 and FENCE not in text[:start]:
                in_prose = start + word.end()
        start += len(line)
    if in_prose >= 0:
        return _side(text[in_prose:], function)
    opening = OPENING_FENCE.search(text)
    if opening and (opening[0] != FENCE or not text[: opening.start()].strip()):
        return text[opening.end() :]
    return text


CALL = re.compile(r"\s*[A-Za-z_]\w*\s*\(")


def _side(text: str, function: str) -> str:
    """Returns the side of an assertion's `==` that counts, from the `text` behind `assert`, which
    may be in parentheses: the call of `function`, or, where that is empty, the value, which stands
    right unless only there is a call. Empty without `==`."""
    equals, end = outside_brackets(text, "=="), len(text)
    if equals < 0 and text.lstrip().startswith("("):
        text = text.lstrip()[1:]
        equals, end = outside_brackets(text, "=="), outside_brackets(text, ")")
    if not 0 <= equals < end:
        return ""
    left, right = text[:equals], text[equals + 2 : end] + text[end + 1 :]
    if function:
        return left if re.match(rf"\s*{re.escape(function)}\s*\(", left) else right
    return left if CALL.match(right) and not CALL.match(left) else right


CLOSING_FENCE = re.compile(r"(?:\A|\n)```|(?<=[^\s`])```[ \t]*(?=\n|\Z)")
"""Pattern of a closing fence: it begins a line, or ends a line that has text."""


def begun_block(text: str, begun: str) -> str | None:
    """Returns the content of the block of code that the prefill `begun` opened and the completion
    `text` continues, without its first line break; None when no fence closes the block.

    Lines are kept to the character (Sense and Sensitivity, section 3.2). A block that the model
    opens itself is read from its opening.
    """
    rest = text
    if not begun or _begins_anew(text, begun):
        opening = OPENING_FENCE.search(text)
        if opening and (opening[0] != FENCE or text.count(FENCE) > 1):
            rest = text[opening.end() :]
    end = CLOSING_FENCE.search(rest)
    return rest[: end.start()].removeprefix("\n") if end else None


# --- Answers between tags: CodeCrash, appendix D ---

TAG, END_TAG = "[ANSWER]", "[/ANSWER]"
_MARKED = r"(?:(\*{1,3}|_{1,3}|`{1,3})(?:%s):?\1|(?:%s)):?"
"""Pattern of a tag, plain, in bold type or as code, and a colon after it."""


def _tag(pattern: str) -> re.Pattern[str]:
    return re.compile(_MARKED % (pattern, pattern), re.IGNORECASE)


FAMILIES = (
    (_tag(r"\[(?:FINAL )?ANSWER\]"), _tag(r"\[/(?:FINAL )?ANSWER\]")),
    (
        _tag(r"<\s*(?:final[ _-]?)?answer(?:\s+[\w-]+=[^<>\n]*+)?\s*>"),
        _tag(r"<\s*/\s*(?:final[ _-]?)?answer\s*>"),
    ),
)
"""Patterns of opening and closing tags: those that CodeCrash asks for, and those that models write
in their place."""
QUOTED_PROMPT = re.compile(
    r"[\s`'\"*]*(?:(?:and|…|\.\.\.)[\s`'\"*]*)?|.*(?:\w\(\?\?\)\s*==.*|==\s*\?\?)",
    re.DOTALL,
)
"""Pattern of the prompt's words between tags: nothing, the word that joins both tags, or the
assertion with its question marks."""


def tagged(text: str, *, open_ended: bool = False) -> str | None:
    """Returns the last block between [ANSWER] and [/ANSWER], or, in a text without these, between
    <answer> and </answer> or in a LaTeX box (`marked`); None without an opening tag, or, unless
    `open_ended`, when the last one is not closed.

    With `open_ended` a stop sequence may have left the closing tag out: without a closed block, the
    last block reaches to the end. After a closed block, tags in the prose are mentions: a pair
    around words of the prompt and, with `open_ended`, a tag that nothing closes.
    """
    tags = next((tags for tags in FAMILIES if tags[0].search(text)), None)
    if tags is None:
        return marked(text) or None
    blocks = _blocks(text, *tags)
    last = _behind_last(text, tags[0])
    if not tags[1].search(last) and not (open_ended and blocks):
        return last.strip() if open_ended else None
    return next(
        (block for block in reversed(blocks) if not QUOTED_PROMPT.fullmatch(block)),
        blocks[-1],
    )


def _behind_last(text: str, tag: re.Pattern[str]) -> str:
    return text[[*tag.finditer(text)][-1].end() :]


def _blocks(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> list[str]:
    """Returns the blocks between an opening tag and the closing tag before the next opening."""
    blocks = []
    tags = [*opening.finditer(text)]
    ends = [*(tag.start() for tag in tags[1:]), len(text)]
    for tag, end in zip(tags, ends, strict=True):
        if close := closing.search(text, tag.end(), end):
            blocks.append(text[tag.end() : close.start()].strip())
    return blocks


def marked(text: str) -> str | None:
    r"""Returns the answer that stands in tags (`[ANSWER]`, `<answer>`) or LaTeX boxes in a text;
    empty where several of them differ, None without one, or where the text is Python as a whole."""
    families = [tags for tags in FAMILIES if tags[0].search(text)]
    if not (families or BOX.search(text)):
        return None
    with suppress(SyntaxError):
        # JavaScript's too; a heading (`#### \boxed{5}`) is a comment, and no program.
        if parse_program(text.strip("`* \n").replace("===", "==")).body:
            return None
    answers = {unwrapped(box) for box in boxes(text)}
    for opening, closing in families:
        blocks = _blocks(text, opening, closing) or [_behind_last(text, opening)]
        own = [block for block in blocks if not QUOTED_PROMPT.fullmatch(block)]
        answers |= {alone(block) for block in own or blocks}
    if len(answers) > 1:
        return ""
    return answers.pop() if answers else None


OPENING_LINE = re.compile(
    r"""\s*```[ \t]*+(?:[A-Za-z][^\n`'"()\[\]]*+
    |[A-Za-z][\w+#.-]*(?:[ \t]+[\w-]+=(?:"[^"\n`]*"|'[^'\n`]*'|[^\s'"`()\[\]]+))+
    |\{\.?(?:python|py|javascript|js|text|code|output)\b[^\n`]*\}
    )?[ \t]*\n""",
    re.VERBOSE,
)
"""Pattern of an opening fence with its line: a language, attributes (`python title="a.py"`), or both
in braces."""


def alone(text: str) -> str:
    """Returns the answer that a text is, or the fenced block that the text begins with: what stands
    there in tags or a LaTeX box (`marked`), else all of it; without what surrounds it
    (`unwrapped`). It is a value, a call or an assertion."""
    label = DRESS["label"].fullmatch(text)
    if label and OPENING_LINE.match(label["answer"]):
        text = label["answer"]
    block = OPENING_LINE.match(text)
    if block:
        rest = text[block.end() :]
        end = _fence(rest)
        text = rest[:end] if end >= 0 else rest
    answer = marked(text)
    return unwrapped(text) if answer is None else answer


# --- A word behind a marker: Find the Origin, section 4 ---

_MARKER = re.compile(r"final[ _\-]*answer[\s*_`\"')\]]*[:：][*_`]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)")
DECORATION = " \t\"'`*_[](){}<>“”‘’«»$.,;:!?|\\-–—•"
PLACEHOLDERS = ("your_answer", "your answer")
"""Placeholders that the prompts put after the marker `final answer:`."""


def final_word(text: str) -> str | None:
    """Returns the text after the last marker `final answer:`, up to the end of its line or
    sentence, without quotes and markup, case folded.

    Without a marker it is the answer in tags or a LaTeX box (`marked`); None without one, or
    without text after the marker. A marker followed by the prompt's placeholder (`PLACEHOLDERS`) is
    passed over where another marker stands before it.
    """
    word = ""
    behind = [text[marker.end() :].lstrip() for marker in _MARKER.finditer(text)]
    for rest in reversed(behind or [marked(text) or ""]):
        opening = OPENING_LINE.match(rest)
        line = rest[opening.end() if opening else 0 :].split("\n", 1)[0]
        sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
        answer = unwrapped(unescaped(sentence)).strip(DECORATION)
        word = unicodedata.normalize("NFKC", answer).casefold()
        if not word.startswith(PLACEHOLDERS):
            break
    return word or None


# --- JSON objects: Fault Localizability, sections II and IV ---

LONGEST_NUMBER = 20
"""Maximum number of digits of a number that are read: a longer number names no line."""


def _integer(digits: str) -> int:
    return int(digits.strip()[:LONGEST_NUMBER])


DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


def json_objects(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yields the first index, the index after the end, and the value of each JSON object in a text
    that is not inside another object; broken objects are passed over."""
    start = text.find("{")
    while start >= 0:
        try:
            value, end = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield start, end, value
        start = text.find("{", end)


def named_line(text: str) -> tuple[int, str | None] | None:
    """Returns the line number (key `line_number`) and the quoted line (key `line`, None where its
    value is no text) of the last JSON object in a text that has a number; None without one.

    The number is an integer or a text of digits, anywhere in an object, which may stand anywhere in
    the text. Of a broken object (a quoted line with quotes in it, a Python dictionary) only the
    number is read; the quoted line is then None.
    """
    text = (marked(text) if BOX.search(text) else None) or text
    found: list[tuple[int, tuple[int, str | None]]] = []
    left = ""  # the text with what was read blotted out
    for start, end, value in json_objects(text):
        left += text[len(left) : start] + "\0" * (end - start)
        if named := _named_in(value):
            found.append((start, named))
    left += text[len(left) :]
    found += [
        (number.start(), (_integer(number[1]), None))
        for number in BROKEN.finditer(left)
    ]
    return max(found, key=itemgetter(0))[1] if found else None


QUOTE = (
    r"\\?[\"'“”]?"  # Python's, a word processor's, or those of an object within a text
)
BROKEN = re.compile(
    rf"[{{,]\s*{QUOTE}line_number{QUOTE}\s*:\s*{QUOTE}\s*([0-9]+)\s*{QUOTE}\s*[,}}]"
)


def _named_in(value: Any) -> tuple[int, str | None] | None:
    """Returns the number (key `line_number`) and the quoted line (key `line`) of a JSON value, else
    the last ones inside it; None without a number. The line is None where it is no text."""
    if isinstance(value, dict):
        number, quoted = whole_number(value.get("line_number")), value.get("line")
        if number is not None:
            return number, quoted if isinstance(quoted, str) else None
    inside = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    )
    return next(
        (named for one in reversed([*inside]) if (named := _named_in(one))), None
    )


def whole_number(value: Any) -> int | None:
    """Returns an integer as it is, and a text of digits as an integer (the first 20 digits); None
    for any other value, including True and 4.0."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value):
        value = _integer(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text_lists(text: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Returns, by name, the lists whose keys are `names` in the last JSON object in a text that has
    any of these keys. Items that are no texts, and values that are no lists, are left out; empty
    without such an object."""
    objects = [
        value
        for _, _, value in json_objects(text)
        if not value.keys().isdisjoint(names)
    ]
    lists = {name: objects[-1].get(name) for name in names} if objects else {}
    return {
        name: [item for item in items if isinstance(item, str)]
        for name, items in lists.items()
        if isinstance(items, list)
    }


# --- Programs: what models rewrite and translate for CodeCrash ---


def fenced_program(text: str, function: str = "") -> str:
    """Returns the content of the last fenced block in a text, among the blocks that define
    `function` if there are any (all blocks when `function` is empty); empty without a block."""
    blocks: list[str] = re.findall(r"```[^\n`]*\n(.*?)\n[ \t]*```", text, re.DOTALL)
    defines = re.compile(
        rf"\b(?:def|function)\s+{re.escape(function)}\b|\b{re.escape(function)}\s*="
    )
    programs = [block for block in blocks if function and defines.search(block)]
    return (programs or blocks or [""])[-1]
