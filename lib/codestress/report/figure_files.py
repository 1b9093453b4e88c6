"""A figure's files: PDF, PNG, and SVG with title and alternative text.

Equal figures give equal bytes: the files have no dates, and a fixed salt makes the ids
in the SVG.
"""

from html import escape
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from .letters import reword, spelled


def save_figure(figure: Figure, folder: Path, title: str, alt: str) -> Bbox:
    """Save `figure` in `folder` as figure.svg, figure.pdf and figure.png, and return
    the saved part of the figure, in inches.

    The files have `title` and the alternative text `alt`.
    """
    reword(figure, spelled)
    engine = figure.get_layout_engine()
    if figure.axes and engine:
        engine.execute(figure)
    # Lay out and measure once, not for each format.
    figure.set_layout_engine("none")
    for legend in figure.legends:
        # Legends stay where they are, though more than the figure is saved.
        legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
    saved = _saved_part(figure)
    path = folder / "figure.svg"
    figure.savefig(path, bbox_inches=saved, metadata={"Title": title, "Date": None})
    before, tag, after = path.read_text("utf-8").partition("<svg")
    words = (
        ' role="img" aria-labelledby="title alt">'
        f'<title id="title">{escape(title)}</title><desc id="alt">{escape(alt)}</desc>'
    )
    path.write_text(before + tag + after.replace(">", words, 1), "utf-8")
    with rc_context({"figure.constrained_layout.use": False}):
        # Each format would be drawn twice with any layout engine, even an idle one.
        figure.set_layout_engine(None)
        pdf: dict[str, str | None] = {"Title": title, "Subject": alt}
        pdf |= dict.fromkeys(("CreationDate", "ModDate", "Producer"))
        figure.savefig(folder / "figure.pdf", bbox_inches=saved, metadata=pdf)
        png = {"Title": title, "Description": alt, "Software": None}
        figure.savefig(folder / "figure.png", bbox_inches=saved, metadata=png)
    return saved


def _saved_part(figure: Figure) -> Bbox:
    """Return the part of `figure` to save, in inches.

    The part has the figure's own width, or more if a text extends beyond it, and the
    height of everything that is drawn.
    """
    margin = 0.08
    drawn = figure.get_tightbbox().padded(margin)
    left = min(0.0, drawn.x0 + margin)
    right = max(figure.get_figwidth(), drawn.x1 - margin)
    return Bbox([[left, drawn.y0], [right, drawn.y1]])
