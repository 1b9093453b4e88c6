"""How figures look: the style file, and a second cue beside every colour."""

from __future__ import annotations

from importlib.resources import as_file, files

from matplotlib import style
from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
PUBLISHED = "#4D4D4D"
"""The papers' own numbers, in every figure."""
RIGHT, WRONG, OTHER = "#009E73", "#F3B08A", "#BBBBBB"
"""Dark, light, grey: right and wrong differ in lightness, and wrong is hatched."""


def use_style() -> None:
    """Applies codestress.mplstyle."""
    with as_file(files("codestress.report") / "codestress.mplstyle") as path:
        style.use(str(path))


def styled_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, in our style."""
    use_style()
    return Figure(figsize=(width, height))
