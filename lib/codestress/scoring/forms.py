"""Forms of answers: the rules by which the answer is found in a completion, for all papers and
`codestress score` (law 5).

A scorer removes hidden thoughts (`without_thoughts`), then reads the form that its prompt asks for;
answers that a prefill begins have a module of their own, `scoring.begun`. docs/scoring.md lists all
forms.
"""

import ast
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from codestress.literals import parse_program

from .dress import (
    ANSWER_TAGS,
    BOX,
    CLOSING_TAG,
    DRESS,
    TABLE,
    Ending,
    before_fence,
    boxes,
    unescaped,
    unwrapped,
)

# --- Hidden thoughts, tokens of the chat template ---

THOUGHT_TAG = DRESS["hidden thoughts"]
MENTION = TABLE["hidden thoughts"]["mention"]
TAG_OR_MENTION = re.compile(
    f"(?P<mention>(?-s:{MENTION}))|{THOUGHT_TAG.pattern}", THOUGHT_TAG.flags
)
"""Pattern of tags, and of quotes and code, in which a tag is a mention."""
EMPTY_LINES = re.compile(r"(?:[ \t\r]*\n)+")
"""Pattern of the blank lines behind a closing tag; the indentation after them belongs to the
answer."""
LONG_FENCE = re.compile(r"^([ \t]*)(?:`{4,}|~{3,})", re.MULTILINE)


class Parts(NamedTuple):
    """A completion split in two texts: the hidden thoughts (between tags such as <think>) and the
    answer."""

    thoughts: str
    answer: str


@lru_cache  # each scoring rule asks for the same
def without_thoughts(text: str) -> str:
    """Returns a completion without its hidden thoughts (between tags such as <think>), without the
    chat template's tokens before it, and up to the first of its tokens behind it: what follows is
    another turn.

    A token in quotes or backticks is a mention. Fences of other signs come out as three backticks.
    """
    turn = DRESS["first tokens"].sub("", split_thoughts(text).answer)
    for token in DRESS["last tokens"].finditer(turn):
        if not token["mention"]:
            turn = turn[: token.start()]
            break
    return LONG_FENCE.sub(r"\1```", turn)


def split_thoughts(text: str) -> Parts:
    """Returns a completion's hidden thoughts (between tags such as <think>) and its answer, the
    rest.

    Thoughts that are never closed reach to the end, those in brackets ([THOUGHT], which CodeCrash
    asks for) to the next answer's tag. A closing tag alone means that the chat template opened the
    thoughts before the text, unless other thoughts were closed before it and nothing follows. A tag
    in quotes is a mention. A sentence (`Here is my response:`) closes only what a sentence opened.
    """
    thoughts, answer = list[str](), list[str]()
    start, opening = 0, ""  # of the part being read; an answer has no opening tag
    behind = 0
    while tag := (THOUGHT_TAG if opening else TAG_OR_MENTION).search(text, behind):
        behind = tag.end()
        closes = CLOSING_TAG.search(tag[0])
        if opening:
            if not closes:
                continue
        else:
            sentence = tag[0][:4].lower() == "here"
            if tag["mention"] or (closes and not thoughts and sentence):
                continue
        part, start = text[start : tag.start()], behind
        if not closes:
            answer.append(part)
            opening = tag[0]
        elif not opening and thoughts and not text[start:].strip():
            answer.append(part)
        else:
            if not opening:
                thoughts, answer = [*thoughts, *answer], []
            thoughts.append(part)
            lines = EMPTY_LINES.match(text, start)
            start, opening = lines.end() if lines else start, ""
    tag = ANSWER_TAGS[0][0].search(text, start) if opening[:1] == "[" else None
    if tag:
        thoughts.append(text[start : tag.start()])
        start, opening = tag.start(), ""
    (thoughts if opening else answer).append(text[start:])
    return Parts("".join(thoughts), "".join(answer))


# --- Answers between tags: CodeCrash, appendix D ---

TAG, END_TAG = "[ANSWER]", "[/ANSWER]"
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
    families = _families(text)
    if not families:
        return marked(text) or None
    last, answers = families[0][-1], _own(families[0])
    if last.closed or (open_ended and answers):
        return answers[-1]
    return last.text if open_ended else None


def _families(text: str) -> list[list[Ending]]:
    """Return, for each of `ANSWER_TAGS` that opens in a text, what stands behind its opening tags,
    and whether a closing tag ends it."""
    families = []
    for opening, closing in ANSWER_TAGS:
        blocks = []
        for rest in opening.split(text)[2::2]:  # a tag's pattern has one group
            inside, *behind = closing.split(rest, maxsplit=1)
            blocks.append(Ending(inside.strip(), bool(behind)))
        if blocks:
            families.append(blocks)
    return families


def _own(blocks: Sequence[Ending]) -> list[str]:
    """Returns the texts of the closed blocks; those that only quote the prompt (`QUOTED_PROMPT`)
    are left out where there are others."""
    closed = [block.text for block in blocks if block.closed]
    return [text for text in closed if not QUOTED_PROMPT.fullmatch(text)] or closed


def marked(text: str) -> str | None:
    r"""Returns the answer that stands in tags (`[ANSWER]`, `<answer>`) or LaTeX boxes in a text;
    empty where several of them differ, None without one, or where the text is Python as a whole."""
    families = _families(text)
    if not families and not BOX.search(text):
        return None
    if _is_program(text):
        return None
    answers = {unwrapped(box) for box in boxes(text)}
    for blocks in families:
        answers.update(map(alone, _own(blocks) or [blocks[-1].text]))
    if len(answers) > 1:
        return ""
    return answers.pop() if answers else None


def _is_program(text: str) -> bool:
    """Whether a text is Python, or an assertion in JavaScript, with tags in its strings alone: the
    tag in `[ANSWER] [1]` is no name. A heading (`#### \boxed{5}`) is a comment, and no program."""
    try:
        tree = parse_program(text.strip("`* \n").replace("===", "=="))
    except SyntaxError:
        return False
    names = {node.id.upper() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool(tree.body) and "ANSWER" not in names


# --- A text that is the answer: `codestress score` ---

OPENING_LINE = re.compile(TABLE["fence"]["opening"])
"""Pattern of an opening fence with its line: a language, attributes (`python title="a.py"`), or
both in braces."""


def alone(text: str) -> str:
    """Returns the answer, a value, a call or an assertion, in a text that has nothing else, or in
    the fenced block that the text begins with: the content of tags or of a LaTeX box (`marked`),
    else the whole text, without what surrounds it (`unwrapped`)."""
    label = DRESS["label"].fullmatch(text)
    if label and OPENING_LINE.match(label["answer"]):
        text = label["answer"]
    opening = OPENING_LINE.match(text)
    if opening:
        text = before_fence(text[opening.end() :]).text
    bare = unwrapped(text)
    answer = None if _is_program(bare) else marked(text)
    return bare if answer is None else answer


# --- A word behind a marker: Find the Origin, section 4 ---

MARKER = re.compile(r"final[ _\-]*answer[\s*_`\"')\]]*[:：][*_`]*", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?;](?=\s|$)")
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
    rests = [text[marker.end() :].lstrip() for marker in MARKER.finditer(text)]
    for rest in reversed(rests or [marked(text) or ""]):
        opening = OPENING_LINE.match(rest)
        if opening:
            rest = rest[opening.end() :]
        sentence = SENTENCE_END.split(rest.partition("\n")[0], maxsplit=1)[0]
        answer = unwrapped(unescaped(sentence).rstrip("`$\\)}")).strip(DECORATION)
        word = unicodedata.normalize("NFKC", answer).casefold()
        if not word.startswith(PLACEHOLDERS):
            break
    return word or None


# --- JSON objects: Fault Localizability, sections II and IV ---

QUOTE = r"\\?[\"'“”]?"
"""Pattern of quotes: Python's, a word processor's, or those of an object within a text."""
BROKEN = re.compile(
    rf"[{{,]\s*{QUOTE}line_number{QUOTE}\s*:\s*{QUOTE}\s*([0-9]+)\s*{QUOTE}\s*[,}}]"
)
NamedLine = tuple[int, str | None]
"""A line's number, and the line itself where it was quoted."""


def _integer(digits: str) -> int:
    """Returns the number that `digits` write, cut to 20 digits: no line has so high a number, and
    Python refuses very long ones."""
    return int(digits.strip()[:20])


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


def named_line(text: str) -> NamedLine | None:
    """Returns the line number (key `line_number`) and the quoted line (key `line`, None where its
    value is no text) of the last JSON object in a text that has a number; None without one.

    The number is an integer or a text of digits, anywhere in an object, which may stand anywhere in
    the text. Of a broken object (a quoted line with quotes in it, a Python dictionary) only the
    number is read; the quoted line is then None.
    """
    if BOX.search(text):
        text = marked(text) or text
    last = None
    position = 0
    for start, end, value in json_objects(text):
        last = _line_in(value) or _broken_line(text, position, start) or last
        position = end
    return _broken_line(text, position, len(text)) or last


def _broken_line(text: str, start: int, end: int) -> NamedLine | None:
    """Returns the last line number between two indices of a text that hold no whole object."""
    numbers = BROKEN.findall(text, start, end)
    return (_integer(numbers[-1]), None) if numbers else None


def _line_in(value: Any) -> NamedLine | None:
    """Returns the number (key `line_number`) and the quoted line (key `line`) of a JSON value, else
    the last ones inside it; None without a number. The line is None where it is no text."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            number = _whole_number(value.get("line_number"))
            if number is not None:
                quoted = value.get("line")
                return number, quoted if isinstance(quoted, str) else None
            values += value.values()
        elif isinstance(value, list):
            values += value
    return None


def _whole_number(value: Any) -> int | None:
    """Returns an integer as it is, and a text of digits as an integer (the first 20 digits); None
    for any other value, including True and 4.0."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value):
        return _integer(value)
    return value if type(value) is int else None


def text_lists(text: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return, by name, the lists whose keys are `names` in the last JSON object in a text that has
    any of these keys. Items that are no texts, and values that are no lists, are left out; empty
    without such an object."""
    last: dict[str, Any] = {}
    for _, _, value in json_objects(text):
        if not value.keys().isdisjoint(names):
            last = value
    lists = {}
    for name in names:
        items = last.get(name)
        if isinstance(items, list):
            lists[name] = [item for item in items if isinstance(item, str)]
    return lists


# --- Programs: what models rewrite and translate for CodeCrash ---


def fenced_program(text: str, function: str = "") -> str:
    """Returns the content of the last fenced block in a text, among the blocks that define
    `function` if there are any (all blocks when `function` is empty); empty without a block."""
    # Cut behind the last fence: from each unclosed one, the search would run to the end.
    text = "".join(re.findall(r"\A.*\n[ \t]*```", text, re.DOTALL))
    blocks: list[str] = re.findall(r"```[^\n`]*\n(.*?)\n[ \t]*```", text, re.DOTALL)
    name = re.escape(function)
    defines = rf"\b(?:def|function)\s+{name}\b|\b{name}\s*="
    programs = [block for block in blocks if function and re.search(defines, block)]
    return (programs or blocks or [""])[-1]
