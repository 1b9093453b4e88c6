"""CodeCrash: accuracy and reasoning tokens of reasoning models (Table 4), and responses
with growing doubt (section 3.4, Figure 3)."""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.influence import share
from codestress.report.published import read_published
from codestress.scoring.forms import split_thoughts
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Response

from .conditions import CELL, cells
from .differences import NUMBERS, condition_means, estimate_row
from .leaderboard import HEADLINE, registry_names, with_claims

CONFUSED = re.compile(
    r"\b(wait|hmm+|confus\w*|contradict\w*|but the comment|but the hint|maybe|perhaps|unsure|odd)\b",
    re.I,
)
"""Pattern of the words of doubt. The paper counts "confusing tokens" and does not list
them."""
LONGEST_UNIT = 120
LEAST_REPEATS = 20
LEAST_RUN = 400
"""Longest unit of text, in characters, that a collapse may repeat; smallest number of
repetitions; smallest number of characters in all repetitions together."""


def reasoning_tokens(response: Response) -> int:
    """Return the number of reasoning tokens of `response`, as the server reports it. If
    the server reports none, estimate the number from the thoughts in the text, at four
    characters a token, rounded up (0 without thoughts)."""
    if response.usage.reasoning_tokens is not None:
        return response.usage.reasoning_tokens
    return -(-len(split_thoughts(response.text).thoughts) // CHARACTERS_PER_TOKEN)


def collapse_start(text: str) -> int | None:
    """Return the index, from 0, of the character at which `text` begins to repeat one
    unit until the end (a collapse); None without a collapse.

    The unit has at most 120 characters, is not blank, and is repeated at least 20 times
    over at least 400 characters. Blanks at the end of `text` are ignored.
    """
    ending = text.rstrip()
    for length in range(1, LONGEST_UNIT + 1):
        unit = ending[-length:]
        start = len(ending)
        while start >= length and ending.startswith(unit, start - length):
            start -= length
        run = len(ending) - start
        if run >= max(LEAST_RUN, LEAST_REPEATS * length):
            return start
    return None


def collapses(response: Response) -> bool:
    """Return whether `response` ends in endless repetition."""
    return collapse_start(response.text) is not None


def doubts(text: str) -> list[int]:
    """Return the indices, from 0, of the characters of `text` at which words of doubt
    (wait, maybe, …: `CONFUSED`) begin."""
    return [match.start() for match in CONFUSED.finditer(text)]


Array = NDArray[np.float64]
GROWTHS = 400
"""Number of random curves that show how far a fit lies from its points by chance."""
LEAST_POINTS = 4
"""Smallest number of points to which a curve is fitted."""


def with_reasoning(
    answers: pd.DataFrame, texts: Mapping[str, Response]
) -> pd.DataFrame:
    """Return `answers` with the added columns `reasoning_tokens` (nan if the request
    failed) and `collapsed` (whether the response ends in endless repetition). `texts`
    is a dict from key to response."""
    responses = answers["key"].map(texts)
    tokens = responses.map(reasoning_tokens, na_action="ignore").astype(float)
    collapsed = responses.map(collapses, na_action="ignore").eq(True)
    return answers.assign(reasoning_tokens=tokens, collapsed=collapsed)


def reasoning_table(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return Table 4: the result of `condition_means` on reasoning tokens, with the
    added column collapses (number of collapsed responses). `answers` come from
    `with_reasoning`, `rule` is the scoring rule."""
    table = condition_means(
        answers, "reasoning_tokens", rule=rule, confidence=confidence
    )
    collapses = answers.groupby(CELL)["collapsed"].sum().rename("collapses")
    return table.join(collapses, on=CELL)


def token_growth(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Return the ratio of reasoning tokens under each perturbation to those on vanilla
    programs (section 3.4 (i)), a row for each model, data set and perturbation. Each
    ratio is of sums over the same problems.

    Columns: model, dataset, perturbation, problems, questions (clusters of problems),
    times (the ratio), low, high (interval at `confidence`, over questions). The table
    is empty if vanilla programs were not asked. `answers` come from `with_reasoning`.
    """
    columns = ["model", "dataset", "perturbation", "problems", "questions"]
    columns += NUMBERS[:3]
    by = ["model", "dataset", "question", "problem"]
    spent = answers.pivot_table("reasoning_tokens", by, "perturbation", sort=False)
    rows = []
    others = spent.columns.drop("VAN") if "VAN" in spent else ()
    for perturbation in others:
        both = spent[[perturbation, "VAN"]].dropna().reset_index()
        for row, part in cells(both, ["model", "dataset"]):
            row["perturbation"] = perturbation
            tokens = part.set_index("question")
            ratio = share(tokens[perturbation], tokens["VAN"])
            rows.append(row | estimate_row(ratio, part, confidence))
    table = pd.DataFrame(rows, columns=columns)
    return table.rename(columns={"value": "times"})


def published_reasoning() -> pd.DataFrame:
    """Return the paper's Table 4, read from a picture of it, a row for each model, data
    set and perturbation. Columns: label, dataset, perturbation, pass_at_1_pct (0 to
    100), points (difference to vanilla, in percentage points; 0 for vanilla),
    average_tokens, most_tokens, model (the registry's name)."""
    rows = []
    for label, datasets in read_published("codecrash")["tab04"]["values"].items():
        for dataset, (vanilla, *others) in datasets.items():
            triples = np.reshape([0.0, *others], (5, 3))
            for name, triple in zip(("VAN", *HEADLINE), triples, strict=True):
                rows.append((label, dataset, name, vanilla + triple[0], *triple))
    columns = ["label", "dataset", "perturbation", "pass_at_1_pct", "points"]
    columns += ["average_tokens", "most_tokens"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(model=registry_names(table["label"]))


def published_claims(published: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `published`, the result of `published_reasoning`, with the
    columns by which the ledger compares them: n (independent answers), dataset_name,
    free (parameters that may deviate). In vanilla rows, points is nan, because vanilla
    has no difference."""
    points = published["points"].where(published["perturbation"] != "VAN")
    return with_claims(published.assign(points=points))


def lack_of_growth(x: ArrayLike, random: np.random.Generator) -> float:
    """Return the p-value for the fit of a quadratic to the counts 0, 1, … at the places
    `x` (n,), which begin at 0. The p-value is small if the quadratic does not describe
    the counts.

    Cumulative counts depend on each other, so a test of independent residuals is not
    valid. The test statistic is the largest distance of a count from the quadratic. The
    test compares this distance with the distances in simulated counts, drawn with
    `random`, from quadratics fitted to them. Simulated counts follow a Poisson process
    whose rate is the quadratic's slope, conditional on the last event. In simulations,
    the test rejects a true curve in about 5 of 100 studies.
    """
    places = np.asarray(x, dtype=float)
    places = places / places[-1]
    quadratic, distance = _quadratic(places)
    grid = np.linspace(0, 1, 1001)
    slopes = np.polyval(np.polyder(quadratic), grid)
    rates = np.maximum(slopes, 0)
    expected = np.cumsum([0.0, *(rates[1:] + rates[:-1])])
    uniform = random.random((GROWTHS, places.size - 2))
    between = np.sort(uniform, axis=1)
    farther = 0
    for row in np.interp(between, expected / expected[-1], grid):
        _, other = _quadratic(np.array([0.0, *row, 1.0]))
        farther += other >= distance
    return (1 + farther) / (1 + GROWTHS)


def _quadratic(places: Array) -> tuple[Array, float]:
    """Return the quadratic fitted to the counts 0, 1, … at `places` (its coefficients,
    highest power first), and the largest distance of a count from the quadratic."""
    counts = np.arange(places.size)
    quadratic = np.polyfit(places, counts, 2)
    residuals = np.polyval(quadratic, places) - counts
    return quadratic, float(np.abs(residuals).max())


class Collapse(NamedTuple):
    """One response of a model, chosen by `doubt_curve`, with the places of its words of
    doubt."""

    model: str
    problem: str
    perturbation: str
    tokens: int
    """Length of the whole response, at four characters a token."""
    collapse_at: int | None
    """Token at which the response begins to repeat one unit until the end; None without
    a collapse."""
    curve: pd.DataFrame
    """Columns: tokens (place in the response; 0 in the first row), doubts (number of
    words of doubt up to that place)."""
    text: str
    """Reasoning of the response (all of the text if there is no reasoning); the whole
    response if it collapses."""


def doubt_curve(answers: pd.DataFrame, texts: Mapping[str, Response]) -> Collapse:
    """Return, as `Collapse`, the longest response in `answers` that ends in endless
    repetition. If none does, return the response with most words of doubt.

    `texts` is a dict from key to response. Failed requests, whose keys are missing in
    `texts`, are left out. Raises `ValueError` if no response is left.
    """
    answers = answers.query("key in @texts")

    def rank(row: Any) -> tuple[bool, int]:
        response = texts[row.key]
        if collapses(response):
            return True, len(response.text)
        return False, len(doubts(response.text))

    row: Any = max(answers.itertuples(), key=rank)
    text = texts[row.key].text
    length = math.ceil(len(text) / CHARACTERS_PER_TOKEN)
    thought = text
    start = collapse_start(text)
    if start is None:
        thought = split_thoughts(text).thoughts or text
    places = [place / CHARACTERS_PER_TOKEN for place in doubts(thought[:start])]
    curve = pd.DataFrame({"tokens": [0.0, *places]})
    curve["doubts"] = curve.index
    if start is not None:
        start //= CHARACTERS_PER_TOKEN
    return Collapse(
        row.model, row.problem, row.perturbation, length, start, curve, thought
    )


def growth_table(collapse: Collapse) -> pd.DataFrame:
    """Return a table with one row about the response `collapse` and the growth of its
    doubt.

    Columns: model, problem, perturbation, tokens, collapse_at; doubts (number of words
    of doubt); c0, c1, c2, the least-squares fit c0 + c1 x + c2 x² of this number at
    token x (nan with fewer than four points); lack_of_fit_quadratic, the fit's p-value
    from `lack_of_growth` (nan likewise).
    """
    row = collapse._asdict()
    del row["curve"], row["text"]
    places = collapse.curve["tokens"]
    counts = collapse.curve["doubts"]
    row["doubts"] = counts.max()
    fit, lack = np.full(3, math.nan), math.nan
    if len(counts) >= LEAST_POINTS:
        fit = np.polyfit(places, counts, 2)
        lack = lack_of_growth(places, rng(0, "quadratic"))
    row["c2"], row["c1"], row["c0"] = fit
    row["lack_of_fit_quadratic"] = lack
    return pd.DataFrame([row])
