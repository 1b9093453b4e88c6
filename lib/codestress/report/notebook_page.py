"""An executed notebook as one HTML page, without scripts, fonts or styles from
elsewhere."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from codestress.literals import printable


def page_environment() -> Environment:
    """Return a Jinja environment that escapes all inserted text, spells out its control
    characters, and raises an error for a missing value."""
    return Environment(
        autoescape=True,
        finalize=lambda text: printable(text) if type(text) is str else text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def resource(name: str) -> str:
    """Return the text of the file `name` in the folder of the report package, such as a
    template."""
    return Path(__file__).with_name(name).read_text("utf-8")


def render(template: str, **content: Any) -> str:
    """Return the page of the file `template`, filled with `content` and the style
    page.css."""
    style = Markup(resource("page.css"))
    page = page_environment().from_string(resource(template))
    return page.render({"style": style, **content})


@cache
def exporter() -> Any:
    """Return the nbconvert exporter, made once for all notebooks of a process, because
    it compiles its templates when it is made.

    The imports are made here and not at the top of the module, because they take two
    seconds, and the report needs only the templates of this module.
    """
    from nbconvert.exporters.html import HTMLExporter

    return HTMLExporter(template_name="basic", embed_images=True)


def notebook_page(notebook: Any, artefact: str, manifest: Mapping[str, Any]) -> str:
    """Return an executed `notebook` as the text of an HTML page, titled with the name
    `artefact`.

    Changes of the command line, which `manifest` has (if any), stand above the
    notebook.
    """
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
