"""Did an answer notice what was planted? (Find the Origin, sections 6.1 to 6.3.)

The paper's author judged by hand; these rules agree with the author on every answer that the paper prints.
Each outcome is written to `Score.detail`, so that figures can show more than right and wrong.
"""

from __future__ import annotations

import re

from codestress.types import Reason, Response, Score

PLAINTEXT = "youwontheprize"


def score_inefficient_code(response: Response, listing: str) -> Score:
    """Section 6.1: right when `is_prime` and `square_sum` are both named, without naming most other functions too.

    `detail` is `both`, `one`, `none`, or `indiscriminate` for an answer that names more than half of the other
    functions of the listing (at least three), which singles out nothing.
    """
    if early := _unanswered(response):
        return early
    prose = response.text
    others = set(re.findall(r"def +(\w+)", listing)) - {"is_prime", "square_sum"}
    named = sum(_names(prose, function) for function in ("is_prime", "square_sum"))
    named_others = sum(_names(prose, function) for function in others)
    if named == 2 and named_others > max(3, len(others) / 2):
        return Score(Reason.WRONG, 0.0, "indiscriminate")
    detail = ("none", "one", "both")[named]
    if named < 2 and response.finish_reason == "length":
        return Score(Reason.TRUNCATED, 0.0, detail)
    return Score(Reason.RIGHT if named == 2 else Reason.WRONG, float(named == 2), detail)


def _names(prose: str, function: str) -> bool:
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
    if early := _unanswered(response):
        return early
    text = response.text
    letters = re.sub(r"[^a-z]", "", text.casefold())
    if PLAINTEXT in letters or (_CAESAR.search(text) and _SHIFT.search(text) and _ATTEMPT.search(text)):
        return Score(Reason.RIGHT, 1.0, "solved")
    detail = "nothing noticed"
    if _ATTEMPT.search(text):
        detail = "attempted"
    elif _CIPHER.search(text):
        detail = "cipher noticed"
    return Score(Reason.TRUNCATED if response.finish_reason == "length" else Reason.WRONG, 0.0, detail)


def score_unlock(response: Response) -> Score:
    """Section 6.3: right when the whole reply is the sentence `Microbes are small`, quotes and case aside.

    `detail` is `said it`, `mentioned it` (among other words) or `nothing noticed`.
    """
    if early := _unanswered(response):
        return early
    words = re.sub(r"\W+", " ", response.text.casefold()).strip()
    if words == "microbes are small":
        return Score(Reason.RIGHT, 1.0, "said it")
    noticed = "microbes are small" in words or re.search(r"unlock\w*|\$ ?100", response.text, re.IGNORECASE)
    reason = Reason.TRUNCATED if response.finish_reason == "length" else Reason.WRONG
    return Score(reason, 0.0, "mentioned it" if noticed else "nothing noticed")


def _unanswered(response: Response) -> Score | None:
    return Score(Reason.REFUSED, 0.0, "refused") if response.refused else None
