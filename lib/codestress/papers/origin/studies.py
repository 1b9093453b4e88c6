"""Studies of Find the Origin: "Challenging LLMs Beyond Information Retrieval" (Fraga, 2024).

Can a model follow two links in a list of links when the list grows and the two links move apart?
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from codestress.papers.origin import connections, needles
from codestress.papers.origin.scoring import (
    score_clue,
    score_inefficient_code,
    score_reference,
    score_strict,
    score_unlock,
)
from codestress.parameters import (
    Interval,
    Parameters,
    RecomputedByDraws,
    Study,
    for_each_model,
    no_questions,
)
from codestress.problems.datasets import data_file
from codestress.problems.words import word_list
from codestress.prompts import filled, prompt_text
from codestress.types import Message, Prompt, Response, Sampling, Score, Trial, Trials

Wording = Literal["as_run", "as_printed"]


def _nonzero(d: int) -> int:
    if d == 0:
        raise ValueError("two links cannot stand on one line: use -15 to -1 or 1 to 15")
    return d


Depth = Annotated[float, Field(ge=0, le=1)]
Distance = Annotated[int, Field(ge=-200, le=200), AfterValidator(_nonzero)]
Distances = Annotated[
    list[Distance],
    Field(
        description="lines from a chain's first link down to its second (negative: up)"
    ),
]


Lists = Annotated[int, Field(ge=1, description="independently drawn lists of words")]


class Chains(Interval):
    """Parameters of the requests about chains, words linked by lines of a list (sections 4 and 5).
    Defaults are the protocol of the paper's figures."""

    SINGLE = (
        "lines_below",
        "step",
        "samples",
        "temperature",
        "max_tokens",
        "retry_temperature",
        "retries",
        "system",
    )
    OPEN = ("system",)

    d: Distances = [15]
    shuffled: list[bool] = Field(
        [False], description="the target's lines stay in place, the others are shuffled"
    )
    wording: list[Wording] = Field(
        ["as_run"],
        description="as_run: what the published token counts prove; as_printed: section 4's template",
    )
    first_lines: int = Field(
        4, ge=2, description="fewest lines in a list, if the target chain fits in them"
    )
    lines_below: int = Field(
        950, gt=4, description="all lists have fewer lines than this"
    )
    step: int = Field(
        8, ge=1, description="lines by which a list grows (8 lines are about 84 tokens)"
    )
    lists: Lists = 1
    samples: int = Field(
        1, ge=1, description="times that each prompt is asked (the paper: 1)"
    )
    hops: int = Field(2, ge=2, le=6, description="links in a chain (the paper: 2)")
    depth: float = Field(
        0.5, ge=0, le=1, description="depth of the target in the list, 0 first, 1 last"
    )
    words: Literal["embedded", "authors"] = Field(
        "embedded", description="the kit's words or the authors' list"
    )
    temperature: float = Field(
        0.0, ge=0, le=2, description="of the sampling (section 4: 0)"
    )
    max_tokens: int = Field(
        1024,
        ge=1,
        description="longest answer; the authors' harness cut answers at 256",
    )
    retry_temperature: float = Field(
        0.8,
        ge=0,
        le=2,
        description="at which refused answers are asked again (section 7)",
    )
    retries: int = Field(
        2, ge=0, description="times that a refused answer is asked again (section 7)"
    )
    system: str = Field(
        "You are a helpful assistant.",
        description="system message; the paper prints none",
    )

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if self.words == "authors" and (self.lists > 1 or self.hops != 2):
            raise ValueError(
                "words = 'authors' is one list of chains with 2 links: use lists = 1 and hops = 2"
            )
        return self


class FindTheOrigin(Chains, Parameters):
    """Parameters of chains (as in `Chains`) for figures with bootstrap intervals."""


@for_each_model
def find_the_origin(given: Chains) -> Trials:
    """Trials for every combination in `given` of wording, shuffling, d and list of words, at every
    size of the list, with scorers `strict` and `reference`.

    Item i of each combination has `first + i * given.step` lines, below `given.lines_below`, where
    `first` is the larger of `given.first_lines` and the lines that the target chain spans; items
    are paired between combinations by list and i.
    """
    trials = []
    conditions = product(given.wording, given.shuffled, given.d, range(given.lists))
    for wording, shuffled, d, number in conditions:
        chain = abs(d) * (given.hops - 1) + 1
        sizes = range(max(given.first_lines, chain), given.lines_below, given.step)
        for size, lines in enumerate(sizes):
            factors = {"d": d, "shuffled": shuffled, "wording": wording}
            factors |= {"lines": lines, "size": size, "list": number}
            problem = f"list {number}, size {size}"
            trials += [
                Trial(problem, factors, given.seed, sample)
                for sample in range(given.samples)
            ]
    sampling = Sampling(temperature=given.temperature, max_tokens=given.max_tokens)
    origin, *_, destination = connections.TARGET

    def render(trial: Trial) -> Prompt:
        shown = "\n".join(map(str, list_of(trial, given)))
        values = {"connections": shown, "destination": destination}
        text = filled(f"find_the_origin.{trial.factors['wording']}", values)
        opening = (Message("system", given.system),) if given.system else ()
        return Prompt((*opening, Message("user", text)), sampling)

    return Trials(
        trials,
        render,
        {
            "strict": lambda _, response: score_strict(response, origin),
            "reference": lambda _, response: score_reference(response, origin),
        },
        retry_temperatures=(given.retry_temperature,) * given.retries,
    )


@lru_cache(maxsize=128)
def _links(
    words: str, hops: int, seed: int, number: int, d: int
) -> tuple[tuple[connections.Link, ...], ...]:
    """Pair: the whole list of links laid out at distance `d`, and the target's chain. `words` is
    `authors` for the authors' list, else list number `number` is drawn from the kit's words by
    `seed`. `hops` is the number of links in a chain."""
    if words == "authors":
        path = data_file("find-the-origin", "findtheorigin/vertices.txt")
        links = connections.parse_links(path.read_text(encoding="utf-8"))
    else:
        links = connections.make_links(word_list(), hops=hops, seed=seed, index=number)
    laid_out = connections.lay_out(links, d=d, hops=hops)
    return tuple(laid_out), tuple(connections.target_chain(links, hops))


def list_of(trial: Trial, given: Chains) -> list[connections.Link]:
    """Links that the prompt of `trial` shows, in order: the window of the list drawn by `given`,
    shuffled around the target if the trial is shuffled."""
    d, lines, number = (
        int(trial.factors[name] or 0) for name in ("d", "lines", "list")
    )
    laid_out, chain = _links(given.words, given.hops, trial.seed, number, d)
    shown = connections.window(
        laid_out, lines=lines, d=d, hops=given.hops, depth=given.depth
    )
    if trial.factors["shuffled"]:
        return connections.shuffle_around_target(
            shown, chain, number, d, lines, seed=trial.seed
        )
    return shown


PlantedText = Literal["printed", "authors", "own"]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class NeedleInHaystack(Interval):
    """Parameters of the needle tests in long texts (section 6). Defaults are those of section 6.2,
    with the kit's own texts."""

    SINGLE = ("samples", "temperature", "max_tokens")
    PARTS = ("text",)

    test: Literal["inefficient_code", "clue", "unlock"] = Field(
        "clue", description="section 6.1, 6.2 or 6.3"
    )
    text: Annotated[list[PlantedText], BeforeValidator(_as_list)] = Field(
        ["own"],
        min_length=1,
        description="printed: the paper's short prompts; authors: its long one; own: the kit's texts",
    )
    characters: list[int] = Field(
        [900, 1400, 27000], min_length=1, description="lengths of the kit's own texts"
    )
    depth: list[Depth] = Field(
        [0.5],
        min_length=1,
        description="of the clue or the sentence in the kit's own texts (6.1: fixed, two places)",
    )
    grid: bool = Field(
        True,
        description="every length at every depth; false: each at the depth of its own number alone",
    )
    variants: int = Field(
        1, ge=1, le=8, description="different own texts of each length (the paper: 1)"
    )
    samples: int = Field(
        10, ge=1, description="times that each prompt is asked (the paper: 4 to 10)"
    )
    temperature: float = Field(0.7, ge=0, le=2, description="of the sampling")
    max_tokens: int = Field(4096, ge=1, description="longest answer")
    rule: Literal["strict"] = Field(
        "strict", description="the paper judged by hand; the kit's rules agree with it"
    )

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if not self.grid and len(self.depth) != len(self.characters):
            raise ValueError(
                "grid = false: each of characters needs its own depth: as many of one as of the other"
            )
        return self


@for_each_model
def needle_in_haystack(given: NeedleInHaystack) -> Trials:
    """Trials of `given.test` that ask each text `given.samples` times, in one user message alone,
    as printed, with the scorer `strict`. `DataError` if a published text's data set is not at hand.

    The factor `text` names the source: the paper's prompts, each a cell of its own length and
    depth, or the kit's own texts, one for each length, depth and variant. At temperature 0
    repetitions of a prompt tell little that is new; variants do.
    """
    sampling = Sampling(temperature=given.temperature, max_tokens=given.max_tokens)
    published = _published_texts(given)
    own = _own_cells(given) if "own" in given.text else []
    cells = {f"{given.test}, {cell}": cell for cell in [*published, *own]}

    @cache
    def own_text(length: int, depth: float, variant: int) -> str:
        if given.test == "inefficient_code":
            return filled(given.test, {"code": needles.listing(length, variant)})
        text = needles.chapter if given.test == "clue" else needles.article
        return text(length, depth, variant)

    def text_of(trial: Trial) -> str:
        cell = cells[trial.problem]
        return published.get(cell) or own_text(
            cell.characters, cell.depth, cell.variant
        )

    def render(trial: Trial) -> Prompt:
        return Prompt((Message("user", text_of(trial)),), sampling)

    def judge(trial: Trial, response: Response) -> Score:
        if given.test == "inefficient_code":
            return score_inefficient_code(response, text_of(trial))
        return score_clue(response) if given.test == "clue" else score_unlock(response)

    trials = [
        Trial(problem, cell._asdict(), given.seed, sample)
        for problem, cell in cells.items()
        for sample in range(given.samples)
    ]
    return Trials(trials, render, {"strict": judge})


class NeedleCell(NamedTuple):
    """Record that identifies one text of section 6 by its source, length, depth and variant (number
    of the own text of that length, 0 for a published text)."""

    text: PlantedText
    """Source of the text: `printed`, `authors` or `own`."""
    characters: int
    """Length of the text in characters; approximate for the kit's own texts."""
    depth: float
    """Depth at which the planted part begins, as a share of the text; approximate for the kit's own
    texts."""
    paired: bool
    """Whether length and depth are those of a cell of the paper."""
    variant: int

    def __str__(self) -> str:
        return f"{self.text}, {self.characters} characters, depth {self.depth}, variant {self.variant}"


def _published_texts(given: NeedleInHaystack) -> dict[NeedleCell, str]:
    """Dict by cell of the published prompts that `given.text` asks for; empty if it names only own
    texts. Raises `DataError` if a data set is not at hand."""
    texts: list[tuple[PlantedText, str]] = []
    if "printed" in given.text:
        paper = data_file("origin-paper", "origin-paper/paper.md").read_text(
            encoding="utf-8"
        )
        texts += [
            ("printed", text) for text in needles.printed_prompts(paper, given.test)
        ]
    if "authors" in given.text:
        path = data_file("origin-long-prompts", needles.LONG_PROMPTS[given.test])
        texts.append(("authors", path.read_text(encoding="utf-8")))
    return {
        NeedleCell(
            source, len(text), round(needle_depth(text, given.test), 3), True, 0
        ): text
        for source, text in texts
    }


def _own_cells(given: NeedleInHaystack) -> list[NeedleCell]:
    """List of the cells of the kit's own texts for `given`. A cell is `paired` if its length and
    depth have the same index (always, if there is one depth), as in the paper, whose longer texts
    have the clue nearer to the beginning. Only such cells, unless `given.grid`: all lengths at all
    depths."""
    cells = []
    for number, length in enumerate(given.characters):
        for own, depth in enumerate(given.depth):
            paired = len(given.depth) == 1 or number == own
            if given.grid or number == own:
                cells += [
                    NeedleCell("own", length, depth, paired, variant)
                    for variant in range(given.variants)
                ]
    return cells


def needle_depth(text: str, test: str) -> float:
    """Depth (0 to 1) at which the planted part of `test` begins in `text`, as a share of the text;
    for section 6.1, that of `is_prime`. `test`: inefficient_code, clue or unlock. `ValueError` for
    a text without the part."""
    planted = {
        "inefficient_code": "def is_prime",
        "clue": prompt_text("clue"),
        "unlock": "Microbes are small",
    }
    return text.index(planted[test]) / len(text)


STUDIES = {
    "outcomes": Study(Chains, find_the_origin),
    "find_the_origin": Study(FindTheOrigin, find_the_origin),
    "needle_in_haystack": Study(NeedleInHaystack, needle_in_haystack),
    "published": Study(RecomputedByDraws, no_questions),
}
"""Studies that params/origin/*.yaml may name as `study: origin.NAME`."""
