"""How figures look: the style file, and a second cue beside every colour."""

from __future__ import annotations

from importlib.resources import as_file, files

from matplotlib import style

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
PUBLISHED = "#4D4D4D"
"""The papers' own numbers, in every figure."""
RIGHT, WRONG, OTHER = "#009E73", "#F3B08A", "#BBBBBB"
"""Dark, light, grey: right and wrong differ in lightness, and wrong is hatched."""


def use_style() -> None:
    """Applies codestress.mplstyle; every figure starts with it."""
    with as_file(files("codestress.report") / "codestress.mplstyle") as path:
        style.use(str(path))
