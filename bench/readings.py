"""Estimates how often the demo's simulated readers answer CodeCrash right: each question is read 400 more times.

    python bench/readings.py             adds what params/readings/codecrash.csv lacks, and takes out what nobody asks
    python bench/readings.py --other 50  as many readings, other ones, of 50 questions, beside what the file says

The file is written again and again meanwhile: stopped, it goes on where it was. All take some 40 minutes of one core.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tqdm import tqdm

from codestress.inference.engines.base import Engine
from codestress.inference.registry import ModelEntry, load_registry
from codestress.papers.codecrash.further_readings import COLUMNS, FURTHER, READINGS, Readings, known, question_key
from codestress.papers.codecrash.reasoning import reasoning_tokens
from codestress.paths import write_whole
from codestress.pipeline.artefacts import Overrides, artefact_names, resolve
from codestress.seeding import rng
from codestress.simulated.engine import open_engine
from codestress.types import Outcome, Prompt, Request, Response, Trial, Trials

FIRST = 1000
"""Number of the first further reading: no figure has so many candidates."""


def questions() -> Iterator[tuple[str, Trials, Trial, ModelEntry]]:
    """Every question of the demo to a simulated reader, once, with its key."""
    names = [name for name in artefact_names() if name.startswith("codecrash/")]
    seen = set[str]()
    for artefact in resolve(names, "demo", Overrides(), load_registry()):
        trials = artefact.trials()
        for entry in artefact.models:
            for trial in trials.of(entry.name).items if entry.simulated else ():
                key = question_key(entry.settings, *prompts(trials.of(entry.name), trial))
                if key not in seen:
                    seen.add(key)
                    yield key, trials.of(entry.name), trial, entry


def prompts(trials: Trials, trial: Trial) -> list[Prompt]:
    """What is asked whatever is answered: the first prompt, and the question where that asks for a clean program."""
    first = trials.render(trial)
    if not trial.factors["refactor"]:
        return [first]
    plain = replace(trial, factors={**trial.factors, "refactor": False})
    return [first, trials.render(plain)]


async def read_further(
    trials: Trials, trial: Trial, entry: ModelEntry, reader: Engine, first: int
) -> tuple[int, float, float]:
    """How many of the further readings are answered right, and the mean tokens of the answers and of what was thought
    before. They are made side by side, so that programs run together."""
    prompt = trials.render(trial)

    async def one(sample: int) -> tuple[bool, int, int]:
        responses: tuple[Response, ...] = ()
        asked: Prompt | None = prompt
        while asked is not None:
            request = Request(entry.id, entry.identity, asked, sample)
            responses += (await reader.answer(request),)
            asked = trials.follow_up(trial, responses) if trials.follow_up else None
        response = replace(responses[-1], earlier=responses[:-1])
        right = trials.judges["strict"](trial, response).outcome is Outcome.CORRECT
        return right, response.usage.completion_tokens or 0, reasoning_tokens(response)

    rights, tokens, thoughts = zip(*await asyncio.gather(*(one(first + i) for i in range(FURTHER))), strict=True)
    return sum(rights), sum(tokens) / FURTHER, sum(thoughts) / FURTHER


def write(found: Mapping[str, Readings]) -> None:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for question, (right, tokens, thought) in sorted(found.items()):
        rows.writerow([question, round(right * FURTHER), f"{tokens:g}", f"{thought:g}"])
    write_whole(READINGS, text.getvalue())


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--other", type=int, default=0, metavar="N")
    other = given.parse_args().other
    every = list(questions())
    before = known() if READINGS.exists() else {}
    readers = {entry.name: open_engine(entry) for *_, entry in every}
    if other:
        read = [one for one in every if one[0] in before]
        chosen = [read[int(i)] for i in rng(0, "other readings").permutation(len(read))[:other]]
        again = [
            asyncio.run(read_further(trials, trial, entry, readers[entry.name], FIRST + FURTHER))[0]
            for _, trials, trial, entry in tqdm(chosen)
        ]
        off = [new - round(before[key].right * FURTHER) for new, (key, *_) in zip(again, chosen, strict=True)]
        expected = math.sqrt(sum(2 * new * (FURTHER - new) / FURTHER for new in again))
        told = f"{sum(again)} right of {FURTHER * len(chosen):,}, {sum(off):+d} to the file"
        print(f"{told} (one standard error: {expected:.0f})")
        return
    found = {key: before[key] for key, *_ in every if key in before}
    for number, (key, trials, trial, entry) in enumerate(tqdm(every)):
        if key not in found:
            right, *lengths = asyncio.run(read_further(trials, trial, entry, readers[entry.name], FIRST))
            found[key] = Readings(right / FURTHER, *lengths)
        if number % 100 == 99:
            write(before | found)
    write(found)


if __name__ == "__main__":
    main()
