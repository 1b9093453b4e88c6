"""Studies of Find the Origin: "Challenging LLMs Beyond Information Retrieval" (Fraga,
2024). Section numbers are those of this paper.

Can a model follow two links in a list of links when the list grows and the two links
move apart?
"""

from collections.abc import Iterator
from itertools import product
from operator import itemgetter
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codestress.parameters import (
    Experiment,
    Interval,
    Parameters,
    Recomputed,
)
from codestress.prompts import filled
from codestress.types import Message, Prompt, Response, Sampling, Score, Trial

from . import connections, needles, scoring
from .needles import NeedleCell, PlantedText


def _nonzero(d: int) -> int:
    """Return the distance `d`. Raises `ValueError` if `d` is 0."""
    if d == 0:
        raise ValueError("two links cannot stand on one line: use -15 to -1 or 1 to 15")
    return d


Depth = Annotated[float, Field(ge=0, le=1)]
"""Place in a text or a list, as a share of its length: 0 at the beginning, 1 at the
end."""
Distance = Annotated[int, Field(ge=-200, le=200), AfterValidator(_nonzero)]


class Chains(Interval, Experiment):
    """Parameters of the requests about chains, words linked by lines of a list
    (sections 4 and 5). Defaults are the protocol of the paper's figures."""

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

    d: list[Distance] = [15]
    """Lines from a chain's first link down to its second (negative: up)."""
    shuffled: list[bool] = [False]
    """Whether all lines but the target's are shuffled."""
    wording: list[Literal["as_run", "as_printed"]] = ["as_run"]
    """Wording of the prompt: as_run, which the published token counts prove, or
    as_printed in section 4."""
    first_lines: int = Field(4, ge=2)
    """Fewest lines in a list, if the target chain fits in them."""
    lines_below: int = Field(950, gt=4)
    """Number of lines that no list reaches."""
    step: int = Field(8, ge=1)
    """Lines by which a list grows (8 lines are about 84 tokens)."""
    lists: int = Field(1, ge=1)
    """Number of independently drawn lists of words."""
    samples: int = Field(1, ge=1)
    """Times that each prompt is asked (the paper: 1)."""
    hops: int = Field(2, ge=2, le=6)
    """Links in a chain (the paper: 2)."""
    depth: Depth = 0.5
    """Place of the target in the list, from 0 (first) to 1 (last)."""
    words: Literal["embedded", "authors"] = "embedded"
    """Words of the lists: the kit's, or the authors' list."""
    temperature: float = Field(0.0, ge=0, le=2)
    """Temperature of the sampling (section 4: 0)."""
    max_tokens: int = Field(1024, ge=1)
    """Tokens of the longest answer; the authors' harness cut answers at 256."""
    retry_temperature: float = Field(0.8, ge=0, le=2)
    """Temperature at which refused answers are asked again (section 7)."""
    retries: int = Field(2, ge=0)
    """Times that a refused answer is asked again (section 7)."""
    system: str = "You are a helpful assistant."
    """System message; the paper prints none."""

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        """Return the parameters. Raises `ValueError` if they name the authors' list
        together with several lists, or with chains of more than two links."""
        if self.words == "authors" and (self.lists > 1 or self.hops != 2):
            raise ValueError(
                "words = 'authors' is one list of chains with 2 links: use lists = 1 and hops = 2"
            )
        return self

    @property
    def retry_temperatures(self) -> tuple[float, ...]:
        """Temperatures at which a refused request is repeated, one after the other."""
        return (self.retry_temperature,) * self.retries

    def trials(self) -> Iterator[Trial]:
        """Yield the trials of every combination of wording, shuffling, d and list of
        words, at every number of lines.

        Size i of each combination has `first + i * step` lines, below `lines_below`.
        Here, `first` is the larger of `first_lines` and the number of lines that the
        target chain spans. Trials with the same list of words and size are paired.
        """
        conditions = product(self.wording, self.shuffled, self.d, range(self.lists))
        for wording, shuffled, d, number in conditions:
            chain = abs(d) * (self.hops - 1) + 1
            sizes = range(max(self.first_lines, chain), self.lines_below, self.step)
            for size, lines in enumerate(sizes):
                factors = {"d": d, "shuffled": shuffled, "wording": wording}
                factors |= {"lines": lines, "size": size, "list": number}
                problem = f"list {number}, size {size}"
                for sample in range(self.samples):
                    yield Trial(problem, factors, self.seed, sample)

    def render(self, trial: Trial) -> Prompt:
        """Return the prompt of `trial`: the system message, if there is one, then the
        list with its question."""
        shown = "\n".join(map(str, self.links(trial)))
        values = {"connections": shown, "destination": connections.TARGET[-1]}
        wording = trial.factors["wording"]
        question = Message("user", filled(f"find_the_origin.{wording}", values))
        sampling = Sampling(self.temperature, max_tokens=self.max_tokens)
        system = [Message("system", self.system)] if self.system else []
        return Prompt((*system, question), sampling)

    def score(self, trial: Trial, response: Response, rule: str) -> Score:  # noqa: ARG002
        """Return the score of the origin that `response` names, under the scoring rule
        `rule`."""
        judge = scoring.score_strict if rule == "strict" else scoring.score_reference
        return judge(response, connections.TARGET[0])

    def links(self, trial: Trial) -> list[connections.Link]:
        """Return the links that the prompt of `trial` shows, in order: the window of
        the drawn list, shuffled around the target chain if the trial is shuffled."""
        d, lines, number = itemgetter("d", "lines", "list")(trial.factors)
        laid_out, chain = connections.all_links(
            self.words, self.hops, trial.seed, number, d
        )
        shown = connections.window(
            laid_out, lines=lines, d=d, hops=self.hops, depth=self.depth
        )
        if not trial.factors["shuffled"]:
            return shown
        return connections.shuffle_around_target(
            shown, chain, number, d, lines, seed=trial.seed
        )


class FindTheOrigin(Chains, Parameters):
    """Parameters of chains (as in `Chains`) for figures with bootstrap intervals."""


class NeedleInHaystack(Interval, Experiment):
    """Parameters of the needle tests in long texts (section 6). Defaults are those of
    section 6.2, with the kit's own texts."""

    SINGLE = ("samples", "temperature", "max_tokens")
    PARTS = ("text",)

    test: Literal["inefficient_code", "clue", "unlock"] = "clue"
    """Test by its number in the paper: inefficient_code 6.1, clue 6.2, unlock 6.3."""
    text: list[PlantedText] = Field(["own"], min_length=1)
    """Texts: the paper's short prompts (printed), its long one (authors), the kit's
    (own)."""
    characters: list[int] = Field([900, 1400, 27000], min_length=1)
    """Lengths of the kit's own texts, in characters."""
    depth: list[Depth] = Field([0.5], min_length=1)
    """Place of the clue or the sentence in the kit's own texts, 0 to 1 (6.1: fixed, two
    places)."""
    grid: bool = True
    """Whether every length is asked at every depth; false: the first at the first
    depth, and so on."""
    variants: int = Field(1, ge=1, le=8)
    """Number of different own texts of each length (the paper: 1)."""
    samples: int = Field(10, ge=1)
    """Times that each prompt is asked (the paper: 4 to 10)."""
    temperature: float = Field(0.7, ge=0, le=2)
    """Temperature of the sampling."""
    max_tokens: int = Field(4096, ge=1)
    """Tokens of the longest answer."""
    rule: Literal["strict"] = "strict"
    """Rule of judgement: the paper judged by hand, and the kit's rules agree with
    it."""

    @model_validator(mode="after")
    def _texts(self) -> Self:
        """Return the parameters. Raises `ValueError` if they name the kit's own texts
        together with published texts, or, without `grid`, unequal numbers of lengths
        and depths."""
        if not self.grid and len(self.depth) != len(self.characters):
            raise ValueError(
                "grid = false: each value of characters needs its own depth; give equally many"
            )
        if "own" in self.text and len(self.text) > 1:
            raise ValueError("text: give [own] alone, or published texts alone")
        return self

    def trials(self) -> Iterator[Trial]:
        """Yield the trials that ask about each text `samples` times.

        The factor `text` names the source: the paper's prompts, each a cell of its own
        length and depth, or the kit's own texts, one for each length, depth and
        variant. At temperature 0, repetitions of a prompt tell little that is new;
        variants do. Raises `DataError` if the data set of a published text is missing.
        """
        for cell in [*needles.published_texts(self.test, self.text), *self.own_cells()]:
            problem = f"{self.test}, {cell}"
            factors = cell._asdict()
            for sample in range(self.samples):
                yield Trial(problem, factors, self.seed, sample)

    def render(self, trial: Trial) -> Prompt:
        """Return the prompt of `trial`: one user message, as printed in the paper."""
        sampling = Sampling(self.temperature, max_tokens=self.max_tokens)
        return Prompt((Message("user", self.shown_text(trial)),), sampling)

    def score(self, trial: Trial, response: Response, rule: str) -> Score:  # noqa: ARG002
        """Return the score of `response` under the rule of the tested section: did the
        answer notice what was planted?"""
        if self.test == "inefficient_code":
            return scoring.score_inefficient_code(response, self.shown_text(trial))
        if self.test == "clue":
            return scoring.score_clue(response)
        return scoring.score_unlock(response)

    def shown_text(self, trial: Trial) -> str:
        """Return the text that the prompt of `trial` shows."""
        cell = NeedleCell(**trial.factors)  # type: ignore[arg-type]
        if cell.text == "own":
            return needles.own_text(self.test, cell)
        return needles.published_texts(self.test, self.text)[cell]

    def own_cells(self) -> Iterator[NeedleCell]:
        """Yield the cells of the kit's own texts; none if the parameter `text` does not
        name them.

        With `grid` there is a cell for every length at every depth, else only for
        `paired` ones. A cell is `paired` if its length and depth have the same index,
        or if there is only one depth. The paper pairs them: its longer texts have the
        clue nearer to the beginning.
        """
        if "own" not in self.text:
            return
        places = product(enumerate(self.characters), enumerate(self.depth))
        for (number, length), (own, depth) in places:
            paired = len(self.depth) == 1 or number == own
            if self.grid or number == own:
                for variant in range(self.variants):
                    yield NeedleCell("own", length, depth, paired, variant)


STUDIES = {
    "outcomes": Chains,
    "find_the_origin": FindTheOrigin,
    "needle_in_haystack": NeedleInHaystack,
    "published": Recomputed,
}
"""Dict from name to schema of parameters. A file params/origin/*.yaml may name a study
as `study: origin.NAME`."""
