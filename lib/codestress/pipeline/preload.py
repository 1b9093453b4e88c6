"""Imports of nearly every notebook, made once: kernels are forked from the process that
imports this module."""

import contextlib
import gc
import importlib
import io
import os

gc.disable()

from pandas import DataFrame  # noqa: E402

from codestress.report.notebook_page import exporter  # noqa: E402
from codestress.report.style import styled_figure  # noqa: E402
from codestress.sandbox.layers import die_with_parent  # noqa: E402

from .kernels import MODULES, quiet  # noqa: E402
from .surroundings import TABLE  # noqa: E402


def draw_once() -> None:
    """Draw a figure, write a table and make the exporter of pages, so that fonts,
    templates and other first-use work are loaded before kernels are forked."""
    exporter()
    DataFrame({"a": [1.5]}).to_latex()
    figure = styled_figure(1, 1)
    figure.subplots().set_title("a title in bold", weight="bold")
    for form in ("svg", "pdf", "png"):
        figure.savefig(io.BytesIO(), format=form)


die_with_parent()  # else this process goes on importing after the build has ended
quiet()
for name in (*TABLE["imports"], *os.environ.get(MODULES, "").split()):
    # The notebook meets the same error and reports it.
    with contextlib.suppress(Exception):
        importlib.import_module(name)
draw_once()
gc.freeze()  # kernels never look for garbage among these shared objects
