"""Forms of answers: the rules that find the answer in a completion, for all papers and
`codestress score` (law 5 of docs/architecture.md).

A scorer removes hidden thoughts (`without_thoughts`), then reads the form that its
prompt asks for. Answers whose beginning is a prefill have a module of their own,
`scoring.begun`. docs/scoring.md lists all forms.
"""

import ast
import json
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from codestress.literals import parse_program

from .dress import (
    ANSWER_TAGS,
    BOX,
    CLOSING_TAG,
    DRESS,
    TABLE,
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
"""Pattern of tags of hidden thoughts, and of quotes and code, in which a tag is only
mentioned."""
EMPTY_LINES = re.compile(r"(?:[ \t\r]*\n)+")
"""Pattern of the blank lines after a closing tag. The indentation after the blank lines
belongs to the answer."""
LONG_FENCE = re.compile(r"^([ \t]*)(?:`{4,}|~{3,})", re.MULTILINE)


class Parts(NamedTuple):
    """A completion split in two texts: the hidden thoughts (between tags such as
    <think>) and the answer."""

    thoughts: str
    answer: str


# Each scoring rule asks for the same text.
@lru_cache
def without_thoughts(text: str) -> str:
    """Return a completion's answer: its text without hidden thoughts (between tags such
    as <think>) and without the chat template's special tokens.

    Special tokens at the beginning are removed. The next special token ends the text,
    because another turn follows. A token in quotes or backticks is a mention, which
    ends nothing. Fences of tildes or of more than three backticks become three
    backticks.
    """
    turn = DRESS["first tokens"].sub("", split_thoughts(text).answer)
    for token in DRESS["last tokens"].finditer(turn):
        if not token["mention"]:
            turn = turn[: token.start()]
            break
    return LONG_FENCE.sub(r"\1```", turn)


def split_thoughts(text: str) -> Parts:
    """Return a completion's hidden thoughts (between tags such as <think>) and its answer, which is the rest.

    Thoughts without a closing tag reach to the end. Thoughts in brackets ([THOUGHT], which CodeCrash asks for) then
    reach to the next opening tag of an answer. A closing tag without an opening one means that the chat template
    opened the thoughts before the text, or the tag has leaked if it ends a text with thoughts. A tag in quotes or code
    is a mention, except inside thoughts."""
    thoughts, answer = list[str](), list[str]()
    # Start and opening tag of the part being read; an answer has no opening tag.
    start, opening = 0, ""
    behind = 0
    while tag := (THOUGHT_TAG if opening else TAG_OR_MENTION).search(text, behind):
        behind = tag.end()
        closes = CLOSING_TAG.search(tag[0])
        # Words close what words have opened, and marks what marks have.
        words = tag[0].endswith(":")
        fits = closes and opening.endswith(":") == words
        ignored = not fits if opening else tag["mention"]
        if ignored:
            continue
        part, start = text[start : tag.start()], behind
        # After thoughts, a closing tag at the end of the text has leaked.
        leaked = not opening and thoughts and not text[start:].strip()
        if not closes or leaked:
            answer.append(part)
            opening = "" if closes else tag[0]
            continue
        if not opening:
            thoughts, answer = [*thoughts, *answer], []
        thoughts.append(part)
        opening = ""
        lines = EMPTY_LINES.match(text, start)
        start = lines.end() if lines else start
    tag = ANSWER_TAGS[0][0].search(text, start)
    if tag and opening[:1] == "[":
        thoughts.append(text[start : tag.start()])
        start, opening = tag.start(), ""
    (thoughts if opening else answer).append(text[start:])
    return Parts("".join(thoughts), "".join(answer))


# --- Answers between tags: CodeCrash, appendix D ---

TAG = "[ANSWER]"
END_TAG = "[/ANSWER]"
QUOTED_PROMPT = re.compile(
    r"[\s`'\"*]*(?:(?:and|…|\.\.\.)[\s`'\"*]*)?|.*(?:\w\(\?\?\)\s*==.*|==\s*\?\?)",
    re.DOTALL,
)
"""Pattern of the prompt's own words between tags: nothing, the word that joins the two
tags, or the assertion with its question marks."""


def tagged(text: str, *, open_ended: bool = False) -> str | None:
    """Return the last block between [ANSWER] and [/ANSWER] or, in a text without these
    tags, between <answer> and </answer> or in a LaTeX box (`marked`).

    The result is None without an opening tag or box, or if the last opening tag is not
    closed. With `open_ended`, a stop sequence may have left the closing tag out, so an
    unclosed tag is read too. If no block is closed, the last block reaches to the end
    of the text. If a block is closed, an unclosed tag after it is a mention.

    A closed block that only quotes the prompt counts only if all closed blocks do.
    """
    families = _families(text)
    if not families:
        return marked(text) or None
    answers, closed = families[0]
    return answers[-1] if closed or open_ended else None


def _families(text: str) -> list[tuple[list[str], bool]]:
    """Return, for each pair of `ANSWER_TAGS` whose opening tag is in a text, the texts
    of the closed blocks, and whether the last opening tag is closed.

    Blocks that only quote the prompt (`QUOTED_PROMPT`) are left out unless all blocks
    do. Without a closed block, the only text is the one after the last opening tag.
    """
    families = []
    for opening, closing in ANSWER_TAGS:
        closed = []
        last = []
        # Every second part, from 1 on, is the pattern's group.
        for rest in opening.split(text)[2::2]:
            last = closing.split(rest, maxsplit=1)
            if len(last) > 1:
                closed.append(last[0].strip())
        own = [block for block in closed if not QUOTED_PROMPT.fullmatch(block)]
        if last:
            families.append((own or closed or [last[0].strip()], len(last) > 1))
    return families


def marked(text: str) -> str | None:
    r"""Return the answer in tags (`[ANSWER]`, `<answer>`) or LaTeX boxes in a text;
    empty if there are several different ones.

    None if there is no tag or box, or if the whole text is Python.
    """
    families = _families(text)
    if not (families or BOX.search(text)) or _is_program(text):
        return None
    answers = {unwrapped(box) for box in boxes(text)}
    for blocks, _ in families:
        answers.update(map(alone, blocks))
    if len(answers) > 1:
        return ""
    return answers.pop() if answers else None


def _is_program(text: str) -> bool:
    r"""Return whether a text is Python, or an assertion in JavaScript, in which answer
    tags are only in strings.

    The tag in `[ANSWER] [1]` is not a name of a program. A heading (`#### \boxed{5}`)
    is a Python comment, but a comment alone is not a program.
    """
    try:
        tree = parse_program(text.strip("`* \n").replace("===", "=="))
    except SyntaxError:
        return False
    names = {node.id.upper() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool(tree.body) and "ANSWER" not in names


# --- A text that is the answer: `codestress score` ---

OPENING_LINE = re.compile(TABLE["fence"]["opening"])
"""Pattern of an opening fence with its whole line: a language, attributes (`python
title="a.py"`), or language and attributes in braces."""


def alone(text: str) -> str:
    """Return the answer (a value, a call or an assertion) that makes up the whole text,
    or the fenced block at its beginning.

    The answer is the content of tags or of a LaTeX box (`marked`) if there is one, else
    the whole text, without the formatting around it (`unwrapped`).
    """
    label = DRESS["label"].fullmatch(text)
    if label and OPENING_LINE.match(label["answer"]):
        text = label["answer"]
    opening = OPENING_LINE.match(text)
    if opening:
        text = before_fence(text[opening.end() :]).text
    bare = unwrapped(text)
    answer = marked(bare)
    return bare if answer is None else answer


# --- A word behind a marker: Find the Origin, section 4 ---

MARKER = re.compile(r"final[ _\-]*answer[\s*_`\"')\]]*[:：][*_`]*", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?;](?=\s|$)")
DECORATION = " \t\"'`*_[](){}<>“”‘’«»$.,;:!?|\\-–—•"
PLACEHOLDERS = ("your_answer", "your answer")
"""Placeholders that the prompts write after the marker `final answer:`."""


def final_word(text: str) -> str | None:
    """Return the text after the last marker `final answer:`, up to the end of its line
    or sentence, without quotes and markup, case folded.

    A marker that the prompt's placeholder follows (`PLACEHOLDERS`) is skipped if there
    is an earlier marker. Without a marker, the result is the answer in tags or a LaTeX
    box (`marked`). None if there is no such answer, or no text after the marker.
    """
    word = ""
    rests = [text[marker.end() :].lstrip() for marker in MARKER.finditer(text)]
    for rest in reversed(rests or [marked(text) or ""]):
        line = OPENING_LINE.sub("", rest).partition("\n")[0]
        sentence = SENTENCE_END.split(line)[0]
        answer = unwrapped(unescaped(sentence).rstrip("`$\\)}")).strip(DECORATION)
        word = unicodedata.normalize("NFKC", answer).casefold()
        if not word.startswith(PLACEHOLDERS):
            break
    return word or None


# --- JSON objects: Fault Localizability, sections II and IV ---

LINE_NUMBER = re.compile(
    r'[{,]\s*["“”]line\\?_number["“”]\s*:\s*+(?:["“”]\s*+)?(-?[0-9]+)\s*+["“”]?\s*\\?[,}]'
)
"""Pattern of a line number in a JSON object: a whole number, or a text of digits. In a
JSON text, quotation marks have backslashes, so that the pattern fits nothing there."""


def named_line(text: str) -> int | None:
    """Return the last line number (key `line_number`) of a JSON object in a text; None
    if there is none.

    The object may be anywhere in the text, at any depth of another object, and broken
    (a quoted line with quotes in it). Without one, Python dictionaries count.
    """
    in_json = LINE_NUMBER.findall(text)
    numbers = in_json or LINE_NUMBER.findall(text.replace("'", '"'))
    # No line has a number of more than 20 digits, and Python refuses very long ones.
    return int(numbers[-1][:20]) if numbers else None


def text_lists(text: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return, by name, the lists under the keys `names` of the last JSON object in a
    text that has any of these keys.

    Items that are not texts, and values that are not lists, are left out. The result is
    empty if there is no such object.
    """
    last: dict[str, Any] = {}
    start = text.find("{")
    while start >= 0:
        end = start + 1
        with suppress(ValueError, RecursionError):
            fields, after = JSON.raw_decode(text, start)
            if fields.keys() & names:
                last, end = fields, after
        start = text.find("{", end)
    lists = {}
    for name in names:
        items = last.get(name)
        if isinstance(items, list):
            lists[name] = [item for item in items if isinstance(item, str)]
    return lists


JSON = json.JSONDecoder(strict=False)


# --- Programs: what models rewrite and translate for CodeCrash ---


def fenced_program(text: str, function: str = "") -> str:
    """Return the content of the last fenced block in a text; empty without a block. If
    any block defines `function`, only such blocks count."""
    # Cut the text after its last fence, else the search from each unclosed fence would
    # run to the end of the text.
    text = "".join(re.findall(r"\A.*\n[ \t]*```", text, re.DOTALL))
    blocks: list[str] = re.findall(r"```[^\n`]*\n(.*?)\n[ \t]*```", text, re.DOTALL)
    name = re.escape(function)
    defines = rf"\b(?:def|function)\s+{name}\b|\b{name}\s*="
    programs = [block for block in blocks if function and re.search(defines, block)]
    return (programs or blocks or [""])[-1]
