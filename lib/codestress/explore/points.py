"""Points of a curve that can be dragged, in JupyterLab and in Voilà."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets


class DraggablePoints(anywidget.AnyWidget):
    """Shares `y` (0 to 1) at places `x` (not negative), and what was fitted; mouse and arrow keys change `y`."""

    _esm = Path(__file__).with_name("points.js")
    x = traitlets.List(traitlets.Float()).tag(sync=True)
    y = traitlets.List(traitlets.Float()).tag(sync=True)
    curve: traitlets.List[list[float]] = traitlets.List().tag(sync=True)
    """Rows of place, fitted share, lower and upper end of its band."""
    fitted = traitlets.List(traitlets.Float()).tag(sync=True)
    """The fitted shares at `x`; what is missing to `y` is drawn below."""
