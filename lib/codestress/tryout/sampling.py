"""Which questions are asked within the minutes: by papers in turn, in whole rounds of all cells, always in one order.

A round of a paper is one question of each of its cells. The order of the rounds is drawn once and for all, so that ten
minutes more go on where ten minutes ended, and what is stored is not asked again.
"""

from __future__ import annotations

import math
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from codestress.errors import EngineError
from codestress.inference.ask import ask
from codestress.inference.budget import TIME_IS_OVER, Budget, BudgetReached
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import Prompts, looked_up
from codestress.inference.run import Answer, score
from codestress.inference.store import Store
from codestress.report.headline import Headline
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Outcome, Prompt, Trial, Trials

ROUNDS = 150
"""Most rounds of a paper: then there is enough."""
WAVE_S = 20.0
"""What is asked between two looks at the clock should take so long, or a sixth of what is left."""
CUT = 0.6, 0.4
"""A prompt of which a server counts less than such a share was cut: of the tokens that shorter prompts let expect,
those of the same paper, and those of all, whose texts differ (words have more characters in a token than code)."""
SAID = re.compile(r"context (?:length|window|size)\b[^0-9]{0,20}([0-9]{3,8})", re.I)
"""How servers that refuse a prompt say how long one may be."""
TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)"
    r"|(?:prompt|inputs?|messages?|sequence|request|entity|payload|content|body|text|string)[ :]+(?:is |are )?too"
    r" (?:long|large)"
    r"|exceeds? .{0,40}(?:tokens|length|context)|reduce the length|tokens.{0,30} must (?:be|have) (?:<|less|at most)",
    re.I | re.S,
)
"""How they say that it is too long, and not how long it may be."""
OTHER_LIMIT = re.compile(r"rate.?limit|per.?(?:min|day|hour|second)|\b[TR]P[MD]\b|quota|tim(?:e|ed)[ -]?out", re.I)
"""What tells apart a refusal for how much is asked in a time, or for how long it takes."""
STOPPED = "stopped by hand"
MARGIN = 1.05
"""On the estimated tokens of a prompt."""


@dataclass
class Part:
    """A paper's share of the sample: what is asked, and what came."""

    paper: str
    headline: Headline
    trials: Trials
    context: int | None
    sizes: list[tuple[int, int]]
    """Characters and tokens of prompts that were answered, of all papers."""
    longest: float = math.inf
    """Characters of the shortest prompt, with as many as its answer may have, that a server refused as too long without
    a word on how long it may be."""
    own: list[tuple[int, int]] = field(default_factory=list)
    """The same of this paper."""
    rounds: list[list[Trial]] = field(init=False)
    asked: int = 0
    """Rounds."""
    seconds: float = 0.0
    """Spent on new answers."""
    speed: float | None = None
    """Seconds for a round, lately."""
    answers: list[Answer] = field(default_factory=list)
    too_long: Counter[str] = field(default_factory=Counter)
    """By cell: questions that the context has no room for, not asked, or refused for it."""
    cut: Counter[str] = field(default_factory=Counter)
    """By cell: questions that the server cut, so that their answers count for nothing."""

    def __post_init__(self) -> None:
        cells: dict[str, list[Trial]] = {cell: [] for cell in self.headline.cells}
        for trial in self.trials.items:
            cells[self.headline.cell(trial)].append(trial)
        for cell in cells.values():
            cell.sort(key=lambda trial: rng(trial.seed, "try", trial.problem).random())
        rounds = zip_longest(*cells.values())
        self.rounds = [[trial for trial in one if trial is not None] for one in rounds][:ROUNDS]

    @property
    def left(self) -> int:
        return len(self.rounds) - self.asked

    def take(self, count: int) -> list[Trial]:
        """The questions of the next rounds that the context has room for; the others are counted."""
        taken = [trial for one in self.rounds[self.asked : self.asked + count] for trial in one]
        self.asked += count
        kept = []
        for trial in taken:
            if self.fits(trial):
                kept.append(trial)
            else:
                self.too_long[self.headline.cell(trial)] += 1
        return kept

    def fits(self, trial: Trial) -> bool:
        prompt = self.trials.render(trial)
        if _room(prompt) >= self.longest:
            return False
        if self.context is None:
            return True
        ratio = min((characters / tokens for characters, tokens in self.sizes), default=CHARACTERS_PER_TOKEN)
        return MARGIN * prompt.characters / ratio + prompt.sampling.max_tokens <= self.context

    def count(self, answers: Sequence[Answer]) -> None:
        """Takes in what came; what a server has cut is told by the tokens that it counted, and how long a prompt may be
        by one that it refused."""
        for answer in answers:
            prompt, tokens = self.trials.render(answer.trial), answer.usage.prompt_tokens
            characters = prompt.characters
            said = SAID.search(answer.error)
            if said or (TOO_LONG.search(answer.error) and not OTHER_LIMIT.search(answer.error)):
                if said:
                    self.context = min(int(said[1]), self.context or int(said[1]))
                else:
                    self.longest = min(self.longest, _room(prompt))
                self.too_long[self.headline.cell(answer.trial)] += 1
                continue
            if tokens and self.was_cut(characters, tokens):
                self.cut[self.headline.cell(answer.trial)] += 1
                continue
            if tokens:
                self.own.append((characters, tokens))
                self.sizes.append((characters, tokens))
            self.answers.append(answer)

    def was_cut(self, characters: int, tokens: int) -> bool:
        for share, sizes in zip(CUT, (self.own, self.sizes), strict=True):
            ratios = [known / said for known, said in sizes if known <= characters]
            if ratios and tokens < share * characters / statistics.median(ratios):
                return True
        return False


@dataclass
class Sample:
    """What came of all papers, and how it ended."""

    parts: list[Part]
    seconds: float = 0.0
    asked: int = 0
    """New answers; the others were stored."""
    failed: int = 0
    """Requests that were refused for overload, or brought no reply."""
    ended: str = ""
    """Why it ended before its time and its questions were over."""


def sample(
    parts: list[Part],
    entry: ModelEntry,
    *,
    seconds: float,
    store: Path,
    registry: Path,
    concurrency: int,
    tell: Callable[[str], None],
) -> Sample:
    """Asks for so many seconds, the papers by turns; all that was answered counts, whatever ends it."""
    started = time.monotonic()
    budget = Budget.from_environment(store=store)
    budget.until = started + seconds
    sampled = Sample(parts)
    ended = ""
    while not ended and (waiting := [part for part in parts if part.left]):
        before = time.monotonic()
        if before >= budget.until:
            break
        part = min(waiting, key=lambda one: (one.seconds, one.asked))
        wave = part.take(_rounds(part, budget.until - before, concurrency))
        answers, new, ended = _asked(part, wave, entry, budget, store, registry)
        took = time.monotonic() - before
        part.count(answers)
        for one in parts:
            one.context, one.longest = part.context, min(one.longest, part.longest)
        sampled.asked += new
        if new:
            part.seconds += took
            part.speed = took / max(1.0, len(answers) / len(part.headline.cells))
        correct = sum(answer.scores["strict"].outcome is Outcome.CORRECT for answer in part.answers)
        minutes, left = divmod(max(0, round(budget.until - time.monotonic())), 60)
        tell(f"{part.headline.title}: {correct} of {len(part.answers)} right; {minutes}:{left:02d} left")
    sampled.ended = "" if ended == TIME_IS_OVER else ended
    sampled.seconds = time.monotonic() - started
    sampled.failed = budget.failed
    return sampled


def _rounds(part: Part, left: float, concurrency: int) -> int:
    if part.speed is None:
        return 1 if not part.asked else min(part.left, 2 * part.asked)
    wanted = int(min(WAVE_S, left / 6) / max(part.speed, 1e-3))
    least = -(-concurrency // len(part.headline.cells))
    return max(1, min(part.left, max(wanted, min(least, 2 * part.asked)), 4 * part.asked))


def _room(prompt: Prompt) -> int:
    """Characters of a prompt and of the longest answer to it."""
    return prompt.characters + CHARACTERS_PER_TOKEN * prompt.sampling.max_tokens


def _asked(
    part: Part, wave: list[Trial], entry: ModelEntry, budget: Budget, store: Path, registry: Path
) -> tuple[list[Answer], int, str]:
    """Answers to a wave of questions, how many were new, and what ended the asking, if anything did."""
    trials, names, ended = replace(part.trials, items=wave), [entry.name], ""
    made = budget.made
    try:
        replies = ask(trials, names, failures="count", store=store, registry=registry, budget=budget)
    except (BudgetReached, EngineError, KeyboardInterrupt) as error:
        ended = str(error).split("\n")[0] or STOPPED
        trials = replace(trials, items=list(_answered(trials, entry, store)))
        replies = ask(trials, names, failures="count", store=store, registry=registry)
    new = min(budget.made - made, len(trials.items)) if ended else replies.requests
    return score(trials, replies, store=store).answers, new, ended


def _answered(trials: Trials, entry: ModelEntry, store: Path) -> Iterator[Trial]:
    """The trials whose requests are all in the store."""
    with Store(store) as responses:
        for answered, due in looked_up(Prompts(trials, 0), entry, responses):
            if due is None:
                yield trials.items[answered[0][0].index]
