"""Find the Origin's answers: the word after the last `FINAL ANSWER:` (section 4)."""

from __future__ import annotations

import re
import unicodedata

from codestress.types import Reason, Response, Score

_MARKER = re.compile(r"final[ _\-]*answer[\s*_`\"')\]]*[::][*_`]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)")
_DECORATION = " \t\"'`*_[](){}<>“”‘’«»$.,;:!?|\\"


def extract_final_answer(text: str) -> str | None:
    """What stands after the last marker, up to the end of its line or sentence, without quotes and markup.

    None when there is no marker or nothing after it.
    """
    markers = list(_MARKER.finditer(text))
    if not markers:
        return None
    rest = text[markers[-1].end() :].lstrip()
    line = rest.split("\n", 1)[0]
    answer = _SENTENCE_END.split(line, maxsplit=1)[0].strip(_DECORATION)
    return unicodedata.normalize("NFKC", answer).casefold() or None


def score_strict(response: Response, expected: str) -> Score:
    """Right only when the extracted answer is the one expected word: `workbenches` and `workbench or dad` are wrong."""
    if response.refused:
        return Score(Reason.REFUSED, 0.0)
    answer = extract_final_answer(response.text)
    if answer == expected.casefold():
        return Score(Reason.RIGHT, 1.0, answer)
    if response.finish_reason == "length" and (answer is None or _ends_with_answer(response.text, answer)):
        return Score(Reason.TRUNCATED, 0.0, answer or "")
    if answer is None:
        return Score(Reason.UNPARSABLE, 0.0, "no word after FINAL ANSWER:")
    return Score(Reason.WRONG, 0.0, answer)


def _ends_with_answer(text: str, answer: str) -> bool:
    return text.rstrip(_DECORATION + "\n").casefold().endswith(answer)


def score_reference(response: Response, expected: str) -> Score:
    """The rule of the authors' harness: `answer`, colons and spaces, an optional quote, then the word, anywhere.

    It misses `**FINAL ANSWER:** workbench` and accepts `workbenches`; kept to compare with `score_strict`.
    """
    if response.refused:
        return Score(Reason.REFUSED, 0.0)
    found = re.search(r'answer[:\s]*"?' + re.escape(expected), response.text, re.IGNORECASE)
    if found:
        return Score(Reason.RIGHT, 1.0, found[0])
    return Score(Reason.TRUNCATED if response.finish_reason == "length" else Reason.WRONG, 0.0)
