"""Find the Origin's trials: sizes, seeds, both wordings, the published token counts where a tokenizer is at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codestress.papers.origin.studies import (
    STUDIES,
    FindTheOrigin,
    NeedleInHaystack,
)
from codestress.parameters import Experiment, questions
from codestress.paths import PUBLISHED
from codestress.types import Trials
from conftest import artefact_of, some

MODELS = {"artefact": "origin/fig04", "models": ["sim-near"]}


def trials(**values: Any) -> Trials:
    return questions(FindTheOrigin(**MODELS, **values))


@pytest.mark.parametrize(
    ("d", "lines"),
    [
        (1, range(4, 949, 8)),
        (15, range(16, 945, 8)),
        (-15, range(16, 945, 8)),
        (5, range(6, 943, 8)),
        (-10, range(11, 948, 8)),
    ],
)
def test_sizes_are_those_of_the_figures(d: int, lines: range) -> None:
    assert [trial.factors["lines"] for trial in trials(d=[d]).items] == list(lines)


def test_every_distance_renders_with_its_target_in_place() -> None:
    chosen = trials(d=[d for d in range(-15, 16) if d], step=200)
    for trial in chosen.items:
        block = chosen.render(trial).messages[-1].content.split("\n\n")[-2].split("\n")
        first = block.index('"workbench" is connected to "dad"')
        second = block.index('"dad" is connected to "admire"')
        assert second - first == trial.factors["d"]
        assert len(block) == trial.factors["lines"]


def test_the_same_seed_gives_the_same_bytes_and_more_trials_do_not_change_the_first() -> (
    None
):
    few, many = (trials(shuffled=[True], lists=n, step=300) for n in (1, 3))
    assert many.items[: len(few.items)] == few.items
    for trial in few.items:
        assert few.render(trial) == many.render(trial)
    other = trials(shuffled=[True], step=300, seed=1)
    assert other.render(other.items[1]) != few.render(few.items[1])


def test_as_printed_is_the_example_of_section_4() -> None:
    chosen = trials(wording=["as_printed"], d=[1])
    text = chosen.render(chosen.items[0]).messages[-1].content
    assert text.startswith(
        'Several words below are interconnected. For example:\n\n"X" is connected to "Y"\n'
    )
    assert text.endswith(
        'Your final answer must be in the following format: "FINAL ANSWER: YOUR ANSWER".'
    )


def rendered(lines: list[str], n: int, d: int) -> str:
    """The authors' prompt of n lines, from their list (chains of two links, one after the other) by words alone."""
    block, laid = abs(d), []
    for at in range(0, len(lines), 2 * block):
        first, second = (lines[at + n : at + 2 * block : 2] for n in (0, 1))
        laid += first + second if d > 0 else second + first
    origin = laid.index(lines[1998])
    start = max(0, origin - int((n - block) / 2) - (block if d < 0 else 0))
    shown = "\n".join(laid[start : start + n])
    return f"""Several words below are interconnected. For example:
"X" is connected to "Y"
"Y" is connected to "Z"
In this scenario, the origin of "Z" is "X". We can visualize these connections as vertices and edges, like this:
"X"-->"Y"-->"Z"

Using this logic, consider the following list of connections, where each word is simply the name of a vertex with no \
other semantic meaning:

{shown}

Your task is to find the origin of "admire". Work carefully, step by step. Your final answer must be in this format: \
FINAL ANSWER: YOUR_ANSWER"""


@pytest.mark.parametrize(
    "name", some([f"origin/fig{number:02}" for number in range(1, 10)], 4)
)
def test_the_papers_prompts_are_the_authors_to_the_letter(
    name: str, public: Path
) -> None:
    lines = (public / "findtheorigin" / "vertices.txt").read_text().splitlines()
    artefact = artefact_of(name, "paper")
    asked = artefact.trials()
    for trial in asked.items:
        prompt = asked.render(trial)
        assert prompt.messages[-1].content == rendered(
            lines, trial.factors["lines"], trial.factors["d"]
        ), trial
        assert prompt.sampling.max_tokens == 256


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
        chosen = trials(words="authors", d=[d])
        counted = [
            len(encoding.encode(chosen.render(t).messages[-1].content))
            for t in chosen.items[:: published["every"]]
        ]
        right += sum(a == b for a, b in zip(counted, published[name], strict=True))
        total += len(counted)
    assert (right, total) == (117, 118)


@pytest.mark.parametrize("test", ["inefficient_code", "clue", "unlock"])
def test_planted_texts(test: str) -> None:
    values = NeedleInHaystack(
        **MODELS, test=test, characters=[4000, 15000], variants=8, samples=2
    )  # type: ignore[arg-type]
    chosen = questions(values)
    assert len(chosen.items) == 2 * 8 * 2
    texts = [chosen.render(trial).messages[-1].content for trial in chosen.items]
    assert len(set(texts)) == 16
    marks = {
        "inefficient_code": ("def is_prime(n):", "def square_sum(my_list):"),
        "clue": ("\n\nCurious? Leader of the apes 3.\n\n",),
        "unlock": ("Microbes are small. This statement is not only true",),
    }[test]
    for text, trial in zip(texts, chosen.items, strict=True):
        assert all(text.count(mark) == 1 for mark in marks)
        assert abs(len(text) / int(trial.factors["characters"] or 1) - 1) < 0.35


def test_every_study_takes_the_schema_s_defaults() -> None:
    asked = [one for one in STUDIES.values() if issubclass(one, Experiment)]
    assert asked
    for study in asked:
        assert list(study(**MODELS).trials())
