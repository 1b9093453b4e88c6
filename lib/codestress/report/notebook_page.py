"""An executed notebook as one HTML page: no scripts, no fonts and no styles from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup


def page_environment() -> Environment:
    """Templates in which everything is escaped and nothing may be missing."""
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def resource(name: str) -> str:
    """A file of this package."""
    return (files("codestress.report") / name).read_text(encoding="utf-8")


def prepare() -> None:
    """Makes an empty page, which imports what pages need: two seconds that the report, which takes its templates from
    here, does without."""
    from nbformat.v4 import new_code_cell, new_notebook

    notebook_page(new_notebook(cells=[new_code_cell("1")]), "", {})


@cache
def _exporter() -> Any:
    """One for all notebooks of a process: it compiles its templates once."""
    from nbconvert.exporters.html import HTMLExporter

    return HTMLExporter(template_name="basic", embed_images=True)


def notebook_page(notebook: Any, artefact: str, manifest: Mapping[str, Any]) -> str:
    """The page; `notebook` is an executed notebook node. What the command line changed stands above it."""
    from pygments.formatters import HtmlFormatter

    body, _ = _exporter().from_notebook_node(notebook)
    style = resource("page.css") + HtmlFormatter().get_style_defs(".highlight")
    template = page_environment().from_string(resource("notebook.html"))
    return template.render(title=artefact, manifest=manifest, body=Markup(body), style=Markup(style))
