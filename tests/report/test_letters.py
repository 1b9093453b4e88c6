"""Names of models in any script: read in every figure, without boxes or warnings."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import matplotlib.font_manager
import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.figure import Figure
from matplotlib.text import Text

from codestress.inference.registry import ModelEntry
from codestress.inference.results import Results
from codestress.report import letters
from codestress.report.caption import (
    LONGEST_LABEL,
    add_words,
    short_names,
    with_short_names,
)
from codestress.report.figure_files import save_figure
from codestress.report.letters import reword, spelled
from codestress.report.style import styled_figure
from codestress.types import Prompt, Sampling, Trial, Trials
from conftest import artefact_of

NAMES = ("通义千问-7b@localhost", "मॉडल", "모델", "Модель é", "نموذج", "😀")
STRANGE = "\U000fabcd\U000fabce"
"""Letters of private use, which no machine's fonts have."""


def drawn(name: str, folder: Path) -> list[str]:
    """The texts of a figure that names a model everywhere, saved in all formats without a warning."""
    figure = styled_figure(7, 3)
    ax = figure.subplots()
    ax.set_title(name)
    ax.set_yticks([0, 1], [name, "b"])
    ax.plot([0, 1], label=name)
    ax.legend()
    ax.annotate(name, (0, 0))
    figure.suptitle(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reword(figure, spelled)
        for kind in ("svg", "pdf", "png"):
            figure.savefig(folder / f"figure.{kind}")
    return texts(figure)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_any_script_is_drawn_without_boxes(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spelt = re.sub("[^\0-\u04ff]", lambda c: ascii(c[0])[1:-1], name)
    found = drawn(name, tmp_path)
    assert sum(text in (name, spelt) for text in found) >= 5, found
    assert not caplog.records
    assert (tmp_path / "figure.svg").read_text().count("<text") > 4


def test_a_long_name_of_one_s_own_model_leaves_a_figure_as_wide_as_it_is(
    tmp_path: Path,
) -> None:
    def results(*names: str) -> Results:
        rows = [ModelEntry(name=name, engine="openai", id="m") for name in names]
        return Results(pd.DataFrame(), rows)

    name = "Qwen-Qwen2.5-Coder-32B-Instruct-AWQ@127.0.0.1-8000-e2b6d269"
    model, long = name.partition("@")[0], results(name, "sim-near", "m@host")
    figure = styled_figure(3.3, 2)
    figure.subplots().barh([name], [1], label=name)
    figure.axes[0].legend()
    assert with_short_names(figure, f"{name} 5 %", long) == f"{model} 5 %"
    assert not [text for text in texts(figure) if "@" in text]
    assert save_figure(figure, tmp_path, "t", "alt").width == pytest.approx(3.3)
    [short] = short_names(long).values()
    assert max(map(len, short.split("\n"))) <= LONGEST_LABEL
    assert short_names(results(name, name.replace("8000", "8001"))) == {}


@pytest.mark.parametrize(
    ("models", "readable", "told"),
    [
        (1, 0, "No number of m0 counts: 0 of 1 answer could be read"),
        (4, 0, "No number of 4 models counts: too few"),
        (4, 1, "No number of 3 models counts: too few"),
    ],
)
def test_models_that_nobody_can_read_come_first_in_a_title(
    models: int, readable: int, told: str
) -> None:
    given = artefact_of("origin/fig04", "smoke").parameters
    rows = [ModelEntry(name=f"m{k}", engine="openai", id="m") for k in range(models)]
    answers = pd.DataFrame({"model": [row.name for row in rows]})
    right = ["correct"] * readable + ["unparsable"] * (models - readable)
    answers = answers.assign(outcome_strict=right)
    asked = Trials([Trial("p", {})], lambda _: Prompt((), Sampling()), {})
    figure = styled_figure(7, 2)
    add_words(figure, given, "Told", answers, Results(answers, rows, asked))
    title = " ".join(figure.texts[-1].get_text().split())
    assert title.startswith(told)
    assert title.endswith("Told") == bool(readable)


def test_a_font_of_this_machine_is_taken_where_it_has_the_letters(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not {STRANGE} & {*drawn(STRANGE, tmp_path)}
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 500), (500, 500), (500, 0)):
        pen.lineTo(corner)
    pen.closePath()
    glyphs = {".notdef": pen.glyph(), "one": pen.glyph(), "two": pen.glyph()}
    font = FontBuilder(1000)
    font.setupGlyphOrder([*glyphs])
    font.setupCharacterMap(dict(zip(map(ord, STRANGE), ("one", "two"), strict=True)))
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics({name: (600, 0) for name in glyphs})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Strange", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "strange.ttf")
    fonts = matplotlib.font_manager.fontManager
    fonts.addfont(tmp_path / "strange.ttf")
    letters._font_with.cache_clear()
    try:
        assert drawn(STRANGE, tmp_path).count(STRANGE) >= 5
    finally:
        fonts.ttflist.pop()
        letters._font_with.cache_clear()
    assert "Strange" in (tmp_path / "figure.svg").read_text()
    assert not caplog.records
