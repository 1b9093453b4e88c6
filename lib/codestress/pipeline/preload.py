"""Imports of nearly every notebook, made once: the process that imports this module is the one from
which kernels are forked."""

import contextlib
import gc
import importlib
import io
import os

INLINE = "module://matplotlib_inline.backend_inline"
"""Value of MPLBACKEND in kernels; matplotlib reads it when it is imported."""

os.environ["MPLBACKEND"] = INLINE
gc.disable()

from pandas import DataFrame  # noqa: E402

from codestress.report.style import styled_figure  # noqa: E402
from codestress.sandbox.layers import die_with_parent  # noqa: E402

from .kernels import MODULES, quiet  # noqa: E402
from .surroundings import TABLE  # noqa: E402


def draw_once() -> None:
    """Draws a figure and writes a table, so that fonts, templates and other first-use work are
    done before kernels are forked."""
    DataFrame({"a": [1.5]}).to_latex()
    figure = styled_figure(1, 1)
    figure.subplots().set_title("a title in bold", weight="bold")
    for form in ("svg", "pdf", "png"):
        figure.savefig(io.BytesIO(), format=form)


die_with_parent()  # or it goes on importing after a build that is over
quiet()
for name in (*TABLE["imports"], *os.environ.get(MODULES, "").split()):
    with contextlib.suppress(Exception):  # which the notebook meets again, and tells
        importlib.import_module(name)
draw_once()
gc.freeze()  # no kernel looks for garbage among what it has from here
