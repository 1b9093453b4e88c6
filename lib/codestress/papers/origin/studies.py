"""Find the Origin: "Challenging LLMs Beyond Information Retrieval" (Fraga, 2024).

Can a model follow two links in a list of links when the list grows and the two links move apart?
"""

from __future__ import annotations

from functools import cache, lru_cache
from string import Template
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codestress.generation.prompts import prompt_text
from codestress.papers.origin import connections, needles, reading
from codestress.papers.origin.scoring import (
    score_clue,
    score_inefficient_code,
    score_reference,
    score_strict,
    score_unlock,
)
from codestress.parameters import Interval, Parameters, RecomputedByDraws, Study, for_each_model, no_questions
from codestress.problems.datasets import data_file
from codestress.problems.words import word_list
from codestress.types import Message, Prompt, Response, Sampling, Score, Trial, Trials

Wording = Literal["as_run", "as_printed"]


def _nonzero(d: int) -> int:
    if d == 0:
        raise ValueError("two links cannot stand on one line: use -15 to -1 or 1 to 15")
    return d


Depth = Annotated[float, Field(ge=0, le=1)]
Distance = Annotated[int, Field(ge=-200, le=200), AfterValidator(_nonzero)]


class Chains(Interval):
    """Sections 4 and 5. Defaults are the protocol of the paper's figures."""

    SINGLE = ("lines_below", "step", "samples", "temperature", "max_tokens", "retry_temperature", "retries", "system")

    recheck: int = Field(
        0, ge=0, description="questions that each model is asked once more, to see whether it says the same here"
    )
    d: list[Distance] = Field([15], description="lines from a chain's first link down to its second (negative: up)")
    shuffled: list[bool] = Field([False], description="the target's lines stay in place, the others are shuffled")
    wording: list[Wording] = Field(
        ["as_run"], description="as_run: what the published token counts prove; as_printed: section 4's template"
    )
    first_lines: int = Field(4, ge=2, description="fewest lines in a list, if the target chain fits in them")
    lines_below: int = Field(950, gt=4, description="all lists have fewer lines than this")
    step: int = Field(8, ge=1, description="lines by which a list grows (8 lines are about 84 tokens)")
    lists: int = Field(1, ge=1, description="independently drawn lists of words")
    samples: int = Field(1, ge=1, description="times that each prompt is asked (the paper: 1)")
    hops: int = Field(2, ge=2, le=6, description="links in a chain (the paper: 2)")
    depth: float = Field(0.5, ge=0, le=1, description="depth of the target in the list, 0 first, 1 last")
    words: Literal["embedded", "authors"] = Field("embedded", description="the kit's words or the authors' list")
    temperature: float = Field(0.0, ge=0, le=2, description="of the sampling (section 4: 0)")
    max_tokens: int = Field(1024, ge=1, description="longest answer; the authors' harness cut answers at 256")
    retry_temperature: float = Field(
        0.8, ge=0, le=2, description="at which refused answers are asked again (section 7)"
    )
    retries: int = Field(2, ge=0, description="times that a refused answer is asked again (section 7)")
    system: str = Field("You are a helpful assistant.", description="system message; the paper prints none")

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if self.words == "authors" and (self.lists > 1 or self.hops != 2):
            raise ValueError("words = 'authors' is one list of chains with 2 links: use lists = 1 and hops = 2")
        return self


class FindTheOrigin(Chains, Parameters):
    """The same, for figures with intervals by the bootstrap."""


@for_each_model
def find_the_origin(given: Chains) -> Trials:
    """Every combination of d, shuffling and wording at every size of the list.

    Item i of each combination has `first + i * step` lines, where `first` is the larger of `first_lines` and the
    lines that the target chain spans; items are paired between combinations by list and i.
    """
    trials = [
        Trial(
            problem=f"list {number}, size {size}",
            factors={
                "d": distance,
                "shuffled": shuffle,
                "wording": words_of_prompt,
                "lines": lines,
                "size": size,
                "list": number,
            },
            seed=given.seed,
            sample=sample,
        )
        for words_of_prompt in given.wording
        for shuffle in given.shuffled
        for distance in given.d
        for number in range(given.lists)
        for size, lines in enumerate(
            range(max(given.first_lines, abs(distance) * (given.hops - 1) + 1), given.lines_below, given.step)
        )
        for sample in range(given.samples)
    ]
    sampling = Sampling(temperature=given.temperature, max_tokens=given.max_tokens)

    def render(trial: Trial) -> Prompt:
        shown = list_of(trial, given)
        template = Template(prompt_text(f"find_the_origin.{trial.factors['wording']}"))
        text = template.substitute(connections="\n".join(map(str, shown)), destination=connections.TARGET[-1])
        opening = (Message("system", given.system),) if given.system else ()
        return Prompt((*opening, Message("user", text)), sampling)

    return Trials(
        trials,
        render,
        {
            "strict": lambda _, response: score_strict(response, connections.TARGET[0]),
            "reference": lambda _, response: score_reference(response, connections.TARGET[0]),
        },
        retry_temperatures=(given.retry_temperature,) * given.retries,
        chance=lambda _, prompt, settings: reading.chance(prompt, settings, given.retries),
    )


@lru_cache(maxsize=128)
def _links(words: str, hops: int, seed: int, number: int, d: int) -> tuple[tuple[connections.Link, ...], ...]:
    """The whole list laid out at distance d, and the target's chain."""
    if words == "authors":
        text = data_file("find-the-origin", "findtheorigin/vertices.txt").read_text(encoding="utf-8")
        links = connections.parse_links(text)
    else:
        links = connections.make_links(word_list(), hops=hops, seed=seed, index=number)
    return tuple(connections.lay_out(links, d=d, hops=hops)), tuple(connections.target_chain(links, hops))


def list_of(trial: Trial, given: Chains) -> list[connections.Link]:
    """The lines that a trial's prompt shows."""
    d, lines, number = int(trial.factors["d"] or 0), int(trial.factors["lines"] or 0), int(trial.factors["list"] or 0)
    laid_out, chain = _links(given.words, given.hops, trial.seed, number, d)
    shown = connections.window(laid_out, lines=lines, d=d, hops=given.hops, depth=given.depth)
    if trial.factors["shuffled"]:
        return connections.shuffle_around_target(shown, chain, number, d, lines, seed=trial.seed)
    return shown


class NeedleInHaystack(Interval):
    """Section 6: something planted in a long text. Defaults are those of section 6.2."""

    SINGLE = ("samples", "temperature", "max_tokens")

    test: Literal["inefficient_code", "clue", "unlock"] = Field("clue", description="section 6.1, 6.2 or 6.3")
    characters: list[int] = Field([900, 1400, 27000], min_length=1, description="lengths of the text")
    depth: list[Depth] = Field([0.5], min_length=1, description="of the clue or the sentence (6.1: fixed, two places)")
    grid: bool = Field(
        True, description="every length at every depth; false: each at the depth of its own number alone"
    )
    text: Literal["own", "authors"] = Field("own", description="the kit's texts, or the authors' one long prompt")
    variants: int = Field(1, ge=1, le=8, description="different texts of each length (the paper: 1)")
    samples: int = Field(10, ge=1, description="times that each prompt is asked (the paper: 4 to 10)")
    temperature: float = Field(0.7, ge=0, le=2, description="of the sampling")
    max_tokens: int = Field(4096, ge=1, description="longest answer")
    rule: Literal["strict"] = Field("strict", description="the paper judged by hand; the kit's rules agree with it")

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if not self.grid and len(self.depth) != len(self.characters):
            raise ValueError("grid = false: each of characters needs its own depth: as many of one as of the other")
        return self


_LONG_PROMPTS = {
    "inefficient_code": "additionaltests/highlight-inefficient-code-long.txt",
    "clue": "additionaltests/decrypting-cryptography-long.txt",
    "unlock": "additionaltests/unlock-100-long.txt",
}


@for_each_model
def needle_in_haystack(given: NeedleInHaystack) -> Trials:
    """One prompt for each length, depth and variant, asked `samples` times; one user message alone, as printed.

    `paired` are lengths with the depth of their own number (all, where there is one depth): the paper's cells, of which
    longer ones have the clue nearer to the beginning. At temperature 0 repetitions of a prompt tell little that is
    new; variants do.
    """
    sampling = Sampling(temperature=given.temperature, max_tokens=given.max_tokens)
    lengths, depths, variants = given.characters, given.depth, given.variants
    if given.text == "authors":
        authors = data_file("origin-long-prompts", _LONG_PROMPTS[given.test]).read_text(encoding="utf-8")
        lengths, depths, variants = [len(authors)], [round(clue_at(authors, given.test), 3)], 1
    cells = [
        (length, depth, len(depths) == 1 or number == own)
        for number, length in enumerate(lengths)
        for own, depth in enumerate(depths)
        if given.grid or number == own
    ]

    @cache
    def written(length: int, depth: float, variant: int) -> str:
        if given.text == "authors":
            return authors
        if given.test == "inefficient_code":
            return Template(prompt_text(given.test)).substitute(code=needles.listing(length, variant))
        return {"clue": needles.chapter, "unlock": needles.article}[given.test](length, depth, variant)

    def text_of(trial: Trial) -> str:
        of = trial.factors
        return written(int(of["characters"] or 0), float(of["depth"] or 0), int(of["variant"] or 0))

    def render(trial: Trial) -> Prompt:
        return Prompt((Message("user", text_of(trial)),), sampling)

    def judge(trial: Trial, response: Response) -> Score:
        if given.test == "inefficient_code":
            return score_inefficient_code(response, text_of(trial))
        return score_clue(response) if given.test == "clue" else score_unlock(response)

    trials = [
        Trial(
            problem=f"{given.test}, {length} characters, depth {depth}, variant {variant}",
            factors={"characters": length, "depth": depth, "paired": paired, "variant": variant},
            seed=given.seed,
            sample=sample,
        )
        for length, depth, paired in cells
        for variant in range(variants)
        for sample in range(given.samples)
    ]
    return Trials(
        trials,
        render,
        {"strict": judge},
        chance=lambda _, prompt, settings: reading.noticed(prompt, settings, given.test),
    )


def clue_at(text: str, test: str) -> float:
    """Where what was planted begins, as a share of the text; of the two functions of section 6.1 the first."""
    planted = {"inefficient_code": "def is_prime", "clue": prompt_text("clue"), "unlock": prompt_text("unlock")}
    return text.index(planted[test]) / len(text)


STUDIES = {
    "outcomes": Study(Chains, find_the_origin),
    "find_the_origin": Study(FindTheOrigin, find_the_origin),
    "needle_in_haystack": Study(NeedleInHaystack, needle_in_haystack),
    "published": Study(RecomputedByDraws, no_questions),
}
"""What params/origin/*.yaml may name as `study: origin.NAME`."""
