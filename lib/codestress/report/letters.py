"""Letters of any script in figures: by a font of this machine where the kit's own lacks them, else by
their numbers. Tables and pages have the names as they are."""

from collections.abc import Callable
from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, findfont, fontManager, get_font
from matplotlib.text import Text


def make_readable(figure: Figure) -> None:
    """Changes the texts of `figure` that have letters without a glyph in their font: to a font that
    has them, or to numbers such as \\u901a where this machine has none."""
    reword(figure, _spelled)


def reword(figure: Figure, change: Callable[[Text], str]) -> None:
    """Gives each text of `figure` the words that `change` returns for it."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            labels = axis.get_majorticklabels()
            texts = [label.get_text() for label in labels]
            changed = [change(label) for label in labels]
            if changed != texts:
                axis.set_ticks(axis.get_majorticklocs(), changed)
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_text(change(text))


def _spelled(text: Text) -> str:
    """Returns what `text` is to show, after setting its font."""
    words = text.get_text()
    known = get_font(findfont(text.get_fontproperties())).get_charmap()
    missing = frozenset(map(ord, words)) - {ord("\n"), *known}
    if not missing:
        return words
    if font := _font_with(missing):
        text.set_fontfamily([*text.get_fontfamily(), font.name])
        # A font of another weight would be looked for, with a warning.
        text.set_fontweight(font.weight)
        return words
    return words.translate(
        {code: chr(code).encode("unicode_escape").decode() for code in missing}
    )


@cache
def _font_with(codes: frozenset[int]) -> FontEntry | None:
    """Returns an installed font with glyphs for all `codes`; None where none has."""
    for font in fontManager.ttflist:
        # Matplotlib's own "Last Resort" has boxes for all.
        if "Last Resort" in font.name:
            continue
        if codes <= get_font(font.fname).get_charmap().keys():
            return font
    return None
