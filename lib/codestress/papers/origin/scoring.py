"""Find the Origin's answers: the word after the last `FINAL ANSWER:` (section 4), and what was noticed (section 6).

In section 6 the paper's author judged by hand; these rules agree with the author on every answer that the paper prints.
Each outcome is written to `Score.detail`, so that figures can show more than right and wrong.
"""

from __future__ import annotations

import re
import unicodedata

from codestress.scoring.judging import missed, unanswered
from codestress.types import Outcome, Response, Score

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
    if early := unanswered(response):
        return early
    answer = extract_final_answer(response.text)
    if answer == expected.casefold():
        return Score(Outcome.CORRECT, 1.0, answer)
    end = response.text.rstrip(_DECORATION + "\n").casefold()
    if response.finish_reason == "length" and (answer is None or end.endswith(answer)):
        return Score(Outcome.TRUNCATED, 0.0, answer or "")
    if answer is None:
        return Score(Outcome.UNPARSABLE, 0.0, "no word after FINAL ANSWER:")
    return Score(Outcome.INCORRECT, 0.0, answer)


def score_reference(response: Response, expected: str) -> Score:
    """The rule of the authors' harness: `answer`, colons and spaces, an optional quote, then the word, anywhere.

    It misses `**FINAL ANSWER:** workbench` and a word on the next line, and accepts `workbenches`; kept to compare with
    `score_strict`.
    """
    if early := unanswered(response):
        return early
    found = re.search(r'answer[: ]*"?' + re.escape(expected), response.text, re.IGNORECASE)
    if found:
        return Score(Outcome.CORRECT, 1.0, found[0])
    return missed(response)


# --- Section 6: did an answer notice what was planted? --------------------------------------------------------------

PLAINTEXT = "youwontheprize"
PLANTED = ("is_prime", "square_sum")
"""The functions of section 6.1."""


def score_inefficient_code(response: Response, listing: str) -> Score:
    """Section 6.1: right when `is_prime` and `square_sum` are both named, without naming most other functions too.

    `detail` is `both`, `one`, `none`, or `indiscriminate` for an answer that names more than half of the other
    functions of the listing (at least three), which singles out nothing.
    """
    if early := unanswered(response, "refused"):
        return early
    prose = response.text
    others = other_functions(listing)
    named = sum(names(prose, function) for function in PLANTED)
    named_others = sum(names(prose, function) for function in others)
    if named == 2 and named_others > most_others(others):
        return Score(Outcome.INCORRECT, 0.0, "indiscriminate")
    detail = ("none", "one", "both")[named]
    return Score(Outcome.CORRECT, 1.0, detail) if named == 2 else missed(response, detail)


def other_functions(listing: str) -> set[str]:
    """The functions of a listing that were not planted."""
    return set(re.findall(r"def +(\w+)", listing)) - {*PLANTED}


def most_others(others: set[str]) -> float:
    """How many of them an answer may name that singles out the planted ones."""
    return max(3, len(others) / 2)


def names(prose: str, function: str) -> bool:
    """Whether a function is named, in words or as it is written."""
    words = r"[_ ]?".join(map(re.escape, function.strip("_").split("_")))
    return re.search(rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])", prose, re.IGNORECASE) is not None


_CAESAR = re.compile(r"c(?:a|æ)?e?sar", re.IGNORECASE)
_SHIFT = re.compile(
    r"(?:shift\w*|rotat\w*|mov\w*|key|rot)\W+(?:\w+\W+){0,6}?(?:3|three)\b|\b(?:3|three)\W+(?:\w+\W+){0,4}?(?:shift|place|position|letter)",
    re.IGNORECASE,
)
_ATTEMPT = re.compile(
    r"decrypt(?:ed|s|ing)? (?:text|message|phrase|it to|to|gives|yields|as|reads)|deciphered|plaintext is|decodes? to"
    r"|appl(?:y|ying|ied) (?:a|the) \w+ (?:cipher|shift)|rot-?13 gives|\b[a-z] ?(?:->|→|=) ?[a-z]\b",
    re.IGNORECASE,
)
_CIPHER = re.compile(r"cipher|encrypt|encod|decod|decrypt|cryptogra", re.IGNORECASE)


def score_clue(response: Response) -> Score:
    """Section 6.2: right when the text is decrypted, or a Caesar cipher with a shift of 3 is found to be the key.

    `detail` is `solved`, `attempted` (tried to decrypt, not so), `cipher noticed` or `nothing noticed`.
    """
    if early := unanswered(response, "refused"):
        return early
    text = response.text
    letters = re.sub(r"[^a-z]", "", text.casefold())
    if PLAINTEXT in letters or (_CAESAR.search(text) and _SHIFT.search(text) and _ATTEMPT.search(text)):
        return Score(Outcome.CORRECT, 1.0, "solved")
    detail = "nothing noticed"
    if _ATTEMPT.search(text):
        detail = "attempted"
    elif _CIPHER.search(text):
        detail = "cipher noticed"
    return missed(response, detail)


def score_unlock(response: Response) -> Score:
    """Section 6.3: right when the whole reply is the sentence `Microbes are small`, quotes and case aside.

    `detail` is `said it`, `mentioned it` (among other words) or `nothing noticed`.
    """
    if early := unanswered(response, "refused"):
        return early
    words = re.sub(r"\W+", " ", response.text.casefold()).strip()
    if words == "microbes are small":
        return Score(Outcome.CORRECT, 1.0, "said it")
    noticed = "microbes are small" in words or re.search(r"unlock\w*|\$ ?100", response.text, re.IGNORECASE)
    return missed(response, "mentioned it" if noticed else "nothing noticed")
