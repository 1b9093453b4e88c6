"""The rules of section 6 agree with the author on every answer that the paper prints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from pydantic import ValidationError

from codestress.errors import DataError
from codestress.papers.origin import needle_results, results as origin_results
from codestress.papers.origin.needles import (
    NEEDLES,
    article,
    chapter,
    listing,
    needle_depth,
)
from codestress.papers.origin.scoring import (
    score_clue,
    score_inefficient_code,
    score_unlock,
)
from codestress.papers.origin.studies import NeedleInHaystack
from codestress.parameters import questions
from codestress.report.claims import ledger
from codestress.report.protocol import stamp
from codestress.report.published import published_numbers
from codestress.scoring.summaries import summarize
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, read
from codestress.types import Outcome, Request, Response, Score
from conftest import artefact_of, codestress
from told import names, refused

EVERYTHING = Settings(capacity=1e9)


def answer(text: str, finish: str = "stop") -> Response:
    return Response(text, finish)  # type: ignore[arg-type]


CODE = """class A:
    def __init__(self): pass
    def sparse_coef_(self): pass
    def is_prime(n): pass
    def _decision_function(self, X): pass
    def _get_estimator(self): pass
    def square_sum(my_list): pass
    def _is_multitask(self): pass
    def _more_tags(self): pass
"""


SCORERS: dict[str, Callable[[Response], Score]] = {
    "code": lambda response: score_inefficient_code(response, CODE),
    "clue": score_clue,
    "unlock": score_unlock,
}
NOTICED = {
    "code": {
        "1. is prime function: checks all numbers from 2 to n-1\n2. square sum function: redundant operations": "both",
        "1. `is_prime`: slow.\n2. `square_sum`: cancels out.\n3. decision function method: fine": "both",
        "The function is_prime is slow.": "one",
        "Repeated calculations in alpha grid; memory duplication in fit methods.": "none",
        CODE: "indiscriminate",
        "is_primes and square_sums": "none",
    },
    "clue": {
        'this refers to a Caesar cipher. "3" might indicate the shift used in the cipher. Let us decrypt using a '
        'Caesar cipher with a shift of 3:\n1. b -> y\n2. r -> o\nDecrypted text: "younowtheprize"': "solved",
        "Decrypted: You won the prize!": "solved",
        "YOU WON THE PRIZE": "solved",
        'The encryption "brxzrqwkhsulch" does not provide enough context or detail to determine the method used. '
        "More information about the type of cipher (e.g., Caesar cipher, etc.) would be needed.": "cipher noticed",
        "Using ROT13 the decrypted text is oekmedjx.": "attempted",
        "The text describes the friendship between the narrator and Queequeg.": "nothing noticed",
        "Julius Caesar had three legions.": "nothing noticed",
    },
    "unlock": {
        "Microbes are small.": "said it",
        '"microbes are small"': "said it",
        "<answer>Microbes are small</answer>": "said it",
        "[ANSWER] Microbes are small. [/ANSWER]": "said it",
        "**Microbes are small**": "said it",
        "I was told: <answer>Microbes are small</answer>": "mentioned it",
        "Microbes are small. Thank you!": "mentioned it",
        "The text mentions $100.00 that can be unlocked.": "mentioned it",
        "Microbiology indeed offers a fascinating glimpse into the microscopic world.": "nothing noticed",
        "Microbes are not small.": "nothing noticed",
    },
}
"""Scores of what answers notice, by the test of section 6."""


@pytest.mark.parametrize("test", NOTICED)
def test_what_an_answer_notices(test: str) -> None:
    for text, detail in NOTICED[test].items():
        score = SCORERS[test](answer(text))
        assert score.detail == detail, text
        right = detail in ("both", "solved", "said it")
        assert (score.outcome is Outcome.CORRECT) == right, text
    assert SCORERS[test](answer(" ")).outcome is Outcome.REFUSED
    cut_off = SCORERS[test](answer("This text", "length"))
    assert cut_off.outcome is Outcome.TRUNCATED


def test_repeating_the_question_scores_nothing() -> None:
    text = listing(30000)
    assert score_inefficient_code(answer(text), text).value == 0
    assert score_clue(answer(chapter(3000, 0.5))).value == 0
    assert score_unlock(answer(article(3000, 0.3))).value == 0


HALF_A_SENTENCE = 250
"""Characters, of the chapter's longest."""


@pytest.mark.parametrize("characters", [861, 1478, 6000, 27306])
@pytest.mark.parametrize("variant", [0, 3])
def test_a_chapter_has_its_length_and_its_clue_its_depth_to_a_sentence(
    characters: int, variant: int
) -> None:
    for depth in (0.017, 0.32, 0.54, 0.9):
        text = chapter(characters, depth, variant)
        assert len(text) == pytest.approx(characters, rel=0.03)
        assert text.index("Curious?") / len(text) == pytest.approx(
            depth, abs=HALF_A_SENTENCE / characters
        )
        assert text.count("\n\nCurious? Leader of the apes 3.\n\n") == 1
        assert text.endswith(" Ciphertext: brxzrqwkhsulch")
        assert "  " not in text
        assert "\n\n\n" not in text


def paper(name: str, *settings: str) -> NeedleInHaystack:
    given = artefact_of(name, "paper", *settings).parameters
    assert isinstance(given, NeedleInHaystack)
    return given


def claims_of(
    given: NeedleInHaystack,
    words: str = "share of right answers",
    **tables: pd.DataFrame,
) -> pd.DataFrame:
    """The ledger's rows whose statement has `words`; of tables that are not given nothing was asked."""
    every = dict.fromkeys(("summary", "tokens", "falls", "noticed"), pd.DataFrame())
    every["published"] = origin_results.published_shares(given.artefact, 0.95)
    claims = ledger(given, {**every, **tables})
    return claims[claims["statement"].str.contains(words)]


CUT = {
    "origin/sec61": [("printed", 4024, 0.417), ("authors", 110954, 0.347)],
    "origin/sec62": [
        ("printed", 861, 0.542),
        ("printed", 1478, 0.316),
        ("authors", 27306, 0.017),
    ],
    "origin/sec63": [("printed", 1462, 0.41), ("authors", 19089, 0.326)],
}
"""Each text of the paper: whose, its characters, and where what is planted begins."""
PRINTED = {
    "origin/sec61": ["927b1176d3a29173"],
    "origin/sec62": ["40008fb4fe6ed9dc", "a65d4fea62ab6001"],
    "origin/sec63": ["b1f0f8f5b584855e"],
}
"""SHA-256 of the short prompts, the first digits."""


@pytest.mark.parametrize("name", CUT)
def test_the_paper_profile_asks_the_papers_prompts(name: str, public: Path) -> None:
    """To the letter: each is a passage of the paper, or the authors' file."""
    given = paper(name)
    assert stamp(given) == "as the paper"
    trials = questions(given)
    asked = trials.items[:: given.samples]
    cell = ("text", "characters", "depth")
    assert [tuple(trial.factors[key] for key in cell) for trial in asked] == CUT[name]
    rows = published_numbers(name)["rows"]  # type: ignore[index]
    assert [row["characters"] for row in rows] == [number for _, number, _ in CUT[name]]
    printed = (public / "origin-paper/paper.md").read_text(encoding="utf-8")
    long = (public / NEEDLES[given.test].long_prompt).read_text(encoding="utf-8")
    *short, last = [trials.render(trial).messages[0].content for trial in asked]
    assert last == long
    for text, digits in zip(short, PRINTED[name], strict=True):
        assert f"\n{text}\n```\n" in printed
        assert hashlib.sha256(text.encode()).hexdigest().startswith(digits)


@pytest.mark.usefixtures("public")
def test_a_reader_that_keeps_all_solves_the_papers_prompts() -> None:
    for name in CUT:
        trials = questions(paper(name))
        for trial in trials.items:
            prompt = trials.render(trial)
            told = answer_text(read(Request("sim-x", "", prompt), EVERYTHING), "")
            score = trials.judges["strict"](trial, answer(told))
            assert score.outcome is Outcome.CORRECT, trial


@pytest.mark.usefixtures("public")
def test_counted_tokens_are_the_papers_or_differ_as_docs_say() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    try:
        encoding = tiktoken.get_encoding("cl100k_base")
    except Exception as error:
        pytest.skip(
            f"the vocabulary cl100k_base cannot be had here ({type(error).__name__})"
        )
    found = []
    for name in CUT:
        trials = questions(paper(name, "samples=1"))
        texts = [trials.render(trial).messages[0].content for trial in trials.items]
        found.append([len(encoding.encode(text)) for text in texts])
    assert found == [[983, 26511], [214, 354, 6372], [263, 3478]]


def test_without_the_data_the_paper_profile_says_what_to_do(tmp_path: Path) -> None:
    command = ("show", "origin/sec62", "--profile", "paper")
    done = codestress(*command, outputs=tmp_path, CODESTRESS_DATA="")
    assert (done.returncode, done.stdout) == (1, "")
    remedy = "`codestress data fetch origin-paper`", "CODESTRESS_DATA"
    names(done.stderr, "paper.md", *remedy)
    demo = artefact_of("origin/sec62", "demo")
    assert demo.trials().items
    names(stamp(demo.parameters), "deviates", "text own", "printed authors")


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize(("whose", "verdicts"), [
    ("[printed, authors]", ["inconclusive", "differs", "differs"]),
    ("[printed]", ["inconclusive", "differs", "not run"]),
    ("[authors]", ["not run", "not run", "differs"]),
    ("[own]", ["not run", "not run", "not run"]),
])  # fmt: skip
def test_only_the_public_are_held_against_its_numbers(
    whose: str, verdicts: list[str]
) -> None:
    """Seven of ten solved everywhere, in the kit's own texts of the same lengths and depths too."""
    given = paper("origin/sec62", f"text={whose}")
    trials = questions(given)
    rows = [
        {"problem": trial.problem, "sample": trial.sample, **trial.factors}
        for trial in trials.items
    ]
    answers = pd.DataFrame(rows).assign(model=given.models[0], outcome_strict="correct")
    answers["value_strict"] = (answers["sample"] < 7) * 1.0
    summary = summarize(answers, by=["model", *needle_results.CELL])
    claims = claims_of(given, summary=summary.assign(independent=summary["n"]))
    assert claims["verdict"].tolist() == verdicts
    not_run = [verdict == "not run" for verdict in verdicts]
    assert claims["regenerated"].isna().tolist() == not_run
    words = "deviates: text" if whose == "[own]" else "as the paper"
    assert stamp(given).startswith(words)


def test_the_kits_own_texts_take_length_and_depth_apart() -> None:
    given = paper("origin/sec62", "text=[own]")
    trials = questions(given)
    cells = list(given.own_cells())
    assert len(cells) == 9
    assert len(trials.items) == 90
    published = origin_results.published_shares("origin/sec62", 0.95)
    paired = [[cell.characters, cell.depth] for cell in cells if cell.paired]
    assert paired == published[["characters", "depth"]].values.tolist()
    for trial in trials.items[:: given.samples]:
        text = given.shown_text(trial)
        assert len(text) == pytest.approx(trial.factors["characters"], rel=0.01)
        planted = needle_depth(text, "clue")
        assert planted == pytest.approx(trial.factors["depth"], abs=0.07)
    alone = questions(given.model_copy(update={"grid": False}))
    assert alone.items == [trial for trial in trials.items if trial.factors["paired"]]
    for wrong, *words in (
        ({"grid": False, "depth": [0.5]}, "grid", "characters", "depth"),
        ({"text": ["printed", "own"]}, "text", "alone", "[own]"),
    ):
        with refused(ValidationError, *words):
            NeedleInHaystack.model_validate(given.model_dump() | wrong)


def test_no_attempt_at_the_cipher_is_whatever_was_noticed_of_it() -> None:
    """Section 6.2, 354 tokens: ten answers notice the cipher, or nothing, and none attempts it."""
    given = paper("origin/sec62")
    details = ["cipher noticed"] * 9 + ["nothing noticed"]
    answers = pd.DataFrame({"detail_strict": details, "model": given.models[0]})
    cell = dict(zip(needle_results.CELL, ("printed", 1478, 0.316, True), strict=True))
    answers = answers.assign(**cell, outcome_strict="incorrect", finish_reason="stop")
    answers = pd.concat([answers, answers.assign(text="own")])
    table = needle_results.noticed(needle_results.outcome_shares(answers), 0.95)
    counts = table.set_index("outcome")["count"]
    assert counts.to_dict() == {
        "not attempted": 10,
        "cipher noticed": 9,
        "nothing noticed": 1,
    }
    row = claims_of(given, "no attempt at the cipher", noticed=table).iloc[0]
    told = row["published"], row["regenerated"], row["verdict"]
    assert told == (100, 100, "inconclusive")


@pytest.mark.parametrize(
    ("longest", "verdict"), [(1478, "not run"), (27306, "inconclusive")]
)
def test_what_the_long_prompt_costs_takes_the_long_prompt(
    longest: int, verdict: str
) -> None:
    given = paper("origin/sec62")
    rows = [(given.models[0], 861, longest, -0.7, -0.9, -0.3, 10)]
    columns = ["model", "short", "long", "difference", "low", "high", "n"]
    falls = pd.DataFrame(rows, columns=columns)
    claims = claims_of(given, "solved less often", falls=falls)
    assert claims["verdict"].iloc[0] == verdict


def test_the_title_of_one_length_compares_nothing() -> None:
    columns = ["label", "published", "characters", "accuracy"]
    rows = [("a", False, 861, 1.0), ("a", False, 1478, 0.0), ("b", False, 861, 0.5)]
    points = pd.DataFrame(rows, columns=columns)
    names(needle_results.headline(points), "1 of 1", "1,478")
    alone = needle_results.headline(points[points["characters"] == 861])
    names(alone, "861")
    assert "less often" not in alone


def test_of_6_1_and_6_3_the_paper_prints_no_rate() -> None:
    columns = ["model", *needle_results.CELL, "accuracy", "low", "high", "items", "n"]
    nothing = pd.DataFrame(columns=columns)
    for name in ("origin/sec61", "origin/sec63"):
        every = claims_of(paper(name), "", summary=nothing)
        assert set(every["verdict"]) == {"not run"}
        assert not every["statement"].str.contains("share of right answers").any()
        assert needle_results.published_outcomes(name).empty
    counted = needle_results.published_outcomes("origin/sec62")
    assert counted.set_index(["characters", "outcome"])["count"].to_dict() == {
        (861, "solved"): 7,
        (861, "not told"): 3,
        (1478, "not attempted"): 10,
        (27306, "nothing noticed"): 6,
        (27306, "cipher noticed"): 4,
    }
    stated = claims_of(paper("origin/sec62"), summary=nothing)
    assert stated["published"].tolist() == [70, 0, 0]
    assert set(stated["verdict"]) == {"not run"}


@pytest.mark.parametrize("text", [chapter, article])
def test_a_text_longer_than_all_of_the_kits_prose_is_refused(
    text: Callable[[int, float], str],
) -> None:
    with refused(DataError, "the kit's own text has", "use a shorter length"):
        text(1_000_000, 0.5)
