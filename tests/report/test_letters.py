"""Names of models in any script: read in every figure, without boxes or warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib.font_manager
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.figure import Figure
from matplotlib.text import Text

from codestress.report import letters
from codestress.report.letters import make_readable
from codestress.report.style import styled_figure

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
        make_readable(figure)
        for kind in ("svg", "pdf", "png"):
            figure.savefig(folder / f"figure.{kind}")
    return texts(figure)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_any_script_is_drawn_without_boxes(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shown = {
        name,
        "".join(
            c if c < "\u0500" else c.encode("unicode_escape").decode() for c in name
        ),
    }
    found = drawn(name, tmp_path)
    assert sum(text in shown for text in found) >= 5, found
    assert not caplog.records
    assert (tmp_path / "figure.svg").read_text().count("<text") > 4


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
