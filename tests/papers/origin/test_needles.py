"""The texts of section 6: the paper's prompts to the letter, and the kit's own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from codestress.errors import DataError
from codestress.papers.origin import results
from codestress.papers.origin.needles import (
    NEEDLES,
    article,
    chapter,
    needle_depth,
)
from codestress.papers.origin.studies import NeedleInHaystack
from codestress.parameters import questions
from codestress.report.protocol import stamp
from codestress.simulated.engine import answer_text
from codestress.simulated.reading import Settings, read
from codestress.types import Outcome, Request, Response
from conftest import artefact_of, codestress
from told import names, refused

HALF_A_SENTENCE = 250
"""Characters of half of the chapter's longest sentence."""


@pytest.mark.parametrize("characters", [861, 27306])
@pytest.mark.parametrize("variant", [0, 3])
def test_a_chapter_has_its_length_and_its_clue_its_depth_to_a_sentence(
    characters: int, variant: int
) -> None:
    for depth in (0.017, 0.54, 0.9):
        text = chapter(characters, depth, variant)
        assert len(text) == pytest.approx(characters, rel=0.03)
        place = text.index("Curious?") / len(text)
        assert place == pytest.approx(depth, abs=HALF_A_SENTENCE / characters)
        assert text.count("\n\nCurious? Leader of the apes 3.\n\n") == 1
        assert text.endswith(" Ciphertext: brxzrqwkhsulch")
        assert "  " not in text
        assert "\n\n\n" not in text


@pytest.mark.parametrize("text", [chapter, article])
def test_a_text_longer_than_all_of_the_kits_prose_is_refused(
    text: Callable[[int, float], str],
) -> None:
    with refused(DataError, "the kit's own text has", "use a shorter length"):
        text(1_000_000, 0.5)


def paper(name: str, *settings: str) -> NeedleInHaystack:
    parameters = artefact_of(name, "paper", *settings).parameters
    assert isinstance(parameters, NeedleInHaystack)
    return parameters


CELLS = {
    "origin/sec61": [("printed", 4024, 0.417), ("authors", 110954, 0.347)],
    "origin/sec62": [
        ("printed", 861, 0.542),
        ("printed", 1478, 0.316),
        ("authors", 27306, 0.017),
    ],
    "origin/sec63": [("printed", 1462, 0.41), ("authors", 19089, 0.326)],
}
"""Origin, characters, and depth of the needle of each text of the paper."""
HASHES = {
    "origin/sec61": ["927b1176d3a29173"],
    "origin/sec62": ["40008fb4fe6ed9dc", "a65d4fea62ab6001"],
    "origin/sec63": ["b1f0f8f5b584855e"],
}
"""First digits of the short prompts' SHA-256."""


@pytest.mark.parametrize("name", CELLS)
def test_the_paper_profile_asks_the_papers_prompts(name: str, public: Path) -> None:
    """Each is a passage of the paper, or the authors' file."""
    parameters = paper(name)
    assert stamp(parameters) == "as the paper"
    trials = questions(parameters)
    first_samples = trials.items[:: parameters.samples]
    cells, texts = [], []
    for trial in first_samples:
        factors = trial.factors
        cells.append((factors["text"], factors["characters"], factors["depth"]))
        texts.append(trials.render(trial).messages[0].content)
    assert cells == CELLS[name]
    long_prompt = NEEDLES[parameters.test].long_prompt
    assert texts.pop() == (public / long_prompt).read_text(encoding="utf-8")
    printed = (public / "origin-paper/paper.md").read_text(encoding="utf-8")
    for text, digits in zip(texts, HASHES[name], strict=True):
        assert f"\n{text}\n```\n" in printed
        assert hashlib.sha256(text.encode()).hexdigest().startswith(digits)


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize("name", CELLS)
def test_a_reader_that_keeps_everything_solves_the_papers_prompts(name: str) -> None:
    parameters = paper(name)
    trials = questions(parameters)
    for trial in trials.items[:: parameters.samples]:
        request = Request("sim-x", "", trials.render(trial))
        text = answer_text(read(request, Settings(capacity=1e9)), "")
        score = trials.judges["strict"](trial, Response(text, "stop"))
        assert score.outcome is Outcome.CORRECT, trial


def test_without_the_data_the_paper_profile_says_what_to_do(tmp_path: Path) -> None:
    command = ("show", "origin/sec62", "--profile", "paper")
    process = codestress(*command, outputs=tmp_path, CODESTRESS_DATA="")
    assert (process.returncode, process.stdout) == (1, "")
    remedy = "`codestress data fetch origin-paper`", "CODESTRESS_DATA"
    names(process.stderr, "paper.md", *remedy)
    demo = artefact_of("origin/sec62", "demo")
    assert demo.trials().items
    names(stamp(demo.parameters), "deviates", "text own", "printed authors")


@pytest.mark.usefixtures("public")
def test_the_kits_own_texts_take_length_and_depth_apart() -> None:
    parameters = paper("origin/sec62", "text=[own]")
    trials = questions(parameters)
    cells = list(parameters.own_cells())
    assert (len(cells), len(trials.items)) == (9, 90)
    published = results.published_shares("origin/sec62", 0.95)
    paired = [[cell.characters, cell.depth] for cell in cells if cell.paired]
    assert paired == published[["characters", "depth"]].values.tolist()
    for trial in trials.items[:: parameters.samples]:
        text = parameters.shown_text(trial)
        assert len(text) == pytest.approx(trial.factors["characters"], rel=0.01)
        depth = needle_depth(text, "clue")
        assert depth == pytest.approx(trial.factors["depth"], abs=0.07)
    alone = questions(parameters.model_copy(update={"grid": False}))
    assert alone.items == [trial for trial in trials.items if trial.factors["paired"]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"grid": False, "depth": [0.5]}, ("grid", "characters", "depth")),
        ({"text": ["printed", "own"]}, ("text", "alone", "[own]")),
    ],
)
def test_settings_that_exclude_each_other_are_refused(
    change: dict[str, object], words: tuple[str, ...]
) -> None:
    values = {"artefact": "origin/sec62", "models": ["sim-near"], "text": ["own"]}
    with refused(ValidationError, *words):
        NeedleInHaystack.model_validate(values | {"test": "clue"} | change)
