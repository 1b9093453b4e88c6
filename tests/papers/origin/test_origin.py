"""Find the Origin's trials: sizes, seeds, both wordings, and the authors' prompts to the
letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codestress.papers.origin.studies import (
    FindTheOrigin,
    NeedleInHaystack,
)
from codestress.parameters import questions
from codestress.paths import PUBLISHED
from codestress.types import Trial, Trials
from conftest import artefact_of, some

MODELS: dict[str, Any] = {"artefact": "origin/fig04", "models": ["sim-near"]}


def trials_of(**values: Any) -> Trials:
    return questions(FindTheOrigin(**MODELS, **values))


def message(trials: Trials, trial: Trial) -> str:
    return trials.render(trial).messages[-1].content


@pytest.mark.parametrize(
    ("d", "lines"),
    [
        (1, range(4, 949, 8)),
        (15, range(16, 945, 8)),
        (-15, range(16, 945, 8)),
        (-10, range(11, 948, 8)),
    ],
)
def test_sizes_are_those_of_the_figures(d: int, lines: range) -> None:
    sizes = [trial.factors["lines"] for trial in trials_of(d=[d]).items]
    assert sizes == list(lines)


def test_every_distance_renders_with_its_target_in_place() -> None:
    trials = trials_of(d=[-15, -2, 1, 15], step=200)
    for trial in trials.items:
        block = message(trials, trial).split("\n\n")[-2].split("\n")
        first = block.index('"workbench" is connected to "dad"')
        second = block.index('"dad" is connected to "admire"')
        assert second - first == trial.factors["d"]
        assert len(block) == trial.factors["lines"]


def test_the_same_seed_gives_the_same_prompts_and_more_lists_keep_the_first() -> None:
    few, many = (trials_of(shuffled=[True], lists=n, step=300) for n in (1, 3))
    assert many.items[: len(few.items)] == few.items
    for trial in few.items:
        assert few.render(trial) == many.render(trial)
    other = trials_of(shuffled=[True], step=300, seed=1)
    assert other.render(other.items[1]) != few.render(few.items[1])


def test_as_printed_is_the_example_of_section_4() -> None:
    trials = trials_of(wording=["as_printed"], d=[1])
    text = message(trials, trials.items[0])
    assert text.startswith(
        'Several words below are interconnected. For example:\n\n"X" is connected to "Y"\n'
    )
    assert text.endswith(
        'Your final answer must be in the following format: "FINAL ANSWER: YOUR ANSWER".'
    )


def authors_prompt(lines: list[str], n: int, d: int) -> str:
    """Return the authors' prompt of `n` lines from their list, in which chains of two
    links stand one after the other."""
    block, layout = abs(d), []
    for start in range(0, len(lines), 2 * block):
        first = lines[start : start + 2 * block : 2]
        second = lines[start + 1 : start + 2 * block : 2]
        layout += first + second if d > 0 else second + first
    origin = layout.index(lines[1998])
    start = max(0, origin - int((n - block) / 2) - (block if d < 0 else 0))
    connections = "\n".join(layout[start : start + n])
    return f"""Several words below are interconnected. For example:
"X" is connected to "Y"
"Y" is connected to "Z"
In this scenario, the origin of "Z" is "X". We can visualize these connections as vertices and edges, like this:
"X"-->"Y"-->"Z"

Using this logic, consider the following list of connections, where each word is simply the name of a vertex with no \
other semantic meaning:

{connections}

Your task is to find the origin of "admire". Work carefully, step by step. Your final answer must be in this format: \
FINAL ANSWER: YOUR_ANSWER"""


@pytest.mark.parametrize(
    "name", some([f"origin/fig{number:02}" for number in range(1, 10)], 4)
)
def test_the_papers_prompts_are_the_authors_to_the_letter(
    name: str, public: Path
) -> None:
    lines = (public / "findtheorigin" / "vertices.txt").read_text().splitlines()
    trials = artefact_of(name, "paper").trials()
    for trial in trials.items:
        n, d = trial.factors["lines"], trial.factors["d"]
        assert message(trials, trial) == authors_prompt(lines, n, d), trial
        assert trials.render(trial).sampling.max_tokens == 256


@pytest.mark.usefixtures("public")
def test_published_token_counts() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    try:
        encoding = tiktoken.get_encoding("cl100k_base")
    except Exception as error:
        pytest.skip(
            f"the vocabulary cl100k_base cannot be had here ({type(error).__name__}); TIKTOKEN_CACHE_DIR names a copy"
        )
    published = json.loads((PUBLISHED / "origin.json").read_text())["tokens"]
    right = total = 0
    for name, d in (("fig01", 1), ("fig02", 15), ("fig03", -15)):
        trials = trials_of(words="authors", d=[d])
        part = trials.items[:: published["every"]]
        for trial, count in zip(part, published[name], strict=True):
            right += len(encoding.encode(message(trials, trial))) == count
            total += 1
    assert (right, total) == (117, 118)


@pytest.mark.parametrize(
    ("test", "marks"),
    [
        ("inefficient_code", ("def is_prime(n):", "def square_sum(my_list):")),
        ("clue", ("\n\nCurious? Leader of the apes 3.\n\n",)),
        ("unlock", ("Microbes are small. This statement is not only true",)),
    ],
)
def test_planted_texts(test: Any, marks: tuple[str, ...]) -> None:
    sizes = {"characters": [4000, 15000], "variants": 8, "samples": 2}
    trials = questions(NeedleInHaystack(**MODELS, test=test, **sizes))
    assert len(trials.items) == 2 * 8 * 2
    texts = set()
    for trial in trials.items:
        text = message(trials, trial)
        texts.add(text)
        assert [text.count(mark) for mark in marks] == [1] * len(marks)
        assert len(text) == pytest.approx(trial.factors["characters"], rel=0.35)
    assert len(texts) == 16
