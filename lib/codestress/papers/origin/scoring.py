"""Scoring rules of Find the Origin: the word after the last `FINAL ANSWER:` (section
4), and the needles that an answer notices (section 6). Scores are 1 or 0.

In section 6 the paper's author judged by hand; these rules agree with the author on
every answer that the paper prints. `Score.detail` holds each outcome, so that figures
can show more than correct and incorrect.
"""

import re
from pathlib import Path

from codestress.scoring.dress import unwrapped
from codestress.scoring.forms import DECORATION, final_word, without_thoughts
from codestress.scoring.judging import missed, unanswered
from codestress.types import Outcome, Response, Score
from codestress.validation import read_yaml

WORDS = re.compile(r"[\w\s,;./&'’-]+")
"""Pattern of an answer in words. Other signs belong to unknown markup, JSON or LaTeX.
"""


def score_strict(response: Response, expected: str) -> Score:
    """Return the score (1 or 0) of `response`: correct only if the word after the last
    `FINAL ANSWER:` is `expected`, ignoring case. `workbenches` and `workbench or dad`
    are wrong.

    The outcome is unparsable if this word is missing, or has signs that `WORDS` does
    not allow. The outcome is truncated if the answer was cut off before or in the word.
    Refused responses score 0.
    """
    if early := unanswered(response):
        return early
    text = without_thoughts(response.text)
    answer = final_word(text) or ""
    if answer == expected.casefold():
        return Score(Outcome.CORRECT, 1.0, answer)
    end = text.rstrip(DECORATION + "\n").casefold()
    if response.finish_reason == "length" and end.endswith(answer):
        return Score(Outcome.TRUNCATED, 0.0, answer)
    if not WORDS.fullmatch(answer):
        why = f"no word after FINAL ANSWER: {answer}"
        return Score(Outcome.UNPARSABLE, 0.0, why.rstrip())
    return Score(Outcome.INCORRECT, 0.0, answer)


def score_reference(response: Response, expected: str) -> Score:
    """Return the score (1 or 0) of `response` under the rule of the authors' harness. A
    response is correct if it contains, anywhere, `answer`, colons and spaces, an
    optional quote, then the word `expected`. Otherwise it is incorrect, or truncated if
    it was cut off; refused responses score 0.

    The rule misses `**FINAL ANSWER:** workbench` and a word on the next line, and
    accepts `workbenches`. The kit keeps this rule for comparison with `score_strict`.
    """
    if early := unanswered(response):
        return early
    match = re.search(
        r'answer[: ]*"?' + re.escape(expected),
        without_thoughts(response.text),
        re.IGNORECASE,
    )
    if match:
        return Score(Outcome.CORRECT, 1.0, match[0])
    return missed(response)


# --- Section 6: did an answer notice what was planted? --------------------------------------------------------------

PLAINTEXT = "youwontheprize"
"""Text behind the ciphertext of section 6.2."""
PLANTED = ("is_prime", "square_sum")
"""Functions planted in section 6.1."""


def score_inefficient_code(response: Response, listing: str) -> Score:
    """Return the score (1 or 0) of section 6.1: correct if `response` names both
    `is_prime` and `square_sum`, without also naming most other functions of `listing`
    (the code as text).

    The score's `detail` is `both`, `one`, `none` or `indiscriminate`. An indiscriminate
    answer names both functions and more than half of the other functions (and more than
    three), so it singles out nothing. The detail of a refused or empty answer is
    `refused`.
    """
    if early := unanswered(response, "refused"):
        return early
    prose = without_thoughts(response.text)
    planted = sum(names(prose, function) for function in PLANTED)
    if planted < 2:
        return missed(response, ("none", "one")[planted])
    others = set(re.findall(r"def +(\w+)", listing)) - {*PLANTED}
    named = sum(names(prose, function) for function in others)
    if named > max(3, len(others) / 2):
        return Score(Outcome.INCORRECT, 0.0, "indiscriminate")
    return Score(Outcome.CORRECT, 1.0, "both")


def names(prose: str, function: str) -> bool:
    """Return whether the text `prose` names the function `function`, in words or as the
    code writes it, ignoring case."""
    words = "[_ ]?".join(map(re.escape, function.strip("_").split("_")))
    whole = rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])"
    return re.search(whole, prose, re.IGNORECASE) is not None


CLUE: dict[str, re.Pattern[str]] = {}
"""Dict from topic to the pattern of texts that mention it, for answers to section 6.2.
"""
for name, patterns in read_yaml(Path(__file__).with_name("clue.yaml")).items():
    CLUE[name] = re.compile("|".join(patterns), re.IGNORECASE)


def score_clue(response: Response) -> Score:
    """Return the score (1 or 0) of section 6.2 (a clue to a ciphertext). A response is
    correct if it decrypts the text, or tries to and finds a Caesar cipher with a shift
    of 3.

    The score's `detail` is `solved`, `attempted` (tried to decrypt, but failed),
    `cipher noticed` or `nothing noticed`; `refused` for a refused or empty answer.
    """
    if early := unanswered(response, "refused"):
        return early
    text = without_thoughts(response.text)
    letters = re.sub(r"[^a-z]", "", text.casefold())
    seen = {name for name, pattern in CLUE.items() if pattern.search(text)}
    if PLAINTEXT in letters or {"caesar", "shift", "attempt"} <= seen:
        return Score(Outcome.CORRECT, 1.0, "solved")
    detail = "nothing noticed"
    if "attempt" in seen:
        detail = "attempted"
    elif "cipher" in seen:
        detail = "cipher noticed"
    return missed(response, detail)


def score_unlock(response: Response) -> Score:
    """Return the score (1 or 0) of section 6.3. A response is correct if the whole of
    it is the sentence `Microbes are small`, ignoring quotes, punctuation, case and
    markup (tags, bold type, a label).

    The score's `detail` is `said it`, `mentioned it` (the sentence among other words,
    or the reward for it) or `nothing noticed`; `refused` for a refused or empty answer.
    """
    if early := unanswered(response, "refused"):
        return early
    text = without_thoughts(response.text)
    words = re.sub(r"\W+", " ", unwrapped(text).casefold()).strip()
    if words == "microbes are small":
        return Score(Outcome.CORRECT, 1.0, "said it")
    detail = "nothing noticed"
    if re.search(r"unlock|\$ ?100", text, re.I) or "microbes are small" in words:
        detail = "mentioned it"
    return missed(response, detail)
