"""Letters of any script in figures. A letter that the kit's own font lacks is drawn in
a font of this machine, or written as its number.

Tables and pages show names unchanged.
"""

from collections.abc import Callable
from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, findfont, fontManager, get_font
from matplotlib.text import Text


def reword(figure: Figure, change: Callable[[Text], str]) -> None:
    """Give each text of `figure` the words that `change` returns for it."""
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


def spelled(text: Text) -> str:
    """Return the words that `text` shows, after a change of its font if letters have no
    glyph there: to a font that has the glyphs, or, without such a font, with numbers
    such as \\u901a in place of the letters."""
    words = text.get_text()
    known = get_font(findfont(text.get_fontproperties())).get_charmap()
    missing = frozenset(map(ord, words)) - {ord("\n"), *known}
    if not missing:
        return words
    if font := _font_with(missing):
        text.set_fontfamily([*text.get_fontfamily(), font.name])
        # Matplotlib would look for a font of another weight, with a warning.
        text.set_fontweight(font.weight)
        return words
    return words.translate(
        {code: chr(code).encode("unicode_escape").decode() for code in missing}
    )


@cache
def _font_with(codes: frozenset[int]) -> FontEntry | None:
    """Return an installed font with glyphs for all `codes`; None if no font has all."""
    for font in fontManager.ttflist:
        # Matplotlib's own font "Last Resort" has only boxes as glyphs.
        if "Last Resort" in font.name:
            continue
        if codes <= get_font(font.fname).get_charmap().keys():
            return font
    return None
