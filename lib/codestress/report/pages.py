"""Pages that need nothing from outside: executed notebooks, and the gallery of a profile with the claims ledger."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from codestress.paths import OUTPUTS


def _environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _resource(name: str) -> str:
    return (files("codestress.report") / name).read_text(encoding="utf-8")


def notebook_page(notebook: Any, artefact: str) -> str:
    """An executed notebook as one HTML page: no scripts, no fonts and no styles from elsewhere."""
    from nbconvert.exporters import HTMLExporter  # slow to import; only builds need it
    from pygments.formatters import HtmlFormatter

    exporter = HTMLExporter(template_name="basic", embed_images=True)
    exporter.register_filter("highlight_code", exporter.filters.get("highlight_code"))
    body, _ = exporter.from_notebook_node(notebook)
    template = _environment().from_string(_resource("notebook.html"))
    return template.render(
        title=artefact,
        body=Markup(body),
        style=Markup(_resource("page.css") + HtmlFormatter().get_style_defs(".highlight")),
    )


@dataclass(frozen=True)
class Card:
    """One artefact on the gallery page."""

    name: str
    manifest: dict[str, Any]
    image: str
    """The figure as a data URI."""
    tables: dict[str, Markup]
    """Name of each table to its HTML."""
    failed: bool
    """A later build of it failed; what is shown is older."""


def gallery(profile: str) -> Path:
    """Writes outputs/PROFILE/index.html from what lies in the folder; returns its path."""
    root = OUTPUTS / profile
    folders = sorted(path.parent for path in root.glob("*/*/manifest.json"))
    cards = [_card(root, folder) for folder in folders]
    claims = [pd.read_csv(folder / "claims.csv") for folder in folders if (folder / "claims.csv").is_file()]
    ledger = pd.concat(claims, ignore_index=True) if claims else pd.DataFrame(columns=["artefact", "verdict"])
    failures = {
        str(path.parent.relative_to(OUTPUTS / "failed" / profile)): path.read_text(encoding="utf-8").strip()
        for path in sorted((OUTPUTS / "failed" / profile).glob("*/*/error.txt"))
    }
    page = (
        _environment()
        .from_string(_resource("gallery.html"))
        .render(
            profile=profile,
            cards=cards,
            papers=sorted({card.name.split("/")[0] for card in cards}),
            failures=failures,
            models=_models(cards),
            ledger=ledger.to_dict("records"),
            verdicts=ledger["verdict"].value_counts().to_dict(),
            style=Markup(_resource("page.css")),
            number=_number,
        )
    )
    path = root / "index.html"
    part = path.with_suffix(".part")
    part.write_text(page, encoding="utf-8")
    part.replace(path)
    return path


def _card(root: Path, folder: Path) -> Card:
    name = str(folder.relative_to(root))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    image = base64.b64encode((folder / "figure.png").read_bytes()).decode()
    tables = {
        table: _html_table(pd.read_csv(folder / f"{table}.csv")) for table in manifest["tables"] if table != "claims"
    }
    failed = (OUTPUTS / "failed" / root.name / name / "error.txt").is_file()
    return Card(name, manifest, f"data:image/png;base64,{image}", tables, failed)


def _models(cards: list[Card]) -> list[dict[str, Any]]:
    """Every model that answered, once, with what the registry says of it."""
    return list({model["name"]: model for card in cards for model in card.manifest["models"]}.values())


def _number(value: object) -> str:
    """A number for a table: at most three decimals, nothing for a missing one."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def _html_table(frame: pd.DataFrame) -> Markup:
    """A table for the page; columns in which nothing ever happened (all counts zero) are left out and named."""
    numeric = frame.select_dtypes("number")
    idle = [c for c in numeric.columns if c not in ("d", "share", "low", "high") and (numeric[c] == 0).all()]
    shown = frame.drop(columns=idle)
    head = Markup("").join(Markup("<th>{}</th>").format(str(c).replace("_", " ")) for c in shown.columns)
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(_number(v)) for v in row))
        for row in shown.itertuples(index=False)
    )
    note = Markup("<p class='note'>zero throughout: {}</p>").format(", ".join(idle)) if idle else Markup("")
    return Markup("<div class='scroll'><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>{}").format(
        head, rows, note
    )
