"""An executed notebook as one HTML page, without scripts, fonts or styles from elsewhere."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup


def page_environment() -> Environment:
    """Returns a Jinja environment that escapes all inserted text and raises an error for a missing
    value."""
    return Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def resource(name: str) -> str:
    """Returns the text of the file `name` in the folder of the report package, such as a
    template."""
    return Path(__file__).with_name(name).read_text("utf-8")


def render(template: str, **content: Any) -> str:
    """Returns the page of the file `template`, filled with `content` and the style page.css."""
    style = Markup(resource("page.css"))
    page = page_environment().from_string(resource(template))
    return page.render({"style": style, **content})


@cache
def exporter() -> Any:
    """Returns the nbconvert exporter, made once for all notebooks of a process, because it compiles
    its templates when it is made.

    Its imports take two seconds, and are not made where this module is imported: the report takes
    only its templates from it.
    """
    from nbconvert.exporters.html import HTMLExporter

    return HTMLExporter(template_name="basic", embed_images=True)


def notebook_page(notebook: Any, artefact: str, manifest: Mapping[str, Any]) -> str:
    """Returns an executed notebook as the text of an HTML page, titled with the name `artefact`;
    above it stand the changes that the command line made, which `manifest` has (if any)."""
    from pygments.formatters import HtmlFormatter

    body, _ = exporter().from_notebook_node(notebook)
    style = resource("page.css") + HtmlFormatter().get_style_defs(".highlight")
    return render(
        "notebook.html",
        title=artefact,
        manifest=manifest,
        body=Markup(body),
        style=Markup(style),
    )
