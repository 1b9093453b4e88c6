"""The look of figures: the style file, and a second cue beside every colour."""

import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from matplotlib import rcdefaults, style
from matplotlib.figure import Figure

from codestress.paths import PARAMS
from codestress.validation import read_yaml

WIDTHS = {"column": 3.3, "page": 7.0}
"""Widths of figures in inches: a column of a paper, and a whole page. An artefact's
file names one of these widths."""
TALLEST = 9.0
"""Largest height of a figure in inches."""
SMALLEST_TEXT = 6.5
"""Smallest size of a figure's text in points."""
NOTE = "note"
"""Identifier of the texts of a figure that `publish` joins to its footnote."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
OTHER_MARKERS = ("p", "d", "8", "<", "H", ">", "h")
"""Markers of models that are not in params/models.yaml."""
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#000000",
    "#999999",
)
MODEL_COLOURS = (*COLOURS[:6], "#332288", "#882255", "#117733")
"""Colours of models; black is for a mean over models, grey for published numbers."""
PUBLISHED = "#4D4D4D"
"""Colour of the papers' own numbers, in every figure."""
GREYS = (PUBLISHED, "#8A8A8A")
"""Colours of two series of a paper's own numbers beside each other."""
RIGHT, WRONG, OTHER = "#009E73", "#F3B08A", "#BBBBBB"
"""Colours of correct, incorrect and other outcomes. Correct and incorrect differ in
lightness, and incorrect is hatched."""


class Look(NamedTuple):
    """A model's colour and marker."""

    colour: str
    marker: str


@cache
def _known() -> dict[str, Look]:
    """Return the looks of the models in params/models.yaml and of the perfect
    localizer, an instrument that is not in this file."""
    known = {"perfect localizer": Look("#999933", "h")}
    for place, name in enumerate(read_yaml(PARAMS / "models.yaml")):
        known[name] = look_at(place, MODEL_COLOURS)
    return known


def looks(models: Iterable[str]) -> dict[str, Look]:
    """Return a dict from each of a figure's `models` to its look, the same in every
    figure.

    If a model is not in params/models.yaml, the hash of its name selects a look that no
    model in this file has. Two models of one figure never share a look, up to 63
    models: the later model gets the next free look, in this figure alone.
    """
    taken: dict[str, Look] = {}
    for model in models:
        look = _known().get(model)
        place = zlib.crc32(model.encode())
        # There are 63 looks with these markers.
        while look is None or (look in taken.values() and len(taken) < 63):
            look = look_at(place, MODEL_COLOURS, OTHER_MARKERS)
            place += 1
        taken[model] = look
    return taken


def look_at(
    place: int, colours: Sequence[str] = COLOURS, markers: Sequence[str] = MARKERS
) -> Look:
    """Return the look at the index `place` from 0; after the last colour or marker, the
    first follows again. By default it is a condition's look."""
    return Look(colours[place % len(colours)], markers[place % len(markers)])


def use_style() -> None:
    """Set Matplotlib's settings, for the whole process, to its defaults and the kit's
    style file codestress.mplstyle.

    Nothing of a person's matplotlibrc stays.
    """
    rcdefaults()
    style.use(Path(__file__).with_name("codestress.mplstyle"))


def styled_figure(width: float, height: float) -> Figure:
    """Return an empty figure of `width` by `height` inches, in the kit's style, which
    stays set."""
    use_style()
    return Figure(figsize=(width, height))


def add_note(figure: Figure, words: str) -> None:
    """Write a note in small type below `figure`."""
    below = -0.06 / figure.get_figheight()
    figure.text(
        0.005,
        below,
        words,
        va="top",
        fontsize=SMALLEST_TEXT,
        color="#555555",
        gid=NOTE,
    )
