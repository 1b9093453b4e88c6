"""An executed notebook as one HTML page: no scripts, no fonts and no styles from elsewhere."""

from __future__ import annotations

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


def notebook_page(notebook: Any, artefact: str) -> str:
    """The page; `notebook` is an executed notebook node."""
    # Imported here: two seconds that the report page, which takes its templates from here, does without.
    from nbconvert.exporters.html import HTMLExporter
    from pygments.formatters import HtmlFormatter

    body, _ = HTMLExporter(template_name="basic", embed_images=True).from_notebook_node(notebook)
    style = resource("page.css") + HtmlFormatter().get_style_defs(".highlight")
    template = page_environment().from_string(resource("notebook.html"))
    return template.render(title=artefact, body=Markup(body), style=Markup(style))
